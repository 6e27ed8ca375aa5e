/** One pass: what it is called, which messages it takes, what it does to them, and when. */
import type { ReactNode } from "react";
import { Button, Choose, IconButton, NumberInput } from "../../parts/controls";
import { Form } from "./fields";
import { at, changed, faultAt, type Path, type Problem, type Values } from "./model";
import { OPERATIONS, OperationEditor } from "./operation";
import type { Schema } from "./schema";

const SELECTED: Record<string, readonly string[]> = {
  preserve_recent: ["type", "keep_recent"],
  preserve_percent: ["type", "keep_percentage"],
  custom: ["type", "indices"],
  oversized: ["type", "keep_recent", "result_threshold", "parameter_threshold", "priority"],
};

const CONTENT = [
  { name: "message_text", title: "Message text", about: "What people and the model said." },
  { name: "tool_parameters", title: "Tool parameters", about: "Each text in the arguments of calls." },
  { name: "tool_results", title: "Tool results", about: "What tools answered." },
] as const;

interface PassEditorProps {
  schema: Schema;
  values: Values;
  path: Path;
  problems: readonly Problem[];
  onChange: (values: Values) => void;
}

export function PassEditor({ schema, values, path, problems, onChange }: PassEditorProps) {
  const group = (name: string, definition: string, only?: readonly string[]) => (
    <>
      <Form
        schema={schema}
        definition={definition}
        values={at(values, [name]) as Values}
        path={[...path, name]}
        problems={problems}
        only={only}
        onChange={(field, value) => onChange(changed(values, [name, field], value))}
      />
      <Fault problems={problems} path={[...path, name]} />
    </>
  );
  const selection = String(at(values, ["selection", "type"]));
  const conditional = at(values, ["execution", "type"]) === "conditional";
  const own = (only: readonly string[]) => (
    <Form
      schema={schema}
      definition="PassSettings"
      values={values}
      path={path}
      problems={problems}
      only={only}
      onChange={(name, value) => onChange({ ...values, [name]: value })}
    />
  );
  return (
    <div className="pass-editor">
      <Group title="What it is">
        <div className="grid">{own(["name", "id"])}</div>
        {own(["description"])}
      </Group>
      <Group title="Which messages">
        <div className="grid">{group("selection", "SelectionSettings", SELECTED[selection])}</div>
      </Group>
      <Group title="What is done to them">
        {own(["mode"])}
        {values.mode === "batch" ? (
          <div className="grid">{group("batch", "BatchSettings")}</div>
        ) : (
          <Individual schema={schema} values={values} path={path} problems={problems} onChange={onChange} />
        )}
      </Group>
      <Group title="When it runs">
        <div className="grid">
          {group("execution", "Execution", conditional ? ["type", "token_threshold", "window_share"] : ["type"])}
        </div>
      </Group>
    </div>
  );
}

function Individual({ schema, values, path, problems, onChange }: PassEditorProps) {
  const set = (where: Path, value: unknown) => onChange(changed(values, ["individual", ...where], value));
  return (
    <>
      {CONTENT.map(({ name, title, about }) => (
        <OperationEditor
          key={name}
          title={title}
          about={about}
          schema={schema}
          values={at(values, ["individual", "defaults", name]) as Values}
          path={[...path, "individual", "defaults", name]}
          problems={problems}
          onChange={(next) => set(["defaults", name], next)}
        />
      ))}
      <Overrides
        values={(at(values, ["individual", "overrides"]) ?? {}) as Record<string, Values>}
        onChange={(next) => set(["overrides"], next)}
      />
      <div className="grid">
        <Form
          schema={schema}
          definition="IndividualSettings"
          values={at(values, ["individual"]) as Values}
          path={[...path, "individual"]}
          problems={problems}
          only={["markers", "handles"]}
          onChange={(name, value) => set([name], value)}
        />
      </div>
    </>
  );
}

const AS_ALL = { id: "usual", name: "As for all" } as const;

/** Other operations for single messages. */
function Overrides({ values, onChange }: { values: Record<string, Values>; onChange: (values: Record<string, Values>) => void }) {
  const entries = Object.entries(values).sort(([one], [other]) => Number(one) - Number(other));
  const renamed = (from: string, to: number) =>
    onChange(Object.fromEntries(entries.map(([key, each]) => [key === from ? String(to) : key, each])));
  const next = () => {
    let free = 0;
    while (String(free) in values) free += 1;
    return String(free);
  };
  return (
    <div className="stack">
      {entries.map(([key, each]) => (
        <div key={key} className="override" role="group" aria-label={`Override for message ${key}`}>
          <NumberInput label="Message" value={Number(key)} onChange={(to) => to !== null && !(String(to) in values) && renamed(key, to)} />
          {CONTENT.map(({ name, title }) => (
            <Choose
              key={name}
              label={title}
              value={String((each[name] as Values | null)?.operation ?? "usual")}
              choices={[AS_ALL, ...OPERATIONS]}
              onChange={(operation) =>
                onChange({ ...values, [key]: { ...each, [name]: operation === "usual" ? null : { ...(each[name] as Values | null), operation } } })
              }
            />
          ))}
          <IconButton icon="trash" label={`Delete the override for message ${key}`} onPress={() => onChange(Object.fromEntries(entries.filter(([other]) => other !== key)))} />
        </div>
      ))}
      <div>
        <Button tiny icon="plus" onPress={() => onChange({ ...values, [next()]: {} })}>
          Another operation for a single message
        </Button>
      </div>
    </div>
  );
}

export function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="group">
      <h2>{title}</h2>
      <div className="stack">{children}</div>
    </section>
  );
}

export function Fault({ problems, path }: { problems: readonly Problem[]; path: Path }) {
  const fault = faultAt(problems, path);
  return fault ? <p className="bad small whole" role="alert">{fault}</p> : null;
}
