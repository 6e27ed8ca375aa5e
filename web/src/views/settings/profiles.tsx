/** Who may be asked to summarize and to answer, whether they can be, and what each would cost. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { NumberInput, Tip } from "../../parts/controls";
import { SessionChoice } from "../../parts/sessionchoice";
import { Badge, Empty, Failure, Loading, Panel, Plain } from "../../parts/surfaces";
import { dollars, number, plural } from "../../parts/text";
import { useDelayed } from "../../state/delayed";

type Profile = Schemas["ProfileView"];

export function Profiles() {
  const all = useQuery({ queryKey: ["profiles"], queryFn: ({ signal }) => got(api.GET("/api/profiles", { signal })) });
  return (
    <>
      <Panel title="Profiles" flush>
        {all.error ? <Failure error={all.error} retry={() => void all.refetch()} /> : !all.data ? <div className="set-none"><Loading lines={5} /></div> : <Standings profiles={all.data} />}
      </Panel>
      <Costs />
    </>
  );
}

function Standings({ profiles }: { profiles: readonly Profile[] }) {
  if (!profiles.length) {
    return (
      <Empty icon="key" title="No profile is configured">
        <p><code>compact profiles add</code> names a model and where its key is. Without one, summaries are made by plain code.</p>
      </Empty>
    );
  }
  return (
    <div className="set-scroll">
      <table className="set-table">
        <thead>
          <tr><th>Profile</th><th>Model</th><th>Standing</th><th>Used for</th><th>Key</th><th className="end">In / out, $ per million</th><th className="end">Reads</th></tr>
        </thead>
        <tbody>
          {profiles.map((each) => (
            <tr key={`${each.source}:${each.name}`}>
              <th scope="row"><Plain text={each.name} /> {each.source === "vendor" && <Badge>usual model</Badge>}</th>
              <td><Plain text={each.model} /> <span className="quiet small">{each.vendor}</span></td>
              <td><Standing profile={each} /></td>
              <td>{each.use}</td>
              <td><Plain className="quiet" text={each.key || "none"} /></td>
              <td className="end">{each.input_price ?? "?"} / {each.output_price ?? "?"}</td>
              <td className="end">{number(each.context_window)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Standing({ profile }: { profile: Profile }) {
  const told = [...profile.problems, ...profile.remarks];
  const badge = profile.ready ? "badge good" : "badge warn";
  const word = profile.ready ? "ready" : "not ready";
  if (!told.length) return <span className={badge}>{word}</span>;
  return (
    <Tip text={told.map((each) => <p key={each}>{each}</p>)}>
      <AriaButton className={badge}>{word}</AriaButton>
    </Tip>
  );
}

function Costs() {
  const [session, setSession] = useState("");
  const [turns, setTurns] = useState(20);
  const query = { session, turns: useDelayed(turns) };
  const costs = useQuery({
    queryKey: ["costs", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/profiles/costs", { params: { query }, signal })),
  });
  return (
    <Panel title="Cost comparison">
      <div className="stack">
        <div className="set-scope">
          <SessionChoice label="For the conversation" value={session} onChange={setSession} />
          <NumberInput label="Requests to come" value={turns} min={1} max={100_000} onChange={(value) => setTurns(value ?? 20)} />
        </div>
        {costs.error ? <Failure error={costs.error} retry={() => void costs.refetch()} /> : !costs.data ? <Loading lines={8} label="Comparing" /> : <Options costs={costs.data} />}
      </div>
    </Panel>
  );
}

function Options({ costs }: { costs: Schemas["CostComparison"] }) {
  return (
    <>
      <p className="soft">{number(costs.tokens)} tokens for {costs.model}, over {plural(costs.turns, "request")}.</p>
      <div className="set-scroll">
        <table className="set-table">
          <thead>
            <tr><th>Way</th><th>Asks</th><th className="end">Tokens after</th><th className="end">Condensing</th><th className="end">Cache rewrite</th><th className="end">Saved a request</th><th className="end">Pays after</th></tr>
          </thead>
          <tbody>
            {costs.options.map((each, index) => (
              <tr key={index}>
                <th scope="row">{each.way}</th>
                <td>{each.model ? <Plain text={each.model} /> : <span className="quiet">nobody</span>} {each.profile && <span className="quiet small">{each.profile}</span>}</td>
                <td className="end">{number(each.tokens_after)}</td>
                <td className="end">{dollars(each.condensing)}</td>
                <td className="end">{dollars(each.rewrite)}</td>
                <td className="end good">{dollars(each.saved_per_request)}</td>
                <td className="end">{each.turns === null ? "never" : plural(each.turns, "request")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {costs.recommendations.length > 0 && (
        <ul className="set-advice" aria-label="Recommendations">
          {costs.recommendations.map((each) => <li key={each}><Plain text={each} /></li>)}
        </ul>
      )}
    </>
  );
}
