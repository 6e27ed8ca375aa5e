"""What every command shares: reading the file, and showing results to people or to programs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from compact.errors import CompactError, InvalidInput

if TYPE_CHECKING:
    from compact.messages import Conversation, Json

File: TypeAlias = Annotated[
    Path, typer.Argument(help="A transcript in any of the four formats; - reads standard input.")
]
FormatName: TypeAlias = Annotated[
    str | None, typer.Option("--format", help="The file's format, if it should not be recognised.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


_Item = TypeVar("_Item")
_MANY = 20  # of what takes long enough to be watched
_WIDE = 160  # a file or a pipe has no width of its own


class Screen(Console):
    """A console without markup: a string is shown as it is, on one line, with its control characters spelled out.

    Every string passes here, whether printed or in a table, so no command has to think of it, and no text can drive the
    terminal. Style comes with `styled` alone.
    """

    def __init__(self, *, stderr: bool, width: int | None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(legible(text), **options)


def screen(*, stderr: bool = False) -> Screen:
    """Where output for people goes."""
    to_file = not (sys.stderr if stderr else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return Screen(stderr=stderr, width=_WIDE if to_file else None)


def styled(text: str, style: str = "") -> Text:
    """The text in a style, such as `bold` or `red`."""
    return Text(legible(text), style)


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
    with screen(stderr=True).status(styled(what)):
        yield


def tracked(items: Sequence[_Item], what: str) -> Iterator[_Item]:
    """The items one by one, with a bar on the terminal where there are many."""
    if not sys.stderr.isatty() or len(items) < _MANY:
        yield from items
        return
    from rich.progress import track

    yield from track(items, what, console=screen(stderr=True), transient=True)


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


def print_json(value: Json) -> None:
    """Print JSON for programs."""
    from compact.app import dump_json

    data = (dump_json(value, indent=2) + "\n").encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)  # in UTF-8, as JSON is, whatever the terminal's own encoding may be
    sys.stdout.buffer.flush()


def fail(error: CompactError) -> NoReturn:
    """Say what went wrong, in one line on standard error, and leave with status 2."""
    if "--json" in sys.argv:
        print_json({"error": {"type": type(error).__name__, "message": str(error)}})
    screen(stderr=True).print(styled("error:", "red"), str(error), soft_wrap=True)
    sys.exit(2)
