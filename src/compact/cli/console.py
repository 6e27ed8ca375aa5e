"""What every command shares: reading the file, and showing results to people or to programs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias

import typer

from compact.errors import CompactError, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from compact.cli.columns import Column
    from compact.cli.screen import Screen
    from compact.cli.tables import Rows
    from compact.messages import Conversation, Json

File: TypeAlias = Annotated[
    Path, typer.Argument(help="A transcript in any of the four formats; - reads standard input.")
]
FormatName: TypeAlias = Annotated[
    str | None, typer.Option("--format", help="The file's format, if it should not be recognised.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


_WIDE = 160  # a file or a pipe has no width of its own


def read(file: Path, format: str | None = None) -> Conversation:
    """The conversation in the file."""
    from compact.app import read_transcript

    with busy(f"reading {file}"):
        return read_transcript(read_bytes(file), format=format, name=name_of(file))


def read_bytes(file: Path) -> bytes:
    """The file's bytes; InvalidInput where it cannot be read."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"cannot be read: {error.strerror}", field=name_of(file), remedy="Check the name and your permissions."
        ) from None


def name_of(file: Path) -> str:
    """What people call the file."""
    return "standard input" if str(file) == "-" else str(file)


def choose_model(given: str | None, conversation: Conversation) -> tuple[str, str]:
    """The model to work for, and who says so: the `option`, the `request` itself, or nobody (`default`)."""
    from compact.app.counting import DEFAULT_MODEL

    if given:
        return given, "option"
    stated = conversation.options.get("model")
    return (stated, "request") if isinstance(stated, str) and stated else (DEFAULT_MODEL, "default")


def print_json(value: Json) -> None:
    """Print JSON for programs."""
    from compact.app import dump_json

    data = (dump_json(value, indent=2) + "\n").encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)  # in UTF-8, as JSON is, whatever the terminal's own encoding may be
    sys.stdout.buffer.flush()


def screen(*, stderr: bool = False) -> Screen:
    """Where pretty output goes: strings are shown as they are, whatever they hold, and `styled` ones in style."""
    from compact.cli.screen import Screen

    return Screen(stderr=stderr, width=_width(stderr))


def console(*, stderr: bool = False) -> Console:
    """Where pretty output with markup goes; text that is not ours must pass through `printable`."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, width=_width(stderr))


def _width(stderr: bool) -> int | None:
    to_file = not (sys.stderr if stderr else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return _WIDE if to_file else None


def table(*columns: str | Column) -> Rows:
    """A table in the house style; a string is the title of a column of text."""
    from compact.cli.tables import Rows

    return Rows(columns)


def printable(text: str) -> str:
    """Text from a transcript, safe for a terminal: control characters and console markup lose their power."""
    from rich.markup import escape

    return escape(legible(text))


def counted(number: int, what: str) -> str:
    """The number of things, in words: 1 message, 2,000 messages."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def legible(text: str) -> str:
    """The text with its control characters, line breaks among them, spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on the terminal while something takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    from compact.cli.screen import styled

    with screen(stderr=True).status(styled(what)):
        yield


def fail(error: CompactError) -> NoReturn:
    """Say what went wrong, in one line on standard error, and leave with status 2."""
    from compact.cli.screen import styled

    if "--json" in sys.argv:
        print_json({"error": {"type": type(error).__name__, "message": str(error)}})
    screen(stderr=True).print(styled("error:", "red"), str(error), soft_wrap=True)
    sys.exit(2)
