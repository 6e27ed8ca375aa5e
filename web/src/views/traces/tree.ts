/** Spans as rows of a tree: which are in sight, and where each stands in time. */
import type { Schemas } from "../../api/client";

export type Span = Schemas["SpanRow"];

/** The spans that are not below a closed one; they come in the order of the tree. */
export function inSight(spans: readonly Span[], closed: ReadonlySet<string>): Span[] {
  const found: Span[] = [];
  let hidden = Infinity;
  for (const span of spans) {
    if (span.depth > hidden) continue;
    hidden = closed.has(span.id) ? span.depth : Infinity;
    found.push(span);
  }
  return found;
}

/** The ids of the spans that have others below them. */
export function parents(spans: readonly Span[]): Set<string> {
  return new Set(spans.flatMap((span, index) => ((spans[index + 1]?.depth ?? 0) > span.depth ? [span.id] : [])));
}

/** Where a span stands on the timeline, in percent. */
export function placeOf(span: Pick<Span, "offset" | "seconds">, total: number): { start: number; width: number } {
  const whole = Math.max(total, 1e-9);
  const start = Math.min(100, (span.offset / whole) * 100);
  return { start, width: Math.min(100 - start, (span.seconds / whole) * 100) };
}
