/** How a session is played: model, window, when it is compacted and how far down, and in which ways. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { Button, NumberInput, TextInput } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { MODELS } from "../../parts/models";
import { Panel, Plain } from "../../parts/surfaces";
import { number, plural } from "../../parts/text";
import type { Inspected } from "../../state/transcript";
import { coloursOf } from "./figures";

export type Way = Schemas["PlayableWay"];

export interface Wish {
  model: string;
  window: number | null;
  trigger: number;
  target: number;
  ways: readonly string[];
}

const SHARE = { style: "percent" } as const;

interface FormProps {
  transcript: Inspected;
  ways: readonly Way[];
  play: (wish: Wish) => void;
}

export function Form({ transcript, ways, play }: FormProps) {
  const [model, setModel] = useState("");
  const [window, setWindow] = useState<number | null>(null);
  const [trigger, setTrigger] = useState(0.85);
  const [target, setTarget] = useState(0.5);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = ways.map((each) => each.name).filter((name) => !left.has(name));
  const fault = target >= trigger ? "Must lie below the trigger" : undefined;
  const title = (
    <span className="row">
      <Icon name="file" />
      <Plain text={transcript.name} className="cut" />
      <span className="quiet rep-size">{plural(transcript.messages, "message")}, {number(transcript.tokens)} tokens</span>
    </span>
  );
  return (
    <Panel title={title}>
      <div className="stack">
        <div className="rep-form">
          <TextInput label="Model" value={model} onChange={setModel} placeholder={transcript.model} suggestions={MODELS} maxLength={200} />
          <NumberInput label="Window" value={window} onChange={setWindow} min={2000} step={1000} optional placeholder="its own" />
          <NumberInput label="Compact at" value={trigger} onChange={(value) => setTrigger(value ?? 0.85)} min={0.05} max={1} step={0.01} format={SHARE} />
          <NumberInput label="Come down to" value={target} onChange={(value) => setTarget(value ?? 0.5)} min={0.01} max={0.99} step={0.01} format={SHARE} fault={fault} />
        </div>
        <Chips ways={ways} left={left} setLeft={setLeft} />
        <div className="row wrap">
          <Button look="primary" icon="play" isDisabled={!chosen.length || !!fault} onPress={() => play({ model: model.trim(), window, trigger, target, ways: chosen })}>
            Play {plural(chosen.length, "way")}
          </Button>
          <span className="quiet small">No model is asked. Summaries are charged at the price of the vendor’s usual cheap model.</span>
        </div>
      </div>
    </Panel>
  );
}

interface ChipsProps {
  ways: readonly Way[];
  left: ReadonlySet<string>;
  setLeft: (left: ReadonlySet<string>) => void;
}

function Chips({ ways, left, setLeft }: ChipsProps) {
  const colours = coloursOf(ways);
  const turn = (name: string) => {
    const next = new Set(left);
    if (!next.delete(name)) next.add(name);
    setLeft(next);
  };
  return (
    <div className="row wrap" role="group" aria-label="Ways to play">
      {ways.map((each) => (
        <button key={each.name} type="button" className="rep-chip" title={each.description} aria-pressed={!left.has(each.name)} onClick={() => turn(each.name)}>
          <i style={{ background: colours.get(each.name) }} />
          <Plain text={each.name} />
        </button>
      ))}
    </div>
  );
}
