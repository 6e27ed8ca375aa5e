/** Every recipe side by side; rows fill as the server has tried them. */
import { useQueries } from "@tanstack/react-query";
import { api, got, type Schemas } from "../../api/client";
import { Badge, Failure, Loading, Scroll } from "../../parts/surfaces";
import { brief, change, dollars, number, percent, seconds } from "../../parts/text";
import { limited } from "../../state/delayed";
import { useRecipes } from "../../state/recipes";
import type { Inspected } from "../../state/transcript";
import "../../parts/ways.css";

type Facts = Schemas["Facts"];
type Recipe = Schemas["RecipeView"];

// The server computes: more at once would only make the first answer later.
const inTurn = limited(2);

interface ComparisonProps {
  transcript: Inspected;
  model: string;
  target: number | null;
  chosen: string;
  choose: (name: string) => void;
}

export function Comparison({ transcript, model, target, chosen, choose }: ComparisonProps) {
  const recipes = useRecipes();
  const all = recipes.data?.recipes ?? [];
  const tried = useQueries({
    queries: all.map((each) => ({
      queryKey: ["try", transcript.id, model, target, each],
      staleTime: 300_000,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        inTurn(() =>
          got(
            api.POST("/api/inspect/{id}/try", {
              params: { path: { id: transcript.id } },
              body: { recipe: each.name, settings: {}, target, model },
              signal,
            }),
          ),
        ),
    })),
  });
  if (recipes.error) return <Failure error={recipes.error} retry={() => void recipes.refetch()} />;
  if (!recipes.data) return <div className="body"><Loading lines={8} label="Listing the recipes" /></div>;
  return (
    <Scroll label="Recipes side by side" className="ways-scroll">
      <table className="ways">
        <thead>
          <tr>
            <th scope="col">Recipe</th>
            <th scope="col">Tokens</th>
            <th scope="col" className="end">Change</th>
            <th scope="col" className="end">Saved</th>
            <th scope="col" className="end">Edits</th>
            <th scope="col" className="end">Summaries</th>
            <th scope="col" className="end">Cost</th>
            <th scope="col" className="end">Prefix kept</th>
            <th scope="col" className="end">Time</th>
            <th scope="col">Target</th>
          </tr>
        </thead>
        <tbody>
          {all.map((recipe, index) => (
            <Tried
              key={recipe.name}
              recipe={recipe}
              facts={tried[index]?.data}
              error={tried[index]?.error}
              tokens={transcript.tokens}
              selected={recipe.name === chosen}
              select={() => choose(recipe.name)}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface TriedProps {
  recipe: Recipe;
  facts: Facts | undefined;
  error: Error | null | undefined;
  tokens: number;
  selected: boolean;
  select: () => void;
}

function Tried({ recipe, facts, error, tokens, selected, select }: TriedProps) {
  return (
    <tr data-selected={selected || undefined} onClick={select}>
      <th scope="row">
        <label className="way">
          <input type="radio" name="recipe" checked={selected} onChange={select} />
          <span className="stack tight">
            <span className="row">
              <span className="strong">{recipe.name}</span>
              {recipe.default && <Badge>default</Badge>}
              {recipe.kind === "own" && <Badge look="accent">yours</Badge>}
            </span>
            <span className="quiet small clamp">{recipe.description}</span>
          </span>
        </label>
      </th>
      {facts ? (
        <Cells facts={facts} tokens={tokens} />
      ) : error ? (
        <td colSpan={9} className="bad small plain">{error.message}</td>
      ) : (
        Array.from({ length: 9 }, (_, index) => (
          <td key={index}><span className="skeleton" style={{ width: index ? 44 : 90 }} /></td>
        ))
      )}
    </tr>
  );
}

function Cells({ facts, tokens }: { facts: Facts; tokens: number }) {
  const share = facts.tokens_after / Math.max(tokens, 1);
  return (
    <>
      <td data-title="Tokens">
        <span className="amount">
          <span className="strong">{number(facts.tokens_after)}</span>
          <span className="bar" aria-hidden="true"><span style={{ width: `${Math.min(100, share * 100)}%` }} /></span>
        </span>
      </td>
      <td data-title="Change" className="end strong">{change(facts.change)}</td>
      <td data-title="Saved" className="end">{dollars(facts.saved)}</td>
      <td data-title="Edits" className="end">{number(facts.edits)}</td>
      <td data-title="Summaries" className="end">{number(facts.summaries)}</td>
      <td data-title="Cost" className="end">{facts.summaries ? dollars(facts.cost) : "$0"}</td>
      <td data-title="Prefix kept" className="end">
        {brief(facts.kept_prefix)} <span className="quiet">{percent(facts.kept_prefix / Math.max(tokens, 1))}</span>
      </td>
      <td data-title="Time" className="end">{seconds(facts.wall)}</td>
      <td data-title="Target">
        {facts.target === null ? (
          <span className="quiet">none</span>
        ) : facts.target_met ? (
          <Badge look="good">met</Badge>
        ) : (
          <Badge look="warn">missed</Badge>
        )}
      </td>
    </>
  );
}
