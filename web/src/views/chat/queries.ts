/** What the chat knows of sessions, and how it is kept fresh. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { api, got, type Schemas } from "../../api/client";
import { tellFailure, toast } from "../../parts/toasts";

export type Session = Schemas["SessionView"];
export type Message = Schemas["MessageView"];
export type Wish = Schemas["CompressionWish"];

const at = (id: string) => ({ params: { path: { id } } });

export function useSessions() {
  return useInfiniteQuery({
    queryKey: ["sessions"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => got(api.GET("/api/sessions", { params: { query: { after: pageParam, limit: 50 } }, signal })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
}

export function useSession(id: string) {
  return useQuery<Session>({
    queryKey: ["session", id],
    refetchOnWindowFocus: true,
    queryFn: ({ signal }) => got(api.GET("/api/sessions/{id}", { ...at(id), signal })),
  });
}

export function useKept(id: string) {
  return useQuery({
    queryKey: ["kept", id],
    queryFn: ({ signal }) => got(api.GET("/api/sessions/{id}/kept", { ...at(id), signal })),
  });
}

export const PAGE = 100;

export const pageQuery = (id: string, page: number) => ({
  queryKey: ["messages", id, page],
  staleTime: Infinity,
  gcTime: 60_000,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    got(api.GET("/api/sessions/{id}/messages", { params: { path: { id }, query: { after: page * PAGE - 1, limit: PAGE } }, signal })),
});

/** Reads anew what is shown of a session, and resolves when that is there. */
export async function renew(client: QueryClient, id: string): Promise<void> {
  void client.invalidateQueries({ queryKey: ["sessions"] });
  void client.invalidateQueries({ queryKey: ["summaries", id] });
  void client.invalidateQueries({ queryKey: ["preview", id] });
  await Promise.all(["session", "kept", "messages"].map((name) => client.invalidateQueries({ queryKey: [name, id] })));
}

/** A change of a session; what is shown of it is read again, and a failure is reported unless it is `shown` in its place. */
export function useChange<T, R>(id: string, run: (given: T) => Promise<R>, told?: (result: R) => string, shown = false) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (result) => told && toast(told(result)),
    onError: (error: Error) => (shown ? undefined : tellFailure(error)),
    onSettled: () => renew(client, id),
  });
}

export const compress = (id: string, body: Wish) => got(api.POST("/api/sessions/{id}/compress", { ...at(id), body }));
export const retry = (id: string, offline: boolean) =>
  got(api.POST("/api/sessions/{id}/retry", { ...at(id), body: { note: "", strategy: "", offline } }));
export const acknowledge = (id: string) => got(api.POST("/api/sessions/{id}/acknowledge", at(id)));
export const regenerate = (id: string) => got(api.POST("/api/sessions/{id}/summary/regenerate", { ...at(id), body: { note: "", strategy: "", offline: false } }));
export const undo = (id: string) => got(api.DELETE("/api/sessions/{id}/summary", at(id)));
export const editSummary = (id: string, text: string) => got(api.PUT("/api/sessions/{id}/summary", { ...at(id), body: { text } }));
export const takeOver = (id: string, source: string) =>
  got(api.POST("/api/sessions/{id}/summary/import", { ...at(id), body: { source } }));
export const change = (id: string, body: Schemas["SessionChange"]) => got(api.PATCH("/api/sessions/{id}", { ...at(id), body }));
export const pin = (id: string, message: number, pinned: boolean) =>
  got(api.PUT("/api/sessions/{id}/messages/{message}/pin", { params: { path: { id, message } }, body: { pinned } }));
export const whole = (id: string, message: number, follow = false) =>
  got(api.GET("/api/sessions/{id}/messages/{message}", { params: { path: { id, message }, query: { follow } } }));
export const drop = (id: string) => got(api.DELETE("/api/sessions/{id}", at(id)));
export const exported = async (id: string, what: "history" | "context"): Promise<Blob> =>
  (await got(api.GET("/api/sessions/{id}/export", { params: { path: { id }, query: { what } }, parseAs: "blob" }))) as unknown as Blob;

export const imported = (file: File): Promise<Session> =>
  got(
    api.POST("/api/sessions/import", {
      params: { query: { name: file.name.slice(0, 200) } },
      headers: { "Content-Type": "application/json" },
      body: file as unknown as string,
      bodySerializer: (given: unknown) => given as BodyInit,
    }),
  );
