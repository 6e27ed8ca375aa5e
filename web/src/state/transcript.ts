/** The transcript that is open: the Inspector looks at it, Replay plays it, and the editor tries passes on it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { api, ApiError, got, type Schemas } from "../api/client";

export type Inspected = Schemas["Inspected"];

const KEY = "compact.transcript";
const listeners = new Set<() => void>();

export function openId(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

export function setOpen(id: string): void {
  if (id) sessionStorage.setItem(KEY, id);
  else sessionStorage.removeItem(KEY);
  listeners.forEach((tell) => tell());
}

const subscribe = (tell: () => void) => {
  listeners.add(tell);
  return () => void listeners.delete(tell);
};

export const useOpenId = (): string => useSyncExternalStore(subscribe, openId);

/** The open transcript, counted for a model; forgotten where the server has forgotten it. */
export function useTranscript(model = "") {
  const id = useOpenId();
  return useQuery<Inspected>({
    queryKey: ["inspect", id, model],
    enabled: id !== "",
    staleTime: Infinity,
    placeholderData: (before) => (before?.id === id ? before : undefined),
    queryFn: async ({ signal }) => {
      try {
        return await got(api.GET("/api/inspect/{id}", { params: { path: { id }, query: { model } }, signal }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) setOpen("");
        throw error;
      }
    },
  });
}

export type Source = File | "demo";

async function open(source: Source): Promise<Inspected> {
  if (source === "demo") return got(api.POST("/api/inspect/demo"));
  return got(
    api.POST("/api/inspect", {
      params: { query: { name: source.name.slice(0, 200) } },
      headers: { "Content-Type": "application/json" },
      body: source as unknown as string,
      bodySerializer: (file: unknown) => file as BodyInit,
    }),
  );
}

export function useOpening() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: open,
    onSuccess: (found) => {
      client.setQueryData(["inspect", found.id, ""], found);
      setOpen(found.id);
    },
  });
}
