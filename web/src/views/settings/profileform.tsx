/** Adding and changing a profile: the model, where it is served, and where its key is. */
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, Choose, NumberInput, Segments, TextInput } from "../../parts/controls";
import { faultOf } from "../../parts/form";
import { useProfileChange } from "../../state/profiles";

type Profile = Schemas["ProfileView"];
type Settings = Schemas["Profile"];

interface Place {
  id: string;
  name: string;
  vendor: Settings["vendor"];
  url: string;
  model: string;
}

/** Who serves models, with the usual address of those that only a person knows. */
export const PLACES: readonly Place[] = [
  { id: "anthropic", name: "Anthropic", vendor: "anthropic", url: "", model: "claude-haiku-4-5" },
  { id: "openai", name: "OpenAI", vendor: "openai", url: "", model: "gpt-4o-mini" },
  { id: "gemini", name: "Google Gemini", vendor: "gemini", url: "", model: "gemini-2.5-flash" },
  { id: "vertex", name: "Google Vertex AI", vendor: "vertex", url: "", model: "gemini-2.5-flash" },
  { id: "bedrock", name: "Amazon Bedrock", vendor: "bedrock", url: "", model: "global.anthropic.claude-haiku-4-5-20251001-v1:0" },
  { id: "openrouter", name: "OpenRouter", vendor: "openrouter", url: "", model: "google/gemini-2.5-flash" },
  { id: "azure", name: "Azure", vendor: "azure", url: "https://YOUR-RESOURCE.openai.azure.com", model: "the deployment" },
  { id: "ollama", name: "Ollama", vendor: "compatible", url: "http://localhost:11434/v1", model: "llama3.1" },
  { id: "vllm", name: "vLLM", vendor: "compatible", url: "http://localhost:8000/v1", model: "meta-llama/Llama-3.1-8B-Instruct" },
  { id: "lmstudio", name: "LM Studio", vendor: "compatible", url: "http://localhost:1234/v1", model: "the model's identifier" },
  { id: "compatible", name: "Another compatible server", vendor: "compatible", url: "", model: "the model" },
];

const INHERIT = -1;
const EMPTY: Partial<Settings> = { name: "", vendor: "anthropic", model: "", url: "", key: "", use: "both", priority: 0, threshold: INHERIT };

/** The place that a profile's vendor and address are those of. */
export function placeOf(vendor: string, url: string): Place {
  const served = PLACES.filter((each) => each.vendor === vendor);
  return served.find((each) => each.url === url) ?? served.at(-1)!;
}

/** Where the draft differs from what is kept; all that can be sent for a change. */
export function changes(draft: Partial<Settings>, kept: Partial<Settings>): Partial<Settings> {
  const names = Object.keys(draft) as (keyof Settings)[];
  return Object.fromEntries(names.filter((name) => (draft[name] ?? null) !== (kept[name] ?? null)).map((name) => [name, draft[name]]));
}

export function ProfileForm({ profile, done }: { profile: Profile | null; done: () => void }) {
  const kept = profile?.settings ?? EMPTY;
  const [draft, setDraft] = useState<Partial<Settings>>(kept);
  const [chosen, setChosen] = useState(placeOf(kept.vendor!, kept.url ?? "").id);
  const place = PLACES.find((each) => each.id === chosen)!;
  const set = (given: Partial<Settings>) => setDraft({ ...draft, ...given });
  const saving = useProfileChange(
    () => {
      if (profile) return got(api.PATCH("/api/profiles/{name}", { params: { path: { name: profile.name } }, body: changes(draft, kept) }));
      return got(api.POST("/api/profiles", { body: { ...changes(draft, EMPTY), name: draft.name, vendor: draft.vendor, model: draft.model } }));
    },
    "Saved. Test it to see whether it answers.",
    done,
  );
  const fault = (name: keyof Settings) => faultOf(saving.error, name);
  const move = (id: string) => {
    const next = PLACES.find((each) => each.id === id)!;
    setChosen(id);
    set({ vendor: next.vendor, url: next.url });
  };
  const needed = draft.vendor === "compatible" || draft.vendor === "azure";
  return (
    <div className="stack">
      <TextInput label="Name" placeholder="cheap" value={draft.name ?? ""} maxLength={64} fault={fault("name")} onChange={(name) => set({ name })} />
      <Choose label="Served by" value={chosen} choices={PLACES} fault={fault("vendor")} onChange={move} />
      <TextInput label="Model" placeholder={place.model} value={draft.model ?? ""} maxLength={256} fault={fault("model")} onChange={(model) => set({ model })} />
      <TextInput label="Address" hint={needed ? "Where the server is." : "Empty for the vendor’s own."} value={draft.url ?? ""} maxLength={2048} fault={fault("url")} onChange={(url) => set({ url })} />
      <TextInput label="Where its key is" placeholder="env:NAME" hint={`env:NAME or keyring:SERVICE/USER, never the key itself. ${draft.vendor === "compatible" ? "Empty where the server needs none." : "Empty for the vendor’s usual variable."}`} value={draft.key ?? ""} fault={fault("key")} onChange={(key) => set({ key })} />
      <Segments label="Used for" value={draft.use ?? "both"} choices={USES} fault={fault("use")} onChange={(use) => set({ use })} />
      <NumberInput label="Priority" hint="The lower it is, the sooner it is asked." value={draft.priority ?? 0} fault={fault("priority")} onChange={(priority) => set({ priority: priority ?? 0 })} />
      <More draft={draft} set={set} fault={fault} />
      <div className="row">
        <Button look="primary" isDisabled={saving.isPending || !draft.name || !draft.model} onPress={() => saving.mutate(undefined)}>Save</Button>
        <Button look="ghost" onPress={done}>Cancel</Button>
      </div>
    </div>
  );
}

const USES = [
  { id: "both", name: "both" },
  { id: "conversation", name: "conversations" },
  { id: "condensation", name: "summaries" },
] as const;
const CACHING = [
  { id: "known", name: "as the catalogue says" },
  { id: "yes", name: "yes" },
  { id: "no", name: "no" },
] as const;
const PRICES = [
  { name: "input_price", label: "Input, dollars per million tokens", usual: "as the catalogue says" },
  { name: "output_price", label: "Answers, dollars per million tokens", usual: "as the catalogue says" },
  { name: "cache_read_price", label: "Read from the cache, dollars per million", usual: "as input" },
  { name: "cache_write_price", label: "Written to the cache, dollars per million", usual: "as input" },
] as const;

interface MoreProps {
  draft: Partial<Settings>;
  set: (given: Partial<Settings>) => void;
  fault: (name: keyof Settings) => string | undefined;
}

function More({ draft, set, fault }: MoreProps) {
  const caching = draft.caches === true ? "yes" : draft.caches === false ? "no" : "known";
  const named = [...PRICES.map((each) => each.name), "context_window", "threshold", "prompt"] as const;
  return (
    <details open={named.some((name) => fault(name)) || undefined}>
      <summary>Prices, window, threshold and prompt</summary>
      <div className="stack">
        {PRICES.map(({ name, label, usual }) => (
          <NumberInput key={name} label={label} optional placeholder={usual} format={{ maximumFractionDigits: 6 }} min={0} value={draft[name] ?? null} fault={fault(name)} onChange={(value) => set({ [name]: value })} />
        ))}
        <NumberInput label="Context window, tokens" hint="In the chat and the gateway conversations are compacted to fit it." optional placeholder="as the catalogue says" min={1_000} value={draft.context_window ?? null} fault={fault("context_window")} onChange={(value) => set({ context_window: value })} />
        <Choose label="The vendor caches the beginning of requests" value={caching} choices={CACHING} fault={fault("caches")} onChange={(id) => set({ caches: id === "known" ? null : id === "yes" })} />
        <NumberInput label="Threshold of its own, percent" hint="From which part of the window conversations with the model are compacted; none to use everybody’s." optional min={5} max={100} value={draft.threshold === INHERIT ? null : (draft.threshold ?? null)} fault={fault("threshold")} onChange={(value) => set({ threshold: value ?? INHERIT })} />
        <TextInput label="A prompt of its own" lines hint="The text itself, or file:NAME." value={draft.prompt ?? ""} maxLength={20_000} fault={fault("prompt")} onChange={(prompt) => set({ prompt })} />
      </div>
    </details>
  );
}
