/** Fields made from a schema, each with its meaning and what is wrong with it. */
import { SchemaForm } from "../../parts/form";
import { faultAt, type Path, type Problem, type Values } from "./model";
import type { Schema } from "./schema";

export interface FormProps {
  schema: Schema;
  definition?: string;
  values: Values;
  onChange: (name: string, value: unknown) => void;
  /** Where these values stand in the preset. */
  path: Path;
  problems: readonly Problem[];
  /** The only fields to show, in this order. */
  only?: readonly string[];
}

export function Form({ path, problems, ...rest }: FormProps) {
  return <SchemaForm {...rest} faultOf={(name) => faultAt(problems, [...path, name])} />;
}
