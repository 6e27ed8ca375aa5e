/** The sessions: found, opened, made, and imported from a transcript. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { Button, IconButton } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { SearchInput } from "../../parts/search";
import { Failure, Loading } from "../../parts/surfaces";
import { legible, plural } from "../../parts/text";
import { ago } from "../../parts/time";
import { tellFailure, toast } from "../../parts/toasts";
import { go } from "../../route";
import { useDelayed } from "../../state/delayed";
import { MatchLine, useMatches } from "./history";
import { placeOf } from "./place";
import { imported, useSessions, type Session } from "./queries";

type Row = Schemas["SessionRow"];

export const titleOf = (session: Pick<Row, "title" | "messages">): string =>
  legible(session.title).trim() || (session.messages ? "Untitled" : "New session");

export function useNewSession() {
  const client = useQueryClient();
  const opened = (session: Session) => {
    client.setQueryData(["session", session.session.id], session);
    void client.invalidateQueries({ queryKey: ["sessions"] });
    go("chat", placeOf(session.session.id));
  };
  const make = useMutation({ mutationFn: () => got(api.POST("/api/sessions", { body: {} as Schemas["NewSession"] })), onSuccess: opened, onError: tellFailure });
  const take = useMutation({
    mutationFn: imported,
    onSuccess: (session) => {
      opened(session);
      toast(`Imported ${plural(session.session.messages, "message")}.`);
    },
    onError: tellFailure,
  });
  return { make, take };
}

export function Sessions({ current, busy }: { current: string; busy: ReadonlyMap<string, number> }) {
  const [text, setText] = useState("");
  const query = useDelayed(text.trim(), 250);
  const { make, take } = useNewSession();
  return (
    <aside className="sessions" aria-label="Sessions">
      <header>
        <h1>Chat</h1>
        <span className="row push">
          <FileTrigger onSelect={(files) => files?.[0] && take.mutate(files[0])}>
            <IconButton icon="upload" label="Import a transcript" isPending={take.isPending} />
          </FileTrigger>
          <Button icon="plus" isPending={make.isPending} onPress={() => make.mutate()}>
            New
          </Button>
        </span>
      </header>
      <div className="sessions-search">
        <SearchInput label="Search sessions" value={text} onChange={setText} />
      </div>
      <div className="sessions-list">
        <List current={current} busy={busy} query={query} />
        {query && <Said query={query} />}
      </div>
    </aside>
  );
}

function List({ current, busy, query }: { current: string; busy: ReadonlyMap<string, number>; query: string }) {
  const sessions = useSessions();
  if (sessions.error) return <Failure error={sessions.error} retry={() => void sessions.refetch()} />;
  if (!sessions.data) return <div className="sessions-wait"><Loading lines={6} label="Reading the sessions" /></div>;
  const all = sessions.data.pages.flatMap((page) => page.sessions);
  const shown = query ? all.filter((each) => `${each.title} ${each.model}`.toLowerCase().includes(query.toLowerCase())) : all;
  return (
    <>
      {shown.length === 0 && <p className="quiet small sessions-wait">{query ? "No title matches." : "There is no session yet."}</p>}
      <ul>
        {shown.map((each) => (
          <li key={each.id}>
            <SessionLink row={each} current={each.id === current} busy={busy.has(each.id)} />
          </li>
        ))}
      </ul>
      {sessions.hasNextPage && (
        <Button tiny look="ghost" isPending={sessions.isFetchingNextPage} onPress={() => void sessions.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}

function SessionLink({ row, current, busy }: { row: Row; current: boolean; busy: boolean }) {
  return (
    <a className="session" href={`#/chat/${placeOf(row.id)}`} aria-current={current ? "true" : undefined}>
      <span className="session-title cut" dir="auto">{titleOf(row)}</span>
      {busy && <Icon name="spinner" size={12} className="spin" />}
      {row.blocked && <span className="badge bad">blocked</span>}
      <span className="session-facts quiet">
        <span className="cut">{legible(row.model)}</span> · {plural(row.messages, "message")} · {ago(row.updated)}
      </span>
    </a>
  );
}

/** What was said in any session. */
function Said({ query }: { query: string }) {
  const found = useMatches(query);
  if (!found.data?.length) return found.data ? <p className="quiet small sessions-wait">No message matches.</p> : null;
  return (
    <section aria-label="Messages that match">
      <h2 className="sessions-wait">In messages</h2>
      {found.data.map((each) => (
        <MatchLine key={`${each.session}:${each.message}`} match={each} pick={() => go("chat", placeOf(each.session, "history", String(each.position), query))} />
      ))}
    </section>
  );
}
