/** How much of a long text is shown before somebody asks for all of it. */
const ROOM: Record<string, readonly [lines: number, characters: number]> = {
  text: [40, 4_000],
  reasoning: [4, 400],
  call: [6, 500],
  result: [8, 700],
};

/** The beginning of a text; all of it where little more would be hidden. */
export function folded(text: string, kind: string): string {
  const [lines, characters] = ROOM[kind] ?? [8, 700];
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const next = text.indexOf("\n", end);
    if (next < 0) {
      end = text.length;
      break;
    }
    end = next + 1;
  }
  end = Math.min(end, characters);
  return text.length - end < characters / 4 && lineCount(text, end) <= 2 ? text : text.slice(0, end).trimEnd();
}

/** The lines after a place, counted no further than needed. */
function lineCount(text: string, from: number): number {
  let count = from < text.length ? 1 : 0;
  for (let at = text.indexOf("\n", from); at >= 0 && count <= 2; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
