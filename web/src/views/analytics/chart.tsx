/** Columns over days, drawn by hand: one or two series, told in words, and as a table for whoever prefers that. */
import { useEffect, useId, useRef, useState } from "react";
import { Segments } from "../../parts/controls";
import { dayName } from "../../parts/time";
import { labelled, ticks } from "./scale";

export interface Series {
  name: string;
  tone: "accent" | "warn" | "bad";
  values: readonly number[];
}

interface ColumnsProps {
  title: string;
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
}

const USUAL = 640;
/** Pixels that the name of a day takes. */
const NAMED = 84;
const HEIGHT = 190;
const LEFT = 56;
const BOTTOM = 22;
const TOP = 8;
const AS = [
  { id: "chart", name: "Chart" },
  { id: "table", name: "Table" },
] as const;

export function Columns(props: ColumnsProps) {
  const { title, days, series, format } = props;
  const [as, setAs] = useState<"chart" | "table">("chart");
  const id = useId();
  const { place, width } = useWidth();
  const totals = series.map((each) => `${each.name} ${format(each.values.reduce((sum, value) => sum + value, 0))}`).join(", ");
  return (
    <figure className="ana-chart" aria-labelledby={id}>
      <figcaption id={id} className="row wrap">
        <h2>{title}</h2>
        {series.length > 1 && series.map((each) => (
          <span key={each.name} className="ana-key"><i data-tone={each.tone} /> {each.name}</span>
        ))}
        <span className="push ana-as"><Segments label={`${title} as`} unlabelled value={as} choices={AS} onChange={setAs} /></span>
      </figcaption>
      {as === "chart" ? (
        <div ref={place} className="ana-drawn">
          <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${title}, ${days.length} days: ${totals}`}>
            <Grid {...props} width={width} />
          </svg>
        </div>
      ) : (
        <DayTable days={days} series={series} format={format} />
      )}
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

function Grid({ days, series, format, width }: Omit<ColumnsProps, "title"> & { width: number }) {
  const marks = ticks(Math.max(0, ...series.flatMap((each) => each.values)));
  const top = marks[marks.length - 1]!;
  const tall = HEIGHT - TOP - BOTTOM;
  const at = (value: number) => TOP + tall * (1 - Math.max(0, value) / top);
  const slot = (width - LEFT) / days.length;
  const wide = Math.max(1.5, Math.min(22, (slot * 0.72) / series.length));
  const named = labelled(days.length, Math.max(2, Math.floor((width - LEFT) / NAMED)));
  return (
    <>
      {marks.map((each) => (
        <g key={each}>
          <line x1={LEFT} x2={width} y1={at(each)} y2={at(each)} className="ana-line" />
          <text x={LEFT - 8} y={at(each) + 3.5} textAnchor="end">{format(each)}</text>
        </g>
      ))}
      {days.map((day, index) => (
        <g key={day}>
          <title>{`${dayName(day)}: ${series.map((each) => `${each.name} ${format(each.values[index]!)}`).join(", ")}`}</title>
          <rect x={LEFT + index * slot} y={TOP} width={slot} height={tall} className="ana-hit" />
          {series.map((each, which) => (
            <rect
              key={each.name}
              data-tone={each.tone}
              x={LEFT + (index + 0.5) * slot + (which - series.length / 2) * wide}
              y={at(each.values[index]!)}
              width={Math.max(1, wide - 1)}
              height={Math.max(0, at(0) - at(each.values[index]!))}
              rx={Math.min(2, wide / 3)}
            />
          ))}
          {named(index) && index * slot > NAMED / 4 && (
            <text x={index === days.length - 1 ? width : LEFT + (index + 0.5) * slot} y={HEIGHT - 6} textAnchor={index === days.length - 1 ? "end" : "middle"}>{dayName(day)}</text>
          )}
        </g>
      ))}
    </>
  );
}

function DayTable({ days, series, format }: Omit<ColumnsProps, "title">) {
  return (
    <div className="ana-table" tabIndex={0} role="region" aria-label="Day by day">
      <table className="ana-figures">
        <thead><tr><th>Day</th>{series.map((each) => <th key={each.name} className="end">{each.name}</th>)}</tr></thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}><th scope="row">{dayName(day)}</th>{series.map((each) => <td key={each.name} className="end">{format(each.values[index]!)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
