"""What is shown of each exchange for a given room: one path of steps that any room is filled along.

The path is the same for every target. It is followed as far as the room goes, so that a larger target never shows less
of what is whole; what is left of the room goes to longer lines and longer excerpts.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import NamedTuple

from compact.providers.auto.ladders import LINES, RECENT, Ladder, Level
from compact.summaries.offline.worth import LEAST_STEP

_LEAST_QUOTE = 12
"""Tokens of a quote that can say something."""
FLEXIBLE = 24
"""An excerpt leaves out at least so many tokens."""
_SMALL, _SMALL_ISLAND, _SMALL_RECENT = 20, 4, 3
_PER_TOKEN = 4
"""Characters of a quote that a token has, roughly."""


_QUOTED = {level: room.words for level, room in LINES.items()}


class Step(NamedTuple):
    """Raise an exchange to a level; `key` is what that is worth for each token."""

    key: float
    at: int
    level: Level


@dataclass(slots=True)
class Allocation:
    """The level of each ladder, the tokens that the excerpts of some may take, and how long some are quoted."""

    levels: list[Level]
    rooms: dict[int, int] = field(default_factory=dict)
    quotes: dict[int, int] = field(default_factory=dict)
    left: int = 0


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
        if ladder.island:
            steps.append(Step(rate(ladder, Level.SHORT if lines else Level.LONG, Level.WHOLE), place, Level.WHOLE))
    return _deferred(sorted(steps, key=lambda step: (-step.key, -step.at, step.level)), ladders, floor)


def _deferred(steps: Sequence[Step], ladders: Sequence[Ladder], spent: int) -> list[Step]:
    """The steps with some put off: what is shown whole or not at all waits until it is small beside the rest.

    Room would have to be saved for it meanwhile, and that room would stay empty.
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
        stiff = step.level is Level.WHOLE and (ladder.bulky or ladder.island)
        if stiff and ladder.whole > spent // _beside(ladder):
            waiting.append(step)
            continue
        spent += take(step)
        while waiting and ladders[waiting[0].at].whole <= spent // _beside(ladders[waiting[0].at]):
            spent += take(waiting.pop(0))
    return [*path, *waiting]


def _beside(ladder: Ladder) -> int:
    """How many times its size is shown before an exchange that is whole or not: what is recent comes sooner."""
    if ladder.boost >= RECENT:
        return _SMALL_RECENT
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
        if ladder.fixed or ladder.text or (ladder.island and not ladder.bulky and not ladder.cuttable):
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


def allocate(ladders: Sequence[Ladder], path: Sequence[Step], room: int, *, beyond: bool = False) -> Allocation:
    """Follow the path as far as the room goes, and `beyond` what is too large to be whole where others can fill it."""
    done = Allocation([Level.CUT if ladder.fixed else Level.NONE for ladder in ladders])
    left = room - sum(ladder.shown_cost(Level.CUT) for ladder in ladders if ladder.fixed)
    for step in path:
        price = _price(ladders, done, step)
        if price is None:
            continue
        if price > left and beyond and step.level > Level.CUT:
            continue
        if price > left:
            break
        left -= price
        done.levels[step.at] = step.level
    done.left = left
    return done


def fill(ladders: Sequence[Ladder], path: Sequence[Step], done: Allocation, extra: int = 0) -> Allocation:
    """Spend what is left, and `extra`: on excerpts and lines, in the order of the path; nothing more becomes whole."""
    full = Allocation(list(done.levels), left=done.left + extra)
    for step in path:
        if full.left <= 0:
            break
        level, ladder = full.levels[step.at], ladders[step.at]
        if step.level is Level.WHOLE:
            _extend(ladder, step.at, full)
        elif step.level <= Level.LONG or (step.level is Level.MORE and level is Level.CUT):
            price = _price(ladders, full, step)
            if price is not None and price <= full.left and not _makes_whole(ladder, step.level):
                full.left -= price
                full.levels[step.at] = step.level
            elif price is not None and isinf(step.key) and level is Level.NONE:
                _squeeze(ladder, step.at, full)
    for at in range(len(ladders) - 1, -1, -1):
        _quote(ladders[at], at, full)
    return full


def _squeeze(ladder: Ladder, at: int, full: Allocation) -> None:
    """Shorten the quote of a line that must be there until it fits."""
    room = full.left - LEAST_STEP
    if room >= _LEAST_QUOTE and not ladder.text:
        line = ladder.told.line(LINES[Level.SHORT])
        full.levels[at] = Level.SHORT
        full.quotes[at] = min(_QUOTED[Level.SHORT] - 1, room * len(line) // max(ladder.lines[0], 1))
        full.left = 0


def _price(ladders: Sequence[Ladder], done: Allocation, step: Step) -> int | None:
    """What the step costs; None where it is behind or ahead of where its exchange is, or of a later one."""
    now, ladder = done.levels[step.at], ladders[step.at]
    if step.level <= now or (step.level > Level.CUT and now < Level.CUT and not ladder.island):
        return None
    if now is Level.NONE and step.level <= Level.LONG and any(done.levels[at] < shown for at, shown in ladder.after):
        return None  # it would be out of date
    return ladder.shown_cost(step.level) - ladder.shown_cost(now)


def _makes_whole(ladder: Ladder, level: Level) -> bool:
    return level > Level.LONG and ladder.cost(level) >= ladder.whole


def _extend(ladder: Ladder, at: int, full: Allocation) -> None:
    """Let the excerpts of the exchange be as long as there is room for, but never whole."""
    level = full.levels[at]
    if not Level.CUT <= level < Level.WHOLE or ladder.bulky or not ladder.cuttable:
        return
    spent = ladder.shown_cost(level)
    most = ladder.spoken - FLEXIBLE
    if most <= spent:
        return
    wanted = min(most, spent + full.left)
    full.rooms[at] = room = _room_for(ladder, wanted)
    full.left -= max(0, ladder.cut_cost(room) - spent)


def _room_for(ladder: Ladder, wanted: int) -> int:
    """The room for each excerpt that comes closest to a cost without passing it."""
    low, high = 1, max(each.tokens for each in ladder.cuttable)
    while low < high:
        middle = (low + high + 1) // 2
        if ladder.cut_cost(middle) <= wanted:
            low = middle
        else:
            high = middle - 1
    return low


def _quote(ladder: Ladder, at: int, full: Allocation) -> None:
    """Quote more of what was said in an exchange that is a line."""
    level = full.levels[at]
    if full.left <= LEAST_STEP or level not in _QUOTED or ladder.text:
        return
    said = ladder.told.longest
    shown = min(said, _QUOTED[level])
    more = min(said - shown, full.left * _PER_TOKEN)
    if more > 0:
        full.quotes[at] = shown + more
        full.left -= more // _PER_TOKEN


def lower(ladders: Sequence[Ladder], done: Allocation, excess: int) -> Allocation:
    """The allocation with so many tokens less: lines go first, those worth least for each token, then messages.

    A line goes after those that would be out of date without it.
    """
    levels = list(done.levels)
    needed: defaultdict[int, list[tuple[int, Level]]] = defaultdict(list)
    for at, ladder in enumerate(ladders):
        for newer, shown in ladder.after:
            needed[newer].append((at, shown))
    for step, (limit, less) in enumerate(_LOWER, 1):
        loose = [at for at, ladder in enumerate(ladders) if levels[at] is limit and not ladder.fixed]
        loose = [at for at in loose if not ladders[at].binding or step == len(_LOWER)]
        waiting = deque(sorted(loose, key=lambda at: rate(ladders[at], less, limit)))
        passed = 0
        while excess > 0 and passed < len(waiting):
            at = waiting.popleft()
            if any(Level.NONE < levels[one] < Level.CUT and less < shown for one, shown in needed[at]):
                waiting.append(at)
                passed += 1
                continue
            passed = 0
            excess -= ladders[at].shown_cost(limit) - ladders[at].shown_cost(less)
            levels[at] = less
    return Allocation(levels, left=0)


_LOWER = (
    (Level.LONG, Level.MIDDLE),
    (Level.MIDDLE, Level.SHORT),
    (Level.MORE, Level.CUT),
    (Level.SHORT, Level.NONE),
    (Level.CUT, Level.SHORT),
    (Level.WHOLE, Level.SHORT),
    (Level.SHORT, Level.NONE),
)
