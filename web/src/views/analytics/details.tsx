/** What stands below the charts: by kind, estimates, the prompt cache, and advice. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { NumberInput, Segments } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { SessionChoice } from "../../parts/sessionchoice";
import { Badge, Bar, Failure, Loading, Panel, Plain, Scroll } from "../../parts/surfaces";
import { change, dollars, number, percent, plural } from "../../parts/text";
import { ago, exactly } from "../../parts/time";
import { useDelayed } from "../../state/delayed";

type Shown = Schemas["AnalyticsView"];
type Group = Shown["groups"][number];

const NAMES: Record<Group["by"], string> = { source: "Entry point", provider: "Provider", strategy: "Strategy", trigger: "Trigger", preset: "Preset", step: "Pass" };

export function Groups({ groups }: { groups: readonly Group[] }) {
  const kinds = [...new Set(groups.map((each) => each.by))];
  const [chosen, setChosen] = useState<Group["by"] | null>(null);
  const by = chosen && kinds.includes(chosen) ? chosen : (kinds[0] ?? "provider");
  const shown = groups.filter((each) => each.by === by).sort((one, other) => other.tokens_saved - one.tokens_saved);
  const most = Math.max(1, ...shown.map((each) => each.tokens_saved));
  return (
    <Panel title="Where it was saved" flush actions={<Segments label="By" unlabelled value={by} choices={kinds.map((id) => ({ id, name: NAMES[id] ?? id }))} onChange={setChosen} />}>
      <Scroll label="By kind" className="figures-scroll">
        <table className="figures">
          <thead><tr><th>{NAMES[by]}</th><th className="end">Times</th><th className="end">Failed</th><th className="figures-wide">Tokens saved</th></tr></thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.name}>
                <th scope="row"><Plain text={each.name || "unknown"} /></th>
                <td className="end">{number(each.compressions)}</td>
                <td className={each.failures ? "end bad" : "end quiet"}>{number(each.failures)}</td>
                <td>
                  <span className="figures-amount">
                    <Bar label={`${number(each.tokens_saved)} tokens`} parts={[{ share: Math.max(0, each.tokens_saved) / most }]} />
                    <span>{number(each.tokens_saved)} <span className="quiet">{each.tokens_before ? change(-each.tokens_saved / each.tokens_before) : ""}</span></span>
                  </span>
                </td>
              </tr>
            ))}
            {shown.length === 0 && <tr><td colSpan={4} className="quiet">Nothing yet.</td></tr>}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

export function Estimates({ estimates }: { estimates: Shown["estimates"] }) {
  const { condensations, within_a_fifth, median_miss, records } = estimates;
  const most = Math.max(1e-12, ...records.flatMap((each) => [Number(each.estimated ?? 0), Number(each.actual ?? 0)]));
  return (
    <Panel title="Estimate against actual" flush actions={condensations > 0 && <Badge look={within_a_fifth === condensations ? "good" : "warn"}>{within_a_fifth} of {condensations} within a fifth</Badge>}>
      {records.length === 0 ? (
        <p className="quiet ana-none">Nothing was paid for yet: summaries by a model appear here, with what they were expected to cost.</p>
      ) : (
        <Scroll label="Estimates" className="figures-scroll">
          <table className="figures">
            <thead><tr><th>When</th><th>Recipe</th><th>Model</th><th className="figures-wide">Expected, and paid</th><th className="end">Miss</th></tr></thead>
            <tbody>
              {records.toReversed().map((each, index) => (
                <tr key={index}>
                  <td title={exactly(each.at)}>{ago(each.at)}</td>
                  <th scope="row"><Plain text={each.way} /></th>
                  <td><Plain text={each.model} /></td>
                  <td>
                    <span className="figures-amount">
                      <Bar label={`expected ${dollars(each.estimated)}`} parts={[{ share: Number(each.estimated ?? 0) / most, colour: "var(--line-strong)" }]} />
                      <Bar label={`paid ${dollars(each.actual)}`} parts={[{ share: Number(each.actual ?? 0) / most }]} />
                      <span>{dollars(each.estimated)} <span className="quiet">→</span> {dollars(each.actual)}</span>
                    </span>
                  </td>
                  <td className="end">{each.error === null ? "–" : change(each.error)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {median_miss !== null && <p className="quiet small ana-none">The median miss is {percent(Math.abs(median_miss))}.</p>}
        </Scroll>
      )}
    </Panel>
  );
}

export function CacheEffects({ cache }: { cache: Shown["cache"] }) {
  return (
    <Panel title="Effect on the prompt cache" flush>
      {cache.length === 0 ? (
        <p className="quiet ana-none">A compaction changes what the vendor has cached. What that costs once, and when it is paid back, appears here.</p>
      ) : (
        <Scroll label="Prompt cache" className="figures-scroll">
          <table className="figures">
            <thead><tr><th>Session</th><th className="end">Tokens</th><th className="end">Rewrite, once</th><th className="end">Saved a request</th><th className="end">Pays after</th></tr></thead>
            <tbody>
              {cache.map((each, index) => (
                <tr key={index}>
                  <th scope="row"><a href={`#/chat/${encodeURIComponent(each.session)}`}><Plain text={each.title || "Untitled"} /></a> <span className="quiet small">{ago(each.at)}</span></th>
                  <td className="end">{number(each.tokens_before)} → {number(each.tokens_after)}</td>
                  <td className="end">{dollars(each.rewrite)}</td>
                  <td className="end good">{dollars(each.saved_per_request)}</td>
                  <td className="end">{each.turns === null ? "–" : plural(each.turns, "request")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

export function Advice() {
  const [session, setSession] = useState("");
  const [turns, setTurns] = useState(20);
  const query = { session, turns: useDelayed(turns) };
  const advice = useQuery({
    queryKey: ["advice", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/analytics/recommendations", { params: { query }, signal })),
  });
  return (
    <Panel title="What would save more">
      <div className="stack">
        <div className="ana-scope">
          <SessionChoice label="For the conversation" value={session} onChange={setSession} />
          <NumberInput label="Requests to come" value={turns} min={1} max={100_000} onChange={(value) => setTurns(value ?? 20)} />
        </div>
        {advice.error ? (
          <Failure error={advice.error} retry={() => void advice.refetch()} />
        ) : !advice.data ? (
          <div className="ana-wait"><Loading lines={4} label="Comparing" /></div>
        ) : advice.data.length === 0 ? (
          <p className="quiet">Nothing would save more.</p>
        ) : (
          <ul className="ana-advice" aria-label="Recommendations">
            {advice.data.map((each) => (
              <li key={each.text}>
                <Icon name={each.saves && Number(each.saves) > 0 ? "check" : "info"} size={14} />
                <span className="grow"><Plain text={each.text} /></span>
                {each.saves && Number(each.saves) > 0 && <span className="ana-saves">saves {dollars(each.saves)}</span>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
