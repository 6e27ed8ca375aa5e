/** Short news that goes by itself; bad news stays until it is closed. */
import { useSyncExternalStore } from "react";
import { Button } from "./controls";
import { Icon } from "./icons";
import { legible } from "./text";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

const STAYS = 5_000;
let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  shown = next;
  listeners.forEach((tell) => tell());
}

export function dismiss(id: number): void {
  change(shown.filter((each) => each.id !== id));
}

export function toast(text: string, bad = false): void {
  const id = ++last;
  change([...shown.slice(-3), { id, text, bad }]);
  if (!bad) setTimeout(() => dismiss(id), STAYS);
}

export function tellFailure(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), true);
}

const subscribe = (tell: () => void) => {
  listeners.add(tell);
  return () => void listeners.delete(tell);
};

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="region" aria-label="Notifications">
      {all.map((each) => (
        <div key={each.id} className="toast" role={each.bad ? "alert" : "status"}>
          <span className={`mark ${each.bad ? "bad" : "good"}`}>
            <Icon name={each.bad ? "alert" : "check"} />
          </span>
          <span className="grow plain">{legible(each.text)}</span>
          <Button look="ghost" tiny icon="cross" aria-label="Dismiss" onPress={() => dismiss(each.id)} />
        </div>
      ))}
    </div>
  );
}
