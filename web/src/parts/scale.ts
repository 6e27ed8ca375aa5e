/** Numbers as places on a chart. */

/** Round numbers from nothing up to at least the largest, about as many as asked for. */
export function ticks(largest: number, about = 4): number[] {
  if (!(largest > 0)) return [0, 1];
  const rough = largest / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough)!;
  const count = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Which of so many labels to show, so that about so many are: the last one always. */
export function labelled(count: number, most: number): (index: number) => boolean {
  const every = Math.max(1, Math.ceil(count / most));
  return (index) => (count - 1 - index) % every === 0;
}
