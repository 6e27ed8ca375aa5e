/** Reads a JSON Schema into fields that a form can show. */
import type { Choice } from "./controls";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  enum?: string[];
  const?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  description?: string;
  title?: string;
  default?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  maxLength?: number;
}

export interface Field {
  name: string;
  title: string;
  about: string;
  kind: "choice" | "switch" | "whole" | "number" | "text" | "long" | "numbers" | "texts" | "group";
  choices: Choice[];
  min: number | undefined;
  max: number | undefined;
  optional: boolean;
}

const LONG = 1_000;

/** The fields of the whole schema, or of one of its definitions. */
export function fieldsOf(schema: Schema, definition?: string): Field[] {
  const found = definition ? schema.$defs?.[definition] : schema;
  return Object.entries(found?.properties ?? {}).flatMap(([name, each]) => {
    const read = name.startsWith("$") ? undefined : field(schema, name, each);
    return read ? [read] : [];
  });
}

/** A name as people write it: keep_recent is “Keep recent”. */
export function spoken(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function field(whole: Schema, name: string, given: Schema): Field | undefined {
  const variants = (given.anyOf ?? [given]).map((each) => resolved(whole, each));
  const optional = variants.some((each) => each.type === "null");
  const shape = { ...variants.find((each) => each.type !== "null"), ...plain(given) };
  const kind = kindOf(shape);
  if (!kind) return undefined;
  return {
    name,
    title: spoken(name),
    about: given.description ?? "",
    kind,
    choices: (shape.enum ?? []).map((id) => ({ id, name: spoken(id) })),
    min: shape.minimum ?? shape.exclusiveMinimum,
    max: shape.maximum ?? shape.exclusiveMaximum,
    optional,
  };
}

function plain({ anyOf: _anyOf, $ref: _ref, ...rest }: Schema): Schema {
  return rest;
}

function resolved(whole: Schema, given: Schema): Schema {
  const name = given.$ref?.replace("#/$defs/", "");
  return (name && whole.$defs?.[name]) || given;
}

function kindOf(shape: Schema): Field["kind"] | undefined {
  if (shape.enum) return "choice";
  switch (shape.type) {
    case "boolean":
      return "switch";
    case "integer":
      return "whole";
    case "number":
      return "number";
    case "string":
      return (shape.maxLength ?? 0) > LONG ? "long" : "text";
    case "array":
      return shape.items?.type === "integer" ? "numbers" : shape.items?.type === "string" ? "texts" : undefined;
    case "object":
      return "group";
    default:
      return undefined;
  }
}
