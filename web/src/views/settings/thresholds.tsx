/** From which part of the window each profile and model compresses, and who says so. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { NumberInput } from "../../parts/controls";
import { Badge, Bar, Failure, Loading, Panel, Plain } from "../../parts/surfaces";
import { number, percent } from "../../parts/text";
import { useDelayed } from "../../state/delayed";
import { useConfig } from "./config";

export function Thresholds() {
  const config = useConfig();
  const [own, setUsual] = useState<number | null>(null);
  const said = config.data?.settings.find((each) => each.field === "policy.trigger_pct")?.value;
  const usual = own ?? Math.round((typeof said === "number" ? said : 0.85) * 100);
  const tried = useDelayed(own, 200);
  const profiles = useQuery({
    queryKey: ["thresholds", tried],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/settings/thresholds", { params: { query: tried === null ? {} : { default: tried } }, signal })),
  });
  const models = useQuery({ queryKey: ["models"], queryFn: ({ signal }) => got(api.GET("/api/models", { signal })) });
  const error = profiles.error ?? models.error;
  if (error) return <Panel title="Thresholds"><Failure error={error} retry={() => void Promise.all([profiles.refetch(), models.refetch()])} /></Panel>;
  if (!profiles.data || !models.data) return <Panel title="Thresholds"><Loading lines={6} /></Panel>;
  return (
    <Panel title="Thresholds">
      <div className="stack">
        <p className="soft">A conversation is compacted when it reaches this share of its model’s window: 5% to 100%. A model’s own goes before its profile’s, and that before everybody’s.</p>
        <h3>Stored sessions, by model</h3>
        <div className="set-scroll">
          <table className="set-table">
            <thead>
              <tr><th>Model</th><th className="end">Reads</th><th className="set-wide">Compresses from</th><th>From</th></tr>
            </thead>
            <tbody>
              {models.data.models.map((each) => (
                <tr key={each.id}>
                  <th><Plain text={each.id} /></th>
                  <td className="end">{number(each.effective_max_input)}</td>
                  <td><Share share={each.effective_threshold} tokens={Math.round(each.effective_threshold * each.effective_max_input)} /></td>
                  <td><From source={each.threshold_source} name={each.threshold_name} /></td>
                </tr>
              ))}
              {models.data.models.length === 0 && <tr><td colSpan={4} className="quiet">No model was used yet.</td></tr>}
            </tbody>
          </table>
        </div>
        <h3>Managers and the gateway, by profile</h3>
        <div className="set-usual">
          <NumberInput label="Everybody’s threshold, percent" value={usual} min={5} max={100} hint="As configured here, unless you try another one." onChange={setUsual} />
        </div>
        <div className="set-scroll">
          <table className="set-table">
            <thead>
              <tr><th>Profile</th><th>Its own</th><th className="set-wide">Compresses from</th><th>From</th></tr>
            </thead>
            <tbody>
              {profiles.data.map((each) => (
                <tr key={each.profile}>
                  <th><Plain text={each.profile} /></th>
                  <td>{each.own === null ? <span className="quiet">inherits</span> : `${each.own}%`}</td>
                  <td>
                    <Share share={each.effective / 100} /> <span className="quiet small">down to {percent(each.target / 100)}</span>
                    {each.warning && <span className="small warn">{each.warning}</span>}
                  </td>
                  <td><From source={each.origin} name="" /></td>
                </tr>
              ))}
              {profiles.data.length === 0 && <tr><td colSpan={4} className="quiet">No profile is configured; the page Profiles adds one.</td></tr>}
            </tbody>
          </table>
        </div>
      </div>
    </Panel>
  );
}

const FROM: Record<Schemas["ThresholdView"]["origin"], string> = { profile: "profile", model: "its own", workspace: "workspace", global: "everybody’s", default: "the default" };

/** Where a threshold was set. */
function From({ source, name }: { source: keyof typeof FROM; name: string }) {
  const own = source === "profile" || source === "model";
  const text = source !== "profile" ? FROM[source] : name ? `profile ${name}` : "its own";
  return <Badge look={own ? "accent" : undefined}>{text}</Badge>;
}

function Share({ share, tokens }: { share: number; tokens?: number }) {
  return (
    <span className="set-share">
      <Bar label={percent(share)} parts={[{ share }]} />
      <span>
        {percent(share)} {tokens !== undefined && <span className="quiet">{number(tokens)} tokens</span>}
      </span>
    </span>
  );
}
