"""Mending references whose source went away: the text is shown again, and named by where it stands then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from compact.messages.conversation import Conversation
from compact.messages.edits import EditKind, Pass, Replace, Where
from compact.messages.names import Names
from compact.messages.references import Codes, Reference, Source, has_mark, parse_reference
from compact.messages.resolve import FOLLOWED, Shown, followed, links, printed


def mend(before: Conversation, after: Conversation) -> Pass | None:
    """The edits that give every reference in `after` a source again, if any lost it.

    `after` was made from `before` by a pass that removed lines which references elsewhere need. The first of them
    shows its lines in full, and later ones to the same lines point there.
    """
    led = links(before).sources
    # What references stand for takes as much room as the texts did before: it is kept for one of the two at a time.
    before.memo.pop(FOLLOWED, None)
    now = links(after)
    lost = {line for line, source in led.items() if now.sources.get(line, source) != source or line in now.lost}
    # Where every reference still leads where it led, as it mostly does, there is nothing to mend.
    if not lost:
        return None
    mending = _Mending(Shown(after), Names(after), {line: lines for line, lines in _meanings(before) if line in lost})
    edits = []
    for message in (after.system, *after.messages) if after.system else after.messages:
        mending.names.add(message)
        for where, text, digest in printed(message):
            if not has_mark(text):
                mending.shown.add(text, digest)
                mending.codes.add(digest)
            elif (new := mending.mend(text, where)) != text:
                edits.append(Replace(where, new, EditKind.SOURCE_REMOVED))
            mending.names.show(where)
    return Pass("references", tuple(edits)) if edits else None


@dataclass(frozen=True, slots=True)
class _Mending:
    shown: Shown
    names: Names
    meanings: Mapping[str, list[str]]
    """The references that lost their source, and the lines they stand for."""
    codes: Codes = field(default_factory=Codes)
    again: dict[tuple[str, ...], tuple[Source, str, int, Where]] = field(default_factory=dict)
    """Lines that are shown in full again: the text, its fingerprint, the position there, and its place."""

    def mend(self, text: str, where: Where) -> str:
        """The text as it must be now."""
        lines: list[str] = []
        whole: list[str] = []
        fresh: dict[tuple[str, ...], int] = {}
        for line in text.split("\n"):
            reference = parse_reference(line)
            meaning = self.meanings.get(line) if reference else None
            if reference is None or meaning is None:
                found = self.shown.follow(reference) if reference else None
                lines.append(line)
                whole += found[1] if found else [line]
                continue
            bare = tuple(Source("\n".join(meaning)).bare(0, len(meaning)))
            signed = reference.numbering is not None and reference.numbering.mark in ("+", "-", " ")
            pointing = self._refer(tuple(each[1:] for each in bare) if signed else bare, meaning)
            if pointing:
                lines.append(pointing.render())
            else:
                fresh.setdefault(bare, len(whole))
                lines += meaning
            whole += meaning
        digest = self.shown.add("\n".join(whole))
        self.codes.add(digest)
        source = Source("\n".join(whole)) if fresh else None
        self.again.update({key: (source, digest, at, where) for key, at in fresh.items() if source})
        return "\n".join(lines)

    def _refer(self, bare: tuple[str, ...], meaning: list[str]) -> Reference | None:
        if bare not in self.again:
            return None
        source, digest, at, where = self.again[bare]
        found = source.refer(at, meaning, self.names.of(where), self.codes.of(digest))
        if found is None or source.prints(found):
            return found
        return replace(found, what=self.names.of_lines(where))


def _meanings(conversation: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Every reference that resolves, and the lines it stands for."""
    for text in followed(conversation).values():
        whole = text.meaning.split("\n") if text.links else []
        yield from ((link.line, whole[link.first : link.last]) for link in text.links)
