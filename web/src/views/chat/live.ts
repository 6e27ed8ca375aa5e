/** What happens to sessions while one looks: the page follows, and tells it unless that is switched off. */
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { happenings, type Happening } from "../../api/stream";
import { number, plural } from "../../parts/text";
import { toast } from "../../parts/toasts";
import { renew, type Session } from "./queries";

const AGAIN = 3_000;
const STARTED = "compact.compression_started";
const ENDED = new Set(["compact.compression_finished", "compact.compression_failed"]);

/** What is said of something that happened; nothing of what needs no words. */
export function news({ name, properties }: Happening, title: string): { text: string; bad: boolean } | undefined {
  const where = title ? ` in “${title}”` : "";
  const count = plural(Number(properties.messages ?? 0), "message");
  if (name === "compact.compression_failed") return { text: `The summary of ${count}${where} failed: ${String(properties.reason)}`, bad: true };
  if (name !== "compact.compression_finished") return undefined;
  const sizes = `${number(Number(properties.tokens))} → ${number(Number(properties.after))} tokens`;
  const preview = properties.preview ? ` “${String(properties.preview)}”` : "";
  return { text: `Summarized ${count}${where}: ${sizes}.${preview}`, bad: false };
}

/** What is said while messages are being summarized. */
export const underWay = (messages: number): string => `Summarizing ${plural(messages, "message")}…`;

/** The sessions that are being compacted right now, and about how many messages of each. */
export function useHappenings(): ReadonlyMap<string, number> {
  const client = useQueryClient();
  const [busy, setBusy] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    void follow(stop.signal, (happening) => {
      const { session, name } = happening;
      if (name === STARTED || ENDED.has(name)) setBusy((now) => with_(now, session, name === STARTED ? Number(happening.properties.messages ?? 0) : undefined));
      if (name !== STARTED) hear(client, happening);
    });
    return () => stop.abort();
  }, [client]);
  return busy;
}

function hear(client: QueryClient, happening: Happening): void {
  const known = client.getQueryData<Session>(["session", happening.session]);
  const told = news(happening, known?.session.title ?? "");
  // Where the session is on screen, its failure is told there.
  const seen = told?.bad && client.getQueryCache().find({ queryKey: ["session", happening.session] })?.isActive();
  if (told && known?.notify !== false && !seen) toast(told.text, told.bad);
  void renew(client, happening.session);
}

async function follow(signal: AbortSignal, hear: (happening: Happening) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const each of happenings(signal)) hear(each);
    } catch {
      // The server went away, or the page did: the first may come back.
    }
    if (!signal.aborted) await new Promise((done) => setTimeout(done, AGAIN));
  }
}

function with_(map: ReadonlyMap<string, number>, one: string, messages: number | undefined): ReadonlyMap<string, number> {
  const next = new Map(map);
  if (messages === undefined) next.delete(one);
  else next.set(one, messages);
  return next;
}
