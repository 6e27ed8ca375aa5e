/** A preset as it is edited: passes have keys of their own, so that they can be renamed and moved. */
import type { Schemas } from "../../api/client";

export type Values = Record<string, unknown>;
export type WhenMissed = Schemas["RecipeView"]["when_missed"];
export type Problem = Schemas["Trouble"];
export type Path = readonly (string | number)[];

export interface Pass {
  key: string;
  values: Values;
}

export interface Draft {
  name: string;
  description: string;
  provider: string;
  when_missed: WhenMissed;
  /** Every setting but the passes. */
  settings: Values;
  /** Of the smart provider only. */
  passes: Pass[] | null;
}

let last = 0;
const newKey = () => `pass-${++last}`;

export function draftOf(preset: Schemas["Draft"], settings: Values): Draft {
  const { passes, ...rest } = settings;
  return {
    name: preset.name,
    description: preset.description ?? "",
    provider: preset.provider ?? "smart",
    when_missed: preset.when_missed ?? "continue",
    settings: rest,
    passes: Array.isArray(passes) ? passes.map((values: Values) => ({ key: newKey(), values })) : null,
  };
}

export function presetOf(draft: Draft): Omit<Draft, "passes"> {
  const { passes, settings, ...rest } = draft;
  return { ...rest, settings: passes ? { ...settings, passes: passes.map((each) => each.values) } : settings };
}

/** A name that no other pass has: `truncate`, `truncate-2`, `truncate-3`. */
export function freeId(passes: readonly Pass[], wanted: string): string {
  const taken = new Set(passes.map((each) => each.values.id));
  const stem = wanted.replace(/-\d+$/, "");
  let id = wanted;
  for (let number = 2; taken.has(id); number += 1) id = `${stem}-${number}`;
  return id;
}

export function newPass(passes: readonly Pass[], usual: Values): Pass {
  return { key: newKey(), values: { ...usual, id: freeId(passes, "pass"), name: "New pass" } };
}

export function duplicate(passes: readonly Pass[], pass: Pass): Pass {
  const values = structuredClone(pass.values);
  return { key: newKey(), values: { ...values, id: freeId(passes, String(values.id)) } };
}

/** The passes with some of them moved before or after another one. */
export function moved(passes: readonly Pass[], keys: ReadonlySet<unknown>, target: unknown, after: boolean): Pass[] {
  const moving = passes.filter((each) => keys.has(each.key));
  const rest = passes.filter((each) => !keys.has(each.key));
  const at = rest.findIndex((each) => each.key === target);
  if (at < 0) return [...passes];
  return rest.toSpliced(after ? at + 1 : at, 0, ...moving);
}

/** The value with another one at the path. */
export function changed(values: Values, path: Path, value: unknown): Values {
  const [step, ...rest] = path;
  if (step === undefined) return values;
  const inner = values[step] as Values | undefined;
  return { ...values, [step]: rest.length ? changed(inner ?? {}, rest, value) : value };
}

export function at(values: Values, path: Path): unknown {
  return path.reduce<unknown>((found, step) => (found as Values | undefined)?.[step], values);
}

/** What is wrong exactly there. */
export function faultAt(problems: readonly Problem[], path: Path): string | undefined {
  const wanted = path.join("\n");
  return problems.find((each) => each.path.join("\n") === wanted)?.message;
}

/** What is wrong there or anywhere below. */
export function faultsBelow(problems: readonly Problem[], path: Path): Problem[] {
  const wanted = path.join("\n");
  return problems.filter(({ path: found }) => found.slice(0, path.length).join("\n") === wanted);
}

const number = new Intl.NumberFormat("en-US");

/** A pass in a few words: how it works, on what, and when. */
export function badges({ values }: Pass): { mode: string; selection: string; condition: string } {
  const selection = (values.selection ?? {}) as Values;
  const execution = (values.execution ?? {}) as Values;
  const named: Record<string, string> = {
    preserve_recent: `all but ${selection.keep_recent} recent`,
    preserve_percent: `all but ${selection.keep_percentage}%`,
    custom: `${(selection.indices as unknown[] | undefined)?.length ?? 0} chosen`,
    oversized: `oversized, but ${selection.keep_recent} recent`,
  };
  const bounds = [
    typeof execution.token_threshold === "number" && `${number.format(execution.token_threshold)} tokens`,
    typeof execution.window_share === "number" && `${Math.round(execution.window_share * 100)}% of the window`,
  ].filter(Boolean);
  return {
    mode: String(values.mode),
    selection: named[String(selection.type)] ?? String(selection.type),
    condition: execution.type === "conditional" ? `above ${bounds.join(" or ") || "…"}` : "always",
  };
}
