/** Light or dark: as chosen, else as the system says. Runs before the page is drawn, so that nothing flashes. */
export type Theme = "system" | "light" | "dark";

const KEY = "compact.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  show();
}

export const calm = (): boolean => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

export function shownTheme(): "light" | "dark" {
  const chosen = chosenTheme();
  return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}

/** Changes every colour at once: nothing fades from one theme into the other. */
function show(): void {
  const root = document.documentElement;
  root.dataset.switching = "";
  root.dataset.theme = shownTheme();
  void getComputedStyle(root).color;
  requestAnimationFrame(() => delete root.dataset.switching);
}

dark.addEventListener("change", show);
show();
