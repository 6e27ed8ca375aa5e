"""`compact convert`: from one wire format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compact.cli.console import File, FormatName, console, read
from compact.errors import InvalidInput

EXAMPLES = (
    "Examples: compact convert chat.json --to anthropic-messages · compact convert - --to openai-chat -o out.json"
)


def convert(
    file: File,
    to: Annotated[str, typer.Option(help="openai-chat, openai-responses, anthropic-messages or google-gemini.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
    ] = None,
    format: FormatName = None,
    lossy: Annotated[bool, typer.Option(help="Leave out what the other format has no place for.")] = False,
) -> None:
    """Write a conversation in another format (always as JSON)."""
    from compact.app import write_transcript
    from compact.formats import convert as convert_conversation

    text = write_transcript(convert_conversation(read(file, format), to, lossy=lossy))
    if output is None:
        typer.echo(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"cannot be written: {error.strerror}", field=str(output), remedy="Choose another place with --output."
        ) from None
    console(stderr=True).print(f"wrote {output}")
