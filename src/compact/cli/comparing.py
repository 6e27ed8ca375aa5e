"""Which messages of two conversations correspond, and which of their lines differ."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.app.alignment import Positions, pair_ids, spans
from compact.app.inspecting import reasons_of
from compact.app.planfile import PlanFile, restore_conversation
from compact.messages import (
    Attachment,
    Block,
    Conversation,
    Image,
    Json,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

_BEGINNING = 40

Change: TypeAlias = Literal["same", "changed", "removed", "added"]
Hunk: TypeAlias = tuple[bool, list[str], list[str]]
"""Whether the lines are the same, those before, and those after."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A message of one conversation beside one of the other; the positions are those in the files."""

    left: Message | None
    right: Message | None
    before: int | None
    after: int | None
    why: str = ""

    @property
    def change(self) -> Change:
        if self.left is None or self.right is None:
            return "added" if self.left is None else "removed"
        return "same" if self.left.wire == self.right.wire else "changed"

    def hunks(self) -> list[Hunk]:
        """The lines of both, in runs that are the same and runs that are not."""
        left, right = (list(_lines(message)) if message else [] for message in (self.left, self.right))
        if left == right and self.change == "changed":
            # What differs is nothing that is read as text.
            left, right = (_json(message.wire, indent=2).split("\n") for message in (self.left, self.right) if message)
        return [(same, [left[at] for at in a], [right[at] for at in b]) for same, a, b in spans(left, right)]


def pair_by_content(before: Conversation, after: Conversation) -> list[Pair]:
    """Every message of both, in order, beside its counterpart.

    Equal messages correspond; between them those of the same calls or results, or of the same role and beginning;
    between those, where they are as many on both sides, those of the same role.
    """
    left, right = before.messages, after.messages
    found: list[Positions] = []
    for same, a, b in spans([_json(one.wire) for one in left], [_json(one.wire) for one in right]):
        found += zip(a, b, strict=True) if same else _between(left, right, a, b)
    return _paired(before, after, found, {})


def pair_by_plan(condensed: Conversation, plan: PlanFile) -> list[Pair]:
    """Every message of the original and of what became of it, with the reasons."""
    before = restore_conversation(condensed, plan)
    found = pair_ids([message.id for message in before.messages], plan.ids)
    reasons = {id: reasons[0].why for id, reasons in reasons_of(plan.passes).items()}
    made = len(plan.ids)
    added = (Pair(one, one, plan.count + at, made + at) for at, one in enumerate(condensed.messages[made:]))
    return [*_paired(before, condensed, found, reasons), *added]


def _paired(
    before: Conversation, after: Conversation, found: Iterable[Positions], reasons: Mapping[str, str]
) -> list[Pair]:
    pairs = [Pair(before.system, after.system, None, None)] if before.system != after.system else []
    for one, two in found:
        left = None if one is None else before.messages[one]
        right = None if two is None else after.messages[two]
        pairs.append(Pair(left, right, one, two, reasons.get(left.id, "") if left else ""))
    return pairs


def _between(left: Sequence[Message], right: Sequence[Message], a: range, b: range) -> Iterator[Positions]:
    for same, ours, theirs in spans([_trace(left[one]) for one in a], [_trace(right[one]) for one in b]):
        rest_left, rest_right = a[ours.start : ours.stop], b[theirs.start : theirs.stop]
        alike = [left[one].role for one in rest_left] == [right[one].role for one in rest_right]
        if same or alike:
            yield from zip(rest_left, rest_right, strict=True)
        else:
            yield from ((one, None) for one in rest_left)
            yield from ((None, one) for one in rest_right)


def _trace(message: Message) -> Hashable:
    """What a changed message is known by: the calls it belongs to, or else who speaks and how it begins."""
    ids = (*(call.id for call in message.calls), *(result.call_id for result in message.results))
    return (message.role, ids) if any(ids) else (message.role, message.text[:_BEGINNING])


def _lines(message: Message) -> Iterator[str]:
    for block in message.blocks:
        yield from _block_lines(block)


def _block_lines(block: Block) -> Iterator[str]:
    match block:
        case Text(text=text):
            yield from text.split("\n")
        case Reasoning(text=text):
            yield from f"[reasoning] {text}".split("\n")
        case ToolCall(name=name, raw=raw):
            yield f"→ {name}"
            arguments = block.arguments
            if not isinstance(arguments, dict):
                yield from (raw if isinstance(raw, str) else _json(raw)).split("\n")
                return
            for key, value in arguments.items():
                yield from f"  {key}: {value if isinstance(value, str) else _json(value)}".split("\n")
        case ToolResult(parts=parts, error=error):
            yield "← error" if error else "←"
            for part in parts:
                yield from _block_lines(part)
        case Image(media_type=kind, data=data, url=url):
            yield f"[image {kind}] {f'{len(data):,} characters' if data else url}"
        case Attachment(name=name, media_type=kind):
            yield f"[file {name} {kind}]"
        case Opaque(kind=kind, value=value):
            yield f"[{kind}] {_json(value)}"


def _json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
