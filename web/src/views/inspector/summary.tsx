import { useEffect, useState } from "react";
import { Button, TextInput } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { MODELS } from "../../parts/models";
import { Badge, Bar, Panel, Plain } from "../../parts/surfaces";
import { bytes, number, percent, plural } from "../../parts/text";
import { useDelayed } from "../../state/delayed";
import type { Inspected } from "../../state/transcript";

const SHOWN = 50;
const COLOURS: Record<string, string> = {
  text: "var(--accent)",
  "tool calls": "var(--kind-superseded)",
  "tool results": "var(--kind-truncated)",
  tools: "var(--kind-layout)",
  reasoning: "var(--kind-reasoning)",
  images: "var(--kind-added)",
  frame: "var(--line-strong)",
};
const SOURCES = { option: "as chosen", request: "as the request says", default: "usual for the file’s format" };

interface SummaryProps {
  transcript: Inspected;
  model: string;
  setModel: (model: string) => void;
}

export function Summary({ transcript, model, setModel }: SummaryProps) {
  const { tokens, window, violations_total: wrong } = transcript;
  const [typed, setTyped] = useState(model);
  const settled = useDelayed(typed.trim(), 500);
  useEffect(() => {
    setModel(settled);
  }, [settled, setModel]);
  const kinds = Object.entries(transcript.by_kind).filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
  return (
    <Panel
      title={
        <span className="row">
          <Icon name="file" />
          <Plain text={transcript.name} className="cut" />
        </span>
      }
      actions={
        <>
          <Badge look="accent">{transcript.format}</Badge>
          {wrong ? <Badge look="bad">{plural(wrong, "violation")}</Badge> : <Badge look="good">valid for its vendor</Badge>}
        </>
      }
    >
      <div className="summary">
        <dl className="facts">
          <Fact name="messages">{number(transcript.messages)}</Fact>
          <Fact name={`tokens, ${transcript.precision}`}>{number(tokens)}</Fact>
          <Fact name={`of ${number(window)}`}>{percent(tokens / window)}</Fact>
          <Fact name="file">{bytes(transcript.bytes)}</Fact>
        </dl>
        <div className="model">
          <TextInput
            label="Count for the model"
            value={typed}
            onChange={setTyped}
            placeholder={transcript.model}
            suggestions={MODELS}
            hint={`${transcript.model}, ${SOURCES[transcript.model_source]}`}
          />
        </div>
        <div className="makeup">
          <Bar
            label={kinds.map(([kind, count]) => `${kind} ${percent(count / tokens)}`).join(", ")}
            parts={kinds.map(([kind, count]) => ({ share: count / Math.max(tokens, 1), colour: COLOURS[kind] ?? "var(--ink-3)" }))}
          />
          <ul className="row wrap legend small">
            {kinds.map(([kind, count]) => (
              <li key={kind} className="row">
                <span className="dot" style={{ background: COLOURS[kind] ?? "var(--ink-3)" }} />
                <Plain text={kind} /> <span className="quiet">{number(count)}</span>
              </li>
            ))}
          </ul>
        </div>
      </div>
      {wrong > 0 && <Violations transcript={transcript} />}
    </Panel>
  );
}

export function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Violations({ transcript }: { transcript: Inspected }) {
  const [all, setAll] = useState(false);
  const shown = transcript.violations.slice(0, all ? SHOWN : 3);
  return (
    <div className="violations">
      <h3>What the vendor would reject</h3>
      <ul className="stack">
        {shown.map((each, index) => (
          <li key={index} className="violation">
            <span className="row">
              <Badge look="bad">{each.rule}</Badge>
              {each.index !== null && <span className="quiet small">message {each.index}</span>}
            </span>
            <Plain text={each.text} />
            <Plain text={each.remedy} className="quiet small" />
          </li>
        ))}
      </ul>
      {transcript.violations_total > 3 && (
        <Button tiny look="ghost" onPress={() => setAll(!all)}>
          {all ? "Show fewer" : `Show ${number(Math.min(transcript.violations_total, SHOWN))} of ${number(transcript.violations_total)}`}
        </Button>
      )}
    </div>
  );
}
