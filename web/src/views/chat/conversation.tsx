/** A session that is open: how full it is, what was said, and what is being said. */
import { useState, type ReactNode } from "react";
import { Icon } from "../../parts/icons";
import { Empty, Failure, Loading } from "../../parts/surfaces";
import { legible } from "../../parts/text";
import { UsageBar } from "../../parts/usage";
import { CompressPanel } from "./compress";
import { Composer } from "./composer";
import { Head, type Side } from "./head";
import { History } from "./history";
import { underWay } from "./live";
import { Said } from "./message";
import { FailedSummary, Notices, Unanswered } from "./notices";
import { compress, useChange, useKept, useSession, type Session } from "./queries";
import { SummaryCard } from "./summary";
import { noteIn, useTalk, type Exchange } from "./talk";
import { Thread, type Jump } from "./thread";

interface ConversationProps {
  id: string;
  side: Side;
  jump: Jump | undefined;
  /** About how many messages are being summarized now, if any. */
  summarizing: number | undefined;
}

export function Conversation({ id, side, jump, summarizing }: ConversationProps) {
  const busy = summarizing !== undefined;
  const session = useSession(id);
  const [squeezing, setSqueezing] = useState(false);
  if (session.error) return <Failure error={session.error} retry={() => void session.refetch()} />;
  if (!session.data) return <div className="chat-wait"><Loading lines={8} label="Reading the session" /></div>;
  return (
    <section className="talk" aria-label="Session">
      <Head session={session.data} side={side} open={squeezing} summarizing={busy} summarize={() => setSqueezing(!squeezing)} />
      <div className="chat-usage">
        <UsageBar usage={session.data.usage} automatic={session.data.automatic.on} />
      </div>
      <Notices session={session.data} />
      {squeezing && (
        <CompressPanel session={session.data} summarizing={summarizing} close={() => setSqueezing(false)} />
      )}
      {side === "history" ? <History session={session.data} at={jump} /> : <Active session={session.data} summarizing={summarizing} />}
    </section>
  );
}

/** What is sent, and the place to say more. */
function Active({ session, summarizing }: { session: Session; summarizing: number | undefined }) {
  const { id, messages } = session.session;
  const kept = useKept(id);
  const [text, setText] = useState("");
  const talk = useTalk(id, setText);
  const send = () => {
    setText("");
    void talk.begin(text);
  };
  const { blocked } = session.blocked;
  const { trouble, kind, command } = talk.exchange;
  const failed = trouble !== "" && command !== "";
  const open = !blocked && !talk.busy && !failed && (session.open_question || trouble !== "");
  const offline = useChange(id, () => compress(id, { note: noteIn(command), strategy: "", offline: true }).then(talk.forget));
  return (
    <>
      {session.summary && <SummaryCard key={id} session={id} summary={session.summary} busy={summarizing !== undefined} />}
      {kept.error ? (
        <Failure error={kept.error} retry={() => void kept.refetch()} />
      ) : !kept.data ? (
        <div className="thread-around chat-wait"><Loading lines={8} label="Reading the messages" /></div>
      ) : messages === 0 && talk.exchange.phase === "idle" ? (
        <Beginning />
      ) : (
        <Thread
          session={id}
          label="Conversation"
          kept={kept.data.messages}
          first={kept.data.first}
          total={Math.max(messages, kept.data.first)}
          tail={tailOf(talk.exchange, summarizing, messages)}
        />
      )}
      <div className="chat-foot">
        {failed && (
          <FailedSummary
            kind={kind}
            reason={trouble}
            window={session.usage.window}
            busy={offline.isPending}
            run={(without) => (without ? offline.mutate(undefined) : void talk.begin(command))}
            close={talk.forget}
          />
        )}
        {open && <Unanswered trouble={trouble} busy={talk.busy} ask={() => void talk.begin(null)} />}
        <Composer
          text={text}
          onChange={setText}
          send={send}
          busy={talk.busy}
          session={session}
          closed={blocked ? "Try again, summarize without a model, or acknowledge the risk, to go on." : ""}
        />
      </div>
    </>
  );
}

function Beginning() {
  return (
    <div className="thread-around">
      <Empty icon="chat" title="Say something">
        <p>What is said here is stored on this machine. When the model’s window fills up, what was said before is summarized.</p>
      </Empty>
    </div>
  );
}

/** What of the exchange is not among the stored messages yet. */
function tailOf({ from, question, answer, phase }: Exchange, summarizing: number | undefined, stored: number): ReactNode[] {
  const tail: ReactNode[] = [];
  if (question !== null) {
    tail.push(
      <article className="said" data-role="user" aria-label="You, just now">
        <header><strong>You</strong></header>
        <Said text={question.length > 20_000 ? `${question.slice(0, 20_000)}…` : question} />
      </article>,
    );
  }
  if (phase === "preparing" || phase === "answering") {
    tail.push(
      <article className="said" data-role="assistant" aria-label="Answer" aria-busy="true">
        <header><strong>Assistant</strong></header>
        {answer ? (
          <div className="said-text plain" dir="auto">{legible(answer)}<i className="caret" /></div>
        ) : (
          <p className="quiet row"><Icon name="spinner" size={14} className="spin" /> {summarizing === undefined ? "Thinking…" : underWay(summarizing)}</p>
        )}
      </article>,
    );
  }
  return tail.slice(Math.max(0, stored - from));
}
