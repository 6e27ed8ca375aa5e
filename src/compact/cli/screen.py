"""Pretty output that no text can drive: what is printed is shown, never obeyed."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from compact.cli.console import legible


class Screen(Console):
    """A console without markup: a string is shown as it is, on one line, with its control characters spelled out.

    Every string passes here, whether printed or in a table, so no command has to think of it. Style comes with
    `styled` alone.
    """

    def __init__(self, *, stderr: bool, width: int | None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(legible(text), **options)


def styled(text: str, style: str = "") -> Text:
    """The text in a style, such as `bold` or `red`."""
    return Text(legible(text), style)
