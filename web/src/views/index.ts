/** The views: each is a folder here whose index.tsx exports its component as default, loaded when first shown. */
import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import type { IconName } from "../parts/icons";

export interface Place {
  id: string;
  title: string;
  icon: IconName;
  view: LazyExoticComponent<ComponentType>;
}

const PLACES: readonly Omit<Place, "view">[] = [
  { id: "chat", title: "Chat", icon: "chat" },
  { id: "inspector", title: "Inspector", icon: "inspector" },
  { id: "replay", title: "Replay", icon: "replay" },
  { id: "editor", title: "Editor", icon: "editor" },
  { id: "settings", title: "Settings", icon: "settings" },
  { id: "analytics", title: "Analytics", icon: "analytics" },
  { id: "traces", title: "Traces", icon: "traces" },
];

const folders = import.meta.glob<{ default: ComponentType }>("./*/index.tsx");

/** Those whose folder is there, in the order of the navigation. */
export const places: readonly Place[] = PLACES.flatMap((place) => {
  const load = folders[`./${place.id}/index.tsx`];
  return load ? [{ ...place, view: lazy(load) }] : [];
});
