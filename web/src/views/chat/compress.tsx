/** What summarizing would do and cost, and one button that does it. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { api, ApiError, got, type Schemas } from "../../api/client";
import { Button, Choose, IconButton, NumberInput, Segments, Switch, TextInput } from "../../parts/controls";
import { Failure, Loading } from "../../parts/surfaces";
import { change, dollars, number, plural } from "../../parts/text";
import { tellFailure } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";
import { underWay } from "./live";
import { FailedSummary } from "./notices";
import { compress, renew, useChange, type Session, type Wish } from "./queries";

const STAYS = [
  { id: "usual", name: "As set" },
  { id: "none", name: "Nothing" },
  { id: "own", name: "Tokens" },
] as const;
type Stays = (typeof STAYS)[number]["id"];

interface CompressPanelProps {
  session: Session;
  /** About how many messages are being summarized now, if any. */
  summarizing: number | undefined;
  close: () => void;
}

export function CompressPanel({ session: { session: row, notify, usage }, summarizing, close }: CompressPanelProps) {
  const busy = summarizing !== undefined;
  const session = row.id;
  const [stays, setStays] = useState<Stays>("usual");
  const [tokens, setTokens] = useState(1_000);
  const [note, setNote] = useState("");
  const [strategy, setStrategy] = useState("");
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    place.current?.focus();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  const wish: Wish = { retention: stays === "usual" ? null : stays === "none" ? 0 : tokens, note, strategy, offline: false };
  const running = useChange(session, (offline: boolean) => compress(session, { ...wish, offline }).then(close), undefined, true);
  const preview = usePreview(session, wish);
  const asks = preview.data !== undefined && preview.data.priced_by !== "offline";
  return (
    <section
      className="squeeze"
      aria-label="Summarize conversation history"
      ref={place}
      tabIndex={-1}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <header className="row">
        <h2>Summarize conversation history</h2>
        <span className="push">
          <IconButton tiny icon="cross" label="Close" onPress={close} />
        </span>
      </header>
      <Foreseen preview={preview} />
      <div className="squeeze-row">
        <Segments label="Of the last messages stays" value={stays} choices={STAYS} onChange={setStays} />
        {stays === "own" && (
          <NumberInput label="Tokens that stay" value={tokens} min={0} onChange={(value) => setTokens(value ?? 0)} />
        )}
      </div>
      <Strategy value={strategy} onChange={setStrategy} />
      <TextInput label="What matters (optional)" value={note} onChange={setNote} maxLength={2_000} placeholder="Keep every file name" />
      <footer className="row wrap">
        <Notify session={session} value={notify} />
        <span className="row wrap push">
          {asks && !running.error && (
            <Button isDisabled={running.isPending || busy} onPress={() => running.mutate(true)}>
              Summarize without a model
            </Button>
          )}
          <Button look="primary" icon="summary" isDisabled={running.isPending || busy} onPress={() => running.mutate(false)}>
            {busy ? underWay(summarizing) : running.isPending ? "Summarizing…" : "Summarize now"}
          </Button>
        </span>
      </footer>
      {running.error && (
        <FailedSummary
          kind={running.error instanceof ApiError ? running.error.type : ""}
          reason={running.error.message}
          window={usage.window}
          busy={busy}
          run={(offline) => running.mutate(offline)}
          close={running.reset}
        />
      )}
      {(running.isPending || busy) && <div className="progress" role="progressbar" aria-label="Summarizing" />}
    </section>
  );
}

function usePreview(session: string, wish: Wish) {
  const body = useDelayed(wish, 250);
  return useQuery<Schemas["CompressionPreview"]>({
    queryKey: ["preview", session, body],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.POST("/api/sessions/{id}/preview", { params: { path: { id: session } }, body, signal })),
  });
}

function Foreseen({ preview }: { preview: ReturnType<typeof usePreview> }) {
  if (preview.error) return <Failure error={preview.error} retry={() => void preview.refetch()} />;
  if (!preview.data) return <div className="squeeze-facts"><Loading lines={3} label="Looking ahead" /></div>;
  const { messages, tokens_before, tokens_after, questions, reads, cost, priced_by, warnings } = preview.data;
  return (
    <div className="squeeze-facts">
      <dl className="facts" aria-live="polite">
        <Fact name={messages === 1 ? "message goes" : "messages go"}>{number(messages)}</Fact>
        <Fact name="tokens, about">
          {number(tokens_before)} → {number(tokens_after)}
        </Fact>
        <Fact name="change">{change((tokens_after - tokens_before) / Math.max(1, tokens_before))}</Fact>
        <Fact name={priced_by === "offline" ? "cost: no model is asked" : `cost, about; ${priced_by}`}>
          {cost === null ? "price unknown" : dollars(cost)}
        </Fact>
      </dl>
      {messages > 0 && <p className="small soft">{plural(messages, "message")} will be replaced by a summary in what is sent. The history keeps them all, and Undo brings them back.</p>}
      {questions > 0 && <p className="small soft">{plural(questions, "question")} of about {number(reads)} tokens together.</p>}
      {warnings.map((each) => (
        <p key={each} className="small warn">
          {each}
        </p>
      ))}
    </div>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Strategy({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const known = useQuery({ queryKey: ["strategies"], queryFn: ({ signal }) => got(api.GET("/api/prompts", { signal })) });
  const choices = (known.data ?? []).filter((each) => !each.custom).map((each) => ({ id: each.name, name: each.name, description: each.description }));
  return (
    <Choose
      label="Strategy"
      value={value || "as-set"}
      choices={[{ id: "as-set", name: "As set", description: "What the settings say" }, ...choices]}
      onChange={(id) => onChange(id === "as-set" ? "" : id)}
    />
  );
}

function Notify({ session, value }: { session: string; value: boolean }) {
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: (notify: boolean) => got(api.PUT("/api/settings", { body: { workspace: "", values: { notify } } })),
    onError: tellFailure,
    onSettled: () => Promise.all([renew(client, session), client.invalidateQueries({ queryKey: ["settings"] })]),
  });
  const shown = saving.isPending ? saving.variables : value;
  return <Switch label="Tell me when a compaction ends, in every session" value={shown} onChange={(next) => saving.mutate(next)} />;
}
