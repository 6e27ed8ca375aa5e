/** What the server tells bit by bit, as server-sent events. */
import { api, type Schemas } from "./client";

/** Splits what has arrived into the data of whole events, and the rest that is not whole yet. */
export function eventsIn(text: string): { data: string[]; rest: string } {
  const pieces = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = pieces.pop() ?? "";
  const data = pieces.flatMap((piece) => {
    const lines = piece.split("\n").filter((line) => line.startsWith("data:"));
    return lines.length ? [lines.map((line) => line.slice(5).trimStart()).join("\n")] : [];
  });
  return { data, rest };
}

async function* told<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { data, rest } = eventsIn(waiting + value);
    waiting = rest;
    for (const each of data) yield JSON.parse(each) as T;
  }
}

/** The events that answer what is said in a chat. */
export type ChatEvent = Schemas["Prepared"] | Schemas["Delta"] | Schemas["Finished"] | Schemas["Failed"];
export type Happening = Schemas["Happening"];

/** Says something in a session; without a text, the question that is still open is asked again. */
export async function* say(id: string, text: string | null, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const answer = await api.POST("/api/sessions/{id}/chat", { params: { path: { id } }, body: { text }, parseAs: "stream", signal });
  yield* told<ChatEvent>(answer.data as ReadableStream<Uint8Array>);
}

/** What happens to sessions from now on, until the signal says to stop. */
export async function* happenings(signal: AbortSignal): AsyncGenerator<Happening> {
  const answer = await api.GET("/api/events", { parseAs: "stream", signal });
  yield* told<Happening>(answer.data as ReadableStream<Uint8Array>);
}
