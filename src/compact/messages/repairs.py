"""Mending references whose source went away: the text is shown again, and named by where it stands then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compact.messages.conversation import Conversation
from compact.messages.edits import EditKind, Pass, Replace
from compact.messages.names import Names
from compact.messages.references import MARKS, Reference, has_mark, parse_reference
from compact.messages.resolve import (
    FOLLOWED,
    MARKED_LINE,
    SHORTEST_SOURCE,
    Shown,
    all_printed,
    followed,
    unresolved,
)


def mend(before: Conversation, after: Conversation) -> Pass | None:
    """The edits that give every reference in `after` a source again, if any lost it.

    `after` was made from `before` by a pass that removed lines which references elsewhere need. The first of them
    shows its lines in full, and later ones to the same lines point there.
    """
    # What references stand for takes as much room as the texts did before: it is kept for one of the two at a time.
    before.memo.pop(FOLLOWED, None)
    # Where every reference still leads somewhere, as it mostly does, there is nothing to mend.
    meanings = dict(_meanings(before)) if unresolved(after) else {}
    if not meanings:
        return None
    shown, names = Shown(after), Names(after)
    again: dict[tuple[str, ...], Reference] = {}
    edits = []
    for where, text, digest in all_printed(after):
        if not has_mark(text):
            shown.add(text, digest)
            continue
        lines, whole, fresh = _mended(text, shown, meanings, again)
        source = shown.add("\n".join(whole))
        again.update(
            {key: replace(at, what=names.of(where), source=source[:SHORTEST_SOURCE]) for key, at in fresh.items()}
        )
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
        reference = parse_reference(line) if line.startswith(MARKS) else None
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
                fresh[tuple(reference.bare(meaning))] = Reference("", "", len(whole) + 1, len(whole) + len(meaning), "")
                lines += meaning
            whole += meaning
    return lines, whole, fresh


def _meanings(conversation: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Every reference line that resolves, and the lines it stands for."""
    shown, known = Shown(conversation), followed(conversation)
    for where, text, digest in all_printed(conversation):
        for line in MARKED_LINE.findall(text) if where in known else ():
            reference = parse_reference(line)
            lines = shown.follow(reference) if reference else None
            if lines is not None:
                yield line, lines
        whole = known.get(where)
        shown.add(whole.meaning if whole else text, whole.digest if whole else digest)
