/** Which session is open, and what of it: `id`, `id/history`, or `id/history/position/words`. */
import type { Side } from "./head";
import type { Jump } from "./thread";

export function readPlace(rest: string): { id: string; side: Side; jump: Jump | undefined } {
  const [id = "", side = "", position = "", query = ""] = rest.split("/");
  const jump = /^\d+$/.test(position) ? { position: Number(position), query: decoded(query) } : undefined;
  return { id: decoded(id), side: side === "history" ? "history" : "conversation", jump };
}

/** The address of a session, or of a place in its history. */
export const placeOf = (id: string, ...rest: string[]): string => [id, ...rest].map(encodeURIComponent).join("/");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
