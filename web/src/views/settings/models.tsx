/** What each model reads, as the catalogue or a person says. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, IconButton, NumberInput, TextInput } from "../../parts/controls";
import { faultOf } from "../../parts/form";
import { modelName } from "../../parts/models";
import { Badge, Failure, Loading, Panel, Plain, Scroll, Window } from "../../parts/surfaces";
import { number, percent, plural } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";

type Model = Schemas["ModelView"];
type Edit = Schemas["ModelEdit"];

export function Models() {
  const models = useQuery({ queryKey: ["models"], queryFn: ({ signal }) => got(api.GET("/api/models", { signal })) });
  const [asked, setAsked] = useState<Model | "new" | null>(null);
  const close = () => setAsked(null);
  if (models.error) return <Panel title="Models"><Failure error={models.error} retry={() => void models.refetch()} /></Panel>;
  if (!models.data) return <Panel title="Models"><Loading lines={6} /></Panel>;
  return (
    <Panel title="Models" flush actions={<><Detect /><Button icon="plus" onPress={() => setAsked("new")}>Add a model</Button></>}>
      <Scroll label="Models" className="set-scroll">
        <table className="set-table set-models">
          <thead>
            <tr>
              <th>Model</th><th className="end">Maximum input</th><th className="end">Maximum output</th>
              <th className="end">Threshold</th><th className="end">Stays</th><th>Source</th><th><span className="unseen">Actions</span></th>
            </tr>
          </thead>
          <tbody>{models.data.models.map((each) => <ModelRow key={each.id} model={each} edit={() => setAsked(each)} />)}</tbody>
        </table>
      </Scroll>
      {models.data.models.length === 0 && <p className="quiet set-none">Models that sessions use appear here by themselves; others can be added.</p>}
      <Window title={asked === "new" ? "Add a model" : "Edit the model"} open={asked !== null} onClose={close}>
        {asked !== null && <ModelForm model={asked === "new" ? null : asked} suggested={models.data.suggested_max_input} done={close} />}
      </Window>
    </Panel>
  );
}

/** Asks the vendors of all profiles how much their models read and write. */
function Detect() {
  const asking = useModelChange(() => got(api.POST("/api/models/detect", { body: { profile: "" } })), found);
  return <Button isPending={asking.isPending} onPress={() => asking.mutate(undefined)}>Ask the vendors</Button>;
}

/** What vendors told of their models. */
export function found(vendors: Schemas["DetectionView"][]): string {
  if (!vendors.length) return "No profile is configured, so there is no vendor to ask.";
  return vendors.map((each) => each.problem ? `${each.profile}: ${each.problem}` : `${each.profile}: the limits of ${each.told} of ${plural(each.named, "model")}.`).join(" ");
}

function useModelChange<T, A>(run: (given: T) => Promise<A>, told: string | ((answer: A) => string), done?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (answer) => {
      toast(typeof told === "string" ? told : told(answer));
      done?.();
      return Promise.all(["models", "settings", "session"].map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
    onError: (error) => faultOf(error, "") ?? tellFailure(error),
  });
}

function ModelRow({ model, edit }: { model: Model; edit: () => void }) {
  const at = { params: { path: { id: model.id } } };
  const reset = useModelChange(() => got(api.POST("/api/models/{id}/reset", at)), `${modelName(model.id)} is as the catalogue says again.`);
  const drop = useModelChange(() => got(api.DELETE("/api/models/{id}", at)), `Forgot ${modelName(model.id)}.`);
  return (
    <tr>
      <th scope="row"><Plain text={model.model} /> {model.provider !== "unknown" && <span className="quiet small">{model.provider}</span>}</th>
      <td className="end" data-title="Maximum input">{number(model.effective_max_input)}</td>
      <td className="end" data-title="Maximum output">{model.max_output === null ? "–" : number(model.max_output)}</td>
      <td className="end" data-title="Threshold"><Effective own={model.threshold !== null} from={model.threshold_source === "profile" ? `Of profile ${model.threshold_name}` : undefined}>{percent(model.effective_threshold)}</Effective></td>
      <td className="end" data-title="Stays"><Effective own={model.retention !== null}>{number(model.effective_retention)} tokens</Effective></td>
      <td data-title="Source"><Badge look={model.source === "manual" ? "accent" : undefined}>{SOURCES[model.source]}</Badge></td>
      <td className="end">
        <span className="row set-actions">
          <IconButton tiny icon="edit" label={`Edit ${modelName(model.id)}`} onPress={edit} />
          <IconButton tiny icon="restore" label={`Reset ${modelName(model.id)} to what is known of it`} isDisabled={model.source === "default"} isPending={reset.isPending} onPress={() => reset.mutate(undefined)} />
          <IconButton tiny icon="trash" label={`Delete ${modelName(model.id)}`} isDisabled={drop.isPending} onPress={() => drop.mutate(undefined)} />
        </span>
      </td>
    </tr>
  );
}

const SOURCES: Record<Model["source"], string> = { manual: "set by you", api: "vendor", default: "catalogue" };

function Effective({ own, from, children }: { own: boolean; from?: string | undefined; children: ReactNode }) {
  return <span className={own ? "strong" : "quiet"} title={own ? "Its own" : (from ?? "As for every model")}>{children}</span>;
}

function ModelForm({ model, suggested, done }: { model: Model | null; suggested: number; done: () => void }) {
  const [who, setWho] = useState({ provider: "", model: "" });
  const [edit, setEdit] = useState<Edit>(model ?? { max_input: suggested, max_output: null, threshold: null, retention: null });
  const { max_input, max_output, threshold, retention } = edit;
  const body = { max_input, max_output, threshold, retention };
  const saving = useModelChange(
    () => (model ? got(api.PUT("/api/models/{id}", { params: { path: { id: model.id } }, body })) : got(api.POST("/api/models", { body: { ...body, ...who } }))),
    "Saved. It holds at once for every session with the model.",
    done,
  );
  const fault = (name: string) => faultOf(saving.error, name);
  return (
    <div className="stack">
      {model ? <p className="strong">{modelName(model.id)}</p> : (
        <>
          <TextInput label="Vendor" placeholder="openai" value={who.provider} maxLength={100} fault={fault("provider")} onChange={(provider) => setWho({ ...who, provider })} />
          <TextInput label="Model" placeholder="gpt-4o" value={who.model} maxLength={200} fault={fault("model")} onChange={(name) => setWho({ ...who, model: name })} />
          <Known name={who.model} take={(found) => { setWho({ provider: found.vendor, model: found.id }); setEdit({ ...edit, max_input: found.max_input, max_output: found.max_output }); }} />
        </>
      )}
      <NumberInput label="Maximum input, tokens" hint={`What a request may hold. ${number(suggested)} is usual where nobody knows.`} value={max_input} min={1_000} fault={fault("max_input")} onChange={(value) => setEdit({ ...edit, max_input: value ?? suggested })} />
      <NumberInput label="Maximum output, tokens" optional value={max_output ?? null} min={1} fault={fault("max_output")} onChange={(value) => setEdit({ ...edit, max_output: value })} />
      <NumberInput label="Threshold of its own" hint="5% to 100% of the window; none to use its profile’s or everybody’s." optional format={{ style: "percent", maximumFractionDigits: 1 }} step={0.01} min={0.05} max={1} value={threshold ?? null} fault={fault("threshold")} onChange={(value) => setEdit({ ...edit, threshold: value })} />
      <NumberInput label="Tokens of the last messages that stay" optional value={retention ?? null} min={0} fault={fault("retention")} onChange={(value) => setEdit({ ...edit, retention: value })} />
      <div className="row">
        <Button look="primary" isDisabled={saving.isPending || (!model && !(who.provider && who.model))} onPress={() => saving.mutate(undefined)}>Save</Button>
        <Button look="ghost" onPress={done}>Cancel</Button>
      </div>
    </div>
  );
}

/** What the catalogue has under such a name. */
function Known({ name, take }: { name: string; take: (found: Schemas["CatalogueModel"]) => void }) {
  const text = useDelayed(name.trim(), 250);
  const found = useQuery({
    queryKey: ["catalogue", text],
    enabled: text.length > 1,
    queryFn: ({ signal }) => got(api.GET("/api/catalogue", { params: { query: { text, limit: 5 } }, signal })),
  });
  if (!found.data?.models.length) return null;
  return (
    <div className="row wrap" role="group" aria-label="From the catalogue">
      {found.data.models.map((each) => (
        <Button key={`${each.vendor}:${each.id}`} tiny onPress={() => take(each)}>
          {each.id} <span className="quiet">{number(each.max_input)}</span>
        </Button>
      ))}
    </div>
  );
}
