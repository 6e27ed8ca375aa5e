import { expect, it } from "vitest";
import { inSight, parents, placeOf, type Span } from "../traces/tree";
import { labelled, ticks } from "../../parts/scale";

it("marks an axis with round numbers that reach the largest", () => {
  expect([ticks(0), ticks(97), ticks(0.0031), ticks(12_345)]).toEqual([[0, 1], [0, 25, 50, 75, 100], [0, 0.001, 0.002, 0.003, 0.004], [0, 5000, 10_000, 15_000]]);
});

it("names the last day and as many others as there is room for", () => {
  const named = labelled(30, 7);
  expect(Array.from({ length: 30 }, (_, index) => index).filter(named)).toEqual([4, 9, 14, 19, 24, 29]);
});

const span = (id: string, depth: number, offset = 0, seconds = 0) => ({ id, depth, offset, seconds }) as Span;
const TREE = [span("a", 0), span("b", 1), span("c", 2), span("d", 1), span("e", 0)];

it("hides what is below a closed span, and nothing else", () => {
  expect(inSight(TREE, new Set(["b"])).map(({ id }) => id)).toEqual(["a", "b", "d", "e"]);
  expect(inSight(TREE, new Set(["a", "b"])).map(({ id }) => id)).toEqual(["a", "e"]);
  expect([...parents(TREE)]).toEqual(["a", "b"]);
});

it("places spans in time, within the line", () => {
  expect(placeOf({ offset: 1, seconds: 2 }, 4)).toEqual({ start: 25, width: 50 });
  expect(placeOf({ offset: 3, seconds: 9 }, 4)).toEqual({ start: 75, width: 25 });
  expect(placeOf({ offset: 0, seconds: 0 }, 0).width).toBe(0);
});
