/** One message: a line that says what became of it, and below it what stood there and what stands there now. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { Button, Tip } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { Failure, Loading, Plain } from "../../parts/surfaces";
import { brief, bytes, plural } from "../../parts/text";
import type { Inspected } from "../../state/transcript";
import { Diff } from "./diff";
import type { Row } from "./runs";

interface RowLineProps {
  transcript: Inspected;
  result: string;
  at: number;
  row: Row;
  open: boolean;
  toggle: () => void;
}

export function RowLine({ transcript, result, at, row, open, toggle }: RowLineProps) {
  const gone = row.tokens_after !== row.tokens_before;
  return (
    <article className="message" data-kind={row.kind}>
      <div className="line">
        <button className="headline-button" aria-expanded={open} onClick={toggle}>
          <Icon name={open ? "down" : "right"} size={12} />
          <span className="position">{row.before ?? "+"}</span>
          <span className="role">{row.role}</span>
          <Plain text={row.title || "(no text)"} className="cut title" />
          <span className="tokens">
            {gone && result ? (
              <>
                {brief(row.tokens_before)} → <span className="strong">{brief(row.tokens_after)}</span>
              </>
            ) : (
              brief(row.tokens_before)
            )}
          </span>
        </button>
        {result && <KindMark row={row} />}
      </div>
      {open && <Detail transcript={transcript} result={result} at={at} row={row} />}
    </article>
  );
}

/** What became of a message; hovered or focused, why. */
function KindMark({ row }: { row: Row }) {
  const reasons = row.reasons ?? [];
  if (!reasons.length) return <span className="badge" data-kind={row.kind}>{row.kind}</span>;
  return (
    <Tip
      text={reasons.map((each, index) => (
        <p key={index}>
          <strong>{each.step}</strong>: {each.why || each.kind}
          {(each.edits ?? 1) > 1 && `, ${plural(each.edits ?? 1, "edit")}`}
        </p>
      ))}
    >
      <AriaButton className="badge" data-kind={row.kind}>
        {row.kind}
      </AriaButton>
    </Tip>
  );
}

type Part = Schemas["ShownPart"];

function Detail({ transcript, result, at, row }: Omit<RowLineProps, "open" | "toggle">) {
  const [whole, setWhole] = useState(false);
  const path = { id: transcript.id, row: at };
  const parts = useQuery<readonly Part[]>({
    queryKey: ["row", transcript.id, result, at, whole],
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      got(api.GET("/api/inspect/{id}/rows/{row}", { params: { path, query: { result, whole } }, signal })),
  });
  if (parts.error) return <Failure error={parts.error} retry={() => void parts.refetch()} />;
  if (!parts.data) return <div className="detail waiting"><Loading lines={4} label="Reading the message" /></div>;
  const hidden = parts.data.reduce((sum, part) => sum + part.hidden, 0);
  return (
    <div className="detail">
      {parts.data.length === 0 && <p className="quiet small nothing">There is nothing to read in this message.</p>}
      {parts.data.map((part, index) => (
        <Section key={index} part={part} row={row} whole={whole} />
      ))}
      {hidden > 0 && (
        <div className="row more">
          <span className="quiet small">{bytes(hidden)} of text are not shown.</span>
          <Button tiny isPending={parts.isFetching} onPress={() => setWhole(true)}>
            Show all
          </Button>
        </div>
      )}
    </div>
  );
}

const TITLES: Record<Part["kind"], string> = {
  text: "",
  reasoning: "reasoning",
  call: "calls",
  result: "result of",
  image: "picture",
  file: "file",
  other: "",
};

function Section({ part, row, whole }: { part: Part; row: Row; whole: boolean }) {
  const changed = part.hunks.some((hunk) => !hunk.same);
  const title = `${TITLES[part.kind]} ${part.kind === "reasoning" ? "" : part.title}`.trim();
  return (
    <section className="part">
      {title && <Plain text={title} className="part-title" />}
      <Diff hunks={part.hunks} kind={row.kind} single={!changed} whole={whole} />
    </section>
  );
}
