/** What is done to one kind of content, with a sketch of the effect. */
import { Segments } from "../../parts/controls";
import { Form, type FormProps } from "./fields";
import type { Values } from "./model";

export const OPERATIONS = [
  { id: "keep", name: "Keep" },
  { id: "suppress", name: "Suppress" },
  { id: "truncate", name: "Truncate" },
  { id: "summarize", name: "Summarize" },
] as const;

export type Operation = (typeof OPERATIONS)[number]["id"];

const PARAMETERS: Record<Operation, readonly string[]> = {
  keep: [],
  suppress: [],
  truncate: ["max_lines", "max_chars", "tail_lines"],
  summarize: ["max_tokens", "prompt", "profile", "max_lines", "max_chars", "tail_lines"],
};

interface OperationProps extends Omit<FormProps, "only" | "definition" | "onChange"> {
  title: string;
  about: string;
  onChange: (values: Values) => void;
}

export function OperationEditor({ title, about, values, onChange, ...form }: OperationProps) {
  const operation = String(values.operation ?? "keep") as Operation;
  return (
    <fieldset className="operation">
      <legend className="unseen">{title}</legend>
      <div className="operation-head">
        <div className="grow">
          <h3>{title}</h3>
          <p className="quiet small">{about}</p>
        </div>
        <Sketch operation={operation} values={values} />
      </div>
      <Segments
        label={`What is done to ${title.toLowerCase()}`}
        unlabelled
        value={operation}
        choices={OPERATIONS}
        onChange={(next) => onChange({ ...values, operation: next })}
      />
      {PARAMETERS[operation].length > 0 && (
        <div className="grid">
          <Form
            {...form}
            definition="ContentOperation"
            values={values}
            only={PARAMETERS[operation]}
            onChange={(name, value) => onChange({ ...values, [name]: value })}
          />
        </div>
      )}
    </fieldset>
  );
}

const LINES = 12;

/** Which of twelve lines would stay, roughly. */
function Sketch({ operation, values }: { operation: Operation; values: Values }) {
  const head = typeof values.max_lines === "number" ? Math.min(values.max_lines, LINES) : LINES;
  const tail = typeof values.tail_lines === "number" ? Math.min(values.tail_lines, LINES - head) : 0;
  const stays = (line: number) => operation === "keep" || (operation === "truncate" && (line < head || line >= LINES - tail));
  const marked = (line: number) => (operation === "summarize" ? line < 3 : operation === "suppress" ? line === 0 : false);
  const kind = { keep: "kept", suppress: "suppressed", truncate: "truncated", summarize: "summarized" }[operation];
  return (
    <div className="sketch" data-kind={kind} role="img" aria-label={`Sketch: a text of ${LINES} lines, ${operation}`}>
      {Array.from({ length: LINES }, (_, line) => (
        <span key={line} data-stays={stays(line) || undefined} data-marked={marked(line) || undefined} style={{ width: `${95 - ((line * 37) % 50)}%` }} />
      ))}
    </div>
  );
}
