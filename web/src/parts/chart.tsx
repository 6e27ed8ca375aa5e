/** What all charts share: a title, the choice between drawing and table, and a grid with round numbers. */
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { Segments } from "./controls";
import "./chart.css";

export const HEIGHT = 190;
export const LEFT = 56;
export const TOP = 8;
/** Pixels from the top mark down to nothing; below that the axis is named. */
export const TALL = 160;
const USUAL = 640;
const AS = [
  { id: "chart", name: "Chart" },
  { id: "table", name: "Table" },
] as const;

interface ChartProps {
  title: string;
  /** The drawing in words. */
  told: string;
  keys?: ReactNode;
  table: ReactNode;
  height?: number;
  /** Draws for so many pixels of width. */
  children: (width: number) => ReactNode;
}

export function Chart({ title, told, keys, table, height = HEIGHT, children }: ChartProps) {
  const [as, setAs] = useState<"chart" | "table">("chart");
  const id = useId();
  const { place, width } = useWidth();
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id} className="row wrap">
        <h2>{title}</h2>
        {keys}
        <span className="push chart-as"><Segments label={`${title} as`} unlabelled value={as} choices={AS} onChange={setAs} /></span>
      </figcaption>
      <div ref={place} className="chart-drawn" style={{ height }}>
        {as === "chart" ? <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={told}>{children(width)}</svg> : table}
      </div>
    </figure>
  );
}

/** How wide a place is, so that a chart is drawn in pixels and its words keep their size. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(USUAL);
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.round(entry!.contentRect.width))));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return { place, width };
}

interface GridProps {
  marks: readonly number[];
  at: (value: number) => number;
  width: number;
  format: (value: number) => string;
}

export function Grid({ marks, at, width, format }: GridProps) {
  return marks.map((each) => (
    <g key={each}>
      <line x1={LEFT} x2={width} y1={at(each)} y2={at(each)} className="chart-line" />
      <text x={LEFT - 8} y={at(each) + 3.5} textAnchor="end">{format(each)}</text>
    </g>
  ));
}
