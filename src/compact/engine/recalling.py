"""What compactions removed: found again by its handle, or by its words.

Nothing is copied: the log still holds every message, and the plans say what of it is shown no more. Both indexes are
made when they are first asked for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from compact.engine.projection import Projection, copied
from compact.engine.searching import Hit, Index, Piece
from compact.errors import InvalidInput
from compact.messages import (
    Drop,
    Fold,
    Json,
    Message,
    Plan,
    Reasoning,
    Replace,
    ToolCall,
    Where,
    cut_handle,
    fingerprint,
    mark_recalled,
    message_texts,
    own_handle,
    pairs,
    pruned_handle,
    summary_handle,
)
from compact.messages.references import SHORT, code_of, parse_reference
from compact.summaries.model.transcript import transcribe

PAGE = 20_000
"""Characters that are recalled at a time, unless another number is asked for."""
_HANDLE = re.compile(r"fold-[0-9a-f]{12}|sum-[0-9a-f]{8}|cut-[0-9a-f]{8}|msg-\d{1,9}|#[0-9a-f]{6,64}")
_NEAR = 3
_COMPARED = 20_000
_PATHS = (
    "file_path",
    "path",
    "filePath",
    "filename",
    "file",
    "target_file",
    "url",
    "command",
    "cmd",
    "pattern",
    "query",
)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a handle stands for: its pieces in order, and the messages they are of, as they were given."""

    handle: str
    pieces: tuple[Piece, ...]
    messages: tuple[Json, ...]

    @property
    def text(self) -> str:
        """All of it, for a model to read. A code in the headings keeps texts from pretending to be one."""
        if len(self.pieces) == 1:
            return self.pieces[0].text
        code = fingerprint("\n".join(piece.text for piece in self.pieces))[:8]
        return "\n".join(f"--- {code} {piece.handle}, {piece.source} ---\n{piece.text}" for piece in self.pieces)

    def page(self, start: int = 0, size: int = PAGE) -> str:
        """So many characters of it, marked as recalled: a compaction leaves them alone while they are fresh."""
        text = self.text
        start = min(max(start, 0), len(text))
        end = min(start + max(size, 1), len(text))
        line_end = text.rfind("\n", start + (end - start) // 2, end) + 1
        end = line_end if line_end and end < len(text) else end
        left = len(text) - end
        return mark_recalled(text[start:end], self.handle, f"{left} more characters: start={end}" if left else "")


class _Spot(NamedTuple):
    """A message of the log, or one text in it; `block` alone is a block of reasoning."""

    position: int
    where: Where | None = None
    block: int | None = None


@dataclass(slots=True)
class _Found:
    """What the plans say: which spots each handle stands for, and what is shown no more.

    A fold is kept as the ids of its messages, for another fold may be among them.
    """

    positions: Mapping[str, int]
    handles: defaultdict[str, dict[_Spot, None]] = field(default_factory=lambda: defaultdict(dict))
    folds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gone: dict[_Spot, str] = field(default_factory=dict)
    folded: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)

    def add_fold(self, fold: Fold) -> None:
        self.folds[fold.handle] = fold.messages
        if handle := summary_handle(fold.text) or pruned_handle(fold.text):
            self.folds[handle] = fold.messages
        self.folded.update(self.positions[id] for id in fold.messages if id in self.positions)
        self.changed |= self.folded

    def within(self, handle: str) -> list[int]:
        """The positions of the messages that a fold stands for, through the folds among them."""
        found: set[int] = set()
        pending = list(self.folds.get(handle, ()))
        while pending:
            id = pending.pop()
            if id in self.positions:
                found.add(self.positions[id])
            else:
                pending += self.folds.get(_fold(id), ())
        return sorted(found)


class Removed:
    """Everything that plans removed from a log, in the order in which they were made."""

    def __init__(self, log: Iterable[Message], plans: Iterable[Plan]) -> None:
        self._log = tuple(log)
        self._plans = tuple(plans)

    @classmethod
    def of(cls, projection: Projection) -> Removed:
        return cls((line.message for line in projection.log), (done.plan for done in projection.compactions))

    def __contains__(self, handle: str) -> bool:
        return bool(self._spots(read_handle(handle)))

    @property
    def handles(self) -> tuple[str, ...]:
        """Every handle of something removed: folds and summaries first, each kind in the order of its making."""
        return (*self._found.folds, *self._found.handles)

    def recall(self, handle: str) -> Recalled:
        """What the handle stands for; InvalidInput names near ones where there is none."""
        name = read_handle(handle)
        spots = self._spots(name)
        if not spots:
            raise unknown_handle(handle, self.handles)
        whole = len(spots) > 1 or spots[0].where is None
        pieces = {spot: self._piece(spot, f"msg-{spot.position}" if whole else name) for spot in spots}
        # The same text may have stood in several places.
        told = pieces if name.startswith(("fold-", "sum-")) else {piece.text: piece for piece in pieces.values()}
        positions = dict.fromkeys(spot.position for spot in spots)
        wires = tuple(copied(self._log[position].wire) for position in positions)
        return Recalled(name, tuple(told.values()), wires)

    def search(self, text: str, limit: int = 20) -> list[Hit]:
        """The pieces that contain all the words, whatever their case, the best first."""
        return self._index.search(text, limit)

    def find(self, text: str) -> list[Hit]:
        """The messages of the log that hold the text as it stands, removed or not, in order.

        Their handles recall them; that of a message which is shown as it was given is empty.
        """
        changed = self._found.changed
        names = (f"msg-{at}" if at in changed else "" for at in range(len(self._log)))
        return Index(self._piece(_Spot(at), name) for at, name in enumerate(names)).find(text)

    @cached_property
    def _found(self) -> _Found:
        return _read(self._log, self._plans)

    @cached_property
    def _index(self) -> Index:
        found = self._found
        whole = (_Spot(position) for position in sorted(found.folded))
        spots = chain(whole, (spot for spot in found.gone if spot.position not in found.folded))
        return Index(self._piece(spot, found.gone.get(spot) or f"msg-{spot.position}") for spot in spots)

    @cached_property
    def _bodies(self) -> Sequence[str]:
        return [entry.body for entry in transcribe(self._log).entries]

    @cached_property
    def _answers(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        return pairs(self._log)

    @cached_property
    def _sources(self) -> Mapping[str, list[tuple[str, _Spot]]]:
        """The texts that references may point to, by how these look them up."""
        found: defaultdict[str, list[tuple[str, _Spot]]] = defaultdict(list)
        for text, spot in self._texts():
            digest = fingerprint(text)
            for name in (code_of(digest), digest):
                found[name[:SHORT]].append((name, spot))
        return found

    def _texts(self) -> Iterator[tuple[str, _Spot]]:
        for position, message in enumerate(self._log):
            yield from ((text, _Spot(position, where)) for where, text in message_texts(message))
        ids = {message.id: position for position, message in enumerate(self._log)}
        for edit in (edit for plan in self._plans for step in plan for edit in step.edits):
            # A text whose layout was made plain is pointed to as it reads since.
            if isinstance(edit, Replace) and edit.where.lines is None and edit.where.message in ids:
                yield edit.with_, _Spot(ids[edit.where.message])

    def _spots(self, handle: str) -> list[_Spot]:
        if handle.startswith("#"):
            matches = self._sources.get(handle[1 : SHORT + 1], ())
            return [spot for name, spot in matches if name.startswith(handle[1:])][:1]
        if handle.startswith("msg-") and handle[4:].isdigit():
            position = int(handle[4:])
            return [_Spot(position)] if position in self._found.changed else []
        return list(self._found.handles.get(handle, ())) or [_Spot(position) for position in self._found.within(handle)]

    def _piece(self, spot: _Spot, handle: str) -> Piece:
        message = self._log[spot.position]
        call = self._call(spot)
        arguments = call.arguments if call is not None and isinstance(call.arguments, dict) else {}
        path = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), "")
        return Piece(handle, spot.position, message.role, call.name if call else "", path, self._text(spot))

    def _text(self, spot: _Spot) -> str:
        message = self._log[spot.position]
        if spot.block is not None:
            block = message.blocks[spot.block]
            return block.text if isinstance(block, Reasoning) else ""
        if spot.where is None:
            return self._bodies[spot.position]
        return next(text for where, text in message_texts(message) if where == spot.where)

    def _call(self, spot: _Spot) -> ToolCall | None:
        """The call that the spot is in, or that it answers."""
        count = len(self._log[spot.position].blocks)
        for block in range(count) if spot.where is None else (spot.where.block,):
            position, at = self._answers.get((spot.position, block), (spot.position, block))
            call = self._log[position].blocks[at]
            if isinstance(call, ToolCall):
                return call
        return None


def read_handle(given: str) -> str:
    """The handle in what was given, which may be a whole marker."""
    if not isinstance(given, str):
        raise InvalidInput(
            f"must be a text, not {type(given).__name__}", field="handle", remedy="Such as cut-3f9a2c1d."
        )
    if reference := parse_reference(given.strip()):
        return f"#{reference.source}"
    found = _HANDLE.search(given.lower())
    return found[0] if found else given.strip()


def unknown_handle(handle: str, known: Sequence[str]) -> InvalidInput:
    """The error that says so, and names what may have been meant."""
    if not known:
        return InvalidInput(f"there is no {handle!r}", field="handle", remedy="Nothing was removed so far.")
    near = get_close_matches(handle, known[-_COMPARED:], _NEAR) or list(islice(reversed(known), _NEAR))
    remedy = f"Did you mean one of these: {', '.join(near)}? Or search for words of it."
    return InvalidInput(f"there is no {handle!r}", field="handle", remedy=remedy)


def _read(log: Sequence[Message], plans: Iterable[Plan]) -> _Found:
    """Follow the plans: what each handle stands for in the log, summaries of summaries included."""
    ids = {message.id: position for position, message in enumerate(log)}
    blocks: dict[str, list[int]] = {}
    found = _Found(ids)
    for step in chain.from_iterable(plans):
        dropped: list[tuple[str, int]] = []
        for edit in step.edits:
            if isinstance(edit, Fold):
                found.add_fold(edit)
                continue
            name = edit.where.message
            if name not in ids:
                # A summary that was sealed anew has another handle.
                if isinstance(edit, Replace) and (handle := summary_handle(edit.with_)):
                    found.folds[handle] = found.folds.get(_fold(name), ())
                continue
            found.changed.add(ids[name])
            left = blocks.setdefault(name, list(range(len(log[ids[name]].blocks))))
            block = left[edit.where.block] if edit.where.block < len(left) else None
            if isinstance(edit, Drop):
                dropped.append((name, edit.where.block))
                if block is not None:
                    found.gone[_Spot(ids[name], None, block)] = f"msg-{ids[name]}"
            else:
                _note_cut(found, log[ids[name]], ids[name], edit, block)
        for name, block in sorted(dropped, reverse=True):
            if block < len(blocks[name]):
                del blocks[name][block]
    return found


def _note_cut(found: _Found, message: Message, position: int, edit: Replace, block: int | None) -> None:
    """Enter what the edit replaced: the text as it was given, also where something was done to it before."""
    shown = own_handle(edit.with_)
    places = {where: text for where, text in message_texts(message) if where.path == edit.where.path}
    match = next((where for where, text in places.items() if shown and cut_handle(text) == shown), None)
    if match is None and block is not None:
        same = Where(message.id, block, edit.where.path)
        match = same if same in places else None
    spot = _Spot(position, match)
    handle = shown or (cut_handle(places[match]) if match else f"msg-{position}")
    found.handles[handle][spot] = None
    # What is still shown can be recalled, but need not be searched.
    if not edit.kind.shows_all:
        found.gone.setdefault(spot, handle)


def _fold(id: str) -> str:
    """The handle of the fold that made a message; it may have made several."""
    return id.partition(".")[0]
