"""Putting records together by rules, and making them fit: nothing is reworded, and nothing vanishes silently.

- An item stays as it is until the update says, by its key, what became of it.
- Said twice, it stands once, with the sources of both; what is said last about its status holds.
- An item with a status that is outdated becomes completed, with the reason: otherwise somebody would do it after all.
- What is completed keeps its line and loses its quotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from compact.summaries.record import Change, Item, Record, Source, Status, arrange, item_lines, render_record
from compact.summaries.strategy import Section, Strategy, known_sections

Same: TypeAlias = tuple[str, str]

_MOST_SOURCES = 6
_LONG = 0.25  # of the budget
_NO_LONGER_WANTED = "no longer wanted"


def merge(previous: Record, update: Record) -> Record:
    """The earlier items with what the update says about them, then what is new.

    Number sources are turned into ids before (`with_ids`): the numbers of two transcripts mean different messages.
    """
    merged: dict[Same, Item] = {}
    said: dict[Same, list[Source]] = {}
    for item in previous.items:
        known = merged.get(item.same)
        merged[item.same] = (
            replace(_joined(known, item), sources=_united(known.sources, item.sources)) if known else item
        )
    for item in update.items:
        said.setdefault(item.same, []).extend(item.sources)
        known = merged.get(item.same)
        merged[item.same] = _joined(known, item) if known else replace(item, sources=item.sources[:1])
    for change in update.changes:
        said.setdefault(change.item.same, []).extend(change.sources)
        if known := merged.get(change.item.same):
            if changed := _changed(known, change):
                merged[known.same] = changed
            else:
                del merged[known.same]
    items = (replace(item, sources=_united(item.sources, said.get(item.same, ()))) for item in merged.values())
    return Record(tuple(map(_settled, items)), unread=update.unread)


def fit(
    record: Record, strategy: Strategy, budget: int, count: Callable[[str], int]
) -> tuple[Record, tuple[Item, ...]]:
    """The record within so many tokens, and what was left out for that.

    Completed items go first, but the first request, so that nobody begins it again; then what has no status, what a
    user demands last of these; what is active or blocked goes last of all. A section gives up its oldest items first.
    """
    if count(render_record(record, strategy)) <= budget:
        return record, ()
    kept = list(_fill(_ranked(record, strategy), strategy, budget, count))
    # Lines that were counted one by one may count for more together.
    while kept and (excess := count(_rendered(kept, strategy)) - budget) > 0:
        while kept and excess > 0:
            excess -= max(1, count(_line(kept.pop(), strategy)))
    chosen = Counter(kept)
    fitting: list[Item] = []
    left_out: list[Item] = []
    for item in record.items:
        (fitting if chosen[item] > 0 else left_out).append(item)
        chosen[item] -= 1
    return replace(record, items=tuple(fitting)), tuple(left_out)


def _fill(
    ranked: list[tuple[int, Item]], strategy: Strategy, budget: int, count: Callable[[str], int]
) -> Iterator[Item]:
    """What fits, the most important first; nothing is taken in place of something more important.

    Only one that is very long makes room for what comes after it.
    """
    left, lowest = budget, 0
    opened: set[tuple[str, str]] = set()
    for rank, item in ranked:
        headings = {(item.section, ""): f"## {item.section}"}
        if item.status:
            headings[item.section, item.status] = f"### {item.status}"
        new = (text for place, text in headings.items() if place not in opened)
        price = max(1, sum(map(count, (_line(item, strategy), *new))))
        if price <= left and rank >= lowest:
            left -= price
            opened |= headings.keys()
            yield item
        elif price <= budget * _LONG:
            lowest = max(lowest, rank)


def _ranked(record: Record, strategy: Strategy) -> list[tuple[int, Item]]:
    """The items with their ranks, the last to be left out first."""
    known = known_sections(strategy)
    items = arrange(record, strategy).items
    first = _first_request(items, known)
    sizes = Counter((item.section, item.status) for item in items)
    seen: Counter[tuple[str, Status | None]] = Counter()
    ranks: list[tuple[int, float, int]] = []
    for index, item in enumerate(items):
        group = (item.section, item.status)
        seen[group] += 1
        section = known.get(item.section.casefold())
        demanded = section is not None and section.instructs
        rank = 4 if item.is_open else 3 if index == first else 0 if item.status else 2 if demanded else 1
        ranks.append((rank, seen[group] / sizes[group], index))
    return [(rank, items[index]) for rank, _, index in sorted(ranks, reverse=True)]


def _first_request(items: tuple[Item, ...], known: dict[str, Section]) -> int:
    """The position of the request that the oldest message makes, or -1."""
    ages = [
        (min((int(one) for one in item.sources if str(one).isdecimal()), default=1 << 60), index)
        for index, item in enumerate(items)
        if (section := known.get(item.section.casefold())) and section.instructs and section.standing
    ]
    return min(ages)[1] if ages else -1


def _rendered(items: list[Item], strategy: Strategy) -> str:
    return render_record(Record(tuple(items)), strategy)


def _line(item: Item, strategy: Strategy) -> str:
    return "\n".join(item_lines(item, strategy))


def _joined(one: Item, other: Item) -> Item:
    """Two items that say the same as one, in the words of the first."""
    status = other.status or one.status
    note = other.note or (one.note if status == one.status else "")
    return replace(one, status=status, note=note, code=one.code or other.code)


def _changed(item: Item, change: Change) -> Item | None:
    """What is left of the item: nothing, if it is a statement that no longer holds."""
    if item.status is None:
        # What has no status holds or does not; "completed" would be a misunderstanding that must cost nothing.
        return None if change.to == "outdated" else item
    if change.to == "outdated":
        return replace(item, status="completed", note=change.why or _NO_LONGER_WANTED)
    return replace(item, status=change.to, note=change.why or (item.note if item.status == change.to else ""))


def _settled(item: Item) -> Item:
    """The item, on one line if it is completed."""
    return replace(item, code="") if item.status == "completed" and item.code else item


def _united(one: Sequence[Source], other: Sequence[Source]) -> tuple[Source, ...]:
    """The first source and the latest ones, so that an item that is said again and again does not grow."""
    latest = tuple(dict.fromkeys(other))[1 - _MOST_SOURCES :]
    sources = (*(source for source in one if source not in latest), *latest)
    return sources if len(sources) <= _MOST_SOURCES else (sources[0], *sources[1 - _MOST_SOURCES :])
