/** Traces: what happened within each, as a tree beside a timeline. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, got, type Schemas } from "../../api/client";
import { Button, IconButton } from "../../parts/controls";
import { Badge, Empty, Failure, Loading, Plain, View } from "../../parts/surfaces";
import { plural, seconds } from "../../parts/text";
import { ago, exactly } from "../../parts/time";
import { go, usePlace } from "../../route";
import { Timeline } from "./timeline";
import "./traces.css";

type Row = Schemas["TraceRow"];

export default function Traces() {
  const { rest } = usePlace();
  const chosen = decodeURIComponent(rest);
  const all = useInfiniteQuery({
    queryKey: ["traces"],
    staleTime: 0,
    refetchInterval: 10_000,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => got(api.GET("/api/traces", { params: { query: { after: pageParam, limit: 50 } }, signal })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  const traces = all.data?.pages.flatMap((page) => page.traces) ?? [];
  const renew = <IconButton icon="refresh" label="Look again" isPending={all.isFetching} onPress={() => void all.refetch()} />;
  return (
    <View title="Traces" about="What happened, step by step, and how long it took." actions={renew}>
      {all.error ? (
        <Failure error={all.error} retry={() => void all.refetch()} />
      ) : !all.data ? (
        <section className="panel tr-wait"><Loading lines={8} label="Reading the traces" /></section>
      ) : traces.length === 0 ? (
        <Nothing />
      ) : (
        <div className="tr" data-open={chosen ? true : undefined}>
          <section className="panel tr-list" aria-label="Traces">
            <ul>{traces.map((each) => <li key={each.id}><TraceLink row={each} current={each.id === (chosen || traces[0]!.id)} /></li>)}</ul>
            {all.hasNextPage && <Button look="ghost" isPending={all.isFetchingNextPage} onPress={() => void all.fetchNextPage()}>Show more</Button>}
          </section>
          <Trace key={chosen || traces[0]!.id} id={chosen || traces[0]!.id} />
        </div>
      )}
    </View>
  );
}

function Nothing() {
  return (
    <section className="panel">
      <Empty icon="traces" title="No trace has arrived yet" actions={<a className="button" href="#/chat">Open the chat</a>}>
        <p>Compactions in the chat are traced by themselves. Programs send theirs to <code>/ingest</code> of this server: set the exporter’s address in their configuration.</p>
      </Empty>
    </section>
  );
}

function TraceLink({ row, current }: { row: Row; current: boolean }) {
  return (
    <a className="tr-link" href={`#/traces/${encodeURIComponent(row.id)}`} aria-current={current ? "true" : undefined}>
      <Plain className="cut tr-name" text={row.name || row.id} />
      {row.failed && <Badge look="bad">failed</Badge>}
      <span className="tr-facts quiet" title={exactly(row.started_at)}>
        {ago(row.started_at)} · {plural(row.spans, "span")} · {seconds(row.seconds)}
      </span>
    </a>
  );
}

function Trace({ id }: { id: string }) {
  const trace = useQuery({
    queryKey: ["trace", id],
    staleTime: 0,
    queryFn: ({ signal }) => got(api.GET("/api/traces/{id}", { params: { path: { id } }, signal })),
  });
  if (trace.error) return <section className="panel"><Failure error={trace.error} retry={() => void trace.refetch()} /></section>;
  if (!trace.data) return <section className="panel tr-wait"><Loading lines={8} label="Reading the trace" /></section>;
  return (
    <section className="panel tr-trace" aria-label="Trace">
      <header>
        <span className="tr-back"><IconButton icon="left" label="All traces" onPress={() => go("traces")} /></span>
        <h2 className="cut"><Plain text={trace.data.name || trace.data.id} /></h2>
        {trace.data.failed && <Badge look="bad">failed</Badge>}
        <Badge>{plural(trace.data.spans.length, "span")}</Badge>
        <Badge>{seconds(trace.data.seconds)}</Badge>
        <span className="quiet small push">{exactly(trace.data.started_at)}</span>
      </header>
      <Timeline trace={trace.data} />
    </section>
  );
}
