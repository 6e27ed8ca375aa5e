/** What was played, as lines, colours and a sentence. */
import type { Schemas } from "../../api/client";
import { number, percent } from "../../parts/text";

export type Played = Pick<Schemas["WayPlayed"], "way" | "dollars" | "overflows">;
export type WayKind = Schemas["PlayableWay"]["kind"];

export const NOTHING = "no compaction";
/** What a chart's table shows at most. */
const ROWS = 500;
const COLOURS = ["reference", "truncated", "added", "reasoning", "superseded", "summarized", "suppressed", "layout", "folded"];

/** A colour for each way: the plain ones are grey, the others differ as long as there are colours. */
export function coloursOf(ways: readonly { name: string; kind: WayKind }[]): ReadonlyMap<string, string> {
  let next = 0;
  return new Map(
    ways.map(({ name, kind }) => [name, kind === "plain" ? "var(--ink-3)" : `var(--kind-${COLOURS[next++ % COLOURS.length]})`]),
  );
}

/** A line through the values, from left to right; where several share a pixel, through their smallest and largest. */
export function line(values: readonly number[], left: number, width: number, at: (value: number) => number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const each = Math.max(1, Math.ceil(values.length / Math.max(1, width)));
  const points: string[] = [];
  for (let start = 0; start < values.length; start += each) {
    const shared = values.slice(start, start + each);
    const x = (left + start * step).toFixed(1);
    const ends = each === 1 ? shared : [Math.min(...shared), Math.max(...shared)];
    points.push(...ends.map((value) => `${x},${at(value).toFixed(1)}`));
  }
  return points.join(" ");
}

/** Which requests a table shows: all, or every so manieth where there are too many. */
export function listedRequests(count: number): number[] {
  const every = Math.max(1, Math.ceil(count / ROWS));
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => index * every);
}

/** The cheapest way in which no request would have been refused. */
export function cheapest<T extends Played>(ways: readonly T[]): T | undefined {
  const fit = ways.filter((each) => each.dollars !== null && each.overflows === 0);
  return fit.reduce<T | undefined>((best, each) => (best && Number(best.dollars) <= Number(each.dollars) ? best : each), undefined);
}

/** What the play has shown, in a sentence. */
export function verdict(ways: readonly Played[]): string {
  const best = cheapest(ways);
  if (!best) return ways.every((each) => each.dollars === null) ? "The prices of this model are not known." : "Every way would have been refused.";
  const untouched = ways.find((each) => each.way === NOTHING);
  if (!untouched || best === untouched || !Number(untouched.dollars)) return `Cheapest: ${best.way}.`;
  const saved = percent(1 - Number(best.dollars) / Number(untouched.dollars));
  const refused = untouched.overflows ? `, of which ${number(untouched.overflows)} requests would have been refused` : "";
  return `Cheapest: ${best.way}, ${saved} less than with no compaction${refused}.`;
}
