/** Compact's own marks in a text: which kind of edit a line tells of. */
import type { Schemas } from "../api/client";
import { legible } from "./text";

type Kind = Schemas["Row"]["kind"];

const CHUNK = 20_000;

const MARKERS: readonly [RegExp, Kind][] = [
  [/⟨=|^\[same as lines \d+-\d+ of |^(?:[-+ ]|[ 0]*\d+[→\t:|] ?)?\[same (?:text )?as .* above #\d{6}/, "reference"],
  [/^(?:⟨ lines from|\[lines numbered from) /, "reference"],
  [/\[… all [\d,]+ (?:lines?|characters?) omitted …\]/, "suppressed"],
  [/⟨ (?:\.\.\. truncated|Truncated: )|\[… [\d,]+ (?:lines?|characters?) omitted …\]/, "truncated"],
  [/^⟨ Tool: /, "truncated"],
  [/⟨ Content suppressed ⟩/, "suppressed"],
  [/⟨ Superseded: |^\[(?:Outdated: see the |Consolidated \d+ operations: )/, "superseded"],
  [/⟨ (?:Summarized (?:by LLM|in its own words)|Original was )|^\[Summary of [\d,]+ characters, /, "summarized"],
  [/<\/?COMPACT-SUMMARY|⟨ \d+ earlier messages? removed|^\[\d+ (?:earlier )?messages? removed here/, "folded"],
  [/^\[(?:Account|End of account) [0-9a-f]{8}/, "folded"],
];

/** Which kind of edit a line of Compact's own tells of. */
export function markerOf(line: string): Kind | undefined {
  if (!/[⟨<[]/.test(line)) return undefined;
  return MARKERS.find(([pattern]) => pattern.test(line))?.[1];
}

/** A part of a text that is laid out by itself. */
interface Piece {
  text: string;
  marker: Kind | undefined;
}

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let plain = "";
  const end = () => {
    for (let at = 0; at < plain.length; at += CHUNK) found.push({ text: plain.slice(at, at + CHUNK), marker: undefined });
    plain = "";
  };
  for (const line of legible(text).split("\n")) {
    const marker = markerOf(line);
    if (marker) {
      if (plain) end();
      found.push({ text: `${line}\n`, marker });
    } else {
      plain += `${line}\n`;
      if (plain.length > CHUNK) end();
    }
  }
  end();
  return found;
}
