/** Columns over days, drawn by hand: one or two series, told in words, and as a table for whoever prefers that. */
import { Chart, Grid, HEIGHT, LEFT, TOP, TALL } from "../../parts/chart";
import { labelled, ticks } from "../../parts/scale";
import { dayName } from "../../parts/time";
import { Scroll } from "../../parts/surfaces";

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

/** Pixels that the name of a day takes. */
const NAMED = 84;

export function Columns(props: ColumnsProps) {
  const { title, days, series, format } = props;
  const totals = series.map((each) => `${each.name} ${format(each.values.reduce((sum, value) => sum + value, 0))}`).join(", ");
  return (
    <Chart
      title={title}
      told={`${title}, ${days.length} days: ${totals}`}
      keys={series.length > 1 && series.map((each) => <span key={each.name} className="chart-key"><i data-tone={each.tone} /> {each.name}</span>)}
      table={<DayTable days={days} series={series} format={format} />}
    >
      {(width) => <Drawn {...props} width={width} />}
    </Chart>
  );
}

function Drawn({ days, series, format, width }: Omit<ColumnsProps, "title"> & { width: number }) {
  const marks = ticks(Math.max(0, ...series.flatMap((each) => each.values)));
  const top = marks[marks.length - 1]!;
  const at = (value: number) => TOP + TALL * (1 - Math.max(0, value) / top);
  const slot = (width - LEFT) / days.length;
  const wide = Math.max(1.5, Math.min(22, (slot * 0.72) / series.length));
  const named = labelled(days.length, Math.max(2, Math.floor((width - LEFT) / NAMED)));
  return (
    <>
      <Grid marks={marks} at={at} width={width} format={format} />
      {days.map((day, index) => (
        <g key={day}>
          <title>{`${dayName(day)}: ${series.map((each) => `${each.name} ${format(each.values[index]!)}`).join(", ")}`}</title>
          <rect x={LEFT + index * slot} y={TOP} width={slot} height={TALL} className="chart-hit" />
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
    <Scroll label="Day by day" className="figures-scroll">
      <table className="figures">
        <thead><tr><th>Day</th>{series.map((each) => <th key={each.name} className="end">{each.name}</th>)}</tr></thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}><th scope="row">{dayName(day)}</th>{series.map((each) => <td key={each.name} className="end">{format(each.values[index]!)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
