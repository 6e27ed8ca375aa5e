import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Segments, TextInput } from "../../parts/controls";
import { Failure, Loading, Panel, View } from "../../parts/surfaces";
import { useDelayed } from "../../state/delayed";
import { Form } from "./fields";
import { changed, draftOf, faultAt, presetOf, type Draft, type Values } from "./model";
import { Group, PassEditor } from "./pass";
import { Passes } from "./passes";
import { Preview, type Valid } from "./preview";
import { fieldsOf, type Schema } from "./schema";
import { Toolbar } from "./toolbar";
import "./editor.css";

/** What is being edited, and what it was made of: it outlasts the view, as long as the page is open. */
let left: { loaded: string; origin: Draft | undefined; draft: Draft | null } = { loaded: "balanced", origin: undefined, draft: null };

export default function Editor() {
  const presets = useQuery({ queryKey: ["presets"], queryFn: ({ signal }) => got(api.GET("/api/presets", { signal })) });
  const [loaded, setLoaded] = useState(left.loaded);
  const preset = presets.data?.find((each) => each.name === loaded);
  const start = useQuery({
    queryKey: ["start", preset],
    enabled: !!preset,
    staleTime: Infinity,
    gcTime: Infinity,
    queryFn: async () => {
      const { complete } = await got(api.POST("/api/presets/validate", { body: preset! }));
      const name = preset!.own ? preset!.name : `my-${preset!.name}`;
      return draftOf({ ...preset!, name }, complete ?? {});
    },
  });
  const [draft, setDraft] = useState<Draft | null>(left.draft);
  useEffect(() => {
    if (!start.data || start.data === left.origin) return;
    left = { ...left, origin: start.data };
    setDraft(start.data);
  }, [start.data]);
  useEffect(() => {
    left = { ...left, loaded, draft };
  }, [loaded, draft]);
  const verdict = useVerdict(draft);
  const error = presets.error ?? start.error;
  const valid = verdict.problems.length === 0 && verdict.current;
  const edited = !!draft && !!start.data && JSON.stringify(presetOf(draft)) !== JSON.stringify(presetOf(start.data));
  return (
    <View
      title="Editor"
      about={draft?.provider === "smart" ? "Passes run from top to bottom; where there is a target, until it is met." : draft ? `Settings of the provider ${draft.provider}.` : ""}
      actions={
        <Toolbar
          presets={presets.data ?? []}
          loaded={loaded}
          load={setLoaded}
          draft={draft}
          valid={valid}
          edited={edited}
          unsaved={edited || (!!draft && !preset?.own)}
        />
      }
    >
      {error ? (
        <Failure error={error} retry={() => void (presets.error ? presets.refetch() : start.refetch())} />
      ) : draft ? (
        <Workbench draft={draft} setDraft={setDraft} verdict={verdict} />
      ) : (
        <section className="panel"><div className="body"><Loading lines={10} label="Reading the preset" /></div></section>
      )}
    </View>
  );
}

interface Verdict {
  problems: { path: (string | number)[]; message: string }[];
  /** The provider and its settings as they were last valid. */
  last: Valid | null;
  /** Whether this is about the draft as it is now. */
  current: boolean;
}

/** What the server says about a draft, a moment after it was last changed. */
function useVerdict(draft: Draft | null): Verdict {
  const now = useMemo(() => draft && presetOf(draft), [draft]);
  const settled = useDelayed(now, 250);
  const asked = useQuery<Schemas["Verdict"]>({
    queryKey: ["validate", settled],
    enabled: !!settled,
    gcTime: 10_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.POST("/api/presets/validate", { body: settled!, signal })),
  });
  const [last, setLast] = useState<Valid | null>(null);
  const complete = asked.isPlaceholderData ? null : asked.data?.complete;
  const { provider, when_missed } = settled ?? {};
  useEffect(() => {
    if (complete && provider && when_missed) setLast({ provider, settings: complete, when_missed });
  }, [complete, provider, when_missed]);
  return {
    problems: asked.data?.problems ?? [],
    last: draft ? last : null,
    current: settled === now && !asked.isPlaceholderData && !asked.isFetching,
  };
}

interface WorkbenchProps {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  verdict: Verdict;
}

function Workbench({ draft, setDraft, verdict }: WorkbenchProps) {
  const schema = useQuery({
    queryKey: ["schema", draft.provider],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await got(api.GET("/api/presets/schema/{provider}", { params: { path: { provider: draft.provider } }, signal }))) as Schema,
  });
  const [selected, setSelected] = useState("");
  const { passes } = draft;
  const { problems } = verdict;
  const index = Math.max(0, passes?.findIndex((each) => each.key === selected) ?? 0);
  const pass = passes?.[index];
  if (schema.error) return <Failure error={schema.error} retry={() => void schema.refetch()} />;
  if (!schema.data) return <section className="panel"><div className="body"><Loading lines={10} /></div></section>;
  const setting = (name: string, value: unknown) => setDraft({ ...draft, settings: { ...draft.settings, [name]: value } });
  return (
    <div className="workbench" data-passes={passes ? true : undefined}>
      <div className="stack list-side">
        <Panel title="Preset">
          <div className="stack">
            <TextInput label="Name" value={draft.name} maxLength={64} fault={faultAt(problems, ["name"])} onChange={(name) => setDraft({ ...draft, name })} />
            <TextInput label="Description" lines value={draft.description} maxLength={2000} onChange={(description) => setDraft({ ...draft, description })} />
            <Segments
              label="Where its passes miss a target"
              value={draft.when_missed}
              choices={[{ id: "continue", name: "Go on as auto does" }, { id: "stop", name: "Stop" }]}
              onChange={(when_missed) => setDraft({ ...draft, when_missed })}
            />
            {passes && (
              <Form schema={schema.data} values={draft.settings} path={["settings"]} problems={problems} only={general(schema.data, draft.settings)} onChange={setting} />
            )}
          </div>
        </Panel>
        {passes && (
          <Panel title="Passes" flush>
            <Prelude schema={schema.data} draft={draft} setDraft={setDraft} problems={problems} />
            <Passes
              passes={passes}
              usual={usualPass(schema.data)}
              problems={problems}
              selected={pass?.key ?? ""}
              select={setSelected}
              onChange={(next) => setDraft({ ...draft, passes: next })}
            />
            {faultAt(problems, ["settings"]) && <p className="bad small none" role="alert">{faultAt(problems, ["settings"])}</p>}
          </Panel>
        )}
      </div>
      <div className="effect-side">
        <Preview last={verdict.last} valid={problems.length === 0} />
      </div>
      <Panel title={pass ? `Pass ${index + 1}` : "Settings"}>
        {passes && pass ? (
          <PassEditor
            key={pass.key}
            schema={schema.data}
            values={pass.values}
            path={["settings", "passes", index]}
            problems={problems}
            onChange={(values) => setDraft({ ...draft, passes: passes.with(index, { ...pass, values }) })}
          />
        ) : passes ? (
          <p className="quiet">Add a pass, or let the prelude do all the work.</p>
        ) : (
          <div className="grid">
            <Form schema={schema.data} values={draft.settings} path={["settings"]} problems={problems} onChange={setting} />
          </div>
        )}
      </Panel>
    </div>
  );
}

interface PreludeProps extends Omit<WorkbenchProps, "verdict"> {
  schema: Schema;
  problems: Verdict["problems"];
}

function Prelude({ schema, draft, setDraft, problems }: PreludeProps) {
  const values = (draft.settings.lossless_prelude ?? {}) as Values;
  const on = values.enabled === true;
  return (
    <div className="prelude">
      <Group title="Lossless prelude">
        <Form
          schema={schema}
          definition="Prelude"
          values={values}
          path={["settings", "lossless_prelude"]}
          problems={problems}
          only={on ? ["enabled", "level"] : ["enabled"]}
          onChange={(name, value) => setDraft({ ...draft, settings: changed(draft.settings, ["lossless_prelude", name], value) })}
        />
      </Group>
    </div>
  );
}

/** The settings beside the passes: the target, and what is set for every pass. */
function general(schema: Schema, settings: Values): string[] {
  const shared = fieldsOf(schema).filter(({ name, optional }) => optional && settings[name] != null);
  return [...new Set(["target_reduction", ...shared.map(({ name }) => name)])];
}

/** A pass with everything as usual. */
function usualPass(schema: Schema): Values {
  const defaults = schema.$defs?.PassSettings?.properties ?? {};
  return Object.fromEntries(fieldsOf(schema, "PassSettings").map(({ name }) => [name, structuredClone(defaults[name]?.default)]));
}
