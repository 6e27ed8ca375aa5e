/** Text as people read it: numbers, sizes, and what a transcript holds. */
const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

export const number = (value: number): string => whole.format(value);
export const brief = (value: number): string => (Math.abs(value) < 10_000 ? whole.format(value) : short.format(value));

/** A share as a change in percent: −71%, +2%, 0%. */
export function change(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 ? "0%" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)}%`;
}

export const percent = (share: number): string =>
  share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`;

export function dollars(amount: string | null | undefined): string {
  if (amount == null) return "–";
  const value = Number(amount);
  return value === 0 ? "$0" : value < 0.0001 ? "<$0.0001" : `$${value.toFixed(4)}`;
}

export function seconds(value: number): string {
  return value < 0.0995 ? `${Math.max(1, Math.round(value * 1000))} ms` : `${value.toFixed(1)} s`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

// Control characters but tab and line feed, and those that turn or hide text: they are shown, and do nothing.
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** A transcript's text made harmless to read: what drives terminals or reorders text is spelled out. */
export function legible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(UNSEEN, (one) => {
    const code = one.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** Hands a file to the browser, under a name that no transcript can choose freely. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[^\w.\- ]+/g, "_").slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
