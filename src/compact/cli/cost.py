"""`compact cost`: what condensing a conversation would cost, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from compact.app.analysing import summarizers
from compact.app.condensing import Condensation
from compact.app.costing import Costing, Option
from compact.app.counting import choose_model
from compact.app.pricing import Summarizer
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import dollar_range, dollars, option_facts, recommend
from compact.cli.console import AsJson, File, busy, print_json, read, screen, styled
from compact.cli.options import ForModel, Target, VariantName, grouped, read_target
from compact.cli.tables import Column, numeric, table_of
from compact.messages import Json
from compact.models import Model
from compact.models.spending import accuracy
from compact.quantities import counted
from compact.settings.spending import load_spending

EXAMPLES = (
    "Examples: compact cost chat.json · compact cost chat.json --target 50% --profile openai --profile anthropic · "
    "compact cost chat.json --model claude-sonnet-4-5 --turns 50 --json"
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact cost`."""

    file: File
    model: ForModel = None
    target: Target = None
    variant: VariantName = ""
    profiles: Annotated[
        list[str] | None, typer.Option("--profile", help="Who would summarize; repeatable. See `compact profiles`.")
    ] = None
    turns: Annotated[int, typer.Option(min=1, help="How many more requests to count on.")] = 20
    cache: Annotated[bool, typer.Option(help="Count on the vendor's prompt cache.")] = True
    as_json: AsJson = False


@grouped
def cost(options: Options) -> None:
    """Compare what condensing would cost and save, with every recipe and every model that might summarize.

    No model is called, and nothing is written. Dollars are estimates; `compact condense` reports the real ones. How
    long answers are is learned from those: until a model has sent three bills for a recipe, 60% of the length that is
    asked for is expected, and the range is from 30% to 200%.
    """
    target = read_target(options.target)
    conversation = read(options.file)
    name, source = choose_model(options.model, conversation)
    costing = Costing(Condensation(conversation, name, target, variant=options.variant), cache=options.cache)
    priced = list(_options(costing, summarizers(name, options.profiles or ())))
    advice = recommend(priced, turns=options.turns)
    if options.as_json:
        print_json(
            {
                "model": costing.model.id,
                "model_source": source,
                "tokens": costing.condensation.tokens,
                "target": costing.condensation.target,
                "cache": _cache_facts(costing.model) if options.cache else None,
                "turns": options.turns,
                "options": [option_facts(option) for option in priced],
                "recommendations": list(advice),
                "history": _history(),
            }
        )
        return
    _show(costing, priced, cache=options.cache)
    for line in advice:
        screen().print(line)


def _options(costing: Costing, summarizers: Sequence[Summarizer]) -> Iterator[Option]:
    for name, _ in list_recipes():
        with busy(f"pricing {name}"):
            yield from costing.options(resolve_recipe(name), summarizers)


def _show(costing: Costing, priced: Sequence[Option], *, cache: bool) -> None:
    out = screen()
    condensation, model = costing.condensation, costing.model
    goal = "" if condensation.target is None else f", to come down to {condensation.target:,}"
    out.print(styled(f"{condensation.tokens:,}", "bold"), f"tokens of {model.id}{goal}")
    out.print(table_of([_row(option) for option in priced]))
    out.print(_explained(model, cache=cache))


def _row(option: Option) -> dict[str | Column, str]:
    return {
        "recipe": option.recipe,
        "summaries by": option.summarizer.name if option.summarizer else "no model",
        numeric("tokens"): f"{option.rewrite.after:,}",
        numeric("asked"): f"{option.charge.questions:,}",
        numeric("condensing"): dollar_range(option.charge),
        numeric("rewrite"): dollars(option.rewriting),
        numeric("saved a request"): dollars(option.saved),
        numeric("paid back after"): _paid_back(option),
    }


def _paid_back(option: Option) -> str:
    if option.warm is None:
        return "?"
    if option.warm.turns is None:
        return "never"
    return counted(option.warm.turns, "request")


def _explained(model: Model, *, cache: bool) -> str:
    if not cache or model.cache is None:
        return "Priced without a prompt cache: every request is read at the full price."
    rewrite = "Rewrite: what the prompt cache costs once, as it is written anew from the first change on."
    if not model.cache.lifetimes:
        return rewrite
    spans = " or ".join(map(_span, model.cache.lifetimes))
    return f"{rewrite} After a pause that outlasts it ({spans}) that costs nothing extra."


def _span(seconds: int) -> str:
    hours, minutes = seconds // 3600, seconds // 60
    return counted(hours, "hour") if hours else counted(minutes, "minute")


def _cache_facts(model: Model) -> Json:
    rules = model.cache
    return None if rules is None else {"minimum": rules.minimum, "lifetimes": list(rules.lifetimes)}


def _history() -> dict[str, Json]:
    """How earlier estimates stood up."""
    found = accuracy(load_spending())
    return {
        "condensations": found.condensations,
        "within_a_fifth": found.within_a_fifth,
        "median_miss": found.median_miss,
        "spent": format(found.spent, "f"),
    }
