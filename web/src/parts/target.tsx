/** What to come down to: nothing said, a share of the tokens, or a number of them. */
import { NumberInput, Segments } from "./controls";

export interface Target {
  kind: "none" | "share" | "tokens";
  share: number;
  tokens: number;
}

export const HALF: Target = { kind: "share", share: 0.5, tokens: 8000 };

export function targetValue(target: Target): number | null {
  if (target.kind === "none") return null;
  return target.kind === "share" ? target.share : target.tokens;
}

const KINDS = [
  { id: "share", name: "Share" },
  { id: "tokens", name: "Tokens" },
  { id: "none", name: "None" },
] as const;

export function TargetInput({ value, onChange }: { value: Target; onChange: (value: Target) => void }) {
  return (
    <div className="row target">
      <Segments label="Target" unlabelled value={value.kind} choices={KINDS} onChange={(kind) => onChange({ ...value, kind })} />
      {value.kind === "share" && (
        <NumberInput
          label="Share of the tokens to come down to"
          unlabelled
          value={value.share}
          min={0.01}
          max={0.99}
          step={0.01}
          format={{ style: "percent" }}
          onChange={(share) => onChange({ ...value, share: share ?? 0.5 })}
        />
      )}
      {value.kind === "tokens" && (
        <NumberInput
          label="Tokens to come down to"
          unlabelled
          value={value.tokens}
          min={1}
          onChange={(tokens) => onChange({ ...value, tokens: tokens ?? 8000 })}
        />
      )}
    </div>
  );
}
