/** Who may be asked to summarize and to answer, whether they can be, and what each would cost. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { Button, IconButton, NumberInput, Tip } from "../../parts/controls";
import { SessionChoice } from "../../parts/sessionchoice";
import { Badge, Failure, Loading, Panel, Plain, Scroll, Window } from "../../parts/surfaces";
import { dollars, number, plural } from "../../parts/text";
import { tellFailure } from "../../parts/toasts";
import { useDelayed } from "../../state/delayed";
import { useProfileChange } from "../../state/profiles";
import { ProfileForm } from "./profileform";

type Profile = Schemas["ProfileView"];

type Asked = { profile: Profile | null; what: "edit" | "delete" };
type Tested = Schemas["ProfileTest"];

export function Profiles() {
  const all = useQuery({ queryKey: ["profiles"], queryFn: ({ signal }) => got(api.GET("/api/profiles", { signal })) });
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const profile = asked?.profile ?? null;
  return (
    <>
      <Panel title="Profiles" flush actions={<Button icon="plus" onPress={() => setAsked({ profile: null, what: "edit" })}>Add a profile</Button>}>
        {all.error ? <Failure error={all.error} retry={() => void all.refetch()} /> : !all.data ? <div className="set-none"><Loading lines={5} /></div> : <Standings profiles={all.data} ask={setAsked} />}
      </Panel>
      <Window title={profile ? "Edit the profile" : "Add a profile"} open={asked?.what === "edit"} onClose={close}>
        <ProfileForm profile={profile} done={close} />
      </Window>
      <Window title="Delete this profile?" open={asked?.what === "delete"} onClose={close}>
        {profile && <Delete profile={profile} done={close} />}
      </Window>
      <Costs />
    </>
  );
}

function Delete({ profile, done }: { profile: Profile; done: () => void }) {
  const deleting = useProfileChange(() => got(api.DELETE("/api/profiles/{name}", { params: { path: { name: profile.name } } })), `Deleted ${profile.name}.`, done);
  return (
    <div className="stack">
      <p>Its model is no longer asked. The key stays where it is.</p>
      <div className="row">
        <Button look="danger" isPending={deleting.isPending} onPress={() => deleting.mutate(undefined)}>Delete {profile.name}</Button>
        <Button look="ghost" onPress={done}>Cancel</Button>
      </div>
    </div>
  );
}

function Standings({ profiles, ask }: { profiles: readonly Profile[]; ask: (asked: Asked) => void }) {
  return (
    <>
      {!profiles.some((each) => each.source === "configured") && (
        <p className="quiet set-none">No profile is configured, so summaries are written without a model. Add a profile, and test it.</p>
      )}
      <Scroll label="Profiles" className="set-scroll">
        <table className="set-table set-profiles">
          <thead>
            <tr><th>Profile</th><th>Model</th><th>Standing</th><th>Used for</th><th>Key</th><th className="end">In / out, $/million</th><th className="end">Reads</th><th><span className="unseen">Actions</span></th></tr>
          </thead>
          {/* What a test found holds for the settings that were tested: others are a new row. */}
          <tbody>{profiles.map((each) => <ProfileRow key={JSON.stringify([each.source, each.settings])} profile={each} ask={ask} />)}</tbody>
        </table>
      </Scroll>
    </>
  );
}

function ProfileRow({ profile, ask }: { profile: Profile; ask: (asked: Asked) => void }) {
  const test = useMutation({
    mutationFn: () => got(api.POST("/api/profiles/{name}/test", { params: { path: { name: profile.name } } })),
    onError: tellFailure,
  });
  const own = profile.source === "configured";
  return (
    <tr>
      <th scope="row"><Plain text={profile.name} /> {!own && <Badge>usual model</Badge>}</th>
      <td><Plain text={profile.model} /> <span className="quiet small">{profile.vendor}</span></td>
      <td><Standing profile={profile} tested={test.data} /></td>
      <td>{profile.use}</td>
      <td className="set-key"><Plain className="quiet" text={profile.key || "none"} /></td>
      <td className="end">{profile.input_price ?? "?"} / {profile.output_price ?? "?"}</td>
      <td className="end">{number(profile.context_window)}</td>
      <td className="end">
        <span className="row set-actions">
          <IconButton tiny icon="play" label={`Test ${profile.name}: ask one small question`} isPending={test.isPending} onPress={() => test.mutate()} />
          <IconButton tiny icon="edit" label={`Edit ${profile.name}`} isDisabled={!own} onPress={() => ask({ profile, what: "edit" })} />
          <IconButton tiny icon="trash" label={`Delete ${profile.name}`} isDisabled={!own} onPress={() => ask({ profile, what: "delete" })} />
        </span>
      </td>
    </tr>
  );
}

/** What is known: an answer only after a test, ready only where the credentials were looked at. */
function stateOf(profile: Profile, tested: Tested | undefined): { word: string; look: string; told: string[] } {
  const about = [...profile.problems, ...profile.remarks];
  if (tested?.answered) {
    const cost = tested.cost === null ? "at an unknown price" : dollars(tested.cost);
    return { word: `answered in ${tested.seconds?.toFixed(1)} s`, look: "good", told: [`${tested.model}, ${cost}`] };
  }
  if (tested) return { word: "no answer", look: "bad", told: [tested.reason ?? ""] };
  if (!profile.ready) return { word: "not ready", look: "warn", told: about };
  if (profile.credentials === "not looked at") return { word: "not tested", look: "", told: [`${profile.key} are looked for when the model is asked: test it.`, ...about] };
  return { word: "ready", look: "good", told: about };
}

function Standing({ profile, tested }: { profile: Profile; tested: Tested | undefined }) {
  const { word, look, told } = stateOf(profile, tested);
  const badge = `badge ${look}`;
  if (!told.length) return <span className={badge}>{word}</span>;
  return (
    <Tip text={told.map((each) => <p key={each}>{each}</p>)}>
      <AriaButton className={badge}>{word}</AriaButton>
    </Tip>
  );
}

function Costs() {
  const [session, setSession] = useState("");
  const [turns, setTurns] = useState(20);
  const query = { session, turns: useDelayed(turns) };
  const costs = useQuery({
    queryKey: ["costs", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.GET("/api/profiles/costs", { params: { query }, signal })),
  });
  return (
    <Panel title="Cost comparison">
      <div className="stack">
        <div className="set-scope">
          <SessionChoice label="For the conversation" value={session} onChange={setSession} />
          <NumberInput label="Requests to come" value={turns} min={1} max={100_000} onChange={(value) => setTurns(value ?? 20)} />
        </div>
        {costs.error ? <Failure error={costs.error} retry={() => void costs.refetch()} /> : !costs.data ? <Loading lines={8} label="Comparing" /> : <Options costs={costs.data} />}
      </div>
    </Panel>
  );
}

function Options({ costs }: { costs: Schemas["CostComparison"] }) {
  return (
    <>
      <p className="soft">{number(costs.tokens)} tokens for {costs.model}, over {plural(costs.turns, "request")}.</p>
      <Scroll label="Costs" className="set-scroll">
        <table className="set-table">
          <thead>
            <tr><th>Recipe</th><th>Asks</th><th className="end">Tokens after</th><th className="end">Compacting</th><th className="end">Cache rewrite</th><th className="end">Saved a request</th><th className="end">Pays after</th></tr>
          </thead>
          <tbody>
            {costs.options.map((each, index) => (
              <tr key={index}>
                <th scope="row">{each.way}</th>
                <td>{each.model ? <Plain text={each.model} /> : <span className="quiet">no model</span>} {each.profile && <span className="quiet small">{each.profile}</span>}</td>
                <td className="end">{number(each.tokens_after)}</td>
                <td className="end">{dollars(each.condensing)}</td>
                <td className="end">{dollars(each.rewrite)}</td>
                <td className="end good">{dollars(each.saved_per_request)}</td>
                <td className="end">{each.turns === null ? "never" : plural(each.turns, "request")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {costs.recommendations.length > 0 && (
        <ul className="set-advice" aria-label="Recommendations">
          {costs.recommendations.map((each) => <li key={each}><Plain text={each} /></li>)}
        </ul>
      )}
    </>
  );
}
