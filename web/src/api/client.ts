/** The server's API, typed by its own description. */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

const KEY = "compact.token";

/** What the server says when something went wrong: what, where, and what to do about it. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly type = "",
    readonly field = "",
    readonly remedy = "",
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/**
 * Takes the token out of the address, where `compact serve` put it, and keeps it as long as the tab is open.
 *
 * What follows it, as in `#token=…&/settings/profiles`, is the place to show.
 */
export function takeToken(): boolean {
  const [, found, place = ""] = /^#token=([^&]+)&?(.*)$/.exec(location.hash) ?? [];
  if (!found) return false;
  sessionStorage.setItem(KEY, decodeURIComponent(found));
  history.replaceState(null, "", place ? `#${place}` : location.pathname);
  return true;
}

export function token(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Whoever is told when the server does not accept the token. */
export const strangers = new Set<() => void>();

async function authorised(request: Request): Promise<Response> {
  request.headers.set("Authorization", `Bearer ${token()}`);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError("The server does not answer. Is `compact serve` still running?", 0, "Unreachable");
  }
  if (response.ok) return response;
  if (response.status === 401) strangers.forEach((tell) => tell());
  throw await failure(response);
}

async function failure(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as Schemas["ErrorReply"];
    return new ApiError(error.message, response.status, error.type, error.field, error.remedy);
  } catch {
    return new ApiError(`The server answered ${response.status}.`, response.status);
  }
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: authorised });

/** The data of an answer; failures have been thrown before. */
export async function got<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

/** The events of a topic, until the signal says to stop; for progress, and whatever else the server tells by itself. */
export async function* events(topic: string, signal: AbortSignal): AsyncGenerator<unknown> {
  const response = await authorised(new Request(`/api/events/${encodeURIComponent(topic)}`, { signal }));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const pieces = (rest + value).split("\n\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      const data = piece.split("\n").filter((line) => line.startsWith("data: "));
      if (data.length) yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
    }
  }
}
