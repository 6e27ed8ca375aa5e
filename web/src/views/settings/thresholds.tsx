/** From which share of the window conversations are compacted: for all, saved here, and with each model. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, NumberInput } from "../../parts/controls";
import { modelName } from "../../parts/models";
import { Bar, Failure, Loading, Panel, Plain, Scroll } from "../../parts/surfaces";
import { number, percent } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";

type Shown = Schemas["ThresholdsView"];
type InForce = Shown["gateway"];

const SHARE = { style: "percent", maximumFractionDigits: 1 } as const;

export function Thresholds() {
  const thresholds = useQuery<Shown>({ queryKey: ["thresholds"], refetchOnMount: "always", queryFn: ({ signal }) => got(api.GET("/api/settings/thresholds", { signal })) });
  if (thresholds.error) return <Panel title="Thresholds"><Failure error={thresholds.error} retry={() => void thresholds.refetch()} /></Panel>;
  if (!thresholds.data) return <Panel title="Thresholds"><Loading lines={6} /></Panel>;
  const { sessions, gateway, models } = thresholds.data;
  return (
    <Panel title="Thresholds">
      <div className="stack">
        <p className="soft">A conversation is compacted when it reaches this share of its model’s window: 5% to 100%. A model’s own goes before its profile’s, and that before the one for all.</p>
        <ForAll key={thresholds.data.own} shown={thresholds.data} />
        <Scroll label="Thresholds by model" className="set-scroll">
          <table className="set-table">
            <thead>
              <tr><th>Model</th><th className="end">Reads</th><th className="set-wide">Stored sessions and chat, from</th><th className="set-wide">Gateway, from</th></tr>
            </thead>
            <tbody>
              {models.map((each) => (
                <tr key={each.model}>
                  <th scope="row"><Plain text={modelName(each.model)} /> {each.profile && <span className="quiet small">{each.profile}</span>}
                    {each.warnings.map((warning) => <span key={warning} className="small warn">{warning}</span>)}
                  </th>
                  <td className="end">{number(each.window)}</td>
                  <td><Share threshold={each.sessions} window={each.window} /></td>
                  <td><Share threshold={each.gateway} window={each.window} /></td>
                </tr>
              ))}
              <tr>
                <th scope="row">Any other model</th><td className="end quiet">–</td>
                <td><Share threshold={sessions} /></td>
                <td><Share threshold={gateway} /></td>
              </tr>
            </tbody>
          </table>
        </Scroll>
        <p className="quiet small">A program with a CompactManager of its own goes by its profile and <a href="#/settings/config">configuration</a>.</p>
      </div>
    </Panel>
  );
}

/** The threshold for all: one value for stored sessions, the chat and the gateway. */
function ForAll({ shown: { own } }: { shown: Shown }) {
  const client = useQueryClient();
  const [share, setShare] = useState(own);
  const saving = useMutation({
    mutationFn: () => got(api.PUT("/api/settings", { body: { workspace: "", values: { threshold: share } } })),
    onSuccess: () => {
      toast("Saved. It holds at once.");
      return Promise.all(["thresholds", "settings", "models", "session"].map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
    onError: tellFailure,
  });
  return (
    <div className="row wrap set-keep">
      <NumberInput label="Threshold for all" value={share} min={0.05} max={1} step={0.01} optional placeholder="usual" format={SHARE} onChange={setShare} />
      <Button look="primary" isPending={saving.isPending} onPress={() => saving.mutate()}>Save</Button>
    </div>
  );
}

/** Where a threshold was set, and where that can be changed. */
const SET: Record<InForce["source"], { at: string; words: (name: string) => string }> = {
  model: { at: "#/settings/models", words: () => "its own" },
  profile: { at: "#/settings/profiles", words: (name) => `profile ${name}` },
  workspace: { at: "#/settings/general", words: () => "workspace" },
  global: { at: "#/settings/config", words: (name) => (name ? `set in ${name}` : "for all") },
  default: { at: "", words: () => "usual" },
};

function Share({ threshold: { trigger_pct, target_pct, source, name }, window }: { threshold: InForce; window?: number }) {
  const { at, words } = SET[source];
  const here = source === "default" || (source === "global" && !name);
  return (
    <span className="set-share">
      <Bar label={percent(trigger_pct)} parts={[{ share: trigger_pct }]} />
      <span>
        {percent(trigger_pct)} {window !== undefined && <span className="quiet">{number(Math.round(trigger_pct * window))}</span>}{" "}
        <span className="quiet small">down to {percent(target_pct)}</span>{" "}
        {here ? <span className="badge">{words(name)}</span> : <a className="badge accent" href={at}><Plain text={words(name)} /></a>}
      </span>
    </span>
  );
}
