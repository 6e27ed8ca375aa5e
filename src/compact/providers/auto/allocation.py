"""What is shown of each exchange for a given room: one path of steps that any room is filled along.

The path is the same for every target. It is followed as far as the room goes, so that a larger target never shows less
of what is whole; what is left of the room goes to longer lines and longer excerpts.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isinf

from compact.providers.auto.ladders import LINES, Ladder, Level
from compact.providers.auto.path import Step, rate
from compact.summaries.offline.worth import LEAST_STEP

_LEAST_QUOTE = 12
"""Tokens of a quote that can say something."""
FLEXIBLE = 24
"""An excerpt leaves out at least so many tokens."""
_PER_TOKEN = 4
"""Characters of a quote that a token has, roughly."""


_QUOTED = {level: room.words for level, room in LINES.items()}


@dataclass(slots=True)
class Allocation:
    """The level of each ladder, the tokens that the excerpts of some may take, and how long some are quoted."""

    levels: list[Level]
    rooms: dict[int, int] = field(default_factory=dict)
    quotes: dict[int, int] = field(default_factory=dict)
    left: int = 0


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
        for at in ladders[step.at].along if step.level is Level.CUT else ():
            done.levels[at] = max(done.levels[at], Level.CUT)
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
            _extend(ladder, step.at, full, full.left * 3 // 4 if ladder.pointed else full.left)
        elif step.level <= Level.LONG or (step.level is Level.MORE and level is Level.CUT):
            price = _price(ladders, full, step)
            if price is not None and price <= full.left and not _makes_whole(ladder, step.level):
                full.left -= price
                full.levels[step.at] = step.level
            elif price is not None and isinf(step.key) and level is Level.NONE:
                _squeeze(ladder, step.at, full)
    for at in range(len(ladders) - 1, -1, -1):
        if ladders[at].pointed:
            _extend(ladders[at], at, full, full.left)
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
    price = ladder.shown_cost(step.level) - ladder.shown_cost(now)
    for at in ladder.along if step.level is Level.CUT else ():
        if done.levels[at] < Level.CUT:
            price += ladders[at].shown_cost(Level.CUT) - ladders[at].shown_cost(done.levels[at])
    return price


def _makes_whole(ladder: Ladder, level: Level) -> bool:
    return level > Level.LONG and ladder.cost(level) >= ladder.whole


def _extend(ladder: Ladder, at: int, full: Allocation, more: int) -> None:
    """Let the excerpts of the exchange be longer by so many tokens, but never whole."""
    level = full.levels[at]
    if not Level.CUT <= level < Level.WHOLE or ladder.bulky or not ladder.cuttable:
        return
    shown = ladder.shown_cost(level)
    spent = max(shown, ladder.cut_cost(full.rooms[at])) if at in full.rooms else shown
    most = ladder.spoken - FLEXIBLE
    if most <= spent:
        return
    full.rooms[at] = room = _room_for(ladder, min(most, spent + more))
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

    A line goes after those that would be out of date without it. Of messages, what is recent goes last.
    """
    levels = list(done.levels)
    needed: defaultdict[int, list[tuple[int, Level]]] = defaultdict(list)
    for at, ladder in enumerate(ladders):
        for newer, shown in ladder.after:
            needed[newer].append((at, shown))
    for step, (limit, less) in enumerate(_LOWER, 1):
        loose = [at for at, ladder in enumerate(ladders) if levels[at] is limit and not ladder.fixed]
        loose = [at for at in loose if not ladders[at].binding or step == len(_LOWER)]
        waiting = deque(sorted(loose, key=lambda at: (_goes_last(ladders[at], limit), rate(ladders[at], less, limit))))
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
    for at, ladder in enumerate(ladders):
        if levels[at] >= Level.CUT and not ladder.fixed and any(levels[one] < Level.CUT for one in ladder.along):
            levels[at] = Level.SHORT  # it would be the first that is shown
    return Allocation(levels, left=0)


def _goes_last(ladder: Ladder, level: Level) -> bool:
    """Return True if it stays a message longer than others."""
    return level >= Level.CUT and (ladder.pointed or bool(ladder.recent.claim))


_LOWER = (
    (Level.LONG, Level.MIDDLE),
    (Level.MIDDLE, Level.SHORT),
    (Level.MORE, Level.CUT),
    (Level.SHORT, Level.NONE),
    (Level.CUT, Level.SHORT),
    (Level.WHOLE, Level.SHORT),
    (Level.SHORT, Level.NONE),
)
