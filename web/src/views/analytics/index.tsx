/** What compactions have saved and cost, how the estimates stood up, and what would save more. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Segments } from "../../parts/controls";
import { Empty, Failure, Loading, Panel, View } from "../../parts/surfaces";
import { brief, dollars, number, percent, plural } from "../../parts/text";
import { Columns } from "./chart";
import { Advice, CacheEffects, Estimates, Groups } from "./details";
import "./analytics.css";

type Shown = Schemas["AnalyticsView"];

const SPANS = [
  { id: "7", name: "7 days" },
  { id: "30", name: "30 days" },
  { id: "90", name: "90 days" },
  { id: "366", name: "A year" },
] as const;

export default function Analytics() {
  const [days, setDays] = useState<(typeof SPANS)[number]["id"]>("30");
  const shown = useQuery<Shown>({
    queryKey: ["analytics", days],
    staleTime: 5_000,
    refetchOnMount: "always",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/analytics", { params: { query: { days: Number(days) } }, signal })),
  });
  return (
    <View title="Analytics" about="Tokens and dollars that compaction saved and cost." actions={<Segments label="Time" unlabelled value={days} choices={SPANS} onChange={setDays} />}>
      {shown.error ? <Failure error={shown.error} retry={() => void shown.refetch()} /> : !shown.data ? <Panel title="Saved"><div className="ana-wait"><Loading lines={8} /></div></Panel> : <Figures shown={shown.data} />}
      <Advice />
    </View>
  );
}

function Figures({ shown }: { shown: Shown }) {
  if (shown.empty) {
    return (
      <section className="panel">
        <Empty icon="analytics" title="Nothing was compacted yet" actions={<a className="button" href="#/chat">Open the chat</a>}>
          <p>Tokens and dollars saved appear here: from the chat, from programs that send their traces to this server, and from the command line.</p>
        </Empty>
      </section>
    );
  }
  const days = shown.days.map((each) => each.day);
  return (
    <>
      <Totals shown={shown} />
      <div className="charts">
        <section className="panel">
          <Columns title="Tokens saved" days={days} format={brief} series={[{ name: "tokens saved", tone: "accent", values: shown.days.map((each) => each.tokens_saved) }]} />
        </section>
        <section className="panel">
          <Columns
            title="Dollars"
            days={days}
            format={money}
            series={[
              { name: "saved", tone: "accent", values: shown.days.map((each) => Number(each.saved)) },
              { name: "spent", tone: "warn", values: shown.days.map((each) => Number(each.spent)) },
            ]}
          />
        </section>
        <section className="panel">
          <Columns
            title="Compactions"
            days={days}
            format={number}
            series={[
              { name: "done", tone: "accent", values: shown.days.map((each) => each.compressions) },
              { name: "failed", tone: "bad", values: shown.days.map((each) => each.failures) },
            ]}
          />
        </section>
        <Groups groups={shown.groups} />
      </div>
      <div className="charts">
        <Estimates estimates={shown.estimates} />
        <CacheEffects cache={shown.cache} />
      </div>
    </>
  );
}

/** A tick of money: as many digits as it needs. */
export const money = (value: number): string => (value === 0 ? "$0" : `$${Number(value.toPrecision(2))}`);

function Totals({ shown }: { shown: Shown }) {
  const share = shown.tokens_before ? shown.tokens_saved / shown.tokens_before : 0;
  return (
    <section className="panel" aria-label="In all">
      <dl className="body facts ana-totals">
        <Figure name={`tokens saved, ${percent(share)} of ${number(shown.tokens_before)}`}>{number(shown.tokens_saved)}</Figure>
        <Figure name={shown.saved_unknown ? `saved in the requests that followed; ${plural(shown.saved_unknown, "compaction")} without a price` : "saved in the requests that followed"}>{dollars(shown.saved)}</Figure>
        <Figure name="spent on summaries">{dollars(shown.spent)}</Figure>
        <Figure name={shown.compressions === 1 ? "compaction" : "compactions"}>{number(shown.compressions)}</Figure>
        <Figure name={shown.failures ? `succeeded; ${number(shown.failures)} failed` : "succeeded"} look={shown.failures ? "warn" : "good"}>
          {shown.success_rate === null ? "–" : percent(shown.success_rate)}
        </Figure>
      </dl>
    </section>
  );
}

function Figure({ name, look = "", children }: { name: string; look?: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={look}>{children}</dd>
    </div>
  );
}
