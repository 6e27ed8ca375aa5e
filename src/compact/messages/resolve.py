"""Following references, and mending those whose source went away."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from compact.messages.apply import apply
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import Pass, Replace, Where
from compact.messages.references import MARK, Reference, checksum, fingerprint, parse_reference, segments
from compact.messages.texts import fingerprints, mentions, message_texts, texts

SHORTEST_SOURCE = 6
"""How much of its source's fingerprint every reference gives."""


class Shown:
    """The texts shown so far, found by their fingerprints; lines are kept without their numbers."""

    def __init__(self, conversation: Conversation) -> None:
        self._texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._lines: dict[str, list[str]] = {}
        if conversation.system is not None:
            for _, text, digest in _printed(conversation.system):
                self.add(text, digest)

    def add(self, text: str, digest: str = "") -> str:
        """Take the text as shown, and give its fingerprint."""
        digest = digest or fingerprint(text)
        self._texts[digest[:SHORTEST_SOURCE]].setdefault(digest, text)
        return digest

    def follow(self, reference: Reference) -> list[str] | None:
        """The lines the reference stands for; None where it does not resolve."""
        for digest, text in self._texts.get(reference.source[:SHORTEST_SOURCE], {}).items():
            if digest.startswith(reference.source):
                if digest not in self._lines:
                    self._lines[digest] = [line for segment in segments(text) for line in segment.lines]
                lines = reference.numbered(self._lines[digest][reference.first - 1 : reference.last])
                if lines and checksum(lines) == reference.check:
                    return lines
        return None


@once
def has_references(conversation: Conversation) -> bool:
    """Whether anything in it may be a reference."""
    return mentions(conversation, MARK)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a text says when its references are followed, its fingerprint then, and how those of their sources begin."""

    meaning: str
    digest: str
    sources: frozenset[str] = frozenset()


def resolve(conversation: Conversation) -> Iterator[tuple[Where, Resolved]]:
    """Every text with its place, in order, its references followed."""
    shown = Shown(conversation)
    for message in conversation.messages:
        for where, text, digest in _printed(message):
            if MARK not in text:
                shown.add(text, digest)
                yield where, Resolved(text, digest)
                continue
            lines, references = _follow_all(text, shown)
            meaning = "\n".join(lines)
            sources = frozenset(each.source[:SHORTEST_SOURCE] for each in references)
            yield where, Resolved(meaning, shown.add(meaning), sources)


def unfold(conversation: Conversation) -> Conversation:
    """The conversation with every reference followed.

    What a verbatim condensation removed is all in the messages themselves: no plan is needed.
    """
    shown = Shown(conversation)
    edits = []
    for where, text in texts(conversation):
        whole = "\n".join(_follow_all(text, shown)[0]) if MARK in text else text
        if whole != text:
            edits.append(Replace(where, whole, "reference followed"))
        shown.add(whole)
    return apply(conversation, Pass("unfold", tuple(edits)))[0] if edits else conversation


def mend(before: Conversation, after: Conversation) -> Pass | None:
    """The edits that give every reference in `after` a source again, if any lost it.

    `after` was made from `before` by a pass that removed lines which references elsewhere need. The first of them
    shows its lines in full, and later ones to the same lines point there.
    """
    # Where every reference still leads somewhere, as it mostly does, there is nothing to mend.
    meanings = dict(_meanings(before)) if unresolved(after) else {}
    if not meanings:
        return None
    shown = Shown(after)
    again: dict[tuple[str, ...], Reference] = {}
    edits = []
    for where, text in texts(after):
        if MARK not in text:
            shown.add(text)
            continue
        lines, whole, fresh = _mended(text, shown, meanings, again)
        digest = shown.add("\n".join(whole))
        again.update({key: _at(reference, digest) for key, reference in fresh.items()})
        if (new := "\n".join(lines)) != text:
            edits.append(Replace(where, new, "its source was removed"))
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
                fresh[key] = Reference(reference.what, "", len(whole) + 1, len(whole) + len(meaning), "", None)
                lines += meaning
            whole += meaning
    return lines, whole, fresh


def _at(reference: Reference, digest: str) -> Reference:
    return Reference(reference.what, digest[:SHORTEST_SOURCE], reference.first, reference.last, "", None)


def _meanings(conversation: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Every reference line that resolves, and the lines it stands for."""
    shown = Shown(conversation)
    for _, text, digest in (each for message in conversation.messages for each in _printed(message)):
        if MARK not in text:
            shown.add(text, digest)
            continue
        whole: list[str] = []
        for line in text.split("\n"):
            reference = parse_reference(line) if line.startswith(MARK) else None
            found = shown.follow(reference) if reference else None
            whole += [line] if found is None else found
            if found is not None:
                yield line, found
        shown.add("\n".join(whole))


@once
def unresolved(conversation: Conversation) -> Counter[str]:
    """The references that lead nowhere, with how often each stands there."""
    lost: Counter[str] = Counter()
    if has_references(conversation):
        for _, text in resolve(conversation):
            if MARK in text.meaning:
                lost.update(filter(parse_reference, text.meaning.split("\n")))
    return lost


def _printed(message: Message) -> Iterator[tuple[Where, str, str]]:
    """The texts of a message with their fingerprints."""
    for (where, text), digest in zip(message_texts(message), fingerprints(message), strict=True):
        yield where, text, digest


def _follow_all(text: str, shown: Shown) -> tuple[list[str], list[Reference]]:
    """The lines of the text with its references followed, and those that could be."""
    lines: list[str] = []
    references: list[Reference] = []
    for line in text.split("\n"):
        reference = parse_reference(line) if line.startswith(MARK) else None
        found = shown.follow(reference) if reference else None
        lines += [line] if found is None else found
        if reference is not None and found is not None:
            references.append(reference)
    return lines, references
