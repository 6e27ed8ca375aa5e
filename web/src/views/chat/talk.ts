/** One exchange at a time: what was said, the answer as it arrives, and what went wrong. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import { say, type ChatEvent } from "../../api/stream";
import { tellFailure } from "../../parts/toasts";
import { renew, type Session } from "./queries";

export interface Exchange {
  /** How many messages were stored when it began: where they have become more, its question is one of them. */
  from: number;
  /** What was just said and is not among the stored messages yet. */
  question: string | null;
  answer: string;
  phase: "idle" | "preparing" | "answering" | "failed";
  trouble: string;
  /** The class of the error, as the server names it. */
  kind: string;
  /** The command that failed, and can be tried again. */
  command: string;
}

export const SILENT: Exchange = { from: 0, question: null, answer: "", phase: "idle", trouble: "", kind: "", command: "" };

/** What the exchange is after an event. */
export function heard(exchange: Exchange, event: ChatEvent): Exchange {
  switch (event.type) {
    case "prepared":
      return { ...exchange, phase: "answering" };
    case "delta":
      return { ...exchange, phase: "answering", answer: exchange.answer + event.text };
    case "done":
      return exchange;
    case "error":
      return { ...exchange, phase: "failed", kind: event.kind, trouble: [event.text, event.remedy].filter(Boolean).join(" ") };
  }
}

export const isCommand = (text: string): boolean => /^\/summarize(\s|$)/.test(text.trim());

/** What the command says matters. */
export const noteIn = (command: string): string => command.trim().replace(/^\/summarize/, "").trim().slice(0, 2_000);

/** `refused` is told what could not be stored, so that it is not lost. */
export function useTalk(id: string, refused: (text: string) => void) {
  const client = useQueryClient();
  const [exchange, setExchange] = useState<Exchange>(SILENT);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async (text: string | null) => {
    stop.current = new AbortController();
    const command = text !== null && isCommand(text);
    const from = client.getQueryData<Session>(["session", id])?.session.messages ?? 0;
    setExchange({ ...SILENT, from, question: command ? null : text, command: command ? text : "", phase: "preparing" });
    try {
      for await (const event of say(id, text, stop.current.signal)) {
        if ("usage" in event) {
          client.setQueryData<Session>(["session", id], (known) => known && { ...known, usage: event.usage });
        }
        if (event.type === "error" && event.message === null && text !== null && !command) refused(text);
        if (event.type === "done" || event.type === "error") await renew(client, id);
        setExchange((now) => (event.type === "done" ? SILENT : { ...heard(now, event), ...(event.type === "error" && { question: null }) }));
      }
    } catch (error) {
      if (stop.current.signal.aborted) return;
      setExchange(SILENT);
      if (text !== null && error instanceof ApiError) refused(text);
      tellFailure(error);
      await renew(client, id);
    }
  };
  const forget = () => setExchange(SILENT);
  return { exchange, begin, forget, busy: exchange.phase === "preparing" || exchange.phase === "answering" };
}
