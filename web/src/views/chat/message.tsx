/** One message: who said it, whether requests contain it, and what is in it; long parts are folded. */
import { useQueryClient } from "@tanstack/react-query";
import { memo, useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Button, IconButton, Tip } from "../../parts/controls";
import { Marked, placesOf } from "../../parts/highlight";
import { Icon } from "../../parts/icons";
import { Badge, Plain } from "../../parts/surfaces";
import { legible, number } from "../../parts/text";
import { ago, exactly } from "../../parts/time";
import { tellFailure } from "../../parts/toasts";
import { pieces } from "../../parts/markers";
import { folded } from "./folding";
import { pin, renew, whole, type Message } from "./queries";

type Part = Message["parts"][number];

const WHO: Record<string, string> = { user: "You", assistant: "Assistant", model: "Assistant", tool: "Tool", system: "Instructions", developer: "Instructions" };

export interface Opened {
  has: (key: string) => boolean;
  open: (key: string) => void;
}

interface MessageProps {
  session: string;
  message: Message;
  query: string;
  opened: Opened;
  flash: boolean;
}

export const MessageItem = memo(function MessageItem({ session, message, query, opened, flash }: MessageProps) {
  const [full, setFull] = useState<Message | null>(null);
  const [followed, setFollowed] = useState(false);
  const read = (follow: boolean) =>
    whole(session, message.id, follow).then((found) => {
      setFull(found);
      setFollowed(follow);
    }, tellFailure);
  const parts = (full ?? message).parts;
  return (
    <article className="said" data-role={message.role} data-state={message.state} data-flash={flash || undefined} aria-label={`${WHO[message.role] ?? message.role}, message ${message.position + 1}`}>
      <header>
        <strong>{WHO[message.role] ?? legible(message.role)}</strong>
        <StateBadge state={message.state} />
        <span className="quiet small" title={exactly(message.created)}>
          {number(message.tokens)} tokens · {ago(message.created)}
        </span>
        <span className="said-actions">
          <PinButton session={session} message={message} />
        </span>
      </header>
      {parts.length === 0 && <p className="quiet small">There is nothing to read in this message.</p>}
      {parts.map((part, index) => (
        <PartView key={index} part={part} at={`${message.id}:${index}`} query={query} opened={opened} more={() => read(followed)} />
      ))}
      {hasReferences(parts) && !followed && (
        <Button tiny look="ghost" icon="restore" onPress={() => void read(true)}>
          Expand references
        </Button>
      )}
      {followed && (
        <p className="quiet small row">
          <Icon name="check" size={12} /> References are shown with what they stand for.
        </p>
      )}
    </article>
  );
});

const hasReferences = (parts: readonly Part[]): boolean => parts.some((part) => /⟨=|\[same as lines |\[same (?:text )?as .* above #\d{6}/.test(part.text));

function StateBadge({ state }: { state: Message["state"] }) {
  if (state === "pinned") return <Badge look="accent">pinned</Badge>;
  if (state === "summarized") return <Badge kind="folded">summarized, not active</Badge>;
  return null;
}

function PinButton({ session, message }: { session: string; message: Message }) {
  const client = useQueryClient();
  const pinned = message.state === "pinned";
  const turn = () => void pin(session, message.id, !pinned).then(() => renew(client, session), tellFailure);
  return <IconButton tiny icon="pin" label={pinned ? "Unpin: it may be summarized" : "Pin: keep it in every request"} aria-pressed={pinned} onPress={turn} />;
}

interface PartProps {
  part: Part;
  at: string;
  query: string;
  opened: Opened;
  more: () => void;
}

const LABELS: Partial<Record<Part["kind"], string>> = { reasoning: "Reasoning", call: "calls", result: "result of", image: "Picture", file: "File", other: "Other" };

function PartView({ part, at, query, opened, more }: PartProps) {
  const open = opened.has(at);
  const shown = open ? part.text : folded(part.text, part.kind);
  const hidden = part.characters - shown.length;
  const label = part.kind === "text" ? "" : `${LABELS[part.kind] ?? ""} ${part.kind === "reasoning" ? "" : part.name}`.trim();
  const unfold = () => {
    opened.open(at);
    if (part.truncated) more();
  };
  return (
    <div className="said-part" data-part={part.kind}>
      {label && <Plain className="said-label" text={label} />}
      {shown && <Said text={shown} query={query} />}
      {hidden > 0 && (
        <button className="said-more" onClick={unfold}>
          Show all <span>({number(hidden)} more characters)</span>
        </button>
      )}
    </div>
  );
}

const ABOUT: Record<string, string> = {
  reference: "A reference to text that was said before. “Expand references” shows what it stands for.",
  truncated: "Its middle or its end was cut before it came here.",
  suppressed: "A marker stands for what was taken out before it came here.",
  superseded: "A later answer replaced this one.",
  summarized: "A summary stands for the original text.",
  folded: "A summary of earlier messages.",
};

/** Text as it is, in pieces that are laid out only when in sight; Compact's own marks tell what they are. */
export function Said({ text, query = "" }: { text: string; query?: string }) {
  return (
    <div className="said-text plain" dir="auto">
      {pieces(text).map((piece, index) =>
        piece.marker ? (
          <Tip key={index} text={ABOUT[piece.marker] ?? piece.marker}>
            <AriaButton className="said-mark" data-kind={piece.marker}>
              {piece.text.trimEnd()}
            </AriaButton>
          </Tip>
        ) : (
          <span key={index} className="said-piece">
            {query ? <Marked text={piece.text} spans={placesOf(piece.text, query)} /> : piece.text}
          </span>
        ),
      )}
    </div>
  );
}
