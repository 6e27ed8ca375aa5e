"""Putting summaries together by rules, and making them fit: nothing is reworded, and nothing vanishes silently.

- A statement stays as it is until an update says, by its key, what became of it.
- Said twice, it stands once; what is said last about its status holds.
- A request that is outdated becomes completed, with the reason: otherwise it would be done after all.
- What is completed keeps its line and loses its quoted code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from compact.summaries.accounts import UNVERIFIED
from compact.summaries.model.statements import Change, Draft, Statement, Status, arrange, render
from compact.summaries.model.strategy import Strategy, known_sections

_LONG = 0.25
"""A statement that takes more of the budget than this makes room for those after it."""
_NO_LONGER_WANTED = "no longer wanted"
_OUTCOME = " ⇒ "
"""Stands between a statement and what became of it."""


def merge(earlier: Sequence[Statement], update: Draft) -> tuple[Statement, ...]:
    """The earlier statements with what the update says about them, then what is new.

    What has another status now comes last: it is the latest of those that have it.
    """
    merged: dict[tuple[str, str], Statement] = {}
    had: dict[tuple[str, str], Status | None] = {}
    for each in (*earlier, *update.statements):
        known = merged.get(each.same)
        merged[each.same] = replace(known, status=each.status or known.status) if known else each
        had.setdefault(each.same, each.status)
    for change in update.changes:
        if (known := merged.get(change.statement.same)) and (changed := _changed(known, change)):
            merged[change.statement.same] = changed
        elif known:
            del merged[change.statement.same]
    latest = sorted(merged.items(), key=lambda item: item[1].status != had[item[0]])
    return tuple(replace(each, text=each.line) if each.status == "completed" else each for _, each in latest)


def fit(
    statements: Sequence[Statement], strategy: Strategy, budget: int, count: Callable[[str], int]
) -> tuple[Statement, ...]:
    """The statements that are told within so many tokens, in their order.

    Completed ones go first, but the first request, so that it is not begun again; then what has no status, the user's
    demands last of these; what is active or blocked goes last of all. A section loses its oldest statements first.
    """
    if count(render(statements, strategy)) <= budget:
        return tuple(statements)
    kept = list(_fill(_ranked(statements, strategy), budget, count))
    # Lines that were counted one by one may count for more together.
    while kept and count(render(kept, strategy)) > budget:
        kept.pop()
    chosen = Counter(kept)
    fitting: list[Statement] = []
    for each in statements:
        if chosen[each] > 0:
            chosen[each] -= 1
            fitting.append(each)
    return tuple(fitting)


def _fill(ranked: list[tuple[int, Statement]], budget: int, count: Callable[[str], int]) -> Iterator[Statement]:
    """What fits, the most important first; nothing is taken in place of something more important."""
    left, lowest = budget, 0
    opened: set[tuple[str, str]] = set()
    for rank, each in ranked:
        headings = {(each.section, ""): f"## {each.section}"} if each.section else {}
        if each.status:
            headings[each.section, each.status] = f"### {each.status}"
        new = (text for place, text in headings.items() if place not in opened)
        price = max(1, sum(map(count, (f"- {each.text}\n", *new))))
        if price <= left and rank >= lowest:
            left -= price
            opened |= headings.keys()
            yield each
        elif price <= budget * _LONG:
            lowest = max(lowest, rank)


def _ranked(statements: Sequence[Statement], strategy: Strategy) -> list[tuple[int, Statement]]:
    """The statements with their ranks, the last to be left out first."""
    demanding = {title for title, section in known_sections(strategy).items() if section.instructs}
    ordered = arrange(statements, strategy)
    finished = [at for at, each in enumerate(ordered) if each.status == "completed"]
    first = next((at for at in finished if ordered[at].section.casefold() in demanding), -1)
    sizes = Counter((each.section, each.status) for each in ordered)
    seen: Counter[tuple[str, Status | None]] = Counter()
    ranks: list[tuple[int, float, int]] = []
    for at, each in enumerate(ordered):
        group = (each.section, each.status)
        seen[group] += 1
        demanded = each.section.casefold() in demanding
        rank = 4 if each.is_open else 3 if at == first else 0 if each.status else 2 if demanded else 1
        ranks.append((rank, seen[group] / sizes[group], at))
    return [(rank, ordered[at]) for rank, _, at in sorted(ranks, reverse=True)]


def _changed(each: Statement, change: Change) -> Statement | None:
    """The statement after the change; None where it no longer holds and asks for nothing.

    What came with the messages as an earlier summary stays as it is.
    """
    if UNVERIFIED in each.text:
        return each
    why, status = change.why, change.to
    if status == "outdated":
        if not each.status:
            return None
        why = f"{_NO_LONGER_WANTED}: {why}" if why else _NO_LONGER_WANTED
        status = "completed"
    if not each.status:
        return each
    return replace(each, text=_with_outcome(each.text, why) if why else each.text, status=status)


def _with_outcome(text: str, outcome: str) -> str:
    """The statement with what became of it last behind its line."""
    line, newline, code = text.partition("\n")
    return f"{line.partition(_OUTCOME)[0]}{_OUTCOME}{outcome}{newline}{code}"
