/** What a compaction did: the changes, the report, the receipt, and the way back. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { Button } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { Badge, Bar, Plain, Scroll } from "../../parts/surfaces";
import { bytes, change, dollars, download, number, percent, seconds } from "../../parts/text";
import { tellFailure } from "../../parts/toasts";
import { calm } from "../../theme";
import type { Inspected } from "../../state/transcript";
import { Changes } from "./changes";
import { Fact } from "./summary";

type Done = Schemas["Done"];

interface OutcomeProps {
  transcript: Inspected;
  done: Done;
}

export function Outcome({ transcript, done }: OutcomeProps) {
  const { facts } = done;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    // The braces matter: where scrolling gives back a promise, React would call that when the outcome goes.
    place.current?.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
  }, []);
  return (
    <section className="panel outcome" aria-label="What was done" ref={place}>
      <div className="body headline">
        <dl className="facts">
          <Fact name="tokens">
            {number(facts.tokens_before)} <span className="quiet">→</span> {number(facts.tokens_after)}
          </Fact>
          <Fact name="change">{change(facts.change)}</Fact>
          <Fact name="saved in each later request">{dollars(facts.saved)}</Fact>
          <Fact name="messages">{number(facts.messages)}</Fact>
          <Fact name="prompt cache kept">{percent(facts.kept_prefix / Math.max(facts.tokens_before, 1))}</Fact>
          <Fact name="time">{seconds(facts.seconds)}</Fact>
        </dl>
        <span className="row wrap">
          <Badge look="accent"><Plain text={facts.recipe} /></Badge>
          {facts.target !== null && (
            <Badge look={facts.target_met ? "good" : "warn"}>
              target of {number(facts.target)} {facts.target_met ? "met" : "missed"}
            </Badge>
          )}
          {done.violations.length ? (
            <Badge look="bad">{done.violations.length} violations</Badge>
          ) : (
            <Badge look="good">still valid for its vendor</Badge>
          )}
        </span>
        {facts.notes.map((note) => (
          <Plain key={note} text={note} className="warn small" />
        ))}
      </div>
      <Tabs>
        <TabList className="tabs" aria-label="What was done">
          <Tab id="changes" className="tab">Changes</Tab>
          <Tab id="report" className="tab">Report</Tab>
          <Tab id="receipt" className="tab">Receipt</Tab>
          <Tab id="files" className="tab">Restore and files</Tab>
        </TabList>
        <TabPanel id="changes">
          <Changes transcript={transcript} result={done.id} />
        </TabPanel>
        <TabPanel id="report" className="sheet">
          <Report done={done} />
        </TabPanel>
        <TabPanel id="receipt" className="sheet">
          <Receipt done={done} />
        </TabPanel>
        <TabPanel id="files" className="sheet">
          <Files transcript={transcript} done={done} />
        </TabPanel>
      </Tabs>
    </section>
  );
}

function Report({ done }: { done: Done }) {
  const whole = Math.max(done.facts.tokens_before, 1);
  return (
    <div className="report">
      <ol className="stack" aria-label="Passes">
        {done.facts.passes.map((pass, index) => (
          <li key={index} className="pass">
            <span className="row">
              <Plain text={pass.name} className="strong" />
              {pass.skipped ? (
                <Badge>skipped</Badge>
              ) : (
                <span className="push">
                  {number(pass.tokens_before)} → {number(pass.tokens_after)}{" "}
                  <span className="strong">{change((pass.tokens_after - pass.tokens_before) / Math.max(pass.tokens_before, 1))}</span>
                </span>
              )}
            </span>
            <Bar label={`${percent(pass.tokens_after / whole)} left`} parts={[{ share: pass.tokens_after / whole }, { share: (pass.tokens_before - pass.tokens_after) / whole, colour: "var(--kind-truncated-soft)" }]} />
            <Plain text={pass.skipped || pass.notes.join(" · ")} className="quiet small" />
          </li>
        ))}
      </ol>
      <pre className="plain words" dir="auto">{done.report}</pre>
    </div>
  );
}

const KINDS: Record<string, string> = {
  directive: "user directives",
  error: "error lines",
  path: "file paths",
  command: "commands",
  identifier: "identifiers",
  number: "numbers",
  url: "URLs",
};

interface Tally {
  retained: number;
  recoverable: number;
  lost: number;
}

function Receipt({ done }: { done: Done }) {
  const receipt = done.receipt as { facts: Record<string, Tally>; total: Tally; missing: Record<string, string[]> };
  const sum = ({ retained, recoverable, lost }: Tally) => retained + recoverable + lost;
  return (
    <div className="stack">
      <p className="soft">
        <span className="strong">{number(receipt.total.retained)}</span> of {number(sum(receipt.total))} facts can still be read
        in context; {number(receipt.total.recoverable)} more come back with the plan, {number(receipt.total.lost)} are lost.
      </p>
      <Scroll label="Receipt" className="ways-scroll">
        <table className="receipt">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col" className="wide">In context</th>
              <th scope="col" className="end">Retained</th>
              <th scope="col" className="end">Recoverable</th>
              <th scope="col" className="end">Lost</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(receipt.facts).map(([kind, tally]) => (
              <tr key={kind}>
                <th scope="row">{KINDS[kind] ?? kind}</th>
                <td className="wide">
                  <Bar
                    label={`${percent(tally.retained / Math.max(sum(tally), 1))} in context`}
                    parts={[
                      { share: tally.retained / Math.max(sum(tally), 1), colour: "var(--good)" },
                      { share: tally.recoverable / Math.max(sum(tally), 1), colour: "var(--kind-reference)" },
                      { share: tally.lost / Math.max(sum(tally), 1), colour: "var(--bad)" },
                    ]}
                  />
                </td>
                <td className="end">{number(tally.retained)}</td>
                <td className="end">{number(tally.recoverable)}</td>
                <td className="end">{number(tally.lost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {Object.keys(receipt.missing).length > 0 && (
        <div className="stack">
          <h3>Not in context any more, the likeliest to be needed first</h3>
          {Object.entries(receipt.missing).map(([kind, examples]) => (
            <div key={kind} className="missing">
              <span className="quiet small">{KINDS[kind] ?? kind}</span>
              <ul>
                {examples.map((each) => (
                  <li key={each}><code><Plain text={each} className="cut" /></code></li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function Files({ transcript, done }: OutcomeProps) {
  const path = { id: transcript.id, result: done.id };
  const stem = transcript.name.replace(/\.jsonl?$/i, "");
  const proving = useMutation({
    mutationFn: () => got(api.POST("/api/inspect/{id}/results/{result}/restore", { params: { path } })),
  });
  const fetching = useMutation({
    mutationFn: async (which: "condensed" | "plan") => {
      const file = await got(
        which === "plan"
          ? api.GET("/api/inspect/{id}/results/{result}/plan", { params: { path }, parseAs: "blob" })
          : api.GET("/api/inspect/{id}/results/{result}/condensed", { params: { path }, parseAs: "blob" }),
      );
      download(file as unknown as Blob, which === "plan" ? `${stem}.plan.json` : `${stem}.condensed.json`);
    },
    onError: tellFailure,
  });
  const proof = proving.data;
  return (
    <div className="files">
      <div className="stack">
        <h3>Files</h3>
        <p className="soft">The plan file holds everything that was removed. Beside the compacted file it brings the original back.</p>
        <div className="row wrap">
          <Button icon="download" onPress={() => fetching.mutate("condensed")}>Compacted file</Button>
          <Button icon="download" onPress={() => fetching.mutate("plan")}>Plan file</Button>
        </div>
        <pre className="words plain">compact restore {stem.replace(/[^\w.-]+/g, "_")}.condensed.json --plan {stem.replace(/[^\w.-]+/g, "_")}.plan.json</pre>
      </div>
      <div className="stack">
        <h3>Restore</h3>
        <p className="soft">Brings the original back from these two files alone, and compares it with the file that was opened.</p>
        <div>
          <Button icon="restore" look="primary" isPending={proving.isPending} onPress={() => proving.mutate()}>
            Restore and compare
          </Button>
        </div>
        <div role="status">
          {proof && (
            <div className="proof" data-equal={proof.equal || undefined}>
              <Icon name={proof.equal ? "check" : "cross"} size={20} />
              <div className="stack tight grow">
                <span className="strong">{proof.equal ? "Equal to the original, byte for byte" : "Different from the original"}</span>
                <span className="small soft">
                  {bytes(proof.condensed_bytes)} condensed and {bytes(proof.plan_bytes)} of plan give {number(proof.bytes)} bytes
                </span>
                <code className="small cut">sha256 {proof.sha256}</code>
              </div>
            </div>
          )}
          {proving.error && <p className="bad">{proving.error.message}</p>}
        </div>
      </div>
    </div>
  );
}
