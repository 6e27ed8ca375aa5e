"""References between texts: what others need stays, and references go only together with what they stand for.

A reference stands for lines of an earlier text. Were that text cut alone, its lines would have to be shown again where
they are referred to, and nothing would be saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compact.messages import MARK, Conversation, Where, fingerprint, has_references, texts
from compact.messages.references import parse_reference
from compact.messages.resolve import Shown
from compact.ports import Measure
from compact.providers.truncation.cutting import SUPPRESSED, Markers, missing_lines
from compact.providers.truncation.places import Place, Shortening

_PREFIX = 6
"""How much of its source's hash every reference gives."""


@dataclass(frozen=True, slots=True)
class Follower:
    """A place that refers to other texts: to which, by their hashes, and what it says when they are followed."""

    place: Place
    sources: frozenset[str]
    meaning: str


def separate(conversation: Conversation, found: Sequence[Place]) -> tuple[list[Place], list[Follower]]:
    """The places that may be cut by themselves, and those that may only follow; the others are left out.

    `found` is everything that may be cut: what any other text refers to stays.
    """
    if not has_references(conversation):
        return [place for place in found if MARK not in place.text], []
    links = {where: (meaning, sources) for where, meaning, sources in _links(conversation)}
    free = {place.where for place in found}
    needed: set[str] = set()
    # Sources come before what refers to them: backwards, all that need a text were seen before it.
    for where, (meaning, sources) in reversed(links.items()):
        if where in free and _hash(meaning) not in needed:
            continue
        free.discard(where)
        needed |= sources
    left = [place for place in found if place.where in free]
    followers = [Follower(place, sources, meaning) for place in left for meaning, sources in [links[place.where]]]
    return [place for place in left if MARK not in place.text], [each for each in followers if each.sources]


def follow(
    cuts: Sequence[Shortening], followers: Sequence[Follower], cut: Callable[[Place, str], str], measure: Measure
) -> list[Shortening]:
    """All that refer to the cuts, cut as well. `cut` shortens what a place would say in full."""
    gone = {_hash(each.place.text): each.why for each in cuts}
    done = []
    for follower in followers:
        fates = {gone[source] for source in follower.sources if source in gone}
        if not fates:
            continue
        text = SUPPRESSED if "suppressed" in fates else cut(follower.place, follower.meaning)
        if text != follower.meaning:
            why = gone[_hash(follower.meaning)] = "suppressed" if text == SUPPRESSED else "truncated"
            done.append(_replaced(follower.place, text, why, measure))
    return done


def blank(
    cuts: Sequence[Shortening], followers: Sequence[Follower], markers: Markers, measure: Measure
) -> list[Shortening]:
    """All that refer to the cuts, with a marker in place of each such reference; the rest of their text stays."""
    gone = {_hash(each.place.text): each.why for each in cuts}
    done = []
    for follower in followers:
        if gone.keys().isdisjoint(follower.sources):
            continue
        lines = follower.place.text.split("\n")
        for index, line in enumerate(lines):
            reference = parse_reference(line)
            if reference is not None and (why := gone.get(reference.source[:_PREFIX])):
                size = reference.last - reference.first + 1
                lines[index] = SUPPRESSED if why == "suppressed" else missing_lines(size, markers)
        done.append(_replaced(follower.place, "\n".join(lines), "truncated", measure))
    return done


def _replaced(place: Place, text: str, why: str, measure: Measure) -> Shortening:
    return Shortening(place, text, place.tokens(place.text, measure) - place.tokens(text, measure), why)


def _links(conversation: Conversation) -> Iterator[tuple[Where, str, frozenset[str]]]:
    """Every text with its place: what it says when its references are followed, and the hashes of their sources."""
    shown = Shown(conversation)
    for where, text in texts(conversation):
        sources: set[str] = set()
        lines: list[str] = []
        for line in text.split("\n") if MARK in text else [text]:
            reference = parse_reference(line)
            found = shown.follow(reference) if reference else None
            lines += [line] if found is None else found
            if reference is not None and found is not None:
                sources.add(reference.source[:_PREFIX])
        meaning = "\n".join(lines)
        shown.add(meaning)
        yield where, meaning, frozenset(sources)


def _hash(text: str) -> str:
    return fingerprint(text)[:_PREFIX]
