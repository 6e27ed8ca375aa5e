/** Which rows are listed one by one, and which runs of them as one line. */
import type { Schemas } from "../../api/client";

export type Row = Schemas["Row"];
export type Kind = Row["kind"];

export interface Listed {
  /** The position of the row, or of the first row of a run. */
  at: number;
  /** How many rows a run stands for; 0 for a row by itself. */
  run: number;
}

const SHORTEST = 3;

/** The rows of the wanted kinds; runs of the others become one line each, unless they were opened. */
export function listed(rows: readonly Row[], wanted: (kind: Kind) => boolean, opened: ReadonlySet<number>): Listed[] {
  const found: Listed[] = [];
  let at = 0;
  while (at < rows.length) {
    let end = at;
    while (end < rows.length && !wanted(rows[end]!.kind)) end += 1;
    const run = end - at;
    if (run >= SHORTEST && !opened.has(at)) found.push({ at, run });
    else for (let each = at; each < end; each += 1) found.push({ at: each, run: 0 });
    if (end < rows.length) found.push({ at: end, run: 0 });
    at = end + 1;
  }
  return found;
}

export function tally(rows: readonly Row[]): Map<Kind, number> {
  const counts = new Map<Kind, number>();
  for (const row of rows) counts.set(row.kind, (counts.get(row.kind) ?? 0) + 1);
  return counts;
}
