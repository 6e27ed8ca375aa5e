import { describe, expect, it, vi } from "vitest";
import { eventsIn } from "../../api/stream";
import { asUnits, cutAt, placesOf } from "../../parts/highlight";
import { segmentsOf } from "../../parts/usage";
import { ago } from "../../parts/time";
import { folded } from "./folding";
import { news } from "./live";
import { placeOf, readPlace } from "./place";
import { heard, isCommand, noteIn, SILENT } from "./talk";

// The client asks where the page is as soon as it is loaded.
vi.hoisted(() => vi.stubGlobal("location", { origin: "http://localhost" }));

describe("events", () => {
  it("are whole or wait", () => {
    const { data, rest } = eventsIn('data: {"a": 1}\n\n: still here\n\ndata: {"b"');
    expect([data, rest]).toEqual([['{"a": 1}'], 'data: {"b"']);
  });
  it("build the answer piece by piece, and tell what went wrong", () => {
    const one = heard({ ...SILENT, phase: "preparing" }, { type: "delta", text: "Hel" });
    expect(heard(one, { type: "delta", text: "lo" }).answer).toBe("Hello");
    const failed = heard(one, { type: "error", kind: "quota", text: "No quota.", field: "", remedy: "Ask again.", message: 1, blocked: { blocked: false, reason: "", acknowledged: false } });
    expect([failed.phase, failed.kind, failed.trouble]).toEqual(["failed", "quota", "No quota. Ask again."]);
  });
  it("are told in words", () => {
    const happening = { session: "s", at: "", seconds: 1, failed: false, name: "compact.compression_finished", properties: { messages: 1, tokens: 12_000, after: 900 } };
    expect(news(happening, "Fruit")?.text).toBe("Summarized 1 message in “Fruit”: 12,000 → 900 tokens.");
    const told = { ...happening, properties: { ...happening.properties, preview: "Figs are ripe." } };
    expect(news(told, "Fruit")?.text).toContain("900 tokens. “Figs are ripe.”");
    expect(news({ ...happening, name: "compact.undone" }, "")).toBeUndefined();
  });
});

describe("highlights", () => {
  it("cut a text at its spans, and leave out what does not fit", () => {
    expect(cutAt("a ripe fig", [[2, 6], [5, 8], [90, 99]])).toEqual([
      { text: "a ", span: null },
      { text: "ripe", span: 0 },
      { text: " fig", span: null },
    ]);
  });
  it("count characters as the server does", () => expect(asUnits("🍐 fig", [[2, 5]])).toEqual([[3, 6]]));
  it("find every word, whatever its case, and nothing but words", () => {
    expect(placesOf("Figs, figs (and plums)", "FIGS plums")).toEqual([[0, 4], [6, 10], [16, 21]]);
    expect(placesOf("a.b", ".*")).toEqual([]);
  });
});

describe("usage", () => {
  it("keeps its order and shares of the window", () => {
    const found = segmentsOf({ used: 60, window: 100, by_kind: { text: 40, frame: 10, system: 10, odd: 0 } });
    expect(found.map(({ kind, share }) => [kind, share])).toEqual([["system", 0.1], ["text", 0.4], ["frame", 0.1]]);
  });
  it("never runs over the edge", () => expect(segmentsOf({ used: 200, window: 100, by_kind: { text: 200 } })[0]!.share).toBe(1));
});

describe("long texts", () => {
  it("are folded by lines and by characters", () => {
    expect(folded("line\n".repeat(100), "result")).toBe("line\n".repeat(8).trimEnd());
    expect(folded("x".repeat(5_000_000), "text")).toHaveLength(4_000);
  });
  it("stay whole where little would be hidden", () => {
    expect(folded("line\n".repeat(9), "result")).toBe("line\n".repeat(9));
    expect(folded("short", "text")).toBe("short");
  });
});

it("knows the command from a word that begins like it", () => {
  expect(noteIn(" /summarize keep names ")).toBe("keep names");
  expect([isCommand("/summarize"), isCommand(" /summarize keep names"), isCommand("/summarizer")]).toEqual([true, true, false]);
});

it("reads places in the address", () => {
  expect(readPlace(placeOf("a/b%2F:Ü", "history", "3", "x/y"))).toEqual({ id: "a/b%2F:Ü", side: "history", jump: { position: 3, query: "x/y" } });
  expect(readPlace("abc/history/12/two%20words")).toEqual({ id: "abc", side: "history", jump: { position: 12, query: "two words" } });
  expect(readPlace("abc/history/x/%E0%A4%A")).toEqual({ id: "abc", side: "history", jump: undefined });
});

it("says how long ago something was", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(["2026-01-01T23:59:40Z", "2026-01-01T23:55:00Z", "2025-12-31T12:00:00Z", "odd"].map((each) => ago(each, now))).toEqual(["just now", "5 minutes ago", "yesterday", ""]);
});
