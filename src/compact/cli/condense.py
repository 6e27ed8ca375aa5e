"""`compact condense`: make a conversation smaller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from compact.app.condensing import Condensation, Result
from compact.app.counting import choose_model
from compact.app.planfile import dump_plan, write_like
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import read_transcript
from compact.cli.console import AsJson, File, FormatName, busy, name_of, print_json, read_bytes, screen
from compact.cli.options import (
    ForModel,
    Output,
    PresetName,
    ProviderName,
    RecipeName,
    Target,
    VariantName,
    grouped,
    read_settings,
    read_target,
)
from compact.cli.output import emit, require_apart, write_file
from compact.cli.summarizing import Offline, ProfileName, StrategyName, condense_with, named_profile, prepare
from compact.errors import InvalidInput
from compact.messages import Json, wires_of
from compact.providers import Recipe

EXAMPLES = (
    "Examples: compact condense chat.json -o small.json --plan chat.plan.json · "
    "compact condense chat.json --recipe balanced --target 50% · "
    "compact condense chat.json --variant vllm -o small.json · "
    "compact condense chat.json --strategy decision_log --profile anthropic -o small.json · "
    "compact condense - --recipe lossless:verbatim --json < chat.json"
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact condense`."""

    file: File
    recipe: RecipeName = None
    preset: PresetName = None
    provider: ProviderName = None
    model: ForModel = None
    target: Target = None
    variant: VariantName = ""
    strategy: StrategyName = None
    profile: ProfileName = None
    offline: Offline = False
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: key=value or group.key=value; repeatable.")
    ] = None
    output: Output = None
    plan: Annotated[
        Path | None, typer.Option(help="Write a plan file here: with it, `compact restore` brings everything back.")
    ] = None
    receipt: Annotated[
        bool, typer.Option("--receipt", help="Say which facts can still be read; with --plan, the others are safe.")
    ] = False
    format: FormatName = None
    as_json: AsJson = False


@grouped
def condense(options: Options) -> None:
    """Make a conversation smaller and keep it valid. The report goes to standard error, or to standard output with -o.

    The input is never overwritten. Without a target, auto comes down to half of the input. Where a target is missed,
    the report says by how much. The status is 1 where a provider failed and nothing else did its work.
    """
    if str(options.plan) == "-":
        raise InvalidInput(
            "cannot go to standard output, which the conversation or the report takes",
            field="--plan",
            remedy="Name a file.",
        )
    output = None if str(options.output) == "-" else options.output
    require_apart(("FILE", options.file), ("--output", output), ("--plan", options.plan))
    target = read_target(options.target)
    profile = named_profile(options.profile, offline=options.offline)
    recipe, summarizers = prepare(_recipe(options), options.strategy, profile)
    name = name_of(options.file)
    with busy(f"condensing {name}"):
        original = read_bytes(options.file)
        conversation = read_transcript(original, format=options.format, name=name)
        model, source = choose_model(options.model, conversation)
        named = None if source == "default" else model
        condensation = Condensation(conversation, named, target, variant=options.variant)
        condensation.source = "command line"
        summarized = condense_with(condensation, recipe, summarizers)
        result = summarized.result
        if options.plan is not None:
            # Before the condensed file: what is removed there must be safe by then.
            write_file(options.plan, dump_plan(original, conversation, result, name=options.file.name).encode())
    if output is not None or not options.as_json:
        emit(write_like(original, conversation, wires_of(result.conversation)), output)
    kept = result.receipt(with_plan=options.plan is not None) if options.receipt else None
    if options.as_json:
        receipt = {"receipt": kept.to_json()} if kept else {}
        print_json(_answer(result, options.plan, output) | summarized.facts | receipt)
        _end(result)
    told = [str(result.report), *summarized.lines, *([str(kept)] if kept else [])]
    for line in "\n".join(told).split("\n"):
        screen(stderr=output is None).print(line, soft_wrap=True)
    _end(result)


def _end(result: Result) -> NoReturn:
    """Leave with the status that says whether the work was done."""
    raise typer.Exit(int(bool(result.report.failure) and not result.plan))


def _recipe(options: Options) -> Recipe:
    config = read_settings(options.settings or ())
    return resolve_recipe(options.recipe, provider=options.provider, preset=options.preset, config=config)


def _answer(result: Result, plan: Path | None, output: Path | None) -> dict[str, Json]:
    messages = {"output": str(output)} if output else {"messages": result.messages}
    return {
        "recipe": result.report.recipe,
        "format": result.conversation.format,
        **messages,
        "plan": None if plan is None else str(plan),
        "report": result.report.to_json(),
    }
