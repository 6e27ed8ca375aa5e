/** The summary that stands for what was said before: folded away, with what it stands for on its badge. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, TextInput } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { Badge, Loading, Plain } from "../../parts/surfaces";
import { dollars, legible, number, plural } from "../../parts/text";
import { ago, exactly } from "../../parts/time";
import { Said } from "./message";
import { editSummary, regenerate, undo, useChange } from "./queries";

type Summary = Schemas["SummaryView"];

export function SummaryCard({ session, summary, busy }: { session: string; summary: Summary; busy: boolean }) {
  const [open, setOpen] = useState(false);
  const [editing, setEditing] = useState(false);
  const rewriting = useChange(session, () => regenerate(session));
  const undoing = useChange(session, () => undo(session), () => "The summary was taken back.");
  const working = busy || rewriting.isPending || undoing.isPending;
  return (
    <section className="sum" aria-label="Summary of what was said before">
      <div className="sum-head">
        <button className="sum-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} size={12} />
          <Icon name="summary" size={14} />
          <strong>Summary</strong>
          <SummaryBadges summary={summary} />
        </button>
        <span className="row sum-actions">
          <Button tiny look="ghost" icon="refresh" isDisabled={working} onPress={() => rewriting.mutate(undefined)}>
            Regenerate
          </Button>
          <Button
            tiny
            look="ghost"
            icon="edit"
            isDisabled={working}
            onPress={() => {
              setOpen(true);
              setEditing(true);
            }}
          >
            Edit
          </Button>
          <Button tiny look="ghost" icon="restore" isDisabled={working} onPress={() => undoing.mutate(undefined)}>
            Undo
          </Button>
        </span>
      </div>
      {open && (
        <div className="sum-body" tabIndex={0} role="region" aria-label="Text of the summary">
          {editing ? (
            <Editing session={session} text={summary.text} done={() => setEditing(false)} />
          ) : (
            <>
              <Said text={summary.text} />
              <Earlier session={session} />
            </>
          )}
        </div>
      )}
    </section>
  );
}

function SummaryBadges({ summary }: { summary: Summary }) {
  return (
    <span className="row wrap sum-badges">
      <Badge kind="folded">{plural(summary.messages, "message")}</Badge>
      {summary.tokens_before !== null && summary.tokens_after !== null && (
        <Badge>
          {number(summary.tokens_before)} → {number(summary.tokens_after)} tokens
        </Badge>
      )}
      <span className="quiet small" title={exactly(summary.created)}>
        {summary.trigger} · {ago(summary.created)}
      </span>
      {summary.written_by.length > 0 && (
        <span className="quiet small">
          by {summary.written_by.map(legible).join(", ")}
          {summary.cost !== null && `, ${dollars(summary.cost)}`}
        </span>
      )}
      {summary.why_offline !== "" && <span className="quiet small">without a model: {legible(summary.why_offline)}</span>}
    </span>
  );
}

function Editing({ session, text, done }: { session: string; text: string; done: () => void }) {
  const [words, setWords] = useState(text);
  const saving = useChange(session, () => editSummary(session, words).then(done), () => "The summary has your words now.");
  return (
    <div className="stack sum-editing">
      <TextInput label="Words of the summary" lines value={words} onChange={setWords} maxLength={200_000} />
      <div className="row">
        <Button look="primary" isDisabled={!words.trim() || saving.isPending} onPress={() => saving.mutate(undefined)}>
          Save
        </Button>
        <Button look="ghost" onPress={done}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

function Earlier({ session }: { session: string }) {
  const [open, setOpen] = useState(false);
  const all = useQuery({
    queryKey: ["summaries", session],
    enabled: open,
    queryFn: ({ signal }) => got(api.GET("/api/sessions/{id}/summaries", { params: { path: { id: session } }, signal })),
  });
  const earlier = all.data?.filter((each) => each.retired) ?? [];
  return (
    <div className="sum-earlier">
      <button className="said-more" aria-expanded={open} onClick={() => setOpen(!open)}>
        Earlier summaries
      </button>
      {open && all.isPending && <Loading lines={2} />}
      {open && all.data && earlier.length === 0 && <p className="quiet small">There are none.</p>}
      {open &&
        earlier.map((each) => (
          <details key={each.id}>
            <summary>
              <SummaryBadges summary={each} />
            </summary>
            <Plain text={each.text} className="small" />
          </details>
        ))}
    </div>
  );
}
