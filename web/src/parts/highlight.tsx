/** Places in a text that stand out: what a search found, and what redaction would take. */
import type { ReactNode } from "react";
import { legible } from "./text";

export type Span = readonly [start: number, end: number];

export interface Piece {
  text: string;
  /** Which span this is, or none. */
  span: number | null;
}

/** The text cut at the spans, which stand in order and do not overlap; places are the browser's own. */
export function cutAt(text: string, spans: readonly Span[]): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  spans.forEach(([start, end], index) => {
    if (start < at || end <= start || end > text.length) return;
    if (start > at) found.push({ text: text.slice(at, start), span: null });
    found.push({ text: text.slice(start, end), span: index });
    at = end;
  });
  if (at < text.length) found.push({ text: text.slice(at), span: null });
  return found;
}

/** The server counts characters, the browser counts halves of those beyond the first 65,536. */
export function asUnits(text: string, spans: readonly Span[]): Span[] {
  if (!/[\ud800-\udfff]/.test(text)) return [...spans];
  const places = [0];
  for (const character of text) places.push(places[places.length - 1]! + character.length);
  return spans.map(([start, end]) => [places[start] ?? text.length, places[end] ?? text.length]);
}

/** Where the words of a query stand in a text. */
export function placesOf(text: string, query: string): Span[] {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  if (!words.length) return [];
  const longest = [...new Set(words)].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(longest.join("|"), "giu");
  return Array.from(text.matchAll(pattern), (match) => [match.index, match.index + match[0].length] as const);
}

interface MarkedProps {
  text: string;
  spans: readonly Span[];
  /** What stands for a span; a mark where nothing else is said. */
  mark?: (text: string, span: number) => ReactNode;
}

export function Marked({ text, spans, mark = (found) => <mark className="found">{found}</mark> }: MarkedProps) {
  return cutAt(text, spans).map((piece, index) => (
    <span key={index}>{piece.span === null ? legible(piece.text) : mark(legible(piece.text), piece.span)}</span>
  ));
}
