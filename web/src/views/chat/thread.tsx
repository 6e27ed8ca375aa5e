/** Messages in a list of which only what is in sight is fetched and drawn; the newest are at its end. */
import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Button } from "../../parts/controls";
import { Failure } from "../../parts/surfaces";
import { MessageItem, type Opened } from "./message";
import { PAGE, pageQuery, type Message } from "./queries";

export interface Jump {
  position: number;
  query: string;
}

/** From how many pixels on the way back to the newest is offered. */
const FAR = 400;
/** Up to how many one is at the end. */
const NEAR = 80;

interface ThreadProps {
  session: string;
  label: string;
  /** Messages from before the first position that are shown all the same. */
  kept: readonly Message[];
  first: number;
  total: number;
  /** What comes after the stored messages: what was just said, and its answer. */
  tail: readonly ReactNode[];
  jump?: Jump | undefined;
}

export function Thread({ session, label, kept, first, total, tail, jump }: ThreadProps) {
  const stored = kept.length + total - first;
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const unfolding = useMemo<Opened>(
    () => ({ has: (key) => opened.has(key), open: (key) => setOpened((now) => new Set(now).add(key)) }),
    [opened],
  );
  const virtual = useVirtualizer({
    count: stored + tail.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => (index < kept.length ? `kept-${kept[index]!.id}` : first + index - kept.length),
    overscan: 4,
    paddingStart: 12,
    paddingEnd: 20,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR,
  });
  const items = virtual.getVirtualItems();
  const [far, setFar] = useState(false);
  const ended = useRef(!jump);
  const look = () => {
    setFar(!virtual.isAtEnd(FAR));
  };
  useEffect(look);
  const positions = items.flatMap(({ index }) => (index >= kept.length && index < stored ? [first + index - kept.length] : []));
  const found = usePages(session, positions);
  useEffect(() => {
    if (jump) virtual.scrollToIndex(jump.position - first + kept.length, { align: "center" });
    else virtual.scrollToEnd();
    // Only once for a session and for each jump: after that, the reader scrolls.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [session, jump]);
  useEffect(() => (scroller.current ? resized(scroller.current, () => ended.current && virtual.scrollToEnd()) : undefined), [virtual, found.error]);
  const speaking = tail.length > 0;
  useEffect(() => {
    if (speaking) virtual.scrollToEnd();
  }, [speaking, virtual]);
  if (found.error) return <Failure error={found.error} retry={found.retry} />;
  return (
    <div className="thread-around">
      <div
        className="thread"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={label}
        onScroll={() => {
          ended.current = virtual.isAtEnd(NEAR);
          look();
        }}
      >
        <div role="list" className="thread-canvas" style={{ height: virtual.getTotalSize() }}>
          {items.map((each) => (
            <div
              key={each.key}
              role="listitem"
              aria-setsize={stored}
              aria-posinset={each.index + 1}
              data-index={each.index}
              ref={virtual.measureElement}
              className="thread-item"
              style={{ transform: `translateY(${each.start}px)` }}
            >
              {each.index >= stored ? (
                tail[each.index - stored]
              ) : (
                <Slot
                  session={session}
                  message={each.index < kept.length ? kept[each.index] : found.at(first + each.index - kept.length)}
                  opened={unfolding}
                  jump={jump}
                />
              )}
            </div>
          ))}
        </div>
      </div>
      {far && stored > 0 && (
        <span className="thread-end">
          <Button icon="down" onPress={() => virtual.scrollToEnd()}>
            Newest
          </Button>
        </span>
      )}
    </div>
  );
}

/** Runs whenever the list has got another size, as a notice above or below it came or went. */
function resized(list: Element, run: () => void): () => void {
  let first = true;
  const observer = new ResizeObserver(() => {
    if (!first) run();
    first = false;
  });
  observer.observe(list);
  return () => observer.disconnect();
}

function Slot({ session, message, opened, jump }: { session: string; message: Message | undefined; opened: Opened; jump: Jump | undefined }) {
  if (!message) return <div className="said waiting" role="img" aria-label="Loading"><span className="skeleton" /></div>;
  return <MessageItem session={session} message={message} query={jump?.query ?? ""} opened={opened} flash={jump?.position === message.position} />;
}

/** The messages at the positions, by pages. */
function usePages(session: string, positions: readonly number[]) {
  const pages = [...new Set(positions.map((each) => Math.floor(each / PAGE)))];
  const results = useQueries({ queries: pages.map((page) => pageQuery(session, page)) });
  const failed = results.find((each) => each.error && !each.data);
  return {
    error: failed?.error,
    retry: () => void failed?.refetch(),
    at: (position: number): Message | undefined => results[pages.indexOf(Math.floor(position / PAGE))]?.data?.messages[position % PAGE],
  };
}
