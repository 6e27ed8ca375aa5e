/** The configuration that a program with a CompactManager would have here, and who says so. */
import { useQuery } from "@tanstack/react-query";
import { api, got, type Schemas } from "../../api/client";
import { Badge, Failure, Loading, Panel, Plain, Scroll } from "../../parts/surfaces";

type Value = Schemas["ConfigValue"];

export const useConfig = () => useQuery({ queryKey: ["config"], queryFn: ({ signal }) => got(api.GET("/api/settings/config", { signal })) });

export function Config() {
  const config = useConfig();
  if (config.error) return <Panel title="Configuration"><Failure error={config.error} retry={() => void config.refetch()} /></Panel>;
  if (!config.data) return <Panel title="Configuration"><Loading lines={12} /></Panel>;
  const { file, settings, problems, warnings } = config.data;
  return (
    <Panel title="Configuration of a CompactManager" flush actions={<Badge>{file ?? "no file"}</Badge>}>
      <p className="soft set-none">Values come from the code, then the environment, then the file, then the defaults. They are changed there, not here.</p>
      {[...problems.map((each) => `${each.field}: ${each.problem}`), ...warnings].map((each) => <p key={each} className="set-none bad small">{each}</p>)}
      <Scroll label="Configuration" className="set-scroll">
        <table className="set-table">
          <thead><tr><th>Setting</th><th>Value</th><th>From</th><th>Environment</th></tr></thead>
          <tbody>{settings.map((each) => <ConfigRow key={each.field} value={each} />)}</tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

function ConfigRow({ value }: { value: Value }) {
  return (
    <tr id={`field-${value.field}`}>
      <th scope="row"><span className="set-named"><code>{value.field}</code><span className="quiet small">{value.help}</span></span></th>
      <td className="set-value"><Plain text={written(value.value)} className="mono" /></td>
      <td><Badge look={value.source === "default" ? undefined : "accent"}>{value.source}</Badge></td>
      <td><code className="quiet small">{value.variables[0] ?? ""}</code></td>
    </tr>
  );
}

const written = (value: unknown): string => (typeof value === "string" ? value || "(empty)" : JSON.stringify(value));
