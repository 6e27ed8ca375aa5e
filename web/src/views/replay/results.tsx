/** What was played, row by row as the server has it: a sentence, two charts, and a table. */
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Badge, Bar, Empty, Failure, Panel, Plain, Scroll } from "../../parts/surfaces";
import { brief, change, dollars, number, percent } from "../../parts/text";
import { limited } from "../../state/delayed";
import type { Inspected } from "../../state/transcript";
import { Costs, Sizes } from "./charts";
import { cheapest, coloursOf, NOTHING, verdict } from "./figures";
import type { Way, Wish } from "./form";
import "../../parts/ways.css";

type Shown = Schemas["WayPlayed"];

const COLUMNS = ["Dollars", "Against none", "Input", "Cached", "Compactions", "Largest request", "Refused"] as const;
// The server computes: more at once would only make the first answer later.
const inTurn = limited(2);

interface ResultsProps {
  transcript: Inspected;
  ways: readonly Way[];
  wish: Wish;
}

export function Results({ transcript, ways, wish }: ResultsProps) {
  const [selected, select] = useState("");
  const shown = ways.filter((each) => wish.ways.includes(each.name));
  const plays = useQueries({
    queries: shown.map(({ name }) => ({
      queryKey: ["replay", transcript.id, { ...wish, ways: [name] }],
      staleTime: Infinity,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => inTurn(() => got(api.POST("/api/replay", { body: { ...wish, upload: transcript.id, ways: [name], gap: 30 }, signal }))),
    })),
  });
  const first = plays.find((each) => each.data)?.data;
  const done = plays.flatMap((each) => each.data?.ways ?? []);
  const failed = plays.filter((each) => each.error);
  if (failed.length === plays.length) return <Panel title="Played"><Failure error={failed[0]?.error} retry={() => plays.forEach((each) => void each.refetch())} /></Panel>;
  if (first && first.ways[0]!.sizes.length === 0) {
    return <section className="panel"><Empty icon="replay" title="There is nothing to play"><p>No model was asked in this transcript: it holds no answers.</p></Empty></section>;
  }
  const waiting = done.length + failed.length < plays.length;
  const best = waiting ? undefined : cheapest(done);
  const emphasised = selected || best?.way || "";
  const colours = coloursOf(ways);
  return (
    <>
      <Progress done={done.length + failed.length} of={plays.length} told={waiting ? "" : verdict(done)} first={first} />
      <div className="charts">
        <section className="panel"><Costs ways={done} expected={plays.length} colours={colours} /></section>
        <section className="panel"><Sizes ways={done} window={first?.window ?? 0} colours={colours} emphasised={emphasised} /></section>
      </div>
      <Panel title="Way by way" flush>
        <Scroll label="Results" className="ways-scroll">
          <table className="ways">
            <thead><tr><th scope="col">Way</th>{COLUMNS.map((each, index) => <th key={each} scope="col" className={index ? "end" : ""}>{each}</th>)}</tr></thead>
            <tbody>
              {shown.map((way, index) => (
                <Row
                  key={way.name}
                  way={way}
                  colour={colours.get(way.name)}
                  played={plays[index]?.data?.ways[0]}
                  error={plays[index]?.error}
                  done={done}
                  cheapest={way.name === best?.way}
                  selected={way.name === emphasised}
                  select={() => select(way.name)}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      </Panel>
    </>
  );
}

function Progress({ done, of, told, first }: { done: number; of: number; told: string; first: Schemas["ReplayView"] | undefined }) {
  return (
    <section className="panel" aria-label="Outcome">
      <div className="body rep-outcome">
        <p role="status" className="strong"><Plain text={told || `${done} of ${of} ways played…`} /></p>
        {told ? (
          first && <p className="quiet small">{number(first.ways[0]!.sizes.length)} requests to <Plain text={first.model} />, which reads {number(first.window)} tokens, 30 seconds apart.</p>
        ) : (
          <Bar label={`${done} of ${of}`} parts={[{ share: done / of }]} />
        )}
      </div>
    </section>
  );
}

interface RowProps {
  way: Way;
  colour: string | undefined;
  played: Shown | undefined;
  error: Error | null | undefined;
  done: readonly Shown[];
  cheapest: boolean;
  selected: boolean;
  select: () => void;
}

function Row({ way, colour, played, error, done, cheapest: best, selected, select }: RowProps) {
  return (
    <tr data-selected={selected || undefined} onClick={select}>
      <th scope="row">
        <label className="way">
          <input type="radio" name="played" checked={selected} onChange={select} />
          <span className="stack tight">
            <span className="row">
              <i className="rep-dot" style={{ background: colour }} />
              <Plain text={way.name} className="strong" />
              {way.kind === "own" && <Badge look="accent">yours</Badge>}
              {best && <Badge look="good">cheapest</Badge>}
            </span>
            <span className="quiet small clamp">{way.description}</span>
          </span>
        </label>
      </th>
      {played ? (
        <Cells played={played} done={done} />
      ) : error ? (
        <td colSpan={COLUMNS.length} className="bad small plain">{error.message}</td>
      ) : (
        COLUMNS.map((each, index) => <td key={each}><span className="skeleton rep-wait" style={{ width: index ? 44 : 90 }} /></td>)
      )}
    </tr>
  );
}

function Cells({ played, done }: { played: Shown; done: readonly Shown[] }) {
  const most = Math.max(1e-12, ...done.map((each) => Number(each.dollars ?? 0)));
  const untouched = Number(done.find((each) => each.way === NOTHING)?.dollars ?? 0);
  const compared = played.dollars !== null && untouched > 0 && played.way !== NOTHING;
  return (
    <>
      <td data-title="Dollars">
        <span className="amount">
          <span className="strong">{dollars(played.dollars)}</span>
          <span className="bar" aria-hidden="true"><span style={{ width: `${(100 * Number(played.dollars ?? 0)) / most}%` }} /></span>
        </span>
      </td>
      <td data-title="Against none" className="end">{compared ? change(Number(played.dollars) / untouched - 1) : "–"}</td>
      <td data-title="Input" className="end">{brief(played.tokens)}</td>
      <td data-title="Cached" className="end">{percent(played.cache_hit_rate)}</td>
      <td data-title="Compactions" className="end">{number(played.compactions)}</td>
      <td data-title="Largest request" className="end">{number(played.peak)}</td>
      <td data-title="Refused" className="end">{played.overflows ? <Badge look="bad">{number(played.overflows)}</Badge> : <span className="quiet">none</span>}</td>
    </>
  );
}
