/** Where one is: `#/view/rest`. */
import { useSyncExternalStore } from "react";

const subscribe = (tell: () => void) => {
  window.addEventListener("hashchange", tell);
  return () => window.removeEventListener("hashchange", tell);
};

export function usePlace(): { view: string; rest: string } {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const [, view = "", rest = ""] = /^#\/([^/]*)\/?(.*)$/.exec(hash) ?? [];
  return { view, rest };
}

export function go(view: string, rest = ""): void {
  location.hash = rest ? `#/${view}/${rest}` : `#/${view}`;
}
