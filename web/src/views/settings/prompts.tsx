/** What a summarizing model is told: the strategies, words of one's own, and the exact request. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, type Schemas } from "../../api/client";
import { Button, Choose, Segments, TextInput } from "../../parts/controls";
import { SessionChoice } from "../../parts/sessionchoice";
import { Badge, Failure, Loading, Panel, Plain } from "../../parts/surfaces";
import { number } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";

type Trial = Schemas["PromptTrial"];

const DETAIL = [{ id: "detailed", name: "Detailed" }, { id: "concise", name: "Concise" }] as const;

export function Prompts() {
  const all = useQuery({ queryKey: ["strategies"], queryFn: ({ signal }) => got(api.GET("/api/prompts", { signal })) });
  const [trial, setTrial] = useState<Trial>({ strategy: "general", prompt: "", detail: "detailed", profile: "", session: "" });
  const set = (change: Partial<Trial>) => setTrial({ ...trial, ...change });
  if (all.error) return <Panel title="Prompts"><Failure error={all.error} retry={() => void all.refetch()} /></Panel>;
  if (!all.data) return <Panel title="Prompts"><Loading lines={8} /></Panel>;
  const built = all.data.filter((each) => !each.custom);
  const own = all.data.filter((each) => each.custom);
  const chosen = built.find((each) => each.name === trial.strategy);
  return (
    <>
      <Panel title="Prompts">
        <div className="stack">
          <div className="set-scope">
            <Choose label="Strategy" hint={chosen?.description} value={trial.strategy} choices={built.map((each) => ({ id: each.name, name: each.name, description: each.description }))} onChange={(strategy) => set({ strategy })} />
            <Segments label="Detail" value={trial.detail} choices={DETAIL} onChange={(detail) => set({ detail })} />
            <SessionChoice label="Shown for" value={trial.session} onChange={(session) => set({ session })} />
          </div>
          {chosen && chosen.sections.length > 0 && (
            <div className="row wrap" aria-label="Sections of the summary" role="group">
              {chosen.sections.map((each) => <Badge key={each}>{each}</Badge>)}
            </div>
          )}
          <Own names={own.map((each) => each.name)} text={trial.prompt} onChange={(prompt) => set({ prompt })} />
        </div>
      </Panel>
      <Preview trial={trial} />
    </>
  );
}

function Own({ names, text, onChange }: { names: readonly string[]; text: string; onChange: (text: string) => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const saving = useMutation({
    mutationFn: () => got(api.PUT("/api/prompts/{name}", { params: { path: { name } }, body: { text } })),
    onSuccess: () => {
      toast(`Saved the prompt “${name}”.`);
      return client.invalidateQueries({ queryKey: ["strategies"] });
    },
    onError: tellFailure,
  });
  const load = (wanted: string) =>
    void got(api.GET("/api/prompts/{name}", { params: { path: { name: wanted } } })).then((found) => {
      setName(found.name);
      onChange(found.text);
    }, tellFailure);
  return (
    <>
      {names.length > 0 && (
        <div className="row wrap" role="group" aria-label="Prompts of your own">
          {names.map((each) => <Button key={each} tiny onPress={() => load(each)}>{each}</Button>)}
        </div>
      )}
      <TextInput lines label="Words of your own" hint="In place of the strategy’s; empty to use those." value={text} onChange={onChange} maxLength={20_000} placeholder="Summarize what was decided, and why." />
      <div className="row wrap set-keep">
        <TextInput label="Keep them as" placeholder="A name" value={name} onChange={setName} maxLength={64} />
        <Button isDisabled={!name || !text.trim()} isPending={saving.isPending} onPress={() => saving.mutate()}>Save prompt</Button>
      </div>
    </>
  );
}

function Preview({ trial }: { trial: Trial }) {
  const body = useDelayed(trial, 400);
  const shown = useQuery({
    queryKey: ["prompt", body],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.POST("/api/prompts/preview", { body, signal })),
  });
  return (
    <Panel title="The exact request" actions={shown.data && <Badge>{shown.data.custom ? "words of your own" : shown.data.strategy}</Badge>}>
      {shown.error ? (
        <Failure error={shown.error} retry={() => void shown.refetch()} />
      ) : !shown.data ? (
        <Loading lines={10} label="Composing the request" />
      ) : (
        <div className="stack">
          {shown.data.requests.map((each, index) => (
            <div key={index} className="stack">
              <p className="soft">{number(each.tokens)} tokens are sent, at most {number(each.max_tokens)} come back.</p>
              <Text title="Instructions" text={each.system} />
              <Text title={each.truncated ? "Material (its beginning)" : "Material"} text={each.user} />
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <div className="stack set-request">
      <h3>{title}</h3>
      <div className="set-code" tabIndex={0} role="region" aria-label={title}><Plain text={text} /></div>
    </div>
  );
}
