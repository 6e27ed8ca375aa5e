"""What became of every message in a condensation: a row each, and what stands in it before and after."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.app.alignment import pair_ids, spans
from compact.app.condensing import Result
from compact.app.counting import counter_for
from compact.messages import (
    Attachment,
    Block,
    Conversation,
    Drop,
    Edit,
    EditKind,
    Fold,
    Image,
    Json,
    Message,
    Opaque,
    Plan,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

Effect: TypeAlias = Literal[
    "reference", "layout", "superseded", "truncated", "suppressed", "summarized", "folded", "reasoning", "changed"
]
RowKind: TypeAlias = Literal[Effect, "kept", "added"]
PartKind: TypeAlias = Literal["text", "reasoning", "call", "result", "image", "file", "other"]

_EFFECTS: Mapping[EditKind, Effect] = {
    EditKind.LAYOUT: "layout",
    EditKind.SHOWN_BEFORE: "reference",
    EditKind.SOURCE_REMOVED: "reference",
    EditKind.REFERENCE_FOLLOWED: "changed",
    EditKind.SUPERSEDED: "superseded",
    EditKind.TRUNCATED: "truncated",
    EditKind.SUPPRESSED: "suppressed",
    EditKind.SUMMARIZED: "summarized",
    EditKind.PRUNED: "changed",
    EditKind.OVER_LIMIT: "changed",
    EditKind.FACTS_NAMED: "changed",
    EditKind.BOUND_TO_CHANGED: "changed",
    EditKind.BOUND_TO_SUMMARIZED: "changed",
    EditKind.OTHER: "changed",
}
"""What a replacement is shown as; folds and drops are shown as such."""
_LOUDEST: Sequence[Effect] = (
    "folded", "suppressed", "summarized", "truncated", "superseded", "reference", "reasoning", "layout", "changed"
)  # fmt: skip
"""A message that was edited in several ways is shown as what it lost most by."""
_TITLE = 120


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a message was edited: by which pass, how, why, and how many times."""

    step: str
    kind: Effect
    why: str
    edits: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A message of the original, of the condensed conversation, or of both; the positions are those in the files."""

    before: int | None
    after: int | None
    role: str
    title: str
    kind: RowKind
    tokens_before: int
    tokens_after: int
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of lines: the same on both sides, and then told once; or what a side has in its place, if anything."""

    same: bool
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a message, before and after."""

    kind: PartKind
    title: str
    before: str | None
    after: str | None

    def hunks(self) -> tuple[Hunk, ...]:
        if self.before == self.after:
            return (Hunk(True, self.before, None),)
        if self.before is None or self.after is None:
            return (Hunk(False, self.before, self.after),)
        left, right = self.before.split("\n"), self.after.split("\n")
        return tuple(
            Hunk(same, _joined(left, a), None if same else _joined(right, b)) for same, a, b in spans(left, right)
        )


class Inspection:
    """A conversation beside what a condensation made of it; without a result, by itself."""

    def __init__(self, before: Conversation, result: Result | None = None, *, model: str) -> None:
        self._before = before.messages
        self._after = (before if result is None else result.conversation).messages
        self._reasons = {} if result is None else reasons_of(result.plan)
        self._tools = {call.id: call.name for message in before.messages for call in message.calls}
        self._measure = counter_for(model).message
        sides = self._before, self._after
        self._pairs = tuple(pair_ids(*([message.id for message in side] for side in sides)))

    def __len__(self) -> int:
        return len(self._pairs)

    def rows(self) -> Iterator[Row]:
        """A row for every message, in order."""
        for before, after in self._pairs:
            left = None if before is None else self._before[before]
            right = None if after is None else self._after[after]
            yield self._row(before, after, left, right)

    def parts(self, row: int) -> tuple[Part, ...]:
        """What stands in the message of a row, block by block."""
        before, after = self._pairs[row]
        left = () if before is None else self._before[before].blocks
        right = () if after is None else self._after[after].blocks
        found = []
        for same, a, b in spans([_mark(block) for block in left], [_mark(block) for block in right]):
            if same:
                found += [self._part(left[one], right[two]) for one, two in zip(a, b, strict=True)]
            else:
                found += [self._part(left[one], None) for one in a]
                found += [self._part(None, right[two]) for two in b]
        return tuple(found)

    def _row(self, before: int | None, after: int | None, left: Message | None, right: Message | None) -> Row:
        shown = left or right
        assert shown is not None  # noqa: S101 - a pair has at least one side
        reasons = self._reasons.get(left.id, ()) if left else ()
        return Row(
            before=before,
            after=after,
            role=showable(shown.role),
            title=showable(self._title(shown)),
            kind=_row_kind(left, right, reasons),
            tokens_before=self._measure(left) if left else 0,
            tokens_after=self._measure(right) if right else 0,
            reasons=reasons,
        )

    def _title(self, message: Message) -> str:
        """The message in a line: what is called, which tool answers, or how its text begins."""
        if message.calls:
            return " · ".join(f"{call.name} {_gist(call.arguments)}".strip() for call in message.calls)[:_TITLE]
        if message.results:
            named = " · ".join(self._tools.get(result.call_id, "tool") for result in message.results)
            return f"{named}: {_opening(_text_of(message.results[0]))}"[:_TITLE]
        return _opening(message.text)

    def _part(self, left: Block | None, right: Block | None) -> Part:
        block = left or right
        assert block is not None  # noqa: S101 - likewise
        kind, title = _named(block, self._tools)
        texts = (None if each is None else showable(_text_of(each)) for each in (left, right))
        return Part(kind, showable(title), *texts)


def reasons_of(plan: Plan) -> dict[str, tuple[Reason, ...]]:
    """Why each message was edited or folded, by its id; equal reasons are counted."""
    counts: dict[str, dict[tuple[str, Effect, str], int]] = {}
    for step in plan:
        for edit in step.edits:
            key = (showable(step.name), effect_of(edit), edit.kind.value)
            for id in edit.messages if isinstance(edit, Fold) else (edit.where.message,):
                seen = counts.setdefault(id, {})
                seen[key] = seen.get(key, 0) + 1
    return {id: tuple(Reason(*key, edits) for key, edits in seen.items()) for id, seen in counts.items()}


def effect_of(edit: Edit) -> Effect:
    """What an edit does, in one word."""
    if isinstance(edit, Fold):
        return "folded"
    return "reasoning" if isinstance(edit, Drop) else _EFFECTS[edit.kind]


def _row_kind(left: Message | None, right: Message | None, reasons: Sequence[Reason]) -> RowKind:
    if left is None:
        return "added"
    if right is left or (right is not None and right.wire == left.wire):
        return "kept"
    kinds = {reason.kind for reason in reasons}
    return next((kind for kind in _LOUDEST if kind in kinds), "changed" if right else "folded")


def _joined(lines: Sequence[str], span: range) -> str | None:
    return "\n".join(lines[at] for at in span) if span else None


def _mark(block: Block) -> Hashable:
    """What a block is known by, whatever became of its text."""
    match block:
        case ToolCall(id=id) | ToolResult(call_id=id):
            return type(block), id
        case Reasoning(text=text, sealed=sealed):
            return type(block), text, sealed
        case _:
            return (type(block),)


def _named(block: Block, tools: Mapping[str, str]) -> tuple[PartKind, str]:
    match block:
        case Text():
            return "text", ""
        case Reasoning():
            return "reasoning", "reasoning"
        case ToolCall(name=name):
            return "call", name
        case ToolResult(call_id=id, error=error):
            return "result", f"{tools.get(id, 'tool')}{', an error' if error else ''}"
        case Image(media_type=kind):
            return "image", kind
        case Attachment(name=name, media_type=kind):
            return "file", f"{name} {kind}".strip()
        case Opaque(kind=kind):
            return "other", kind


def _text_of(block: Block) -> str:
    match block:
        case Text(text=text) | Reasoning(text=text):
            return text
        case ToolCall(raw=raw):
            arguments = block.arguments
            if isinstance(arguments, dict):
                return "\n".join(
                    f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in arguments.items()
                )
            return raw if isinstance(raw, str) else _json(raw)
        case ToolResult(parts=parts):
            return "\n".join(map(_text_of, parts))
        case Image(data=data, url=url):
            return f"{len(data):,} characters of a picture" if data else url or ""
        case Attachment(data=data, url=url):
            return f"{len(data):,} characters of a file" if data else url or ""
        case Opaque(value=value):
            return _json(value)


def _gist(arguments: Json) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next((_opening(value) for value in arguments.values() if isinstance(value, str) and value.strip()), "")


def _opening(text: str) -> str:
    return " ".join(text[: 4 * _TITLE].split())[:_TITLE]


def showable(value: Json) -> Json:
    """The same, with lone surrogates spelled out: a transcript may hold them, UTF-8 cannot."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {showable(key): showable(item) for key, item in value.items()}
    return [showable(item) for item in value] if isinstance(value, list | tuple) else value


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
