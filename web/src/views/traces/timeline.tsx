/** A trace as a tree with its timeline, and what is known of the span that is chosen. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type CSSProperties, type KeyboardEvent } from "react";
import type { Schemas } from "../../api/client";
import { Icon } from "../../parts/icons";
import { Badge, Plain } from "../../parts/surfaces";
import { legible, seconds } from "../../parts/text";
import { exactly } from "../../parts/time";
import { ticks } from "../../parts/scale";
import { inSight, parents, placeOf, type Span } from "./tree";

type Trace = Schemas["TraceTree"];
const HEIGHT = 30;

export function Timeline({ trace }: { trace: Trace }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState(trace.spans[0]?.id ?? "");
  const shown = useMemo(() => inSight(trace.spans, closed), [trace.spans, closed]);
  const above = useMemo(() => parents(trace.spans), [trace.spans]);
  const total = Math.max(trace.seconds, ...trace.spans.map((each) => each.offset + each.seconds));
  const span = trace.spans.find((each) => each.id === chosen);
  const turn = (id: string, shut: boolean) => {
    const next = new Set(closed);
    if (shut) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  return (
    <div className="tr-body">
      <div className="tr-tree">
        <Axis total={total} />
        <Tree shown={shown} above={above} closed={closed} chosen={chosen} total={total} choose={setChosen} turn={turn} />
      </div>
      {span && <Inspector span={span} />}
    </div>
  );
}

/** The ticks of the time, without the last, which would hang over the edge. */
function Axis({ total }: { total: number }) {
  return (
    <div className="tr-axis" aria-hidden="true">
      <span>Span</span>
      <span className="tr-ticks">
        {ticks(total, 4).filter((each) => each < total * 0.93).map((each) => (
          <i key={each} style={{ insetInlineStart: `${(each / Math.max(total, 1e-9)) * 100}%` }}>{each === 0 ? "0" : seconds(each)}</i>
        ))}
      </span>
    </div>
  );
}

interface TreeProps {
  shown: readonly Span[];
  above: ReadonlySet<string>;
  closed: ReadonlySet<string>;
  chosen: string;
  total: number;
  choose: (id: string) => void;
  turn: (id: string, shut: boolean) => void;
}

function Tree({ shown, above, closed, chosen, total, choose, turn }: TreeProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => HEIGHT, overscan: 10, getItemKey: (index) => shown[index]!.id });
  const at = Math.max(0, shown.findIndex((each) => each.id === chosen));
  const move = (index: number) => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, index))];
    if (!next) return;
    choose(next.id);
    virtual.scrollToIndex(shown.indexOf(next));
  };
  const press = (event: KeyboardEvent) => {
    const span = shown[at];
    if (!span) return;
    const steps: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(shown.length - 1),
      ArrowRight: () => (closed.has(span.id) ? turn(span.id, false) : above.has(span.id) && move(at + 1)),
      ArrowLeft: () => (above.has(span.id) && !closed.has(span.id) ? turn(span.id, true) : move(shown.findIndex((each) => each.id === span.parent))),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };
  return (
    <div ref={scroller} className="tr-rows" style={{ "--rows": `${virtual.getTotalSize()}px` } as CSSProperties} role="tree" aria-label="Spans" tabIndex={0} aria-activedescendant={`span-${at}`} onKeyDown={press}>
      <div className="tr-canvas" role="presentation" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const span = shown[index]!;
          const has = above.has(span.id);
          return (
            <div
              key={key}
              id={`span-${index}`}
              role="treeitem"
              aria-level={span.depth + 1}
              aria-expanded={has ? !closed.has(span.id) : undefined}
              aria-selected={span.id === chosen}
              className="tr-row"
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => choose(span.id)}
            >
              <span className="tr-label" style={{ paddingInlineStart: Math.min(span.depth, 12) * 14 }}>
                <span className="tr-turn" aria-hidden="true" onClick={() => has && turn(span.id, !closed.has(span.id))}>
                  {has && <Icon name={closed.has(span.id) ? "right" : "down"} size={11} />}
                </span>
                {span.failed && <Icon name="alert" size={12} className="bad" />}
                <Plain className="cut" text={span.name || span.kind || span.id} />
              </span>
              <Duration span={span} total={total} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Duration({ span, total }: { span: Span; total: number }) {
  const { start, width } = placeOf(span, total);
  const place = start + width <= 72 ? { insetInlineStart: `calc(${start + width}% + 7px)` } : { insetInlineEnd: `calc(${100 - start}% + 6px)` };
  const inside = start < 16 && start + width > 72;
  return (
    <span className="tr-lane">
      <i className="tr-bar" data-failed={span.failed || undefined} style={{ insetInlineStart: `${start}%`, width: `max(3px, ${width}%)` }} />
      <span className="tr-time" data-inside={inside || undefined} style={inside ? { insetInlineStart: `calc(${start}% + 7px)` } : place}>{seconds(span.seconds)}</span>
    </span>
  );
}

function Inspector({ span }: { span: Span }) {
  const facts = Object.entries(span.properties);
  return (
    <aside className="tr-inspector" aria-label="Span">
      <h3><Plain text={span.name} /></h3>
      <span className="row wrap">
        {span.kind && <Badge>{legible(span.kind)}</Badge>}
        <Badge look={span.failed ? "bad" : "good"}>{span.failed ? "failed" : "ok"}</Badge>
        <Badge>{seconds(span.seconds)}</Badge>
      </span>
      <dl className="tr-properties">
        <div><dt>started</dt><dd>{exactly(span.started_at)}</dd></div>
        <div><dt>after</dt><dd>{seconds(span.offset)}</dd></div>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt><Plain text={name} /></dt>
            <dd><Plain className={typeof value === "string" ? "" : "mono"} text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} /></dd>
          </div>
        ))}
      </dl>
      {facts.length === 0 && <p className="quiet small">It tells nothing else.</p>}
    </aside>
  );
}
