/** The default recipe; the providers side by side, and the settings of one of them, kept as a preset. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, Choose, TextInput } from "../../parts/controls";
import { SchemaForm, type SchemaFormProps } from "../../parts/form";
import { fieldsOf, type Schema } from "../../parts/schema";
import { Badge, Failure, Loading, Panel, Plain, Scroll } from "../../parts/surfaces";
import { plural } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";
import { RECIPES, useRecipes } from "../../state/recipes";

type All = Schemas["ProvidersView"];
type Provider = All["providers"][number];

export function Providers() {
  const all = useQuery<All>({ queryKey: ["providers"], queryFn: ({ signal }) => got(api.GET("/api/settings/providers", { signal })) });
  const [chosen, setChosen] = useState("");
  if (all.error) return <Panel title="Providers"><Failure error={all.error} retry={() => void all.refetch()} /></Panel>;
  if (!all.data) return <Panel title="Providers"><Loading lines={12} /></Panel>;
  const current = all.data.providers.find((each) => each.id === (chosen || all.data.default)) ?? all.data.providers[0]!;
  return (
    <>
      <DefaultRecipe />
      <Panel title="Providers" flush>
        <Comparison all={all.data} current={current.id} choose={setChosen} />
      </Panel>
      <Panel title={`Settings of ${current.name}`} actions={<Badge>version {current.version}</Badge>}>
        {current.error ? <p className="bad">{current.error}</p> : <ProviderForm key={current.id} provider={current} />}
      </Panel>
    </>
  );
}

const SAYS: Record<Schemas["RecipesView"]["source"], string> = {
  environment: "named by COMPACT_RECIPE in the server’s environment, which comes before any choice here",
  chosen: "chosen here or by a command",
  "built-in": "as Compact comes",
};

const MISSED: Record<Schemas["RecipeView"]["when_missed"], string> = {
  stop: "This one does only what it is named for, even where a target is missed.",
  continue: "Where this one misses a target, auto goes on from there.",
};

function DefaultRecipe() {
  const client = useQueryClient();
  const recipes = useRecipes();
  const choosing = useMutation({
    mutationFn: (recipe: string) => got(api.PUT("/api/recipes/default", { body: { recipe } })),
    onSuccess: (view) => {
      client.setQueryData(RECIPES, view);
      toast(`From now on, ${view.default} is used wherever no recipe is named.`);
      return client.invalidateQueries({ queryKey: ["providers"] });
    },
    onError: tellFailure,
  });
  if (recipes.error) return <Panel title="Default recipe"><Failure error={recipes.error} retry={() => void recipes.refetch()} /></Panel>;
  if (!recipes.data) return <Panel title="Default recipe"><Loading lines={3} /></Panel>;
  const { default: name, source, recipes: all } = recipes.data;
  const current = all.find((each) => each.default);
  return (
    <Panel title="Default recipe" actions={current && <Badge>provider {current.provider || "unknown"}</Badge>}>
      <div className="stack">
        <div className="set-form">
          <Choose
            label="Compact with"
            value={name}
            choices={all.map((each) => ({ id: each.name, name: each.name, description: each.description }))}
            onChange={(next) => choosing.mutate(next)}
            hint={`${name}, ${SAYS[source]}`}
            isDisabled={source === "environment" || choosing.isPending}
          />
        </div>
        <p className="soft">
          Used by the chat, the gateway, the Inspector, the commands and the library wherever no recipe is named.{" "}
          {current && current.provider !== "auto" && MISSED[current.when_missed]}
        </p>
        {current?.error && <Plain text={current.error} className="small bad" />}
      </div>
    </Panel>
  );
}

function Comparison({ all, current, choose }: { all: All; current: string; choose: (id: string) => void }) {
  return (
    <Scroll label="Providers side by side" className="set-scroll">
      <table className="set-table set-compare">
        <caption className="unseen">The providers side by side</caption>
        <thead>
          <tr>
            <td />
            {all.providers.map((each) => (
              <th key={each.id} scope="col" data-selected={each.id === current || undefined}>
                <label>
                  <input type="radio" name="provider" checked={each.id === current} onChange={() => choose(each.id)} />
                  <span className="strong">{each.name}</span>
                </label>
                {each.id === all.default && <Badge look="accent">default</Badge>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr className="set-about">
            <th scope="row">what it does</th>
            {all.providers.map((each) => <td key={each.id} data-selected={each.id === current || undefined}>{each.description}</td>)}
          </tr>
          {all.comparison.map((row) => (
            <tr key={row.feature}>
              <th scope="row">{row.feature}</th>
              {all.providers.map((each) => <td key={each.id} data-selected={each.id === current || undefined}>{row[each.id] ?? "–"}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function ProviderForm({ provider }: { provider: Provider }) {
  const client = useQueryClient();
  const schema = provider.json_schema as Schema;
  const [settings, setSettings] = useState<Record<string, unknown>>({});
  const [name, setName] = useState("");
  const draft = { name: name || "unnamed", description: "", provider: provider.id, settings, when_missed: "continue" as const };
  const asked = useDelayed(draft);
  const verdict = useQuery<Schemas["Verdict"]>({
    queryKey: ["verdict", asked],
    placeholderData: (before) => before,
    queryFn: ({ signal }) => got(api.POST("/api/presets/validate", { body: asked, signal })),
  });
  const saving = useMutation({
    mutationFn: async (use: boolean) => {
      await got(api.PUT("/api/presets/{name}", { params: { path: { name } }, body: draft }));
      if (use) await got(api.PUT("/api/recipes/default", { body: { recipe: name } }));
    },
    onSuccess: (_, use) => {
      toast(use ? `Saved “${name}”. From now on it is used wherever no recipe is named.` : `Saved “${name}”. The Inspector and the editor offer it now.`);
      return Promise.all([["presets"], ["providers"], RECIPES].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
    onError: tellFailure,
  });
  const problems = verdict.data?.problems ?? [];
  const fault = (...path: string[]) => problems.find((each) => each.path.join(".") === path.join("."))?.message;
  const values = { ...defaults(schema), ...settings };
  const nested = fieldsOf(schema).length < Object.keys(schema.properties ?? {}).length || provider.id === "smart";
  return (
    <div className="stack">
      <p className="soft">{provider.description}</p>
      <FoldedForm schema={schema} values={values} faultOf={(field) => fault("settings", field)} onChange={(field, value) => setSettings({ ...settings, [field]: value })} />
      {nested && <p className="quiet">Its passes are edited in the <a href="#/editor">editor</a>.</p>}
      <div className="row wrap set-keep">
        <TextInput label="Keep these settings as a preset" placeholder="A name" value={name} onChange={setName} maxLength={64} fault={name ? fault("name") : undefined} />
        <Button look="primary" isDisabled={!name || problems.length > 0} isPending={saving.isPending} onPress={() => saving.mutate(false)}>
          Save preset
        </Button>
        <Button isDisabled={!name || problems.length > 0} isPending={saving.isPending} onPress={() => saving.mutate(true)}>
          Save and use
        </Button>
      </div>
      {problems.filter((each) => each.path.length < 2 && each.path[0] !== "name").map((each) => (
        <Plain key={each.message} text={each.message} className="small bad" />
      ))}
    </div>
  );
}

const SHOWN = 8;

/** The first fields; the others unfold, and are open where one of them is wrong. */
function FoldedForm(form: Omit<SchemaFormProps, "only">) {
  const names = fieldsOf(form.schema).map((each) => each.name);
  const advanced = names.slice(SHOWN);
  return (
    <>
      <div className="set-form">
        <SchemaForm {...form} only={names.slice(0, SHOWN)} />
      </div>
      {advanced.length > 0 && (
        <details open={advanced.some(form.faultOf) || undefined}>
          <summary>Advanced: {plural(advanced.length, "more setting")}</summary>
          <div className="set-form">
            <SchemaForm {...form} only={advanced} />
          </div>
        </details>
      )}
    </>
  );
}

function defaults(schema: Schema): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, each.default]));
}
