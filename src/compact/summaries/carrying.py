"""What an earlier summary hands on to the next one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from compact.facts import Kind, Source, directives_in, names_in, numbers_in
from compact.summaries.actions import CHANGES
from compact.summaries.items import Item, Section, parse
from compact.summaries.ledger import Entry, Ledger
from compact.summaries.naming import ELSEWHERE, FILES
from compact.summaries.plans import Plan, read_plan
from compact.summaries.quoting import quote, shorten
from compact.summaries.tallies import FIXED, GONE, OPEN, Tallies
from compact.summaries.turns import ANSWERED, answer, strongest, tier_of, value_of

ROOT = "paths are below "
_KINDS = "|".join((*CHANGES, "called"))
_DONE = re.compile(rf"(?:({_KINDS}) (.+?)|(ran) `(.+)`)(?: ×(\d{{1,9}}))?(?:, (ok|failed))?")
_FOUND = re.compile(rf"({OPEN}|{FIXED}|{GONE}): (?:`(.+?)`|({_KINDS}) (.+?)): (\".*\")")
# How far back, in messages, an earlier summary counts as having been said.
_AGE = 60.0
_MOST_LINES = 10_000
_LONGEST_LINE = 2000
_LONGEST_KEPT = 600


@dataclass(slots=True)
class Carried:
    """An earlier summary, read back."""

    root: str = ""
    items: list[Item] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)


def carry(previous: str, tallies: Tallies, ledger: Ledger) -> Carried:
    """Reads an earlier summary back: what is counted goes to the tallies and the ledger, the rest stays as it is."""
    carried = Carried()
    lines = list(islice(parse(previous), _MOST_LINES))
    for number, (section, raw, ids) in enumerate(lines):
        text, order = quote(raw, _LONGEST_LINE), float(number - len(lines))
        if not text:
            continue
        if section is Section.STATE and text.startswith(ROOT):
            carried.root = text.removeprefix(ROOT)
        elif section is Section.STATE and (plan := read_plan(text, ids)):
            carried.plan = plan
        elif section is Section.STATE and (done := _DONE.fullmatch(text)):
            _count(done, ids, order, tallies)
        elif section is Section.FINDINGS and (found := _FOUND.fullmatch(text)):
            _find(found, ids, order, tallies)
        elif section is Section.FACTS:
            _enter(text, ids, ledger)
        elif section is not Section.STEPS:
            carried.items.append(_keep(section or Section.DECISIONS, shorten(text, _LONGEST_KEPT), ids, order))
    return carried


def _keep(section: Section, text: str, ids: tuple[str, ...], order: float) -> Item:
    if section is Section.DIRECTIVES:
        quoted = text.removesuffix(ANSWERED)
        strength = strongest(directives_in(quoted))
        item = Item(section, quoted, ids, order, value_of(strength, 1 / (1 - order)), tier_of(strength))
        return item if quoted == text else answer(item)
    if section is Section.SAID:
        return Item(section, text, ids, order, 2 / (1 - order), tier=1)
    return Item(section, text, ids, order, 4)


def _count(done: re.Match[str], ids: tuple[str, ...], order: float, tallies: Tallies) -> None:
    tally = tallies.tally(done[1] or done[3], done[2] or done[4])
    tally.times += int(done[5] or 1)
    tally.ids += ids
    tally.order = order
    tally.failed = {"ok": False, "failed": True}.get(done[6] or "")


def _find(found: re.Match[str], ids: tuple[str, ...], order: float, tallies: Tallies) -> None:
    tally = tallies.tally(found[3] or "ran", found[2] or found[4])
    tally.errors = tuple(found[5][1:-1].split('"; "'))
    tally.times = tally.times or 1
    tally.failed_ids += ids
    tally.failed = {OPEN: True, FIXED: False}.get(found[1])
    tally.mended = "" if tally.failed else found[1]
    tally.order = tally.order or order


def _enter(text: str, ids: tuple[str, ...], ledger: Ledger) -> None:
    subject, colon, names = text.partition(": ")
    if not colon:
        subject, names = "", text
    for key in names_in(text if subject not in (FILES, ELSEWHERE) else names, Source.SHOWN):
        entry = ledger.note(key, -1, ids[-1] if ids else "")
        _age(entry, subject, ids)
    for name in names.split(", "):
        label, _, value = name.rpartition("=")
        for number in numbers_in(value):
            if number.text == value:
                entry = ledger.note((Kind.NUMBER, value), -1, "")
                entry.label = label
                _age(entry, subject, ids)


def _age(entry: Entry, subject: str, ids: tuple[str, ...]) -> None:
    entry.last, entry.mentions, entry.shown = -int(_AGE), max(entry.mentions, 2), True
    entry.ids = list(ids[-1:])
    entry.subject = "" if subject in (FILES, ELSEWHERE, entry.text) else subject
