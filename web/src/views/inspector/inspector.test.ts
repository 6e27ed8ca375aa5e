import { describe, expect, it } from "vitest";
import { markerOf, pieces } from "../../parts/markers";
import { listed, tally, type Kind, type Row } from "./runs";

const rows = (kinds: string): Row[] =>
  [...kinds].map((letter, index) => ({
    before: index,
    after: index,
    role: "user",
    title: "",
    kind: ({ k: "kept", t: "truncated", f: "folded" } as Record<string, Kind>)[letter]!,
    tokens_before: 1,
    tokens_after: 1,
    reasons: [],
  }));

describe("the list of messages", () => {
  it("shows long runs of what is not wanted as one line", () => {
    const found = listed(rows("kkkktkkt"), (kind) => kind !== "kept", new Set());
    expect(found).toEqual([{ at: 0, run: 4 }, { at: 4, run: 0 }, { at: 5, run: 0 }, { at: 6, run: 0 }, { at: 7, run: 0 }]);
  });
  it("shows a run that was opened", () => {
    expect(listed(rows("kkkkt"), (kind) => kind !== "kept", new Set([0]))).toHaveLength(5);
  });
  it("loses no row, whatever is wanted", () => {
    for (const wanted of ["kept", "truncated", "folded"]) {
      const found = listed(rows("kktfffkkkktfkt"), (kind) => kind === wanted, new Set());
      expect(found.reduce((sum, each) => sum + (each.run || 1), 0)).toBe(14);
    }
  });
  it("counts kinds", () => expect(tally(rows("kkt"))).toEqual(new Map([["kept", 2], ["truncated", 1]])));
});

describe("a text of the diff", () => {
  it("knows our own markers", () => {
    expect(markerOf("⟨=lines 6-8 of read_file a.py #dd7bdb:0bc7⟩")).toBe("reference");
    expect(markerOf("[same as lines 6-8 of the result of read_file a.py above #dd7bdb:0bc7]")).toBe("reference");
    expect(markerOf("[same as a.py:6-8 above #481207]")).toBe("reference");
    expect(markerOf("   120→[same text as git diff:6-8 above #481207]")).toBe("reference");
    expect(markerOf("[same as a line of some code]")).toBeUndefined();
    expect(markerOf("[Outdated: see the last result of read_file a.py below, which shows these lines anew]")).toBe("superseded");
    expect(markerOf("[a line of some code]")).toBeUndefined();
    expect(markerOf("some text⟨ ... truncated ⟩")).toBe("truncated");
    expect(markerOf("⟨ Content suppressed ⟩")).toBe("suppressed");
    expect(markerOf("a < b")).toBeUndefined();
  });
  it("comes in pieces that together are the text", () => {
    const text = `${"x".repeat(50_000)}\n⟨ ... truncated ⟩\nend`;
    const found = pieces(text);
    expect(found.map((each) => each.text).join("")).toBe(`${text}\n`);
    expect(Math.max(...found.map((each) => each.text.length))).toBeLessThanOrEqual(20_000);
  });
});
