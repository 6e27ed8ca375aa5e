"""Cutting until a target is met, and the last place no further than it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from compact.messages import EditKind, Where
from compact.ports import Measure
from compact.providers.truncation.cutting import Cut, suppress
from compact.providers.truncation.places import KINDS, Place, Shortening, shorten
from compact.providers.truncation.relevance import Relevance
from compact.providers.truncation.settings import Priority, TruncationSettings

_STAGES = (1, 0.5, 0.25, 0.125, 0)
"""Shares of the thresholds: where what is oversized does not suffice, smaller texts are cut as well."""

PRECISION = 200
"""A target is undercut by at most this part of it, where that is possible."""
_GUESSES = 6


class Cutter:
    """Cuts places as far as their operations go."""

    def __init__(self, settings: TruncationSettings, measure: Measure, relevance: Relevance | None = None) -> None:
        self.settings = settings
        self.measure = measure
        self._relevance = relevance
        self._suppressed = {kind for kind in KINDS if settings.operation(kind) == "suppress"}
        self._cuts = {kind: settings.cut(kind) for kind in KINDS}

    def text(self, place: Place) -> str:
        """What is left of the text."""
        if place.kind in self._suppressed:
            return suppress(place.text, self.settings.markers)
        if self._relevance is not None and place.kind == "result":
            return self._relevance.apply(self._cuts[place.kind], place)
        return self._plain(place)

    def cut(self, place: Place) -> Shortening | None:
        """The place with that, if it saves anything."""
        kind = EditKind.SUPPRESSED if place.kind in self._suppressed else EditKind.TRUNCATED
        if self._relevance is None or place.kind in self._suppressed:
            return shorten(place, self.text(place), self.measure, kind)
        # What is relevant changes with every cut. Whether there is one must not, or there would be others next time.
        plain = shorten(place, self._plain(place), self.measure, kind)
        return plain and (shorten(place, self.text(place), self.measure, kind) or plain)

    def _plain(self, place: Place) -> str:
        return self._cuts[place.kind].apply(place.text, place.tool)


def cut_all(found: Iterable[Place], cutter: Cutter) -> list[Shortening]:
    """Every place cut as far as its operation goes, where that saves anything."""
    return [shortening for shortening in map(cutter.cut, found) if shortening is not None]


def cut_until(ordered: Iterable[Place], excess: int, slack: int, cutter: Cutter) -> list[Shortening]:
    """As many places cut, in this order, as it takes to save `excess` tokens; the last one no further than needed.

    Where cutting all of them does not suffice, they are suppressed, if the settings say so.
    """
    chosen: dict[Where, Shortening] = {}
    seen: list[Place] = []
    for place in ordered:
        seen.append(place)
        least = cutter.cut(place)
        if least is None:
            continue
        if least.saved >= excess:
            chosen[place.where] = fit_last(
                least, (excess, slack), partial(cutter.settings.cut, place.kind), cutter.measure
            )
            return list(chosen.values())
        chosen[place.where] = least
        excess -= least.saved
    for place in seen if cutter.settings.suppress_rest else ():
        gone = shorten(place, suppress(place.text, cutter.settings.markers), cutter.measure, EditKind.SUPPRESSED)
        gain = 0 if gone is None else gone.saved - (chosen[place.where].saved if place.where in chosen else 0)
        if gone is not None and gain > 0:
            chosen[place.where] = gone
            excess -= gain
            if excess <= 0:
                break
    return list(chosen.values())


def cut_wholly(ordered: Iterable[Place], excess: int, cutter: Cutter) -> list[Shortening]:
    """As many places cut, in this order, as it takes to save `excess` tokens; each as far as its operation goes."""
    chosen: list[Shortening] = []
    for place in ordered:
        if excess <= 0:
            break
        if (cut := cutter.cut(place)) is not None:
            chosen.append(cut)
            excess -= cut.saved
    return chosen


def by_stage(found: Iterable[Place], settings: TruncationSettings, measure: Measure) -> Iterator[Place]:
    """The places that may be cut, oversized ones first; each stage in the order of priority."""
    waiting = list(found)
    for share in _STAGES:
        ready, waiting = oversized(waiting, settings, measure, share)
        yield from ready


def oversized(
    found: Sequence[Place], settings: TruncationSettings, measure: Measure, share: float = 1
) -> tuple[list[Place], list[Place]]:
    """The places above their threshold, or that share of it, by priority; and the others."""
    large: list[tuple[float, Place]] = []
    others: list[Place] = []
    for age, place in enumerate(found):
        bound = settings.threshold(place.kind) * share
        # A text has hardly more tokens than characters: the short ones need not be counted.
        tokens = place.whole_tokens(measure) if len(place.text) > bound else 0
        if tokens > bound:
            large.append((_rank(place, tokens, age, settings.priority), place))
        else:
            others.append(place)
    large.sort(key=lambda pair: -pair[0])
    return [place for _, place in large], others


def _rank(place: Place, tokens: int, age: int, priority: Priority) -> float:
    """The higher, the sooner it is cut."""
    match priority:
        case "size":
            return tokens
        case "age":
            return -age
        case "type":
            return place.kind == "result"
        case "combined":
            return tokens / (1 + age * 0.1)


def fit_last(least: Shortening, wanted: tuple[int, int], cut: Callable[[int], Cut], measure: Measure) -> Shortening:
    """The place cut so that it saves the excess that is wanted, or up to a slack more; `least` is the furthest it goes.

    Each guess is counted, so guesses are few: tokens grow evenly enough with characters to aim well.
    """
    excess, slack = wanted
    place, best = least.place, least
    if least.kind is EditKind.SUPPRESSED:
        return least
    low, low_saved = len(least.text), least.saved
    high, high_saved = len(place.text), place.tokens_now(measure) - place.whole_tokens(measure)
    for _ in range(_GUESSES):
        if best.saved - excess <= slack or high - low < 2 or low_saved <= high_saved:
            break
        share = (low_saved - excess - slack // 2) / (low_saved - high_saved)
        chars = min(max(low + round((high - low) * share), low + 1), high - 1)
        guess = Shortening(place, place.marked(cut(chars).apply(place.text, place.tool)), least.kind, measure)
        if guess.saved >= excess:
            low, low_saved = chars, guess.saved
            best = min(best, guess, key=lambda one: one.saved)
        else:
            high, high_saved = chars, guess.saved
    return best
