"""`compact diff`: two conversations side by side."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.table import Table

from compact.app.planfile import load_plan
from compact.cli.comparing import Change, Pair, pair_by_content, pair_by_plan
from compact.cli.console import AsJson, File, FormatName, busy, print_json, read, read_bytes, screen, styled
from compact.errors import InvalidInput
from compact.messages import Json
from compact.quantities import counted

EXAMPLES = (
    "Examples: compact diff chat.json small.json · compact diff small.json --plan chat.plan.json · "
    "compact diff chat.json small.json --json"
)

_CONTEXT = 2
_SHOWN = 12
_LONGEST = 240
_CHANGES: tuple[Change, ...] = ("same", "changed", "removed", "added")

Side: TypeAlias = tuple[str, str, str]
"""A sign, a line of text and its style."""
_NOTHING: Side = ("", "", "")


def diff(
    file: File,
    other: Annotated[Path | None, typer.Argument(help="The conversation to compare with.")] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Compare a condensed file with its original, by the plan file.")
    ] = None,
    format: FormatName = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two conversations, message by message and line by line."""
    pairs = _pairs(file, other, plan, format)
    counts = Counter(pair.change for pair in pairs)
    if as_json:
        changes = [_change(pair) for pair in pairs if pair.change != "same"]
        print_json({"equal": not changes, **{name: counts[name] for name in _CHANGES}, "changes": changes})
        return
    show_pairs(pairs)
    screen().print(", ".join(f"{counts[name]:,} {name}" for name in _CHANGES))


def show_pairs(pairs: list[Pair]) -> None:
    """The messages side by side, those that did not change folded away."""
    rows = _side_by_side()
    for same, group in groupby(pairs, key=lambda pair: pair.change == "same"):
        if same:
            _fold(rows, len(list(group)), "unchanged message")
        else:
            _show(rows, list(group))
    screen().print(rows)


def _pairs(file: Path, other: Path | None, plan: Path | None, format: str | None) -> list[Pair]:
    if other is not None and plan is None:
        before, after = read(file, format), read(other, format)
        with busy("comparing"):
            return pair_by_content(before, after)
    if plan is not None and other is None:
        made = load_plan(read_bytes(plan))
        condensed = read(file, made.format)
        with busy("comparing"):
            return pair_by_plan(condensed, made)
    if other is not None:
        raise InvalidInput("cannot be given beside OTHER", field="--plan", remedy="Leave one of them out.")
    raise InvalidInput(
        "is needed, or a plan file instead of it", field="OTHER", remedy="Write compact diff FILE OTHER."
    )


def _change(pair: Pair) -> dict[str, Json]:
    message = pair.left or pair.right
    hunks = [{"removed": left, "added": right} for same, left, right in pair.hunks() if not same]
    return {
        "change": pair.change,
        "before": pair.before,
        "after": pair.after,
        "role": message.role if message else "",
        "why": pair.why,
        "hunks": hunks,
    }


def _side_by_side() -> Table:
    rows = Table.grid(padding=(0, 1), expand=True)
    for _ in range(2):
        rows.add_column(width=1)
        rows.add_column(ratio=1, overflow="fold")
    return rows


def _show(rows: Table, pairs: list[Pair]) -> None:
    """Messages that changed, one after the other; those that went stand beside those that came."""
    for both, group in groupby(pairs, key=lambda pair: pair.change == "changed"):
        if both:
            for pair in group:
                _show_changed(rows, pair)
            continue
        gone: list[Side] = []
        new: list[Side] = []
        for pair in group:
            (gone if pair.change == "removed" else new).extend(_excerpt(pair))
        for left, right in zip_longest(gone, new, fillvalue=_NOTHING):
            _add(rows, left, right)


def _show_changed(rows: Table, pair: Pair) -> None:
    _add(rows, _heading(pair, pair.before), _heading(pair, pair.after))
    hunks = pair.hunks()
    for index, (same, left, right) in enumerate(hunks):
        if same:
            _show_context(rows, left, first=index == 0, last=index == len(hunks) - 1)
            continue
        for before, after in list(zip_longest(left, right))[:_SHOWN]:
            old, new = _windows(before or "", after or "")
            gone = _NOTHING if before is None else ("-", old, "red")
            _add(rows, gone, _NOTHING if after is None else ("+", new, "green"))
        if len(left) > _SHOWN or len(right) > _SHOWN:
            _add(rows, _more(len(left) - _SHOWN, "red"), _more(len(right) - _SHOWN, "green"))


def _show_context(rows: Table, lines: list[str], *, first: bool, last: bool) -> None:
    """Unchanged lines: a few next to what changed, and how many the others are."""
    head = [] if first else lines[:_CONTEXT]
    tail = [] if last else lines[max(len(head), len(lines) - _CONTEXT) :]
    for line in head:
        _add(rows, *[("", _window(line), "dim")] * 2)
    if hidden := len(lines) - len(head) - len(tail):
        _fold(rows, hidden, "unchanged line")
    for line in tail:
        _add(rows, *[("", _window(line), "dim")] * 2)


def _excerpt(pair: Pair) -> list[Side]:
    """A message that went or came: how it begins, and how much more there is."""
    lines = [line for _, left, right in pair.hunks() for line in left or right]
    gone = pair.change == "removed"
    sign, style = ("-", "red") if gone else ("+", "green")
    shown = [(sign, _window(line), style) for line in lines[:_CONTEXT]]
    more = [_more(len(lines) - _CONTEXT, style)] if len(lines) > _CONTEXT else []
    return [_heading(pair, pair.before if gone else pair.after), *shown, *more]


def _heading(pair: Pair, position: int | None) -> Side:
    message = pair.left or pair.right
    words = ["system prompt" if position is None else f"{position} {message.role if message else ''}", pair.why]
    return "", " · ".join(filter(None, words)), "bold"


def _more(count: int, style: str) -> Side:
    return ("", f"… {counted(count, 'more line')} …", style) if count > 0 else _NOTHING


def _fold(rows: Table, count: int, what: str) -> None:
    _add(rows, *[("", f"… {counted(count, what)} …", "dim")] * 2)


def _windows(left: str, right: str) -> tuple[str, str]:
    """Both lines, shortened to the part around the first difference."""
    if max(len(left), len(right)) <= _LONGEST:
        return left, right
    size = min(len(left), len(right))
    shared = next((index for index in range(size) if left[index] != right[index]), size)
    start = max(0, shared - _LONGEST // 4)
    return _window(left, start), _window(right, start)


def _window(line: str, start: int = 0) -> str:
    end = start + _LONGEST
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _add(rows: Table, left: Side, right: Side) -> None:
    sides = [(styled(sign, style), styled(text.expandtabs(4), style)) for sign, text, style in (left, right)]
    rows.add_row(*(cell for side in sides for cell in side))
