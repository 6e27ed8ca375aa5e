"""Following references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from compact.messages.apply import apply
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import EditKind, Pass, Replace, Where
from compact.messages.references import (
    SHORT,
    Reference,
    Source,
    code_of,
    fingerprint,
    has_mark,
    marked_lines,
    parse_reference,
)
from compact.messages.texts import fingerprints, is_marked, message_texts, texts

FOLLOWED = object()
"""Under what a conversation keeps what its references stand for."""
_LONG = 2_000_000
"""Characters of a conversation from which on room is dearer than the time to follow its references again."""


class Shown:
    """The texts shown so far, found by their codes."""

    def __init__(self, conversation: Conversation) -> None:
        found = list(_references(conversation))
        self._needed = frozenset(reference.key for reference in found)
        self._earlier = any(reference.check for reference in found)
        self._texts: dict[str, dict[str, Source]] = {}
        if conversation.system is not None:
            for _, text, digest in printed(conversation.system):
                self.add(text, digest)

    def add(self, text: str, digest: str = "") -> str:
        """Take the text as shown, and give its fingerprint."""
        digest = digest or fingerprint(text)
        # Most texts are nobody's source, and need not be kept.
        if (key := code_of(digest)[:SHORT]) in self._needed:
            self._texts.setdefault(key, {}).setdefault(digest, Source(text))
        if self._earlier and (key := digest[:SHORT]) in self._needed:
            self._texts.setdefault(key, {}).setdefault(digest, Source(text, earlier=True))
        return digest

    def follow(self, reference: Reference) -> tuple[str, list[str]] | None:
        """The fingerprint of the reference's source and the lines it stands for; None where it does not resolve."""
        for digest, source in self._texts.get(reference.key, {}).items():
            if reference.names(digest) and (lines := source.follow(reference)) is not None:
                return digest, lines
        return None


@once
def has_references(conversation: Conversation) -> bool:
    """Whether anything in it may be a reference."""
    return any(map(is_marked, conversation.messages))


class Link(NamedTuple):
    """A reference as it stands: its line, the fingerprint of its source, and which lines it stands for in its text."""

    line: str
    source: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a text says when its references are followed, its fingerprint then, and the references."""

    meaning: str
    digest: str
    links: tuple[Link, ...] = ()


def resolve(conversation: Conversation) -> Iterator[tuple[Where, Resolved]]:
    """Every text with its place, in order, its references followed."""
    known = followed(conversation)
    for where, text, digest in _all_printed(conversation):
        yield where, known.get(where) or Resolved(text, digest)


def followed(conversation: Conversation) -> Mapping[Where, Resolved]:
    """The texts that may hold references, by their places; kept with the conversation unless it is long."""
    if not has_references(conversation):
        return {}
    known: Mapping[Where, Resolved] | None = conversation.memo.get(FOLLOWED)
    if known is None:
        known = dict(_follow(conversation))
        if not _is_long(conversation):
            conversation.memo[FOLLOWED] = known
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
        meaning, found = _follow_all(text, shown)
        yield where, Resolved(meaning, shown.add(meaning), found)


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


@dataclass(frozen=True, slots=True)
class Links:
    """The references of a conversation: where each leads, and how often there is one that leads nowhere."""

    sources: Mapping[str, str]
    lost: Counter[str]


@once
def links(conversation: Conversation) -> Links:
    """Where its references lead."""
    sources: dict[str, str] = {}
    lost: Counter[str] = Counter()
    if has_references(conversation):
        for _, text in _follow(conversation) if _is_long(conversation) else followed(conversation).items():
            sources.update((link.line, link.source) for link in text.links)
            if has_mark(text.meaning):
                lines = (text.meaning[start:end] for start, end in marked_lines(text.meaning))
                lost.update(filter(parse_reference, lines))
    return Links(sources, lost)


def unresolved(conversation: Conversation) -> Counter[str]:
    """The references that lead nowhere, with how often each stands there."""
    return links(conversation).lost


def _references(conversation: Conversation) -> Iterator[Reference]:
    """What the texts of the conversation hold."""
    for message in filter(is_marked, conversation.messages):
        for _, text in message_texts(message):
            for start, end in marked_lines(text) if has_mark(text) else ():
                if reference := parse_reference(text[start:end]):
                    yield reference


def _all_printed(conversation: Conversation) -> Iterator[tuple[Where, str, str]]:
    """The texts of all messages with their fingerprints."""
    return chain.from_iterable(map(printed, conversation.messages))


def printed(message: Message) -> Iterator[tuple[Where, str, str]]:
    """The texts of a message with their fingerprints."""
    for (where, text), digest in zip(message_texts(message), fingerprints(message), strict=True):
        yield where, text, digest


def _follow_all(text: str, shown: Shown) -> tuple[str, tuple[Link, ...]]:
    """The text with its references followed, and these."""
    whole: list[str] = []
    found: list[Link] = []
    at = first = 0
    for start, end in marked_lines(text):
        reference = parse_reference(text[start:end])
        leads = shown.follow(reference) if reference else None
        if leads is None:
            continue
        source, lines = leads
        first += text.count("\n", at, start)
        found.append(Link(text[start:end], source, first, first + len(lines)))
        whole += text[at:start], "\n".join(lines)
        first += len(lines) - 1
        at = end
    return "".join([*whole, text[at:]]), tuple(found)
