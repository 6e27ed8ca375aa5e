import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { Button } from "../../parts/controls";
import { Failure, Loading, View } from "../../parts/surfaces";
import { tellFailure } from "../../parts/toasts";
import { useOpening, useOpenId, useTranscript, type Source } from "../../state/transcript";
import { DropZone } from "./opening";
import { Workspace } from "./workspace";
import "./inspector.css";

export default function Inspector() {
  const id = useOpenId();
  const [model, setModel] = useState("");
  const found = useTranscript(model);
  const opening = useOpening();
  const open = (source: Source) => {
    setModel("");
    // While nothing is open, the invitation itself says what is wrong.
    opening.mutate(source, id ? { onError: tellFailure } : {});
  };
  if (!id) {
    return (
      <View title="Inspector" about="See what is in a transcript, and what condensing would make of it.">
        <DropZone open={open} busy={opening.isPending} error={opening.error} />
      </View>
    );
  }
  return (
    <View
      title="Inspector"
      actions={
        <>
          <FileTrigger onSelect={(files) => files?.[0] && open(files[0])}>
            <Button icon="upload" isPending={opening.isPending}>
              Open another
            </Button>
          </FileTrigger>
        </>
      }
    >
      <DropZone open={open} busy={opening.isPending} error={null} around>
        {found.data ? (
          <Workspace key={found.data.id} transcript={found.data} model={model} setModel={setModel} />
        ) : found.error ? (
          <Failure error={found.error} retry={() => void found.refetch()} />
        ) : (
          <section className="panel">
            <div className="body">
              <Loading lines={6} label="Reading the transcript" />
            </div>
          </section>
        )}
      </DropZone>
    </View>
  );
}
