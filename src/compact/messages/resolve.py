"""Following references."""

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
from compact.messages.references import MARKS, Reference, checksum, fingerprint, has_mark, parse_reference, segments
from compact.messages.texts import fingerprints, is_marked, message_texts, texts

SHORTEST_SOURCE = 6
"""How much of its source's fingerprint every reference gives."""
FOLLOWED = object()
"""Under what a conversation keeps what its references stand for."""
_LONG = 2_000_000
"""Characters of a conversation from which on room is dearer than the time to follow its references again."""
MARKED_LINE = re.compile(rf"^(?:{'|'.join(map(re.escape, MARKS))}).*$", re.MULTILINE)


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
    for where, text, digest in all_printed(conversation):
        yield where, known.get(where) or Resolved(text, digest)


def followed(conversation: Conversation) -> Mapping[Where, Resolved]:
    """The texts that may hold references, by their places; kept with the conversation unless it is long."""
    known: Mapping[Where, Resolved] | None = conversation.memo.get(FOLLOWED)
    if known is None:
        known = dict(_follow(conversation)) if has_references(conversation) else {}
        if not _is_long(conversation):
            conversation.memo[FOLLOWED] = known
    return known


@once
def _is_long(conversation: Conversation) -> bool:
    return sum(len(text) for _, text in texts(conversation)) > _LONG


def _follow(conversation: Conversation) -> Iterator[tuple[Where, Resolved]]:
    shown = Shown(conversation)
    for where, text, digest in all_printed(conversation):
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


@once
def unresolved(conversation: Conversation) -> Counter[str]:
    """The references that lead nowhere, with how often each stands there."""
    lost: Counter[str] = Counter()
    if not has_references(conversation):
        return lost
    resolved = _follow(conversation) if _is_long(conversation) else followed(conversation).items()
    for _, text in resolved:
        if has_mark(text.meaning):
            lost.update(line for line in MARKED_LINE.findall(text.meaning) if parse_reference(line))
    return lost


def _sources(conversation: Conversation) -> Iterator[str]:
    """How the fingerprints begin that references in the conversation name."""
    for message in filter(is_marked, conversation.messages):
        for _, text in message_texts(message):
            for line in MARKED_LINE.findall(text) if has_mark(text) else ():
                if reference := parse_reference(line):
                    yield reference.source[:SHORTEST_SOURCE]


def all_printed(conversation: Conversation) -> Iterator[tuple[Where, str, str]]:
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

    return MARKED_LINE.sub(meaning, text), frozenset(sources)
