import { describe, expect, it } from "vitest";
import { at, badges, changed, draftOf, duplicate, faultAt, faultsBelow, freeId, moved, presetOf, type Pass } from "./model";
import { fieldsOf, spoken, type Schema } from "./schema";

const passes = (...ids: string[]): Pass[] => ids.map((id) => ({ key: `key-${id}`, values: { id } }));
const ids = (all: readonly Pass[]) => all.map((each) => each.values.id);

describe("passes", () => {
  it("move before and after others, and stay where there is no such place", () => {
    const all = passes("a", "b", "c", "d");
    expect(ids(moved(all, new Set(["key-d"]), "key-a", false))).toEqual(["d", "a", "b", "c"]);
    expect(ids(moved(all, new Set(["key-a", "key-b"]), "key-c", true))).toEqual(["c", "a", "b", "d"]);
    expect(ids(moved(all, new Set(["key-a"]), "elsewhere", true))).toEqual(["a", "b", "c", "d"]);
  });
  it("get ids of their own", () => {
    expect(freeId(passes("cut", "cut-2"), "cut")).toBe("cut-3");
    expect(duplicate(passes("cut", "cut-2"), passes("cut-2")[0]!).values.id).toBe("cut-3");
  });
  it("say what they do in a few words", () => {
    const values = { mode: "batch", selection: { type: "preserve_percent", keep_percentage: 20 }, execution: { type: "conditional", token_threshold: 40_000 } };
    expect(badges({ key: "", values })).toEqual({ mode: "batch", selection: "all but 20%", condition: "above 40,000 tokens" });
  });
});

describe("a draft", () => {
  const preset = { name: "mine", description: "", provider: "smart", settings: {}, when_missed: "stop" as const };
  it("gives back what it was made of", () => {
    const settings = { max_parallel: 5, passes: [{ id: "a" }, { id: "b" }] };
    expect(presetOf(draftOf(preset, settings)).settings).toEqual(settings);
    expect(presetOf(draftOf(preset, { mode: "targeted" }))).toEqual({ ...preset, settings: { mode: "targeted" } });
  });
  it("changes one value and no other object", () => {
    const before = { a: { b: 1 }, c: { d: 2 } };
    const after = changed(before, ["a", "b"], 3);
    expect(at(after, ["a", "b"])).toBe(3);
    expect(after.c).toBe(before.c);
    expect(before.a.b).toBe(1);
  });
  it("finds what is wrong by its path", () => {
    const problems = [{ path: ["settings", "passes", 1, "execution"], message: "needs a threshold" }];
    expect(faultAt(problems, ["settings", "passes", 1, "execution"])).toBe("needs a threshold");
    expect(faultAt(problems, ["settings", "passes", 1])).toBeUndefined();
    expect(faultsBelow(problems, ["settings", "passes", 1])).toHaveLength(1);
    expect(faultsBelow(problems, ["settings", "passes", 11])).toHaveLength(0);
  });
});

describe("a schema", () => {
  const schema: Schema = {
    $defs: { Level: { enum: ["a", "b"], type: "string" } },
    properties: {
      max_lines: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }], description: "Lines." },
      prompt: { type: "string", maxLength: 20_000 },
      level: { $ref: "#/$defs/Level", description: "How far." },
      indices: { type: "array", items: { type: "integer" } },
    },
  };
  it("becomes fields", () => {
    const found = fieldsOf(schema);
    expect(found.map((each) => [each.name, each.kind, each.optional])).toEqual([
      ["max_lines", "whole", true],
      ["prompt", "long", false],
      ["level", "choice", false],
      ["indices", "numbers", false],
    ]);
    expect(found[0]!.min).toBe(0);
    expect(found[2]!.choices.map((each) => each.id)).toEqual(["a", "b"]);
    expect(found[2]!.about).toBe("How far.");
  });
  it("speaks plainly", () => expect(spoken("keep_recent")).toBe("Keep recent"));
});
