"""Keeps exchanges whole that a person has set to stay, as far as the hard budget goes, and says which did not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from compact.providers.auto.ladders import ROOMS, Ladder, Level
from compact.providers.auto.recency import Claim, Recent
from compact.providers.provider import Task
from compact.quantities import counted

LEAST, _SHARE_OF_FLOOR = 200, 8
"""The least room of a target beside what must stay: so many tokens, or this part of what must stay."""
_SHARE_TO_TRIGGER = 0.2
"""The share of the room up to the next compaction that is filled where the target is raised.

With more of it, compactions come so often that their writes to the vendor's cache cost more than they save.
"""


def least_beside(floor: int) -> int:
    """Return the least room of a target beside `floor`, which must stay."""
    return max(LEAST, floor // _SHARE_OF_FLOOR)


def stretch(task: Task, floor: int) -> int:
    """Return a higher target for one that leaves too little beside `floor`, which must stay."""
    share = task.towards_trigger(floor, _SHARE_TO_TRIGGER)
    target = floor + least_beside(floor) if share is None else max(share, floor + LEAST)
    return target if task.budget is None else min(target, task.budget)


def leave_whole(ladder: Ladder) -> None:
    """Let the exchange be shown as it is or not at all."""
    ladder.cuttable, ladder.bulky, ladder.thoughts, ladder.thought = (), False, (), 0


def keep_what_is_set(ladders: Sequence[Ladder], room: int) -> Mapping[str, int]:
    """Fix the exchanges that a person has set to stay, newest first, as far as there is room.

    Beside words that are to stay, results may be cut. The others count as usual ones from then on. Gives how many these
    are for each setting.
    """
    yielded: Counter[str] = Counter()
    for ladder in reversed(ladders):
        recent, setting = ladder.recent, _set_by(ladder.recent)
        if not setting:
            continue
        results = () if recent.claim is Claim.SET else tuple(each for each in ladder.cuttable if not each.said)
        least = ladder.whole - sum(ladder.saved(each, each.room(ROOMS[Level.CUT])) for each in results)
        least -= ladder.shown_cost(Level.CUT) if ladder.fixed else 0
        if yielded or least > room:
            ladder.recent = replace(recent, claim=Claim.USUAL, setting=setting, words="")
            yielded[setting] += 1
        else:
            room -= least
            leave_whole(ladder)
            ladder.fixed, ladder.island, ladder.pointed, ladder.cuttable = True, False, False, results
    _keep_requests(ladders, room)
    return yielded


def _keep_requests(ladders: Sequence[Ladder], room: int) -> None:
    """Fix what calls that stay begin with, cut where it is long: a request that is near, and the steps since."""
    by_place = {ladder.at: ladder for ladder in ladders}
    for ladder in reversed(ladders):
        if ladder.fixed and ladder.recent.claim is Claim.SET and ladder.told.actions:
            along = [by_place[at] for at in range(ladder.starts, ladder.at) if at in by_place]
            along = [one for one in along if not one.fixed]
            price = sum(one.shown_cost(Level.CUT) for one in along)
            if price <= room:
                room -= price
                for one in along:
                    one.fixed, one.island = True, False


def _set_by(recent: Recent) -> str:
    """Return the setting by which a person keeps the exchange, or the words in it; empty where there is none."""
    return recent.setting if recent.claim is Claim.SET else recent.words


def notes_of(
    ladders: Sequence[Ladder], cut: Collection[int], yielded: Mapping[str, int], *, within_reach: bool
) -> Iterator[str]:
    """Say which recent exchanges are not whole, and which take more than the target. `cut` are places."""
    for setting, count in yielded.items():
        yield f"{setting}: {counted(count, 'exchange')} did not fit into the budget"
    settings = dict.fromkeys(filter(None, (_set_by(ladder.recent) for ladder in ladders)))
    if settings and not within_reach:
        yield f"{', '.join(settings)}: what is set to stay takes more than the target"
    usual = [at for at, one in enumerate(ladders) if one.recent.claim is Claim.USUAL and (at in cut or not one.fixed)]
    missing = sum(at in cut for at in usual) - sum(yielded.values())
    if missing > 0:
        yield f"{missing} of the last {counted(len(usual), 'exchange')} did not fit into the target"
