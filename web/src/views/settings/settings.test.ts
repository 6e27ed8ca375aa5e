import { expect, it, vi } from "vitest";
import { ApiError } from "../../api/client";
import { fieldsOf } from "../../parts/schema";
import { findIn } from "./finding";
import { faultOf } from "../../parts/form";
import { changes, placeOf } from "./profileform";

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

it("knows the server of a compatible profile by its address", () => {
  expect(placeOf("compatible", "http://localhost:11434/v1").id).toBe("ollama");
  expect(placeOf("compatible", "http://10.0.0.7/v1").id).toBe("compatible");
  expect(placeOf("azure", "https://mine.openai.azure.com").id).toBe("azure");
});

it("sends only what was changed of a profile", () => {
  const kept = { name: "mine", model: "gpt-4o", input_price: null, temperature: 0 };
  expect(changes({ ...kept, model: "gpt-5", input_price: null }, kept)).toEqual({ model: "gpt-5" });
  expect(changes({ ...kept, input_price: 0 }, kept)).toEqual({ input_price: 0 });
});
