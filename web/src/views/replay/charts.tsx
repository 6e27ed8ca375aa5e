/** Dollars as bars, and the size of every request as lines. */
import type { Schemas } from "../../api/client";
import { Chart, Grid, HEIGHT, LEFT, TALL, TOP } from "../../parts/chart";
import { labelled, ticks } from "../../parts/scale";
import { Plain, Scroll } from "../../parts/surfaces";
import { brief, dollars, legible, number } from "../../parts/text";
import { line, listedRequests, NOTHING } from "./figures";

type Shown = Schemas["WayPlayed"];
type Colours = ReadonlyMap<string, string>;

const NAMES = 118;
const AMOUNTS = 58;
const BAR = 21;
/** Pixels that the number of a request takes. */
const NUMBERED = 60;
/** A window that is further above the largest request than this is not drawn. */
const NEAR = 1.4;

export function Costs({ ways, expected, colours }: { ways: readonly Shown[]; expected: number; colours: Colours }) {
  const most = Math.max(1e-12, ...ways.map((each) => Number(each.dollars ?? 0)));
  return (
    <Chart
      title="Dollars"
      told={`Dollars: ${ways.map((each) => `${each.way} ${dollars(each.dollars)}`).join(", ")}`}
      height={Math.max(HEIGHT, BAR * expected)}
      table={
        <Scroll label="Dollars by way" className="figures-scroll">
          <table className="figures">
            <thead><tr><th scope="col">Way</th><th scope="col" className="end">Dollars</th><th scope="col" className="end">Of which summaries</th></tr></thead>
            <tbody>
              {ways.map((each) => (
                <tr key={each.way}><th scope="row"><Plain text={each.way} /></th><td className="end">{dollars(each.dollars)}</td><td className="end">{dollars(each.condensing)}</td></tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      }
    >
      {(width) =>
        ways.map((each, index) => {
          const wide = (Math.max(1, width - NAMES - AMOUNTS) * Number(each.dollars ?? 0)) / most;
          const middle = BAR * index + BAR / 2;
          return (
            <g key={each.way}>
              <text x={NAMES - 8} y={middle + 3.5} textAnchor="end">{legible(each.way).slice(0, 20)}</text>
              <rect x={NAMES} y={middle - 6} width={Math.max(1, wide)} height={12} rx={2} style={{ fill: colours.get(each.way) }} />
              <text x={NAMES + wide + 6} y={middle + 3.5}>{dollars(each.dollars)}</text>
            </g>
          );
        })
      }
    </Chart>
  );
}

interface SizesProps {
  ways: readonly Shown[];
  window: number;
  colours: Colours;
  emphasised: string;
}

export function Sizes({ ways, window, colours, emphasised }: SizesProps) {
  const largest = Math.max(0, ...ways.map((each) => each.peak));
  const peaks = ways.map((each) => `${each.way} ${number(each.peak)}`).join(", ");
  return (
    <Chart
      title="Tokens of each request"
      told={`Tokens of each request; the largest with ${peaks}`}
      height={Math.max(HEIGHT, BAR * ways.length)}
      table={<SizeTable ways={ways} />}
    >
      {(width) => <Drawn ways={ways} window={largest * NEAR > window ? window : 0} colours={colours} emphasised={emphasised} width={width} />}
    </Chart>
  );
}

function Drawn({ ways, window, colours, emphasised, width }: SizesProps & { width: number }) {
  const marks = ticks(Math.max(window, ...ways.map((each) => each.peak)));
  const at = (value: number) => TOP + TALL * (1 - value / marks[marks.length - 1]!);
  const count = ways[0]?.sizes.length ?? 0;
  const wide = width - LEFT;
  const step = count > 1 ? wide / (count - 1) : 0;
  const named = labelled(count, Math.max(2, Math.floor(wide / NUMBERED)));
  const ordered = ways.toSorted((one, other) => Number(one.way === emphasised) - Number(other.way === emphasised));
  return (
    <>
      <Grid marks={marks} at={at} width={width} format={brief} />
      {window > 0 && (
        <g>
          <line x1={LEFT} x2={width} y1={at(window)} y2={at(window)} className="rep-window" />
          <text x={width} y={at(window) - 4} textAnchor="end">window of {number(window)}</text>
        </g>
      )}
      {ordered.map((each) => (
        <polyline
          key={each.way}
          points={line(each.sizes, LEFT, wide, at)}
          className="rep-line"
          data-quiet={(emphasised !== "" && each.way !== emphasised) || undefined}
          data-plain={each.way === NOTHING || undefined}
          style={{ stroke: colours.get(each.way) }}
        >
          <title>{legible(each.way)}</title>
        </polyline>
      ))}
      {Array.from({ length: count }, (_, index) => index).filter((index) => named(index) && (index > 0 || count === 1)).map((index) => (
        <text key={index} x={LEFT + index * step} y={TOP + TALL + 16} textAnchor={index === count - 1 ? "end" : "middle"}>{number(index + 1)}</text>
      ))}
    </>
  );
}

function SizeTable({ ways }: { ways: readonly Shown[] }) {
  return (
    <Scroll label="Request by request" className="figures-scroll">
      <table className="figures">
        <thead><tr><th scope="col">Request</th>{ways.map((each) => <th key={each.way} scope="col" className="end"><Plain text={each.way} /></th>)}</tr></thead>
        <tbody>
          {listedRequests(ways[0]?.sizes.length ?? 0).map((index) => (
            <tr key={index}><th scope="row">{number(index + 1)}</th>{ways.map((each) => <td key={each.way} className="end">{number(each.sizes[index]!)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
