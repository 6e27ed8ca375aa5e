"""References between texts: what others need stays, and references go only together with what they stand for.

A reference stands for lines of an earlier text. Were that text cut alone, its lines would have to be shown again where
they are referred to, and nothing would be saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from compact.messages import Conversation, EditKind, Where, fingerprint, has_mark, has_references
from compact.messages.resolve import Resolved, resolve
from compact.ports import Measure
from compact.providers.truncation.cutting import SUPPRESSED, Markers, missing_lines, suppress
from compact.providers.truncation.places import Place, Shortening


def separate(conversation: Conversation, found: Sequence[Place]) -> tuple[list[Place], list[Place]]:
    """The places that may be cut by themselves, and those that refer to other texts.

    `found` is everything that may be cut: what any other text refers to is left out, for it must stay.
    """
    if not has_references(conversation):
        return list(found), []
    links: dict[Where, Resolved] = {}
    free = {place.where for place in found}
    needed: set[str] = set()
    # Sources come before what refers to them: backwards, all that need a text were seen before it.
    for where, text in reversed(list(resolve(conversation))):
        if where not in free or text.digest in needed:
            free.discard(where)
            needed.update(link.source for link in text.links)
        elif text.links:
            links[where] = text
    left = [place for place in found if place.where in free]
    followers = [
        replace(place, text=link.meaning, shown=place.text, links=link.links)
        for place in left
        if (link := links.get(place.where))
    ]
    return [place for place in left if not has_mark(place.text)], followers


def follow(
    cuts: Sequence[Shortening],
    followers: Sequence[Place],
    cut: Callable[[Place], str],
    markers: Markers,
    measure: Measure,
) -> list[Shortening]:
    """All that refer to the cuts, cut as well."""
    if not followers:
        return []
    gone = _Gone(cuts)
    done = []
    for place in followers:
        fates = {fate for link in place.links if (fate := gone.fate(link.source, place))}
        if not fates:
            continue
        whole = suppress(place.text, markers)
        text = whole if EditKind.SUPPRESSED in fates else cut(place)
        if text != place.text:
            kind = EditKind.SUPPRESSED if text == whole else EditKind.TRUNCATED
            gone.add(place, kind)
            done.append(_replaced(place, text, kind, measure))
    return done


def blank(
    cuts: Sequence[Shortening], followers: Sequence[Place], markers: Markers, measure: Measure
) -> list[Shortening]:
    """All others that refer to the cuts, with a marker in place of each such reference; the rest of them stays."""
    if not followers:
        return []
    gone = _Gone(cuts)
    cut = {each.place.where for each in cuts}
    done = []
    for place in followers:
        missing = {link.line: link for link in place.links if gone.fate(link.source, place)}
        if place.where in cut or not missing:
            continue
        lines = place.shown.split("\n")
        for index, line in enumerate(lines):
            if link := missing.get(line):
                nothing = gone.fate(link.source, place) is EditKind.SUPPRESSED and markers != "plain"
                lines[index] = SUPPRESSED if nothing else missing_lines(link.last - link.first, markers)
        # Another text now: what refers to it would find it no more.
        gone.add(place, EditKind.TRUNCATED)
        done.append(_replaced(place, "\n".join(lines), EditKind.TRUNCATED, measure))
    return done


class _Gone:
    """The texts that were cut, and how: a later text with the same words is not what a reference stands for."""

    def __init__(self, cuts: Sequence[Shortening]) -> None:
        self._cut: dict[str, dict[tuple[int, int], EditKind]] = {}
        for each in cuts:
            self.add(each.place, each.kind)

    def add(self, place: Place, kind: EditKind) -> None:
        self._cut.setdefault(fingerprint(place.text), {})[place.position, place.where.block] = kind

    def fate(self, source: str, follower: Place) -> EditKind | None:
        """What became of a text that the follower refers to; None where it stays."""
        before = (follower.position, follower.where.block)
        return next((kind for at, kind in self._cut.get(source, {}).items() if at <= before), None)


def _replaced(place: Place, text: str, kind: EditKind, measure: Measure) -> Shortening:
    return Shortening(place, place.marked(text), kind, measure)
