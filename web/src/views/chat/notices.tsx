/** What is in the way, and what to do about it. */
import type { ReactNode } from "react";
import { Button } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { legible, number } from "../../parts/text";
import { acknowledge, retry, useChange, type Session } from "./queries";

function Notice({ look, title, children, actions }: { look: "warn" | "bad"; title?: string; children: ReactNode; actions?: ReactNode }) {
  return (
    <div className="notice" data-look={look} role={look === "bad" ? "alert" : "note"}>
      <Icon name="alert" size={14} />
      <div className="grow">
        {title && <strong>{title}</strong>}
        <p className="plain">{children}</p>
      </div>
      {actions && <span className="row wrap">{actions}</span>}
    </div>
  );
}

export function Notices({ session }: { session: Session }) {
  const { id } = session.session;
  const trying = useChange(id, (offline: boolean) => retry(id, offline));
  const taking = useChange(id, () => acknowledge(id), () => "You may go on; what does not fit is still refused.");
  const { blocked, reason } = session.blocked;
  const tried = session.blocked.acknowledged && session.automatic.on;
  if (!blocked && !tried && session.warnings.length === 0) return null;
  return (
    <div className="notices">
      {blocked && (
        <Notice
          look="bad"
          title="This session is blocked"
          actions={
            <>
              <Again busy={trying.isPending} run={(offline) => trying.mutate(offline)} />
              <Button isDisabled={taking.isPending} onPress={() => taking.mutate(undefined)}>
                Acknowledge and go on
              </Button>
            </>
          }
        >
          {legible(reason)}
        </Notice>
      )}
      {tried && (
        <Notice look="warn" title="Going on without a summary" actions={<Again busy={trying.isPending} run={(offline) => trying.mutate(offline)} />}>
          The last compaction failed, and the risk of going on without it was acknowledged. Each request from{" "}
          {number(session.usage.trigger)} tokens on tries again; one above {number(session.usage.window)} is refused.
        </Notice>
      )}
      {session.warnings.map((each) => (
        <Notice key={each} look="warn">
          {legible(each)}
        </Notice>
      ))}
    </div>
  );
}

function Again({ busy, run }: { busy: boolean; run: (offline: boolean) => void }) {
  return (
    <>
      <Button look="primary" icon="refresh" isDisabled={busy} onPress={() => run(false)}>
        Try again
      </Button>
      <Button isDisabled={busy} onPress={() => run(true)}>
        Summarize without a model
      </Button>
    </>
  );
}

interface FailedSummaryProps {
  /** The class of the error, as the server names it. */
  kind: string;
  reason: string;
  /** How many tokens the model reads. */
  window: number;
  busy: boolean;
  run: (offline: boolean) => void;
  close: () => void;
}

/** Why a summary that was asked for was not made, and what can be done instead. */
export function FailedSummary({ kind, reason, window, busy, run, close }: FailedSummaryProps) {
  const hopeless = kind === "NothingToCompact";
  return (
    <Notice
      look={hopeless ? "warn" : "bad"}
      title={hopeless ? "There is nothing to summarize" : "The summary failed"}
      actions={
        <>
          {!hopeless && <Again busy={busy} run={run} />}
          <Button look="ghost" onPress={close}>
            Close
          </Button>
        </>
      }
    >
      {legible(reason)}
      {!hopeless && ` You may go on without it; a request of more than ${number(window)} tokens is refused.`}
    </Notice>
  );
}

/** What went wrong with the last question, which is stored all the same. */
export function Unanswered({ trouble, ask, busy }: { trouble: string; ask: () => void; busy: boolean }) {
  return (
    <div className="notice" data-look={trouble ? "bad" : "warn"} role={trouble ? "alert" : "note"}>
      <Icon name="alert" size={14} />
      <div className="grow">
        <strong>{trouble ? "No answer" : "The last question has no answer"}</strong>
        {trouble && <p className="plain">{legible(trouble)}</p>}
      </div>
      <Button icon="refresh" isDisabled={busy} onPress={ask}>
        Ask again
      </Button>
    </div>
  );
}
