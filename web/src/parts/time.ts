/** When something was, as people say it. */
const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });
const moment = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
const DAYS_TOLD = 30;

/** How long ago: “just now”, “5 minutes ago”, “yesterday”; after a month, the date. */
export function ago(instant: string, now = Date.now()): string {
  const then = Date.parse(instant);
  if (Number.isNaN(then)) return "";
  const gone = Math.max(0, (now - then) / 1000);
  if (gone > DAYS_TOLD * 86_400) return day.format(then);
  const [unit, size] = STEPS.find(([, each]) => gone >= each) ?? ["second", 0];
  return size ? relative.format(-Math.floor(gone / size), unit) : "just now";
}

/** The whole date and time, in the reader's own zone. */
export function exactly(instant: string): string {
  const then = Date.parse(instant);
  return Number.isNaN(then) ? "" : moment.format(then);
}

/** A day as an axis names it: “Nov 15”. */
export const dayName = (date: string): string => day.format(Date.parse(`${date}T00:00:00Z`));
