import { expect, it } from "vitest";
import { cheapest, coloursOf, line, listedRequests, verdict, type Played } from "./figures";

const played = (way: string, dollars: string | null, overflows = 0): Played => ({ way, dollars, overflows });

it("draws a line through every value, or through the extremes of a pixel", () => {
  const at = (value: number) => value;
  expect(line([1, 3, 2], 10, 20, at)).toBe("10.0,1.0 20.0,3.0 30.0,2.0");
  expect(line([5], 10, 20, at)).toBe("10.0,5.0");
  expect(line([], 10, 20, at)).toBe("");
  const many = Array.from({ length: 1000 }, (_, index) => (index === 501 ? 99 : 7));
  const drawn = line(many, 0, 100, at).split(" ");
  expect(drawn.length).toBe(200);
  expect(drawn.filter((point) => point.endsWith(",99.0")).length).toBe(1);
});

it("names the cheapest way that nobody would have refused", () => {
  const ways = [played("no compaction", "2.0", 3), played("v1", "1.0"), played("v2", "0.5", 1), played("v3", null)];
  expect(cheapest(ways)?.way).toBe("v1");
  expect(verdict(ways)).toBe("Cheapest: v1, 50% less than with no compaction, of which 3 requests would have been refused.");
  expect(verdict([played("no compaction", "1"), played("v1", "2")])).toBe("Cheapest: no compaction.");
  expect(verdict([played("v1", null)])).toBe("The prices of this model are not known.");
  expect(verdict([played("v1", "1", 2)])).toBe("Every way would have been refused.");
});

it("lists every request while they are few, and some of many", () => {
  expect(listedRequests(3)).toEqual([0, 1, 2]);
  expect(listedRequests(0)).toEqual([]);
  expect(listedRequests(1200).slice(0, 3)).toEqual([0, 3, 6]);
});

it("gives the plain ways one colour, and presets one each", () => {
  const colours = coloursOf([{ name: "no compaction", kind: "plain" }, { name: "v1", kind: "preset" }, { name: "mine", kind: "own" }]);
  expect(colours.get("no compaction")).toBe("var(--ink-3)");
  expect(new Set(colours.values()).size).toBe(3);
});
