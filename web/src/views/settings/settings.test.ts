import { expect, it, vi } from "vitest";
import { ApiError } from "../../api/client";
import { fieldsOf } from "../../parts/schema";
import { findIn } from "./finding";
import { faultOf } from "./general";

// The client asks where the page is as soon as it is loaded.
vi.hoisted(() => vi.stubGlobal("location", { origin: "http://localhost" }));

const ENTRIES = [
  { section: "general", title: "Notify", about: "Tell the user when a compression begins and ends." },
  { section: "models", title: "Models", about: "Maximum input; who to notify is elsewhere." },
];

it("finds settings by all words, titles first", () => {
  expect(findIn(ENTRIES, "notify").map((each) => each.section)).toEqual(["general", "models"]);
  expect(findIn(ENTRIES, "maximum notify").map((each) => each.section)).toEqual(["models"]);
  expect(findIn(ENTRIES, "  ")).toEqual([]);
});

it("puts the server's word at its field", () => {
  const error = new ApiError("settings.threshold: must be more", 400, "InvalidConfiguration", "settings.threshold");
  expect([faultOf(error, "threshold"), faultOf(error, "detail"), faultOf(new Error("x"), "")]).toEqual(["settings.threshold: must be more", undefined, undefined]);
});

it("reads lists of texts, and leaves out what is only for editors of files", () => {
  const schema = { properties: { $schema: { type: "string" }, roles_kept: { type: "array", items: { type: "string" } } } };
  expect(fieldsOf(schema).map(({ name, kind }) => [name, kind])).toEqual([["roles_kept", "texts"]]);
});
