/** How full a model is, by kind of content, and where compaction begins. */
import type { Schemas } from "../api/client";
import { number, percent } from "./text";
import "./usage.css";

export type ContextUsage = Schemas["ContextUsage"];

const ORDER = ["system", "tools", "summary", "text", "reasoning", "tool calls", "tool results", "images", "attachments", "other", "frame"];
const NAMES: Record<string, string> = { system: "instructions", images: "pictures", frame: "structure" };

export interface Segment {
  kind: string;
  name: string;
  tokens: number;
  share: number;
}

/** What takes the room, in an order that stays the same, each as a share of the window. */
export function segmentsOf(usage: Pick<ContextUsage, "used" | "window" | "by_kind">): Segment[] {
  const room = Math.max(usage.window, usage.used, 1);
  const rank = (kind: string) => (ORDER.indexOf(kind) + ORDER.length + 1) % (ORDER.length + 1);
  return Object.entries(usage.by_kind)
    .filter(([, tokens]) => tokens > 0)
    .sort(([one], [other]) => rank(one) - rank(other) || one.localeCompare(other))
    .map(([kind, tokens]) => ({ kind, name: NAMES[kind] ?? kind, tokens, share: tokens / room }));
}

const SAYS: Record<ContextUsage["level"], string> = { calm: "", high: "nearly full", full: "full" };

export function UsageBar({ usage, automatic }: { usage: ContextUsage; automatic: boolean }) {
  const segments = segmentsOf(usage);
  const room = Math.max(usage.window, usage.used, 1);
  const told = `${number(usage.used)} of ${number(usage.window)} tokens, ${percent(usage.percent / 100)}`;
  return (
    <div className="usage" data-level={usage.level}>
      <div className="usage-line">
        <div
          className="usage-bar"
          role="meter"
          aria-label="Context in use"
          aria-valuemin={0}
          aria-valuemax={usage.window}
          aria-valuenow={Math.min(usage.used, usage.window)}
          aria-valuetext={`${told}; ${automatic ? `compaction begins at ${number(usage.trigger)}` : "automatic compaction is off"}`}
        >
          {segments.map((each, index) => (
            <span
              key={each.kind}
              data-shade={index}
              title={`${each.name}: ${number(each.tokens)} tokens`}
              style={{ width: `${each.share * 100}%` }}
            />
          ))}
          {automatic && <i className="usage-trigger" style={{ insetInlineStart: `${Math.min(100, (usage.trigger / room) * 100)}%` }} title={`Compaction begins at ${number(usage.trigger)} tokens`} />}
        </div>
        <span className="usage-told">
          <strong>{percent(usage.percent / 100)}</strong>
          {SAYS[usage.level] && <span className="usage-level">{SAYS[usage.level]}</span>}
          <span className="quiet">
            {number(usage.used)} of {number(usage.window)} tokens
          </span>
        </span>
      </div>
      <ul className="usage-legend" aria-label="What takes the room">
        {segments.map((each, index) => (
          <li key={each.kind}>
            <i data-shade={index} /> {each.name} <span className="quiet">{number(each.tokens)}</span>
          </li>
        ))}
        {automatic ? (
          <li>
            <i className="usage-mark" /> compaction begins <span className="quiet">{number(usage.trigger)}</span>
          </li>
        ) : (
          <li>automatic compaction is off</li>
        )}
      </ul>
    </div>
  );
}
