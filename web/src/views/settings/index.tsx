/** Settings: one section at a time, and a search over all of them. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState, type ComponentType } from "react";
import { api, got } from "../../api/client";
import { SearchInput } from "../../parts/search";
import { spoken } from "../../parts/schema";
import { Panel, View } from "../../parts/surfaces";
import { go, usePlace } from "../../route";
import { Config, useConfig } from "./config";
import { findIn, type Entry } from "./finding";
import { General } from "./general";
import { Models } from "./models";
import { Profiles } from "./profiles";
import { Prompts } from "./prompts";
import { Providers } from "./providers";
import { Redaction } from "./redaction";
import { Thresholds } from "./thresholds";
import "./settings.css";

interface Section {
  id: string;
  title: string;
  about: string;
  view: ComponentType;
}

const SECTIONS: readonly Section[] = [
  { id: "general", title: "Compaction", about: "When stored sessions are compacted, what stays, what happens when a summary fails, notifications", view: General },
  { id: "providers", title: "Recipes", about: "The default recipe; the providers, what they can do, and the settings of each", view: Providers },
  { id: "thresholds", title: "Thresholds", about: "From which share of the window conversations are compacted, with each model, in the chat and in the gateway", view: Thresholds },
  { id: "models", title: "Models", about: "Maximum input and output, context window; add, edit, reset, delete", view: Models },
  { id: "profiles", title: "Profiles", about: "Who is asked to summarize and to answer, keys, prices, cost comparison", view: Profiles },
  { id: "prompts", title: "Prompts", about: "Strategies, words of your own, preview of the exact request", view: Prompts },
  { id: "redaction", title: "Redaction", about: "Try which secrets, keys and passwords are taken out", view: Redaction },
  { id: "config", title: "Configuration", about: "What a CompactManager would be configured with here: file, environment, defaults", view: Config },
];

export default function Settings() {
  const { rest } = usePlace();
  const [id = "", wanted = ""] = rest.split("/");
  const [query, setQuery] = useState("");
  const section = SECTIONS.find((each) => each.id === id) ?? SECTIONS[0]!;
  const found = findIn(useEntries(), query);
  useEffect(() => bringIntoSight(wanted), [wanted, section]);
  return (
    <View title="Settings" about={section.about}>
      <div className="set">
        <div className="set-side">
          <SearchInput label="Search settings" value={query} onChange={setQuery} />
          <nav aria-label="Sections of the settings">
            {SECTIONS.map((each) => (
              <a key={each.id} href={`#/settings/${each.id}`} aria-current={each === section ? "true" : undefined}>{each.title}</a>
            ))}
          </nav>
        </div>
        <div className="stack set-main">
          {query.trim() ? <Found found={found} done={() => setQuery("")} /> : <section.view key={section.id} />}
        </div>
      </div>
    </View>
  );
}

function Found({ found, done }: { found: readonly Entry[]; done: () => void }) {
  return (
    <Panel title={found.length ? "Found" : "Nothing was found"} flush>
      <ul className="set-found">
        {found.map((each) => (
          <li key={`${each.section}/${each.title}`}>
            <button
              onClick={() => {
                done();
                go("settings", each.id ? `${each.section}/${each.id}` : each.section);
              }}
            >
              <span className="strong">{each.title}</span> <span className="badge">{each.section}</span>
              <span className="quiet">{each.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Everything that can be found. */
function useEntries(): Entry[] {
  const stored = useQuery({ queryKey: ["settings", "", ""], queryFn: ({ signal }) => got(api.GET("/api/settings", { params: { query: { workspace: "", model: "" } }, signal })) });
  const config = useConfig();
  return useMemo(
    () => [
      ...SECTIONS.map((each) => ({ section: each.id, title: each.title, about: each.about })),
      ...(stored.data?.settings ?? []).map((each) => ({ section: "general", title: spoken(each.name), about: each.help, id: each.name })),
      ...(config.data?.settings ?? []).map((each) => ({ section: "config", title: each.field, about: each.help, id: each.field })),
    ],
    [stored.data, config.data],
  );
}

/** Waits for the field to be there, as its section may still be loading. */
function bringIntoSight(name: string): (() => void) | undefined {
  if (!name) return undefined;
  const look = () => {
    const field = document.getElementById(`field-${name}`);
    if (!field) return;
    clearInterval(timer);
    field.scrollIntoView({ block: "center" });
    field.dataset.found = "";
    field.querySelector<HTMLElement>("input, textarea, button, [tabindex]")?.focus();
  };
  const timer = setInterval(look, 80);
  const enough = setTimeout(() => clearInterval(timer), 4_000);
  return () => {
    clearInterval(timer);
    clearTimeout(enough);
  };
}
