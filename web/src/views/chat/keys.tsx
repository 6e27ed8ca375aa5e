/** Keys that the server found in its environment: one click makes a model answer. */
import { api, got, type Schemas } from "../../api/client";
import { Button } from "../../parts/controls";
import { useProfileChange } from "../../state/profiles";

interface KeysProps {
  answering: Schemas["Answering"];
  /** The model of the conversation, if there is one. */
  model?: string;
}

export function Keys({ answering, model = "" }: KeysProps) {
  const using = useProfileChange(
    (vendor: Schemas["KeyOffer"]["vendor"]) => got(api.POST("/api/answering", { body: { vendor, model } })),
    "The model answers from now on. Settings, Profiles has what is asked.",
  );
  return answering.keys.map((each) => (
    <span key={each.vendor} className="row wrap">
      <Button tiny icon="key" isPending={using.isPending} onPress={() => using.mutate(each.vendor)}>
        Use {each.variable}
      </Button>
      <span>{each.model === each.summarizer ? `${each.model} answers and summarizes.` : `${each.model} answers, ${each.summarizer} summarizes.`}</span>
    </span>
  ));
}
