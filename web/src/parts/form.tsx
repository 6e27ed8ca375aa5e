/** A form made from a JSON Schema: each field with its meaning, and what is wrong with it. */
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { Choose, NumberInput, Segments, Switch, TextInput } from "./controls";
import { fieldsOf, type Field, type Schema } from "./schema";

const FEW = 3;
/** A switch that may be left as it usually is. */
const SWITCHED = [
  { id: "unset", name: "Not set" },
  { id: "true", name: "On" },
  { id: "false", name: "Off" },
];

export interface SchemaFormProps {
  schema: Schema;
  /** One of the schema's definitions, in place of the whole. */
  definition?: string | undefined;
  values: Readonly<Record<string, unknown>>;
  onChange: (name: string, value: unknown) => void;
  faultOf: (name: string) => string | undefined;
  /** The only fields to show, in this order. */
  only?: readonly string[] | undefined;
  /** What may be written into fields of text. */
  suggestions?: Readonly<Record<string, readonly string[]>> | undefined;
  /** What stands below a field. */
  below?: (field: Field) => ReactNode;
}

export function SchemaForm({ schema, definition, values, onChange, faultOf, only, suggestions, below }: SchemaFormProps) {
  const known = fieldsOf(schema, definition);
  const shown = only ? only.flatMap((name) => known.find((each) => each.name === name) ?? []) : known;
  return shown.map((field) => {
    const input = <FieldInput key={field.name} field={field} value={values[field.name]} fault={faultOf(field.name)} suggestions={suggestions?.[field.name]} onChange={(value) => onChange(field.name, value)} />;
    return below ? (
      <div key={field.name} className="schema-field" id={`field-${field.name}`}>
        {input}
        {below(field)}
      </div>
    ) : (
      input
    );
  });
}

interface FieldInputProps {
  field: Field;
  value: unknown;
  fault: string | undefined;
  suggestions: readonly string[] | undefined;
  onChange: (value: unknown) => void;
}

function FieldInput({ field, value, fault, suggestions, onChange }: FieldInputProps) {
  const around = { label: field.title, hint: field.about, fault };
  switch (field.kind) {
    case "choice":
      return field.choices.length <= FEW ? (
        <Segments {...around} value={String(value)} choices={field.choices} onChange={onChange} />
      ) : (
        <Choose {...around} value={String(value)} choices={field.choices} onChange={onChange} />
      );
    case "switch":
      return field.optional ? (
        <Segments {...around} value={String(value ?? "unset")} choices={SWITCHED} onChange={(chosen) => onChange(chosen === "unset" ? null : chosen === "true")} />
      ) : (
        <Switch {...around} value={value === true} onChange={onChange} />
      );
    case "whole":
    case "number": {
      const share = field.kind === "number" && field.max === 1;
      return (
        <NumberInput
          {...around}
          value={typeof value === "number" ? value : null}
          min={field.min}
          max={field.max}
          optional={field.optional}
          format={share ? { style: "percent", maximumFractionDigits: 1 } : { maximumFractionDigits: field.kind === "whole" ? 0 : 3 }}
          step={share ? 0.01 : 1}
          onChange={onChange}
        />
      );
    }
    case "numbers":
      return <Numbers {...around} value={Array.isArray(value) ? (value as number[]) : []} onChange={onChange} />;
    case "texts":
      return <Texts {...around} value={Array.isArray(value) ? (value as string[]) : []} onChange={onChange} />;
    case "text":
    case "long":
      return <TextInput {...around} suggestions={suggestions} lines={field.kind === "long"} value={String(value ?? "")} onChange={onChange} />;
    case "group":
      return null;
  }
}

function Numbers({ value, onChange, ...around }: { label: string; hint: string; fault: string | undefined; value: number[]; onChange: (value: number[]) => void }) {
  return (
    <TextInput
      {...around}
      value={value.join(", ")}
      placeholder="2, 3, -1"
      onChange={(text) => onChange((text.match(/-?\d+/g) ?? []).map(Number))}
    />
  );
}

/** Several texts, one a line. */
function Texts({ value, onChange, ...around }: { label: string; hint: string; fault: string | undefined; value: string[]; onChange: (value: string[]) => void }) {
  return (
    <TextInput
      {...around}
      lines
      value={value.join("\n")}
      placeholder="One a line"
      onChange={(text) => onChange(text === "" ? [] : text.split("\n"))}
    />
  );
}

/** The server's word on a field; of any field where the name is empty. */
export function faultOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiError) || !error.field) return undefined;
  const field = error.field.split(".").at(-1);
  return name === "" || field === name ? `${error.message}` : undefined;
}
