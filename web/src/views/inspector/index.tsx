import { useState } from "react";
import { TranscriptView } from "../../parts/opening";
import { Workspace } from "./workspace";
import "./inspector.css";

export default function Inspector() {
  const [model, setModel] = useState("");
  return (
    <TranscriptView
      title="Inspector"
      about="See what is in a transcript, and what compacting would make of it."
      model={model}
      onOpen={() => setModel("")}
    >
      {(transcript) => <Workspace key={transcript.id} transcript={transcript} model={model} setModel={setModel} />}
    </TranscriptView>
  );
}
