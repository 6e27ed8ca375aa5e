"""`compact condense`: make a conversation smaller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, File, FormatName, busy, choose_model, name_of, print_json, read_bytes, screen
from compact.cli.options import ForModel, Output, Target, choose_way, grouped, read_settings, read_target
from compact.cli.output import emit, replace_file, require_apart

if TYPE_CHECKING:
    from compact.app.condensing import Result
    from compact.messages import Json

EXAMPLES = (
    "Examples: compact condense chat.json -o small.json --plan chat.plan.json · "
    "compact condense chat.json --preset balanced --target 50% · "
    "compact condense - --provider lossless --set level=verbatim --json < chat.json"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What `compact condense` is told."""

    file: File
    preset: Annotated[str | None, typer.Option("--preset", "-p", help="How: see `compact presets`. Usually v2.")] = None
    provider: Annotated[
        str | None, typer.Option(help="How: native, lossless, truncation or smart, with its own defaults.")
    ] = None
    model: ForModel = None
    target: Target = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: key=value or group.key=value; repeatable.")
    ] = None
    output: Output = None
    plan: Annotated[
        Path | None, typer.Option(help="Write a plan file here: with it, `compact restore` brings everything back.")
    ] = None
    format: FormatName = None
    as_json: AsJson = False


@grouped
def condense(options: Options) -> None:
    """Make a conversation smaller and keep it valid. The report goes to standard error, or to standard output with -o.

    The input is never overwritten. A target that cannot be reached gives the least there is, and the report says so.
    """
    from compact.app.condensing import Condensation
    from compact.app.planfile import dump_plan, wires_of, write_like
    from compact.app.transcripts import read_transcript

    output = None if str(options.output) == "-" else options.output
    require_apart(("FILE", options.file), ("--output", output), ("--plan", options.plan))
    target = read_target(options.target)
    provider, settings = choose_way(options.preset, options.provider, read_settings(options.settings or ()))
    name = name_of(options.file)
    with busy(f"condensing {name}"):
        original = read_bytes(options.file)
        conversation = read_transcript(original, format=options.format, name=name)
        model, _ = choose_model(options.model, conversation)
        result = Condensation(conversation, model, target).run(provider, settings)
        if options.plan is not None:
            # Before the condensed file: what is removed there must be safe by then.
            replace_file(options.plan, dump_plan(original, conversation, result, name=options.file.name).encode())
    if output is not None or not options.as_json:
        emit(write_like(original, conversation, wires_of(result.conversation)), output)
    if options.as_json:
        print_json(_answer(result, options.plan, output))
        return
    for line in str(result.report).split("\n"):
        screen(stderr=output is None).print(line, soft_wrap=True)


def _answer(result: Result, plan: Path | None, output: Path | None) -> dict[str, Json]:
    messages = {"output": str(output)} if output else {"messages": result.messages}
    return {
        "format": result.conversation.format,
        **messages,
        "plan": None if plan is None else str(plan),
        "report": result.report.to_json(),
    }
