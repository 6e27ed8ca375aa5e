/** Every message before and after, in a list of which only what is in sight is drawn. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { api, got } from "../../api/client";
import { Icon } from "../../parts/icons";
import { Failure, Loading } from "../../parts/surfaces";
import { number, plural } from "../../parts/text";
import type { Inspected } from "../../state/transcript";
import { RowLine } from "./row";
import { listed, tally, type Kind, type Row } from "./runs";

const KINDS: readonly { kind: Kind; name: string; about: string }[] = [
  { kind: "kept", name: "Kept", about: "as it was" },
  { kind: "reference", name: "Reference", about: "text that was shown before became a reference to it" },
  { kind: "layout", name: "Layout", about: "only layout went" },
  { kind: "superseded", name: "Superseded", about: "a later answer replaced it" },
  { kind: "truncated", name: "Truncated", about: "its middle or its end was cut" },
  { kind: "suppressed", name: "Suppressed", about: "a marker stands for it" },
  { kind: "summarized", name: "Summarized", about: "a summary stands for its text" },
  { kind: "folded", name: "Folded", about: "the whole message went into a summary" },
  { kind: "reasoning", name: "Reasoning", about: "reasoning was dropped" },
  { kind: "changed", name: "Changed", about: "changed in another way" },
  { kind: "added", name: "Added", about: "the message is new: a summary" },
];

interface ChangesProps {
  transcript: Inspected;
  result: string;
  model?: string;
}

export function Changes({ transcript, result, model = "" }: ChangesProps) {
  const { id } = transcript;
  const rows = useQuery<readonly Row[]>({
    queryKey: ["rows", id, result, model],
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/inspect/{id}/rows", { params: { path: { id }, query: { result, model } }, signal })),
  });
  if (rows.error) return <Failure error={rows.error} retry={() => void rows.refetch()} />;
  if (!rows.data) return <div className="list waiting"><Loading lines={10} label="Reading the messages" /></div>;
  return <List key={result} transcript={transcript} result={result} rows={rows.data} />;
}

interface ListProps {
  transcript: Inspected;
  result: string;
  rows: readonly Row[];
}

function List({ transcript, result, rows }: ListProps) {
  const counts = useMemo(() => tally(rows), [rows]);
  const [hidden, setHidden] = useState<ReadonlySet<Kind>>(() => new Set(result ? ["kept"] : []));
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [turned, setTurned] = useState<ReadonlySet<number>>(new Set());
  const items = useMemo(() => listed(rows, (kind) => !hidden.has(kind), opened), [rows, hidden, opened]);
  const scroller = useRef<HTMLDivElement>(null);
  const open = (at: number) => (result !== "" && !["kept", "folded"].includes(rows[at]!.kind)) !== turned.has(at);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (items[index]!.run || !open(items[index]!.at) ? 35 : 240),
    getItemKey: (index) => `${items[index]!.at}:${items[index]!.run}`,
    overscan: 6,
  });
  return (
    <>
      {result && <Legend counts={counts} hidden={hidden} setHidden={setHidden} />}
      <div className="list" ref={scroller} tabIndex={0} role="region" aria-label={result ? "Messages before and after" : "Messages"}>
        <div role="list" className="canvas" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((each) => {
            const { at, run } = items[each.index]!;
            return (
              <div
                key={each.key}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={each.index + 1}
                data-index={each.index}
                ref={virtual.measureElement}
                className="item"
                style={{ transform: `translateY(${each.start}px)` }}
              >
                {run ? (
                  <button className="run" onClick={() => setOpened(toggled(opened, at))}>
                    <Icon name="right" size={12} /> {plural(run, "message")} not shown
                  </button>
                ) : (
                  <RowLine
                    transcript={transcript}
                    result={result}
                    at={at}
                    row={rows[at]!}
                    open={open(at)}
                    toggle={() => setTurned(toggled(turned, at))}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

interface LegendProps {
  counts: ReadonlyMap<Kind, number>;
  hidden: ReadonlySet<Kind>;
  setHidden: (hidden: ReadonlySet<Kind>) => void;
}

function Legend({ counts, hidden, setHidden }: LegendProps) {
  return (
    <div className="row wrap kinds" role="group" aria-label="Kinds of edits that are shown">
      {KINDS.filter(({ kind }) => counts.has(kind)).map(({ kind, name, about }) => (
        <button
          key={kind}
          className="badge kind"
          data-kind={kind}
          aria-pressed={!hidden.has(kind)}
          title={about}
          onClick={() => setHidden(toggled(hidden, kind))}
        >
          {name} <span className="count">{number(counts.get(kind) ?? 0)}</span>
        </button>
      ))}
    </div>
  );
}

function toggled<T>(set: ReadonlySet<T>, one: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}
