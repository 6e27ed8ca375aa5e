/** Two texts beside each other, run by run; what stayed the same is shortened. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { pieces } from "../../parts/markers";
import { number } from "../../parts/text";
import type { Kind } from "./runs";

type Hunk = Schemas["Hunk"];

const AROUND = 3;
const LONGEST = 14;

interface DiffProps {
  hunks: readonly Hunk[];
  kind: Kind;
  single: boolean;
  whole: boolean;
}

export function Diff({ hunks, kind, single, whole }: DiffProps) {
  return (
    <div className="diff" data-kind={kind} data-single={single || undefined}>
      {hunks.map((hunk, index) => (
        <Run key={index} hunk={hunk} single={single} whole={whole} first={index === 0} last={index === hunks.length - 1} />
      ))}
    </div>
  );
}

interface RunProps extends Pick<DiffProps, "single" | "whole"> {
  hunk: Hunk;
  first: boolean;
  last: boolean;
}

function Run({ hunk, single, whole, first, last }: RunProps) {
  const [open, setOpen] = useState(whole);
  const show = open || whole;
  if (hunk.same && !single) {
    const lines = (hunk.before ?? "").split("\n");
    const head = first ? 0 : AROUND;
    const tail = last ? 0 : AROUND;
    const hidden = lines.length - head - tail;
    if (show || hidden <= 2) return <Same text={hunk.before ?? ""} />;
    return (
      <>
        {head > 0 && <Same text={lines.slice(0, head).join("\n")} />}
        <button className="fold" onClick={() => setOpen(true)}>
          {number(hidden)} unchanged lines
        </button>
        {tail > 0 && <Same text={lines.slice(-tail).join("\n")} />}
      </>
    );
  }
  const longest = Math.max(lineCount(hunk.before), lineCount(hunk.after));
  const cut = !show && longest > LONGEST + 4;
  return (
    <>
      <div className="pair" data-changed={!hunk.same || undefined}>
        <Side text={hunk.before} side="before" most={cut ? LONGEST : Infinity} />
        {!single && <Side text={hunk.after} side="after" most={cut ? LONGEST : Infinity} />}
      </div>
      {cut && (
        <button className="fold" onClick={() => setOpen(true)}>
          {number(longest - LONGEST)} more lines
        </button>
      )}
    </>
  );
}

/** Counted without splitting: a text may have millions of lines. */
function lineCount(text: string | null): number {
  let count = 1;
  for (let at = text?.indexOf("\n") ?? -1; at >= 0; at = text!.indexOf("\n", at + 1)) count += 1;
  return count;
}

function Same({ text }: { text: string }) {
  return (
    <div className="pair">
      <Lines text={text} className="side before" />
      <Lines text={text} className="side after" unheard />
    </div>
  );
}

function Side({ text, side, most }: { text: string | null; side: "before" | "after"; most: number }) {
  if (text === null) return <div className={`side ${side} nothing-there`} />;
  const shown = most === Infinity ? text : text.split("\n").slice(0, most).join("\n");
  return <Lines text={shown} className={`side ${side}`} />;
}

/** Lines in pieces that the browser need not lay out before they come into sight; our own markers stand out. */
function Lines({ text, className, unheard }: { text: string; className: string; unheard?: boolean }) {
  return (
    <pre className={className} dir="auto" aria-hidden={unheard}>
      {pieces(text).map((piece, index) => (
        <span key={index} className="piece">
          {piece.marker ? <mark data-kind={piece.marker}>{piece.text}</mark> : piece.text}
        </span>
      ))}
    </pre>
  );
}
