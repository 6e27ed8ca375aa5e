/** An open transcript: what is in it, every recipe side by side, and what the chosen one did. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, got } from "../../api/client";
import { Button } from "../../parts/controls";
import { Panel } from "../../parts/surfaces";
import { HALF, TargetInput, targetValue } from "../../parts/target";
import { tellFailure } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";
import { useRecipes } from "../../state/recipes";
import type { Inspected } from "../../state/transcript";
import { Changes } from "./changes";
import { Comparison } from "./comparison";
import { Outcome } from "./outcome";
import { Summary } from "./summary";

interface WorkspaceProps {
  transcript: Inspected;
  model: string;
  setModel: (model: string) => void;
}

export function Workspace({ transcript, model, setModel }: WorkspaceProps) {
  const recipes = useRecipes();
  const [picked, setPicked] = useState("");
  const chosen = picked || (recipes.data?.default ?? "");
  const [target, setTarget] = useState(HALF);
  const aim = useDelayed(targetValue(target));
  const condensing = useMutation({
    mutationFn: () => {
      const body = { recipe: chosen, settings: {}, target: targetValue(target), model };
      return got(api.POST("/api/inspect/{id}/condense", { params: { path: { id: transcript.id } }, body }));
    },
    onError: tellFailure,
  });
  return (
    <>
      <Summary transcript={transcript} model={model} setModel={setModel} />
      <Panel title="Every recipe, as a dry run" actions={<TargetInput value={target} onChange={setTarget} />} flush>
        <Comparison transcript={transcript} model={model} target={aim} chosen={chosen} choose={setPicked} />
        <div className="row wrap act">
          <Button look="primary" icon="play" isDisabled={!chosen} isPending={condensing.isPending} onPress={() => condensing.mutate()}>
            Compact with {chosen}
          </Button>
          <span className="quiet small push">No model is called: summaries are made of the conversation’s own words.</span>
        </div>
      </Panel>
      {condensing.data ? (
        <Outcome key={condensing.data.id} transcript={transcript} done={condensing.data} />
      ) : (
        <Panel title="Messages" flush>
          <Changes transcript={transcript} result="" model={model} />
        </Panel>
      )}
    </>
  );
}
