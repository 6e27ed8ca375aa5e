/** Where one writes: Enter sends, Shift and Enter begin a new line. */
import { useLayoutEffect, useRef, type KeyboardEvent } from "react";
import { Button } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { Keys } from "./keys";
import type { Session } from "./queries";
import { isCommand } from "./talk";

interface ComposerProps {
  text: string;
  onChange: (text: string) => void;
  send: () => void;
  busy: boolean;
  /** Why nothing can be sent now. */
  closed: string;
  session: Session;
}

const HIGHEST = 220;

export function Composer({ text, onChange, send, busy, closed, session }: ComposerProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const { current } = area;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(HIGHEST, current.scrollHeight + 2)}px`;
  }, [text]);
  const ready = text.trim() !== "" && !busy && !closed;
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (ready) send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) send();
      }}
    >
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          value={text}
          dir="auto"
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder={closed ? "Nothing can be sent now" : "Write a message, or /summarize"}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
        />
        <Button look="primary" icon="send" aria-label="Send" type="submit" isDisabled={!ready} isPending={busy} />
      </div>
      <p id="composer-hint" className="quiet small row wrap">
        {session.answering.offline && (
          <span className="row wrap composer-offline">
            <Icon name="alert" size={12} /> Offline answers: no model is configured, so plain code answers.
            <Keys answering={session.answering} model={session.session.model} />
          </span>
        )}
        <span>{hint(text, closed)}</span>
      </p>
    </form>
  );
}

function hint(text: string, closed: string): string {
  if (closed) return closed;
  if (isCommand(text)) return "Enter summarizes the history now; what follows the command says what matters.";
  if (text.startsWith("/")) return "/summarize summarizes the history.";
  return "Enter sends, Shift+Enter begins a new line.";
}
