/** Finds settings by the words of their names and meanings. */
export interface Entry {
  section: string;
  title: string;
  about: string;
  /** The element to bring into sight, if it has one of its own. */
  id?: string;
}

/** The entries that hold every word, those whose title does first. */
export function findIn(entries: readonly Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const scored = entries.flatMap((entry) => {
    const title = entry.title.toLowerCase();
    const all = `${title} ${entry.section} ${entry.about}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return [];
    return [{ entry, score: words.filter((word) => title.includes(word)).length }];
  });
  return scored.sort((one, other) => other.score - one.score).map(({ entry }) => entry);
}
