"""`compact restore`: what was there before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compact.app import read_transcript
from compact.app.planfile import load_plan, restore_file, write_like
from compact.cli.console import File, FormatName, busy, name_of, read, read_bytes, screen, styled
from compact.cli.options import Output
from compact.cli.output import emit, require_apart
from compact.messages import has_references, unfold, wires_of

EXAMPLES = (
    "Examples: compact restore small.json --plan chat.plan.json -o chat.json · "
    "compact condense chat.json --provider lossless --set level=verbatim | compact restore -"
)


def restore(
    file: File,
    plan: Annotated[Path | None, typer.Option(help="The plan file that `compact condense --plan` wrote.")] = None,
    output: Output = None,
    format: FormatName = None,
) -> None:
    """Bring back what a condensation removed.

    With the plan file: the original file, byte for byte. Without: what references in the messages stand for, which is
    everything where the condensation was verbatim.
    """
    for name, needed in (("FILE", file), ("--plan", plan)):
        require_apart((name, needed), ("--output", output))
    emit(_follow(file, format) if plan is None else _revert(file, plan), output)


def _revert(file: Path, path: Path) -> bytes:
    plan = load_plan(read_bytes(path))
    condensed = read(file, plan.format)
    with busy("restoring"):
        return restore_file(condensed, plan)


def _follow(file: Path, format: str | None) -> bytes:
    data = read_bytes(file)
    with busy("restoring"):
        conversation = read_transcript(data, format=format, name=name_of(file))
        whole = unfold(conversation)
    if has_references(whole):
        warning = styled("Some references lead nowhere:", "yellow")
        screen(stderr=True).print(warning, "what they stand for is only in the plan file.", soft_wrap=True)
    return write_like(data, conversation, wires_of(whole))
