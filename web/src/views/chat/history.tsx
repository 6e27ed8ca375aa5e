/** All that was ever said, which is not what is sent; searched, and jumped to. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { asUnits, Marked } from "../../parts/highlight";
import { Icon } from "../../parts/icons";
import { SearchInput } from "../../parts/search";
import { plural } from "../../parts/text";
import { useDelayed } from "../../state/delayed";
import type { Session } from "./queries";
import { Thread, type Jump } from "./thread";

type Match = Schemas["Found"];

export function History({ session, at }: { session: Session; at?: Jump | undefined }) {
  const { id, messages } = session.session;
  const [jump, setJump] = useState<Jump | undefined>(at);
  return (
    <div className="history">
      <div className="history-notice" role="note">
        <Icon name="history" size={14} />
        <span>
          <strong>Full history, not active context.</strong> {plural(messages, "message")} were said; what is marked as summarized is
          no longer sent.
        </span>
      </div>
      <Search id={id} go={setJump} />
      <Thread session={id} label="Full history" kept={[]} first={0} total={messages} tail={[]} jump={jump} />
    </div>
  );
}

function Search({ id, go }: { id: string; go: (jump: Jump) => void }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(true);
  const query = useDelayed(text.trim(), 250);
  const found = useMatches(query, id);
  return (
    <div className="history-search">
      <SearchInput
        label="Search the history"
        value={text}
        onChange={(next) => {
          setText(next);
          setOpen(true);
        }}
      />
      {query && open && found.data && (
        <div className="history-found">
          <p className="quiet small" role="status">
            {found.data.length ? plural(found.data.length, "match", "matches") : "Nothing was found."}
          </p>
          <ul>
            {found.data.map((each) => (
              <li key={each.message}>
                <MatchLine
                  match={each}
                  pick={() => {
                    setOpen(false);
                    go({ position: each.position, query });
                  }}
                />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

export function useMatches(query: string, session?: string) {
  return useQuery({
    queryKey: ["search", query, session ?? ""],
    enabled: query !== "",
    staleTime: 5_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Match[]> => {
      const found = await got(api.GET("/api/search", { params: { query: { text: query, session, limit: 50 } }, signal }));
      return found.matches.map((each) => ({ ...each, spans: each.spans as [number, number][] }));
    },
  });
}

export function MatchLine({ match, pick }: { match: Match; pick: () => void }) {
  return (
    <button className="match" onClick={pick}>
      <span className="quiet small">
        {match.role}, message {match.position + 1}
      </span>
      <span className="plain" dir="auto">
        <Marked text={match.excerpt} spans={asUnits(match.excerpt, match.spans)} />
      </span>
    </button>
  );
}
