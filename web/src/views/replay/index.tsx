/** A session played again: what each way of keeping it small would have cost, and how large it would have become. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got } from "../../api/client";
import { TranscriptView } from "../../parts/opening";
import { Empty, Failure, Loading, Panel } from "../../parts/surfaces";
import type { Inspected } from "../../state/transcript";
import { Form, type Wish } from "./form";
import { Results } from "./results";
import "./replay.css";

export default function Replay() {
  return (
    <TranscriptView title="Replay" about="Play a session again, and see what each way of keeping it small would have cost.">
      {(transcript) => <Stage key={transcript.id} transcript={transcript} />}
    </TranscriptView>
  );
}

function Stage({ transcript }: { transcript: Inspected }) {
  const ways = useQuery({ queryKey: ["playable"], queryFn: ({ signal }) => got(api.GET("/api/replay/ways", { signal })) });
  const [wish, setWish] = useState<Wish | null>(null);
  if (ways.error) return <Failure error={ways.error} retry={() => void ways.refetch()} />;
  if (!ways.data) return <Panel title="How it is played"><Loading lines={5} label="Listing the presets" /></Panel>;
  return (
    <>
      <Form transcript={transcript} ways={ways.data} play={setWish} />
      {wish ? (
        <Results key={JSON.stringify(wish)} transcript={transcript} ways={ways.data} wish={wish} />
      ) : (
        <section className="panel">
          <Empty icon="replay" title="Nothing was played yet">
            <p>Each request of the session is sent again in thought: compacted when it reaches the trigger, priced as the vendor prices it, its prompt cache included. No model is asked.</p>
          </Empty>
        </section>
      )}
    </>
  );
}
