"""Following references, and mending those whose source went away."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain

from compact.messages.apply import apply
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import EditKind, Pass, Replace, Where
from compact.messages.references import MARK, Reference, checksum, fingerprint, has_mark, parse_reference, segments
from compact.messages.texts import fingerprints, is_marked, message_texts, texts

SHORTEST_SOURCE = 6
"""How much of its source's fingerprint every reference gives."""
_FOLLOWED = object()
_LONG = 2_000_000
"""Characters of a conversation from which on room is dearer than the time to follow its references again."""
_MARKED_LINE = re.compile(f"^{MARK}.*$", re.MULTILINE)


class Shown:
    """The texts shown so far, found by how their fingerprints begin."""

    def __init__(self, conversation: Conversation) -> None:
        self._needed = frozenset(_sources(conversation))
        self._texts: dict[str, tuple[str, ...]] = {}
        self._bare: dict[str, _Bare] = {}
        if conversation.system is not None:
            for _, text, digest in _printed(conversation.system):
                self.add(text, digest)

    def add(self, text: str, digest: str = "") -> str:
        """Take the text as shown, and give its fingerprint."""
        digest = digest or fingerprint(text)
        start = digest[:SHORTEST_SOURCE]
        # Most texts are nobody's source, and need not be kept.
        if start in self._needed and text not in (known := self._texts.get(start, ())):
            self._texts[start] = (*known, text)
        return digest

    def follow(self, reference: Reference) -> list[str] | None:
        """The lines the reference stands for; None where it does not resolve."""
        source = reference.source
        for text in self._texts.get(source[:SHORTEST_SOURCE], ()):
            if len(source) > SHORTEST_SOURCE and not fingerprint(text).startswith(source):
                continue
            if text not in self._bare:
                self._bare[text] = _Bare(text)
            lines = reference.numbered(self._bare[text].lines(reference.first - 1, reference.last))
            if lines and checksum(lines) == reference.check:
                return lines
        return None


class _Bare:
    """A text without its line numbers, and where its lines end: far smaller than its lines as texts of their own."""

    __slots__ = ("_ends", "_text")

    def __init__(self, text: str) -> None:
        parts = list(segments(text))
        lines = [line for part in parts for line in part.lines]
        self._text = text if all(part.numbering is None for part in parts) else "\n".join(lines)
        self._ends = array("I", accumulate(map(len, lines)))

    def lines(self, first: int, last: int) -> list[str]:
        last = min(last, len(self._ends))
        if not 0 <= first < last:
            return []
        start = self._ends[first - 1] + first if first else 0
        return self._text[start : self._ends[last - 1] + last - 1].split("\n")


@once
def has_references(conversation: Conversation) -> bool:
    """Whether anything in it may be a reference."""
    return any(map(is_marked, conversation.messages))


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a text says when its references are followed, its fingerprint then, and how those of their sources begin."""

    meaning: str
    digest: str
    sources: frozenset[str] = frozenset()


def resolve(conversation: Conversation) -> Iterator[tuple[Where, Resolved]]:
    """Every text with its place, in order, its references followed."""
    known = followed(conversation)
    for where, text, digest in _all_printed(conversation):
        yield where, known.get(where) or Resolved(text, digest)


def followed(conversation: Conversation) -> Mapping[Where, Resolved]:
    """The texts that may hold references, by their places; kept with the conversation unless it is long."""
    known: Mapping[Where, Resolved] | None = conversation.memo.get(_FOLLOWED)
    if known is None:
        known = dict(_follow(conversation)) if has_references(conversation) else {}
        if not _is_long(conversation):
            conversation.memo[_FOLLOWED] = known
    return known


@once
def _is_long(conversation: Conversation) -> bool:
    return sum(len(text) for _, text in texts(conversation)) > _LONG


def _follow(conversation: Conversation) -> Iterator[tuple[Where, Resolved]]:
    shown = Shown(conversation)
    for where, text, digest in _all_printed(conversation):
        if not has_mark(text):
            shown.add(text, digest)
            continue
        meaning, sources = _follow_all(text, shown)
        yield where, Resolved(meaning, shown.add(meaning), sources)


def unfold(conversation: Conversation) -> Conversation:
    """The conversation with every reference followed.

    What a verbatim condensation removed is all in the messages themselves: no plan is needed.
    """
    shown = Shown(conversation)
    edits = []
    for where, text in texts(conversation):
        whole = _follow_all(text, shown)[0] if has_mark(text) else text
        if whole != text:
            edits.append(Replace(where, whole, EditKind.REFERENCE_FOLLOWED))
        shown.add(whole)
    return apply(conversation, Pass("unfold", tuple(edits)))[0] if edits else conversation


def mend(before: Conversation, after: Conversation) -> Pass | None:
    """The edits that give every reference in `after` a source again, if any lost it.

    `after` was made from `before` by a pass that removed lines which references elsewhere need. The first of them
    shows its lines in full, and later ones to the same lines point there.
    """
    # What references stand for takes as much room as the texts did before: it is kept for one of the two at a time.
    before.memo.pop(_FOLLOWED, None)
    # Where every reference still leads somewhere, as it mostly does, there is nothing to mend.
    meanings = dict(_meanings(before)) if unresolved(after) else {}
    if not meanings:
        return None
    shown = Shown(after)
    again: dict[tuple[str, ...], Reference] = {}
    edits = []
    for where, text, digest in _all_printed(after):
        if not has_mark(text):
            shown.add(text, digest)
            continue
        lines, whole, fresh = _mended(text, shown, meanings, again)
        source = shown.add("\n".join(whole))
        again.update({key: _at(reference, source) for key, reference in fresh.items()})
        if (new := "\n".join(lines)) != text:
            edits.append(Replace(where, new, EditKind.SOURCE_REMOVED))
    return Pass("references", tuple(edits)) if edits else None


def _mended(
    text: str, shown: Shown, meanings: dict[str, list[str]], again: dict[tuple[str, ...], Reference]
) -> tuple[list[str], list[str], dict[tuple[str, ...], Reference]]:
    """The text's lines as they must be now, as they read when followed, and what it shows in full for others."""
    lines: list[str] = []
    whole: list[str] = []
    fresh: dict[tuple[str, ...], Reference] = {}
    for line in text.split("\n"):
        reference = parse_reference(line) if line.startswith(MARK) else None
        found = shown.follow(reference) if reference else None
        meaning = meanings.get(line) if reference and found is None else None
        if reference is None or (found is None and meaning is None):
            lines.append(line)
            whole.append(line)
        elif found is not None:
            lines.append(line)
            whole += found
        elif meaning is not None:
            key = tuple(reference.stripped(meaning))
            if key in again:
                lines.append(again[key].like(reference, meaning).render())
            else:
                fresh[tuple(reference.bare(meaning))] = Reference(
                    reference.what, "", len(whole) + 1, len(whole) + len(meaning), "", None
                )
                lines += meaning
            whole += meaning
    return lines, whole, fresh


def _at(reference: Reference, digest: str) -> Reference:
    return Reference(reference.what, digest[:SHORTEST_SOURCE], reference.first, reference.last, "", None)


def _meanings(conversation: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Every reference line that resolves, and the lines it stands for."""
    shown, known = Shown(conversation), followed(conversation)
    for where, text, digest in _all_printed(conversation):
        for line in _MARKED_LINE.findall(text) if where in known else ():
            reference = parse_reference(line)
            lines = shown.follow(reference) if reference else None
            if lines is not None:
                yield line, lines
        whole = known.get(where)
        shown.add(whole.meaning if whole else text, whole.digest if whole else digest)


@once
def unresolved(conversation: Conversation) -> Counter[str]:
    """The references that lead nowhere, with how often each stands there."""
    lost: Counter[str] = Counter()
    if not has_references(conversation):
        return lost
    resolved = _follow(conversation) if _is_long(conversation) else followed(conversation).items()
    for _, text in resolved:
        if has_mark(text.meaning):
            lost.update(line for line in _MARKED_LINE.findall(text.meaning) if parse_reference(line))
    return lost


def _sources(conversation: Conversation) -> Iterator[str]:
    """How the fingerprints begin that references in the conversation name."""
    for message in filter(is_marked, conversation.messages):
        for _, text in message_texts(message):
            for line in _MARKED_LINE.findall(text) if has_mark(text) else ():
                if reference := parse_reference(line):
                    yield reference.source[:SHORTEST_SOURCE]


def _all_printed(conversation: Conversation) -> Iterator[tuple[Where, str, str]]:
    """The texts of all messages with their fingerprints."""
    return chain.from_iterable(map(_printed, conversation.messages))


def _printed(message: Message) -> Iterator[tuple[Where, str, str]]:
    """The texts of a message with their fingerprints."""
    for (where, text), digest in zip(message_texts(message), fingerprints(message), strict=True):
        yield where, text, digest


def _follow_all(text: str, shown: Shown) -> tuple[str, frozenset[str]]:
    """The text with its references followed, and how the fingerprints of their sources begin."""
    sources: set[str] = set()

    def meaning(found: re.Match[str]) -> str:
        reference = parse_reference(found[0])
        lines = shown.follow(reference) if reference else None
        if reference is None or lines is None:
            return found[0]
        sources.add(reference.source[:SHORTEST_SOURCE])
        return "\n".join(lines)

    return _MARKED_LINE.sub(meaning, text), frozenset(sources)
