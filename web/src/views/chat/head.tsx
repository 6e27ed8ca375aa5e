/** What a session is called, who answers in it, and what can be done with it. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-aria-components";
import { Button, Choose, IconButton, Segments, TextInput, Tip } from "../../parts/controls";
import { ActionMenu } from "../../parts/menu";
import { Window } from "../../parts/surfaces";
import { download, legible } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { go } from "../../route";
import { change, drop, exported, takeOver, useChange, useSessions, type Session } from "./queries";
import { placeOf } from "./place";
import { titleOf } from "./sessions";

export type Side = "conversation" | "history";
const SIDES = [
  { id: "conversation", name: "Conversation" },
  { id: "history", name: "Full history" },
] as const;

interface HeadProps {
  session: Session;
  side: Side;
  summarize: () => void;
  summarizing: boolean;
  open: boolean;
}

export function Head({ session, side, summarize, summarizing, open }: HeadProps) {
  const { id } = session.session;
  const [asked, setAsked] = useState<"" | "edit" | "delete" | "take">("");
  const done = () => setAsked("");
  const save = (what: "history" | "context") =>
    void exported(id, what).then((file) => download(file, `${titleOf(session.session)}.${what}.json`), tellFailure);
  return (
    <header className="chat-head">
      <span className="chat-back">
        <IconButton icon="left" label="All sessions" onPress={() => go("chat")} />
      </span>
      <h2 className="cut chat-title" dir="auto">{titleOf(session.session)}</h2>
      <Answerer session={session} />
      <span className="row chat-actions">
        <Segments label="What is shown" unlabelled value={side} choices={SIDES} onChange={(next) => go("chat", placeOf(id, ...(next === "history" ? ["history"] : [])))} />
        <Button icon="summary" aria-expanded={open} isPending={summarizing} onPress={summarize}>
          <span className="chat-wide">Summarize conversation history</span>
          <span className="chat-narrow">Summarize</span>
        </Button>
        <ActionMenu
          label="More for this session"
          actions={[
            { id: "summarize", name: "Summarize conversation history…", run: summarize },
            { id: "edit", name: "Rename and session settings…", run: () => setAsked("edit") },
            { id: "take", name: "Take over another session’s summary…", run: () => setAsked("take") },
            { id: "history", name: "Export the full history", run: () => save("history") },
            { id: "context", name: "Export what would be sent", run: () => save("context") },
            { id: "delete", name: "Delete…", bad: true, run: () => setAsked("delete") },
          ]}
        />
      </span>
      <Window title="Session" open={asked === "edit"} onClose={done}>
        <Edit session={session} done={done} />
      </Window>
      <Window title="Take over a summary" open={asked === "take"} onClose={done}>
        <Take session={session} done={done} />
      </Window>
      <Window title="Delete this session?" open={asked === "delete"} onClose={done}>
        <Delete session={session} done={done} />
      </Window>
    </header>
  );
}

function Answerer({ session: { answering, session } }: { session: Session }) {
  return (
    <Tip text={answering.offline ? `${answering.label}. Settings, Profiles adds one; everything else works without.` : `${answering.label} answers; counted as ${session.model}.`}>
      <Link className={answering.offline ? "badge warn" : "badge"} href="#/settings/profiles">{answering.offline ? "offline responder" : legible(answering.model)}</Link>
    </Tip>
  );
}

type Automatic = "inherit" | "on" | "off";

const choiceOf = (own: boolean | null): Automatic => (own === null ? "inherit" : own ? "on" : "off");

function Edit({ session, done }: { session: Session; done: () => void }) {
  const { id, title, model } = session.session;
  const words = typeof session.system === "string" ? session.system : "";
  const { own, usual } = session.automatic;
  const [draft, setDraft] = useState({ title, model, system: words, automatic: choiceOf(own) });
  const saving = useChange(id, () =>
    change(id, {
      title: draft.title,
      model: draft.model,
      ...(draft.system !== words && { system: draft.system || null }),
      ...(draft.automatic !== choiceOf(own) && { automatic: draft.automatic === "inherit" ? null : draft.automatic === "on" }),
    }).then(done),
  );
  return (
    <div className="stack">
      <TextInput label="Title" value={draft.title} maxLength={500} onChange={(next) => setDraft({ ...draft, title: next })} />
      <TextInput label="Model" hint="Whose window counts. Settings has its limits." value={draft.model} maxLength={200} onChange={(next) => setDraft({ ...draft, model: next })} />
      {(session.system === null || typeof session.system === "string") && (
        <TextInput label="Instructions" lines hint="Sent with every request, never summarized." value={draft.system} onChange={(next) => setDraft({ ...draft, system: next })} />
      )}
      <Segments
        label="Automatic compaction"
        hint="Off, nothing is summarized until you do it, and a request that does not fit is refused."
        value={draft.automatic}
        choices={[{ id: "inherit", name: `As in Settings (${usual ? "on" : "off"})` }, { id: "on", name: "On" }, { id: "off", name: "Off" }]}
        onChange={(next) => setDraft({ ...draft, automatic: next })}
      />
      <Buttons name="Save" pending={saving.isPending} disabled={!draft.model.trim()} run={() => saving.mutate(undefined)} done={done} />
    </div>
  );
}

function Take({ session, done }: { session: Session; done: () => void }) {
  const { id } = session.session;
  const known = useSessions();
  const [source, setSource] = useState<string | null>(null);
  const others = (known.data?.pages ?? []).flatMap((page) => page.sessions).filter((each) => each.id !== id);
  const taking = useChange(id, () => takeOver(id, source!).then(done), () => "The summary was taken over.");
  return (
    <div className="stack">
      <p className="soft">This session is told what the summary of another one says.</p>
      <Choose label="Session" placeholder="Choose a session" value={source} choices={others.map((each) => ({ id: each.id, name: titleOf(each) }))} onChange={setSource} />
      <Buttons name="Take over" pending={taking.isPending} disabled={!source} run={() => taking.mutate(undefined)} done={done} />
    </div>
  );
}

function Delete({ session, done }: { session: Session; done: () => void }) {
  const client = useQueryClient();
  const [pending, setPending] = useState(false);
  const { id } = session.session;
  const run = () => {
    setPending(true);
    drop(id)
      .then(() => {
        go("chat");
        toast(`Deleted “${titleOf(session.session)}”.`);
        return client.invalidateQueries({ queryKey: ["sessions"] });
      }, tellFailure)
      .finally(done);
  };
  return (
    <div className="stack">
      <p>Its messages and summaries go with it. Export it first to keep them.</p>
      <Buttons name="Delete" bad pending={pending} run={run} done={done} />
    </div>
  );
}

interface ButtonsProps {
  name: string;
  bad?: boolean;
  pending: boolean;
  disabled?: boolean;
  run: () => void;
  done: () => void;
}

function Buttons({ name, bad, pending, disabled, run, done }: ButtonsProps) {
  return (
    <div className="row">
      <Button look={bad ? "danger" : "primary"} isDisabled={disabled || pending} onPress={run}>
        {name}
      </Button>
      <Button look="ghost" onPress={done}>
        Cancel
      </Button>
    </div>
  );
}
