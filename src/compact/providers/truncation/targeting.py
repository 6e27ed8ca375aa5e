"""Cutting until a target is met, and the last place no further than it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compact.messages import Where
from compact.ports import Measure
from compact.providers.truncation.cutting import SUPPRESSED
from compact.providers.truncation.places import Place, Shortening, shorten
from compact.providers.truncation.settings import Priority, TruncationSettings

_STAGES = (1, 0.5, 0.25, 0.125, 0)
"""Shares of the thresholds: where what is oversized does not suffice, smaller texts are cut as well."""

_GUESSES = 6


def cut_all(found: Iterable[Place], settings: TruncationSettings, measure: Measure) -> list[Shortening]:
    """Every place cut as far as its operation goes, where that saves anything."""
    done = (_least(place, settings, measure) for place in found)
    return [shortening for shortening in done if shortening is not None]


def cut_until(
    ordered: Iterable[Place], excess: int, slack: int, settings: TruncationSettings, measure: Measure
) -> list[Shortening]:
    """As many places cut, in this order, as it takes to save `excess` tokens; the last one no further than needed.

    Where cutting all of them does not suffice, they are suppressed.
    """
    chosen: dict[Where, Shortening] = {}
    seen: list[Place] = []
    for place in ordered:
        seen.append(place)
        least = _least(place, settings, measure)
        if least is None:
            continue
        if least.saved >= excess:
            chosen[place.where] = _fitting(least, excess, slack, settings, measure)
            return list(chosen.values())
        chosen[place.where] = least
        excess -= least.saved
    for place in seen:
        gone = shorten(place, SUPPRESSED, measure, "suppressed")
        gain = 0 if gone is None else gone.saved - (chosen[place.where].saved if place.where in chosen else 0)
        if gone is not None and gain > 0:
            chosen[place.where] = gone
            excess -= gain
            if excess <= 0:
                break
    return list(chosen.values())


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
        tokens = place.tokens(place.text, measure) if len(place.text) > bound else 0
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


def least_text(settings: TruncationSettings, place: Place) -> str:
    """What is left of the text when it is cut as far as its operation goes."""
    if settings.operation(place.kind) == "suppress":
        return SUPPRESSED
    return settings.cut(place.kind).apply(place.text, place.tool)


def _least(place: Place, settings: TruncationSettings, measure: Measure) -> Shortening | None:
    why = "suppressed" if settings.operation(place.kind) == "suppress" else "truncated"
    return shorten(place, least_text(settings, place), measure, why)


def _fitting(least: Shortening, excess: int, slack: int, settings: TruncationSettings, measure: Measure) -> Shortening:
    """The place cut so that it saves `excess` tokens or up to `slack` more; `least` is the furthest it may be cut.

    Each guess is counted, so guesses are few: tokens grow evenly enough with characters to aim well.
    """
    place, best = least.place, least
    if least.why == "suppressed":
        return least
    now = place.tokens_now(measure)
    low, low_saved = len(least.text), least.saved
    high, high_saved = len(place.text), now - place.tokens(place.text, measure)
    for _ in range(_GUESSES):
        if best.saved - excess <= slack or high - low < 2 or low_saved <= high_saved:
            break
        share = (low_saved - excess - slack // 2) / (low_saved - high_saved)
        chars = min(max(low + round((high - low) * share), low + 1), high - 1)
        text = place.marked(settings.cut(place.kind, chars).apply(place.text, place.tool))
        saved = now - place.tokens(text, measure)
        if saved >= excess:
            low, low_saved = chars, saved
            best = min(best, Shortening(place, text, saved, least.why), key=lambda one: one.saved)
        else:
            high, high_saved = chars, saved
    return best
