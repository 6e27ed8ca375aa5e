/** What things stand on, and what is shown where there is nothing yet, or nothing any more. */
import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { ApiError } from "../api/client";
import { Button } from "./controls";
import { Icon, type IconName } from "./icons";
import { legible } from "./text";

export function View({ title, about, actions, children }: { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <div className="view">
      <header>
        <h1>{title}</h1>
        {about && <p>{about}</p>}
        {actions && <div className="row wrap push">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Panel({ title, actions, flush, children }: { title: ReactNode; actions?: ReactNode; flush?: boolean; children: ReactNode }) {
  return (
    <section className="panel">
      <header>
        <h2>{title}</h2>
        {actions && <div className="row wrap push">{actions}</div>}
      </header>
      <div className={flush ? "body flush" : "body"}>{children}</div>
    </section>
  );
}

export function Badge({ look, kind, children }: { look?: "good" | "warn" | "bad" | "accent"; kind?: string; children: ReactNode }) {
  return (
    <span className={look ? `badge ${look}` : "badge"} data-kind={kind}>
      {children}
    </span>
  );
}

export function Empty({ icon, title, children, actions }: { icon: IconName; title: string; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="empty">
      <span className="mark">
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      {children}
      {actions && <div className="row wrap">{actions}</div>}
    </div>
  );
}

/** What went wrong and what to do about it. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const said = error instanceof Error ? error.message : String(error);
  const status = error instanceof ApiError && error.status === 0 ? "The server cannot be reached" : "That did not work";
  return (
    <div className="empty fault" role="alert">
      <span className="mark">
        <Icon name="alert" size={24} />
      </span>
      <h2>{status}</h2>
      <p className="plain">{legible(said)}</p>
      {retry && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

/** Room for what is being loaded: as high as what will come, so that nothing jumps. */
export function Loading({ lines = 4, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className="stack" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton" style={{ width: `${92 - ((index * 23) % 45)}%` }} />
      ))}
    </div>
  );
}

/** Text out of a transcript: never HTML, never in command of the page. */
export function Plain({ text, className = "" }: { text: string; className?: string }) {
  return (
    <span dir="auto" className={`plain ${className}`}>
      {legible(text)}
    </span>
  );
}

/** What may be wider than its place; the keyboard can scroll it. */
export function Scroll({ label, className, children }: { label: string; className: string; children: ReactNode }) {
  return (
    <div className={className} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

export function Bar({ label, parts }: { label: string; parts: readonly { share: number; colour?: string }[] }) {
  return (
    <div className="bar" role="img" aria-label={label}>
      {parts.filter((part) => part.share > 0).map((part, index) => (
        <span key={index} style={{ width: `${Math.min(100, part.share * 100)}%`, background: part.colour }} />
      ))}
    </div>
  );
}

export function Window({ title, open, onClose, children }: { title: string; open: boolean; onClose: () => void; children: ReactNode }) {
  return (
    <ModalOverlay className="veil" isOpen={open} onOpenChange={(now) => !now && onClose()} isDismissable>
      <Modal>
        <Dialog className="dialog">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
