import { describe, expect, it } from "vitest";
import { bytes, change, dollars, legible, percent, plural, seconds } from "./text";

describe("numbers as people read them", () => {
  it("tells a change with its sign, and nothing as nothing", () => {
    expect([change(-0.712), change(0.02), change(0.001)]).toEqual(["−71%", "+2%", "0%"]);
  });
  it("never shows a small amount as nothing", () => {
    expect([dollars("0.00001"), dollars("0"), dollars("0.1779"), dollars(null)]).toEqual(["<$0.0001", "$0", "$0.1779", "–"]);
    expect([percent(0.001), percent(0)]).toEqual(["<1%", "0%"]);
  });
  it("keeps units apart", () => {
    expect([seconds(0.008), seconds(1.84)]).toEqual(["8 ms", "1.8 s"]);
    expect([bytes(999), bytes(1234), bytes(406_173), bytes(5_000_000)]).toEqual(["999 B", "1.2 kB", "406 kB", "5.0 MB"]);
    expect([plural(1, "message"), plural(10_000, "message")]).toEqual(["1 message", "10,000 messages"]);
  });
});

describe("what a transcript holds", () => {
  it("cannot drive a terminal", () => expect(legible("\u001b[31mred\u0007")).toBe("␛[31mred␇"));
  it("cannot turn the text around it", () => expect(legible("a\u202eb")).toBe("a‹U+202E›b"));
  it("keeps lines, tabs and every script", () => expect(legible("a\tb\r\nשלום\n")).toBe("a\tb\nשלום\n"));
});
