/** How stored sessions are compacted: for all of them or a workspace, each value with where it comes from. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, TextInput } from "../../parts/controls";
import { faultOf, SchemaForm } from "../../parts/form";
import type { Schema } from "../../parts/schema";
import { Badge, Failure, Loading, Panel } from "../../parts/surfaces";
import { plural } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";
import { useRecipes } from "../../state/recipes";

type View = Schemas["StoredSettingsView"];
type Setting = View["settings"][number];

export function General() {
  const [workspace, setWorkspace] = useState("");
  const [model, setModel] = useState("");
  const scope = useDelayed({ workspace: workspace.trim(), model: model.trim() });
  const settings = useQuery<View>({
    queryKey: ["settings", scope.workspace, scope.model],
    queryFn: ({ signal }) => got(api.GET("/api/settings", { params: { query: scope }, signal })),
  });
  return (
    <Panel title="Compaction of stored sessions">
      <div className="set-scope">
        <TextInput label="Workspace" hint="Empty for the values that hold everywhere." value={workspace} onChange={setWorkspace} maxLength={200} />
        <TextInput label="As they hold for a model" hint="A model may have a threshold and a retention of its own." value={model} onChange={setModel} maxLength={200} placeholder="gpt-4o" />
      </div>
      {settings.error ? (
        <Failure error={settings.error} retry={() => void settings.refetch()} />
      ) : !settings.data ? (
        <Loading lines={12} label="Reading the settings" />
      ) : (
        <Values key={`${scope.workspace}/${scope.model}`} view={settings.data} />
      )}
    </Panel>
  );
}

function Values({ view }: { view: View }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Record<string, unknown>>({});
  const known = new Map(view.settings.map((each) => [each.name, each]));
  const saving = useMutation({
    mutationFn: (values: Record<string, unknown>) => got(api.PUT("/api/settings", { body: { workspace: view.workspace, values } })),
    onSuccess: (_, values) => {
      setDraft({});
      toast(`Saved ${plural(Object.keys(values).length, "setting")}. They hold at once.`);
      return Promise.all(["settings", "thresholds", "models", "session"].map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
    onError: (error) => faultOf(error, "") ?? tellFailure(error),
  });
  const suggestions = useSuggestions();
  const changed = Object.keys(draft).length;
  const values = { ...Object.fromEntries(view.settings.map((each) => [each.name, each.value])), ...draft };
  return (
    <>
      <div className="set-form">
        <SchemaForm
          schema={view.json_schema as Schema}
          suggestions={suggestions}
          values={values}
          faultOf={(name) => faultOf(saving.error, name)}
          onChange={(name, value) => setDraft(without({ ...draft, [name]: value }, name, known.get(name)?.value))}
          below={({ name }) => (
            <Origin
              setting={known.get(name)!}
              own={name in view.own}
              dirty={name in draft}
              reset={() => saving.mutate({ [name]: null })}
            />
          )}
        />
      </div>
      <div className="set-save" data-shown={changed > 0 || undefined}>
        <span className="soft">{changed ? `${plural(changed, "change")} not saved` : "Everything is saved."}</span>
        <span className="row push">
          <Button look="ghost" isDisabled={!changed} onPress={() => setDraft({})}>
            Discard
          </Button>
          <Button look="primary" isDisabled={!changed} isPending={saving.isPending} onPress={() => saving.mutate(draft)}>
            Save
          </Button>
        </span>
      </div>
    </>
  );
}

/** What the fields that name something may name. */
function useSuggestions(): Record<string, string[]> {
  const strategies = useQuery({ queryKey: ["strategies"], queryFn: ({ signal }) => got(api.GET("/api/prompts", { signal })) });
  const profiles = useQuery({ queryKey: ["profiles"], queryFn: ({ signal }) => got(api.GET("/api/profiles", { signal })) });
  const recipes = useRecipes();
  return {
    recipe: (recipes.data?.recipes ?? []).map((each) => each.name),
    strategy: (strategies.data ?? []).filter((each) => !each.custom).map((each) => each.name),
    profile: ["offline", ...(profiles.data ?? []).map((each) => each.name)],
  };
}

function without(draft: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (JSON.stringify(draft[name]) === JSON.stringify(value)) delete draft[name];
  return draft;
}

const FROM: Record<Setting["origin"], string> = { default: "the default", global: "set for everything", workspace: "set for this workspace", profile: "set by the model’s profile", model: "set for this model", threshold: "follows the threshold" };

function Origin({ setting, own, dirty, reset }: { setting: Setting; own: boolean; dirty: boolean; reset: () => void }) {
  return (
    <span className="set-origin">
      {dirty ? (
        <Badge look="warn">not saved</Badge>
      ) : setting.origin === "default" ? (
        <span className="quiet small">{FROM.default}</span>
      ) : (
        <Badge look="accent">{FROM[setting.origin]}</Badge>
      )}
      {setting.origin !== "default" && <span className="quiet small">default: {String(setting.default) || "empty"}</span>}
      {own && (
        <Button tiny look="ghost" icon="restore" onPress={reset} aria-label={`Reset ${setting.name}`}>
          Reset
        </Button>
      )}
    </span>
  );
}
