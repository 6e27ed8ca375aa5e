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
    gone = {fingerprint(each.place.text): each.kind for each in cuts}
    done = []
    for place in followers:
        fates = {gone[link.source] for link in place.links if link.source in gone}
        if not fates:
            continue
        whole = suppress(place.text, markers)
        text = whole if EditKind.SUPPRESSED in fates else cut(place)
        if text != place.text:
            kind = EditKind.SUPPRESSED if text == whole else EditKind.TRUNCATED
            gone[fingerprint(place.text)] = kind
            done.append(_replaced(place, text, kind, measure))
    return done


def blank(
    cuts: Sequence[Shortening], followers: Sequence[Place], markers: Markers, measure: Measure
) -> list[Shortening]:
    """All others that refer to the cuts, with a marker in place of each such reference; the rest of them stays."""
    if not followers:
        return []
    gone = {fingerprint(each.place.text): each.kind for each in cuts}
    cut = {each.place.where for each in cuts}
    done = []
    for place in followers:
        missing = {link.line: link for link in place.links if link.source in gone}
        if place.where in cut or not missing:
            continue
        lines = place.shown.split("\n")
        for index, line in enumerate(lines):
            if link := missing.get(line):
                nothing = gone[link.source] is EditKind.SUPPRESSED and markers != "plain"
                lines[index] = SUPPRESSED if nothing else missing_lines(link.last - link.first, markers)
        # Another text now: what refers to it would find it no more.
        gone[fingerprint(place.text)] = EditKind.TRUNCATED
        done.append(_replaced(place, "\n".join(lines), EditKind.TRUNCATED, measure))
    return done


def _replaced(place: Place, text: str, kind: EditKind, measure: Measure) -> Shortening:
    return Shortening(place, place.marked(text), kind, measure)
