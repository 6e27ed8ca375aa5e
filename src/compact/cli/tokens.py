"""`compact tokens`: how many tokens a conversation takes."""

from __future__ import annotations

from typing import Annotated

import typer

from compact.app import count
from compact.app.counting import choose_model
from compact.cli.console import AsJson, File, FormatName, busy, print_json, read, screen, styled
from compact.cli.tables import shares_table
from compact.models import Model, find_model
from compact.tokens import Count

EXAMPLES = "Examples: compact tokens chat.json · compact tokens --model claude-sonnet-4-5 --json - < request.json"

_SAYING = {"option": "", "request": ", the model of the request", "default": ", as no --model is given"}


def tokens(
    file: File,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="The model to count for; by default the request's own, else one for its format.",
        ),
    ] = None,
    format: FormatName = None,
    as_json: AsJson = False,
) -> None:
    """Count a conversation's tokens, by role and by kind of content."""
    conversation = read(file, format)
    name, source = choose_model(model, conversation)
    with busy("counting"):
        counted = count(conversation, model=name)
    facts = find_model(name)
    if as_json:
        print_json(
            {
                "tokens": counted.total,
                "precision": counted.precision,
                "estimated": list(counted.estimated),
                "model": facts.id,
                "model_source": source,
                "encoding": counted.meter.encoding,
                "factor": counted.meter.factor,
                "window": facts.context_window,
                "max_input": facts.max_input,
                "window_source": facts.source,
                "share": counted.total / facts.max_input,
                "format": conversation.format,
                "messages": len(conversation),
                "by_role": counted.by_role,
                "by_kind": counted.by_kind,
            }
        )
        return
    _show(counted, facts, _SAYING[source])


def _show(counted: Count, facts: Model, saying: str) -> None:
    out = screen()
    share = counted.total / facts.max_input
    factor = "" if counted.meter.factor == 1 else f" × {counted.meter.factor:.3f}"
    default = ", assumed" if facts.source == "default" else ""
    out.print(styled(f"{counted.total:,}", "bold"), f"tokens, {counted.precision} ({counted.meter.encoding}{factor})")
    input = f"{share:.1%} of the {facts.max_input:,} tokens of input of {facts.id}{default}{saying}"
    out.print(f"{input}; its window has {facts.context_window:,}", soft_wrap=True)
    for what in counted.estimated:
        out.print(styled("estimated:", "yellow"), what)
    for title, parts in (("role", counted.by_role), ("content", counted.by_kind)):
        out.print(shares_table(title, parts, counted.total))
