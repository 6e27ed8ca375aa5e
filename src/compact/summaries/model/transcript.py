"""Messages as a text for a model to read, cut into parts it can take in."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compact.messages import (
    Attachment,
    Block,
    Image,
    Json,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    fingerprint,
    pairs,
)
from compact.ports import Measure

_KEPT = ", stays"
_HEADING = 24
"""Tokens a heading takes, more or less."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, or a piece of one, as text."""

    id: str
    heading: str
    body: str

    def __str__(self) -> str:
        return f"{self.heading}\n{self.body}\n"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, in order. `code` is a hash of it: no text in it can pretend to be a heading."""

    entries: tuple[Entry, ...]
    code: str

    def __str__(self) -> str:
        return f"=== transcript {self.code} ===\n{''.join(map(str, self.entries))}=== end of transcript {self.code} ==="

    def parts(self, room: int, measure: Measure) -> list[Transcript]:
        """The transcript in as few parts as hold at most `room` tokens each; nothing is left out."""
        parts: list[list[Entry]] = [[]]
        left = room
        for entry in self.entries:
            for piece in _pieces(entry, max(1, room - _HEADING), measure):
                size = _HEADING + measure.text(piece.body)
                if size > left and parts[-1]:
                    parts.append([])
                    left = room
                parts[-1].append(piece)
                left -= size
        return [Transcript(tuple(part), self.code) for part in parts]


def transcribe(messages: Sequence[Message], kept: Collection[str] = ()) -> Transcript:
    """The messages as a transcript; the headings of those that are `kept` say so."""
    calls = {
        result: block.name
        for result, (index, position) in pairs(messages).items()
        if isinstance(block := messages[index].blocks[position], ToolCall)
    }
    bodies = [
        "\n".join(
            _written(block, calls.get((index, position), "a tool")) for position, block in enumerate(message.blocks)
        )
        for index, message in enumerate(messages)
    ]
    code = fingerprint("\n".join(bodies))[:8]
    return Transcript(
        tuple(
            Entry(message.id, f"--- {code} message {number}, {message.role}{_KEPT * (message.id in kept)} ---", body)
            for number, (message, body) in enumerate(zip(messages, bodies, strict=True), 1)
        ),
        code,
    )


def _written(block: Block, tool: str) -> str:
    match block:
        case Text(text=text):
            return text
        case ToolCall(name=name, raw=raw):
            return f"[calls {name}] {_json(raw)}"
        case ToolResult(parts=parts, error=error):
            said = "\n".join(_written(part, tool) for part in parts)
            return f"[{tool} {'failed' if error else 'answered'}]\n{said}"
        case Image(media_type=kind):
            return f"[image, {kind or 'kind unknown'}]"
        case Attachment(name=name, media_type=kind):
            return f"[attachment {name or 'without a name'}, {kind or 'kind unknown'}]"
        case Reasoning(text=text):
            return f"[thinks] {text or 'in a form that only the vendor can read'}"
        case Opaque(kind=kind, value=value):
            return f"[{kind}] {_json(value)}"


def _json(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pieces(entry: Entry, room: int, measure: Measure) -> Iterator[Entry]:
    bodies = list(_cut(entry.body, room, measure))
    if len(bodies) == 1:
        yield entry
        return
    for number, body in enumerate(bodies, 1):
        yield Entry(entry.id, f"{entry.heading} piece {number} of {len(bodies)}", body)


def _cut(text: str, room: int, measure: Measure) -> Iterator[str]:
    """The text in pieces of at most `room` tokens, at the ends of lines where there are any."""
    pending = [text]
    while pending:
        text = pending.pop()
        tokens = measure.text(text)
        if tokens <= room or len(text) < 2:
            yield text
            continue
        # A tenth less than the share, so that most pieces fit at the first attempt; dense ones are cut again.
        step = max(1, min(len(text) - 1, len(text) * room * 9 // (tokens * 10)))
        pieces = []
        at = 0
        while at < len(text):
            end = at + step
            line_end = text.rfind("\n", at + step // 2, end) + 1
            end = line_end if line_end and end < len(text) else end
            pieces.append(text[at:end])
            at = end
        pending += reversed(pieces)
