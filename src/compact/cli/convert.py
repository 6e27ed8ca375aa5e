"""`compact convert`: from one wire format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from compact.app import write_transcript
from compact.cli.console import File, FormatName, read, screen
from compact.cli.options import Output
from compact.cli.output import emit, require_apart
from compact.formats import convert as convert_conversation

EXAMPLES = (
    "Examples: compact convert chat.json --to anthropic-messages · compact convert - --to openai-chat -o out.json"
)


def convert(
    file: File,
    to: Annotated[str, typer.Option(help="openai-chat, openai-responses, anthropic-messages or google-gemini.")],
    output: Output = None,
    format: FormatName = None,
    lossy: Annotated[bool, typer.Option(help="Leave out what the other format has no place for.")] = False,
) -> None:
    """Write a conversation in another format (always as JSON)."""
    require_apart(("FILE", file), ("--output", output))
    left_out: list[str] = []
    converted = convert_conversation(read(file, format), to, lossy=lossy, note=left_out.append)
    emit(f"{write_transcript(converted)}\n".encode(), output)
    for line in left_out:
        screen(stderr=True).print(f"note: {line}", soft_wrap=True)
