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
    from rich.table import Table

    from compact.messages import Conversation, Json

File: TypeAlias = Annotated[
    Path, typer.Argument(help="A transcript in any of the four formats; - reads standard input.")
]
FormatName: TypeAlias = Annotated[
    str | None, typer.Option("--format", help="The file's format, if it should not be recognised.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ModelName: TypeAlias = Annotated[str, typer.Option("--model", "-m", help="The model to count for.")]


_WIDE = 160  # a file or a pipe has no width of its own


def read(file: Path, format: str | None = None) -> Conversation:
    """The conversation in the file."""
    from compact.app import read_transcript

    with busy(f"reading {file}"):
        return read_transcript(read_bytes(file), format=format)


def read_bytes(file: Path) -> bytes:
    """The file's bytes; InvalidInput where it cannot be read."""
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"cannot be read: {error.strerror}", field=str(file), remedy="Check the name and your permissions."
        ) from None


def print_json(value: Json) -> None:
    """Print JSON for programs."""
    from compact.app import dump_json

    sys.stdout.write(dump_json(value, indent=2) + "\n")


def console(*, stderr: bool = False) -> Console:
    """Where pretty output goes."""
    from rich.console import Console

    to_file = not (sys.stderr if stderr else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return Console(stderr=stderr, highlight=False, width=_WIDE if to_file else None)


def table(*columns: str, title: str | None = None) -> Table:
    """A table in the house style: columns whose name ends in a space are numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        number = name.endswith(" ")
        made.add_column(
            name.strip(),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            min_width=None if number else 8,
        )
    return made


def printable(text: str) -> str:
    """Text from a transcript, safe for a terminal: control characters and console markup lose their power."""
    from rich.markup import escape

    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return escape(shown)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on the terminal while something takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    with console(stderr=True).status(printable(what)):
        yield


def fail(error: CompactError) -> NoReturn:
    """Say what went wrong, in one line on standard error, and leave with status 2."""
    if "--json" in sys.argv:
        print_json({"error": {"type": type(error).__name__, "message": str(error)}})
    console(stderr=True).print(f"[red]error:[/red] {printable(str(error))}", soft_wrap=True)
    sys.exit(2)
