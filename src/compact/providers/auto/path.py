"""The order in which exchanges are shown: one path of steps, the same for every target.

What must stay comes first, then what is worth most for each token, and what is recent before anything older stands as
messages. A large exchange waits until it is small beside what is shown by then, unless it is recent and can be cut.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice, takewhile
from math import isinf
from typing import NamedTuple

from compact.providers.auto.ladders import LINES, Ladder, Level
from compact.summaries.offline.worth import LEAST_STEP

_SMALL, _SMALL_ISLAND = 20, 4
_SHARE_OF_RECENT, _FIRST_LINES = 0.5, 1_000
"""Recent exchanges take at least this share of the room beyond so many tokens, which go by worth alone."""


class Step(NamedTuple):
    """Raise an exchange to a level; `key` is what that is worth for each token."""

    key: float
    at: int
    level: Level


def build_path(ladders: Sequence[Ladder], floor: int, *, lines: bool = True) -> list[Step]:
    """All steps, the most worth for each token first; of two alike the newer one. `floor` is what stays anyway.

    Without `lines`, an exchange is shown as messages or not at all: a model tells the rest, about as well as long
    lines would, so that only what messages show beyond that counts. Files of rules are quoted all the same.
    """
    steps: list[Step] = []
    keys = _boundary(ladders, lines=lines)
    least = _least_keys(ladders)
    places = {ladder.at: place for place, ladder in enumerate(ladders)}
    for ladder in ladders:
        # What lasts is out of date only where a person took it back.
        binding = ladder.corrected if ladder.worth.lasting > 0 else ladder.newer
        after = {places[at]: ladder.newer[at] for at in binding if at in places}
        answer = places.get(ladder.at + 1)
        if ladder.told.from_user and answer is not None and not ladders[answer].told.from_user:
            after.pop(answer, None)  # without it, the line ends with "answered"
        ladder.after = tuple(after.items())
        ladder.along = _along(ladder, ladders, places)
    huge = _too_large(ladders, floor)
    for place, ladder in enumerate(ladders):
        if ladder.fixed:
            steps += _upgrades(ladder, place, float("inf"))
            continue
        steps += _lines(ladder, place, least.get(ladder.at, {})) if lines or ladder.binding else ()
        if ladder.text:
            continue
        if place in keys:
            steps.append(Step(keys[place], place, Level.CUT))
            steps += _upgrades(ladder, place, keys[place])
        if ladder.pointed:
            key = rate(ladder, Level.NONE, Level.CUT)
            steps += (Step(key, place, Level.CUT), *_upgrades(ladder, place, key))
        elif ladder.island:
            steps.append(Step(rate(ladder, Level.SHORT if lines else Level.LONG, Level.WHOLE), place, Level.WHOLE))
    steps.sort(key=lambda step: (-step.key, -step.at, step.level))
    return _deferred(list(_recent_first(steps, ladders, huge)), ladders, floor, huge)


def _along(ladder: Ladder, ladders: Sequence[Ladder], places: Mapping[int, int]) -> tuple[int, ...]:
    """Return the places that are shown with it if it is the oldest: of an answer pointed at, the request alone."""
    if ladder.pointed:
        asked = (at for at in range(places[ladder.at] - 1, -1, -1) if ladders[at].told.from_user)
        return () if ladder.told.from_user else tuple(islice(asked, 1))
    return tuple(places[at] for at in range(ladder.starts, ladder.at) if at in places)


def _too_large(ladders: Sequence[Ladder], floor: int) -> set[int]:
    """Return the recent exchanges that are larger than the others and the fixed part together."""
    recent = [at for at, ladder in enumerate(ladders) if ladder.recent.claim and not ladder.fixed]
    total = floor + sum(ladders[at].whole for at in recent)
    return {at for at in recent if 2 * ladders[at].whole > total}


def _recent_first(steps: Sequence[Step], ladders: Sequence[Ladder], huge: AbstractSet[int]) -> Iterator[Step]:
    """Reorder the steps: recent exchanges become whole before anything older becomes a message, the huge ones last.

    What the latest request points at does so before anything else. Lines of the account come by their worth, as long as
    what is recent has its share.
    """
    # Where words are kept, the result beside them has its place among the others.
    loose = {at for at, ladder in enumerate(ladders) if ladder.recent.words or not ladder.fixed}
    raised = [step for step in steps if step.level >= Level.CUT and step.at in loose]
    pointed = sorted((step for step in raised if ladders[step.at].pointed), key=_newest_first)
    claimed = (step for step in raised if ladders[step.at].recent.claim)
    recent = sorted(claimed, key=lambda step: step.at in huge)
    row = set(_in_a_row(ladders))
    in_row = (step for step in recent if step.at in row)
    share = deque(sorted(in_row, key=lambda step: (step.at in huge, *_newest_first(step))))
    spent = Spent(ladders)
    for step in steps:
        while share and spent.recent < _SHARE_OF_RECENT * (spent.total - _FIRST_LINES):
            yield from spent.once(share.popleft())
        if step.level >= Level.CUT and not ladders[step.at].fixed and not spent.has(step):
            yield from chain.from_iterable(map(spent.once, pointed))
            if not ladders[step.at].recent.claim:
                yield from chain.from_iterable(spent.once(one) for one in recent if one.at > step.at)
        yield from spent.once(step)


def _newest_first(step: Step) -> tuple[int, Level]:
    return -step.at, step.level


def _in_a_row(ladders: Sequence[Ladder]) -> Iterator[int]:
    """Return the places of the recent exchanges at the end, up to the first one that is none."""
    ends = (at for at in range(len(ladders) - 1, -1, -1) if not ladders[at].fixed)
    return takewhile(lambda at: bool(ladders[at].recent.claim), ends)


class Spent:
    """The steps taken so far, with the tokens of all of them and of those of recent exchanges."""

    def __init__(self, ladders: Sequence[Ladder]) -> None:
        self._ladders = ladders
        self._levels = [Level.CUT if ladder.fixed else Level.NONE for ladder in ladders]
        self._done: set[Step] = set()
        self.total = self.recent = 0

    def has(self, step: Step) -> bool:
        return step in self._done

    def once(self, step: Step) -> Iterator[Step]:
        """Take the step, unless it was taken before."""
        if step in self._done:
            return
        self._done.add(step)
        ladder, now = self._ladders[step.at], self._levels[step.at]
        if step.level > now:
            self._levels[step.at] = step.level
            self.total += max(0, ladder.cost(step.level) - ladder.cost(now))
            if ladder.recent.claim:
                self.recent += max(0, ladder.cost(_counted(step.level)) - ladder.cost(_counted(now)))
        yield step


def _counted(level: Level) -> Level:
    """Return the level that counts as showing the exchange: longer lines do not stand for its messages."""
    return level if level >= Level.CUT else min(level, Level.SHORT)


def _deferred(steps: Sequence[Step], ladders: Sequence[Ladder], spent: int, huge: AbstractSet[int]) -> list[Step]:
    """The steps with some put off: what is shown whole or not at all waits until it is small beside the rest.

    Room would have to be saved for it meanwhile, and that room would stay empty. A result can be cut to fill it.
    """
    path: list[Step] = []
    waiting: list[Step] = []
    now = [Level.CUT if ladder.fixed else Level.NONE for ladder in ladders]

    def take(step: Step) -> int:
        ladder = ladders[step.at]
        price = ladder.cost(step.level) - ladder.cost(now[step.at]) if step.level > now[step.at] else 0
        now[step.at] = max(now[step.at], step.level)
        path.append(step)
        return max(price, 0)

    for step in steps:
        ladder = ladders[step.at]
        waits = ladder.bulky and step.at in huge if ladder.recent.claim else ladder.bulky or ladder.island
        stiff = step.level is Level.WHOLE and waits and (ladder.bulky or not ladder.pointed)
        if stiff and ladder.whole > spent // _beside(ladder):
            waiting.append(step)
            continue
        spent += take(step)
        while waiting and ladders[waiting[0].at].whole <= spent // _beside(ladders[waiting[0].at]):
            spent += take(waiting.pop(0))
    return [*path, *waiting]


def _beside(ladder: Ladder) -> int:
    """How many times its size is shown before an exchange that is whole or not: what comes first comes sooner."""
    if ladder.recent.claim or ladder.pointed:
        return 1
    return _SMALL_ISLAND if ladder.cuttable and not ladder.bulky else _SMALL


def _least_keys(ladders: Sequence[Ladder]) -> dict[int, dict[Level, float]]:
    """What lines are worth at least: no less than an earlier one that would be out of date without them."""
    least: defaultdict[int, dict[Level, float]] = defaultdict(dict)
    for ladder in ladders:
        own = rate(ladder, Level.NONE, Level.SHORT)
        key = float("inf") if ladder.fixed else max(own, least[ladder.at].get(Level.SHORT, 0.0))
        for newer, shown in ladder.newer.items():
            if newer in ladder.corrected or not isinf(key):
                # What lasts does not wait for what only names the same: a short line of that will do.
                most = shown if newer in ladder.corrected or not ladder.worth.lasting else Level.SHORT
                for level in LINES:
                    if level <= most:
                        least[newer][level] = max(least[newer].get(level, 0.0), key)
    return least


def _lines(ladder: Ladder, place: int, least: Mapping[Level, float]) -> list[Step]:
    if not ladder.lines[0] or not ladder.value(Level.LONG):
        return []  # it says nothing
    steps: list[Step] = []
    before, key = Level.NONE, float("inf")
    for level in LINES:
        if ladder.cost(level) > ladder.cost(before):
            key = min(key, max(rate(ladder, before, level), least.get(level, 0.0)))
            steps.append(Step(key, place, level))
            before = level
    return steps


def _upgrades(ladder: Ladder, place: int, key: float) -> list[Step]:
    steps = []
    before = Level.CUT
    for level in (Level.MORE, Level.WHOLE):
        if level is Level.WHOLE or ladder.cost(level) > ladder.cost(before):
            key = min(key, rate(ladder, before, level))
            steps.append(Step(key, place, level))
            before = level
    return steps


def rate(ladder: Ladder, low: Level, high: Level) -> float:
    """What a step from one level to the other is worth for each token."""
    return max(0.0, ladder.value(high) - ladder.value(low)) / max(LEAST_STEP, ladder.cost(high) - ladder.cost(low))


def _boundary(ladders: Sequence[Ladder], *, lines: bool) -> dict[int, float]:
    """The keys of becoming a message: none is above that of a newer exchange, for the boundary is one.

    Where an older exchange is worth more, it pulls the newer ones along: they count together.
    """
    blocks: list[tuple[float, int, list[int]]] = []
    for place in range(len(ladders) - 1, -1, -1):
        ladder = ladders[place]
        if (
            ladder.fixed
            or ladder.text
            or ladder.pointed
            or (ladder.island and not ladder.bulky and not ladder.cuttable)
        ):
            continue
        below = _below(ladder) if lines else Level.LONG
        gain = max(0.0, ladder.value(Level.CUT) - ladder.value(below))
        price = max(LEAST_STEP, ladder.cost(Level.CUT) - (ladder.cost(below) if lines else 0))
        members = [place]
        while blocks and blocks[-1][0] / blocks[-1][1] < gain / price:
            earlier = blocks.pop()
            gain, price, members = gain + earlier[0], price + earlier[1], [*earlier[2], *members]
        blocks.append((gain, price, members))
    return {place: gain / price for gain, price, members in blocks for place in members}


def _below(ladder: Ladder) -> Level:
    """The level from which an exchange becomes a message: one that pays more than going on from there."""
    below = Level.NONE
    for level in LINES:
        if ladder.cost(level) > ladder.cost(below) and rate(ladder, below, level) >= rate(ladder, level, Level.CUT):
            below = level
    return below
