/** What the preset would do to a conversation, told again whenever it changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Segments } from "../../parts/controls";
import { Badge, Bar, Failure, Loading, Panel, Plain } from "../../parts/surfaces";
import { HALF, TargetInput, targetValue } from "../../parts/target";
import { change, dollars, number, percent, plural, seconds } from "../../parts/text";
import { useDelayed } from "../../state/delayed";
import { useTranscript } from "../../state/transcript";
import type { Values, WhenMissed } from "./model";

type Facts = Schemas["Facts"];

export interface Valid {
  provider: string;
  settings: Values;
  when_missed: WhenMissed;
}

interface PreviewProps {
  /** As it was last valid. */
  last: Valid | null;
  valid: boolean;
}

export function Preview({ last, valid }: PreviewProps) {
  const open = useTranscript();
  const [source, setSource] = useState<"open" | "demo">("open");
  const [target, setTarget] = useState(HALF);
  const aim = useDelayed(targetValue(target));
  const wantsDemo = source === "demo" || !open.data;
  const demo = useQuery({
    queryKey: ["demo"],
    staleTime: Infinity,
    enabled: wantsDemo,
    queryFn: () => got(api.POST("/api/inspect/demo")),
  });
  const transcript = wantsDemo ? demo.data : open.data;
  const tried = useQuery<Facts>({
    queryKey: ["preview", transcript?.id, last, aim],
    enabled: !!transcript && !!last,
    placeholderData: keepPreviousData,
    gcTime: 10_000,
    queryFn: ({ signal }) =>
      got(
        api.POST("/api/inspect/{id}/try", {
          params: { path: { id: transcript!.id } },
          body: { ...last!, target: aim, model: "" },
          signal,
        }),
      ),
  });
  return (
    <Panel
      title="Effect"
      actions={
        <span className="row" role="status">
          {!valid ? <Badge look="warn">as it was last valid</Badge> : tried.isFetching ? <Badge>computing…</Badge> : <Badge look="good">live</Badge>}
        </span>
      }
    >
      <div className="stack">
        {open.data && (
          <Segments
            label="Conversation"
            value={wantsDemo ? "demo" : "open"}
            choices={[{ id: "open", name: "In the Inspector" }, { id: "demo", name: "Demo" }]}
            onChange={setSource}
          />
        )}
        {transcript && (
          <p className="small soft">
            <Plain text={transcript.name} className="strong" />, {plural(transcript.messages, "message")},{" "}
            {number(transcript.tokens)} tokens
          </p>
        )}
        <TargetInput value={target} onChange={setTarget} />
        {tried.data ? (
          <Effect facts={tried.data} stale={tried.isPlaceholderData} />
        ) : tried.error || demo.error ? (
          <Failure error={tried.error ?? demo.error} retry={() => void tried.refetch()} />
        ) : (
          <Loading lines={8} label="Trying the passes" />
        )}
      </div>
    </Panel>
  );
}

function Effect({ facts, stale }: { facts: Facts; stale: boolean }) {
  const whole = Math.max(facts.tokens_before, 1);
  return (
    <div className="stack effect" data-stale={stale || undefined}>
      <div>
        <p className="large" data-testid="effect">
          {number(facts.tokens_after)} <span className="quiet">tokens</span> <span className="strong">{change(facts.change)}</span>
        </p>
        <Bar label={`${percent(facts.tokens_after / whole)} of the tokens are left`} parts={[{ share: facts.tokens_after / whole }]} />
      </div>
      <div className="row wrap">
        {facts.target !== null && (
          <Badge look={facts.target_met ? "good" : "warn"}>{facts.target_met ? "target met" : `target of ${number(facts.target)} missed`}</Badge>
        )}
        <Badge>{plural(facts.edits, "edit")}</Badge>
        <Badge>{facts.summaries ? `${plural(facts.summaries, "summary", "summaries")}, ${dollars(facts.cost)}` : "no model called"}</Badge>
        <Badge>{seconds(facts.wall)}</Badge>
      </div>
      <ol className="stack" aria-label="What each pass does">
        {facts.passes.map((pass, index) => (
          <li key={index} className="effect-pass" data-skipped={!!pass.skipped || undefined}>
            <span className="row">
              <Plain text={pass.name} className="cut grow" />
              <span className="small">
                {pass.skipped ? "skipped" : change((pass.tokens_after - pass.tokens_before) / Math.max(pass.tokens_before, 1))}
              </span>
            </span>
            <Bar
              label={`${number(pass.tokens_before)} to ${number(pass.tokens_after)} tokens`}
              parts={[
                { share: pass.tokens_after / whole },
                { share: Math.max(0, pass.tokens_before - pass.tokens_after) / whole, colour: "var(--kind-truncated)" },
              ]}
            />
            {(pass.skipped || pass.notes.length > 0) && <Plain text={pass.skipped || pass.notes.join(" · ")} className="quiet small" />}
          </li>
        ))}
      </ol>
      {facts.notes.map((note) => (
        <Plain key={note} text={note} className="warn small" />
      ))}
    </div>
  );
}
