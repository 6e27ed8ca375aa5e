/** The chat: sessions at the side, and the one that is open. */
import { useQuery } from "@tanstack/react-query";
import { FileTrigger } from "react-aria-components";
import { api, got } from "../../api/client";
import { Button } from "../../parts/controls";
import { Empty } from "../../parts/surfaces";
import { usePlace } from "../../route";
import { Conversation } from "./conversation";
import { Keys } from "./keys";
import { useHappenings } from "./live";
import { readPlace } from "./place";
import { Sessions, useNewSession } from "./sessions";
import "./chat.css";

export default function Chat() {
  const { rest } = usePlace();
  const { id, side, jump } = readPlace(rest);
  const busy = useHappenings();
  return (
    <div className="chat" data-open={id ? true : undefined}>
      <Sessions current={id} busy={busy} />
      {id ? <Conversation key={`${id}/${jump?.position ?? ""}`} id={id} side={side} jump={jump} summarizing={busy.get(id)} /> : <Welcome />}
    </div>
  );
}

function Welcome() {
  const { make, take } = useNewSession();
  const answering = useQuery({ queryKey: ["answering"], queryFn: ({ signal }) => got(api.GET("/api/answering", { signal })) });
  return (
    <section className="talk chat-welcome" aria-label="Session">
      <Empty
        icon="chat"
        title="Conversations that always fit"
        actions={
          <>
            <Button look="primary" icon="plus" isDisabled={make.isPending} onPress={() => make.mutate()}>
              New session
            </Button>
            <FileTrigger onSelect={(files) => files?.[0] && take.mutate(files[0])}>
              <Button icon="upload" isDisabled={take.isPending}>
                Import a transcript
              </Button>
            </FileTrigger>
          </>
        }
      >
        <p>Begin a session, or import a transcript in any format that Compact reads. Everything stays in a database on this machine.</p>
        {answering.data?.offline && (
          <>
            <p>No model answers yet, and summaries are written without one. <a href="#/settings/profiles">Add a model</a></p>
            <Keys answering={answering.data} />
          </>
        )}
      </Empty>
    </section>
  );
}
