"""`compact prompt`: the prompts of summarizing models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from compact.app.condensing import Condensation
from compact.app.counting import choose_model
from compact.app.estimating import foresee
from compact.app.pricing import Summarizer
from compact.app.profiles import find_profile
from compact.app.recipes import resolve_recipe
from compact.app.strategies import choose_strategy, with_strategy
from compact.cli.console import AsJson, print_json, read, screen, styled
from compact.cli.options import ForModel, grouped
from compact.cli.tables import Table
from compact.errors import InvalidInput
from compact.llm.vendors import takes_seed
from compact.messages import Json
from compact.policies import Profile, model_of
from compact.ports import Ask
from compact.settings.profiles import list_prompts, prompt_path
from compact.summaries.model.instructions import Frame, instructions
from compact.summaries.model.strategy import NAMES, Strategy, Style, strategies

EXAMPLES = (
    "Examples: compact prompt · compact prompt decision_log --detail concise · "
    "compact prompt task_state --preview chat.json --profile anthropic"
)
_BUDGET = 4096


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact prompt`."""

    strategy: Annotated[
        str | None, typer.Argument(help="A strategy, or a prompt of your own; without it they are listed.")
    ] = None
    preview: Annotated[
        Path | None, typer.Option(help="Show the request that would be sent for this transcript; - reads input.")
    ] = None
    detail: Annotated[Literal["detailed", "concise"], typer.Option(help="How much to write.")] = "detailed"
    profile: Annotated[str | None, typer.Option(help="Who would be asked: see `compact profiles`.")] = None
    model: ForModel = None
    as_json: AsJson = False


@grouped
def prompt(options: Options) -> None:
    """Show exactly what a summarizing model would be sent; no model is called.

    With --preview the whole request, with the conversation in it. A prompt of your own is a file NAME.md in the folder
    `prompts` of Compact's home; it takes the place of the strategy's words, and the form of the answer stays.
    """
    profile = find_profile(options.profile) if options.profile else None
    strategy = choose_strategy(options.strategy or "", profile)
    if strategy is None:
        _refuse_preview(options)
        _list(as_json=options.as_json)
        return
    asks = _asks(strategy, options, profile)
    requests = [_request(ask, profile, preview=options.preview is not None) for ask in asks]
    if options.as_json:
        print_json({"strategy": strategy.name, "custom": strategy.custom, "requests": requests})
        return
    _show(requests)


def _refuse_preview(options: Options) -> None:
    if options.preview is not None:
        raise InvalidInput("needs a strategy", field="--preview", remedy=f"Name one: {', '.join(NAMES)}.")


def _asks(strategy: Strategy, options: Options, profile: Profile | None) -> Sequence[Ask]:
    """The requests for the transcript, or one without any."""
    if options.preview is None:
        code = "0" * 8  # a hash of the transcript stands here
        return [Ask(instructions(strategy, Style(options.detail), Frame(code), budget=_BUDGET), "", _BUDGET)]

    conversation = read(options.preview)
    model, source = choose_model(options.model, conversation)
    recipe = with_strategy(resolve_recipe(provider="native"), strategy, options.detail)
    condensation = Condensation(conversation, None if source == "default" else model, None)
    asks = foresee(condensation, recipe, [Summarizer.of(profile)] if profile else []).asks
    if not asks:
        raise InvalidInput(
            "there is nothing to summarize", field=str(options.preview), remedy="Give a longer conversation."
        )
    return asks


def _request(ask: Ask, profile: Profile | None, *, preview: bool) -> dict[str, Json]:
    limits = [ask.max_tokens]
    if profile:
        limits += [limit for limit in (profile.max_output_tokens, model_of(profile).max_output) if limit]
    return {
        "profile": profile.name if profile else None,
        "model": profile.model if profile else None,
        "max_tokens": min(limits),
        "temperature": profile.temperature if profile else None,
        "seed": profile.seed if profile and takes_seed(profile.vendor) else None,
        "system": ask.instructions,
        "user": ask.material if preview else None,
    }


def _show(requests: Sequence[dict[str, Json]]) -> None:
    out = screen()
    for number, request in enumerate(requests, 1):
        which = f"request {number} of {len(requests)}, " if len(requests) > 1 else ""
        whom = f"to {request['model']}, " if request["model"] else ""
        out.print(styled(f"{which}{whom}at most {request['max_tokens']:,} tokens", "bold"))
        for part in ("system", "user"):
            if request[part] is not None:
                out.print(styled(f"{part}:", "bold"))
                for line in request[part].split("\n"):
                    out.print(line, soft_wrap=True)


def _list(*, as_json: bool) -> None:
    own = list_prompts()
    if as_json:
        built_in = [{"name": each.name, "description": each.description, "custom": False} for each in strategies()]
        print_json([*built_in, *({"name": name, "description": "", "custom": True} for name in own)])
        return
    rows = [(one.name, one.description, ", ".join(section.title for section in one.sections)) for one in strategies()]
    rows += [(name, f"your own: {prompt_path(name)}", "") for name in own]
    screen().print(Table(("strategy", "what it keeps", "sections"), rows))
