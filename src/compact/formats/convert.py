"""From one wire format to another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from compact.errors import ConversionError
from compact.formats.format import Format, Turn
from compact.formats.registry import format_named, tools_of
from compact.messages import (
    Attachment,
    Block,
    Conversation,
    Image,
    Opaque,
    Place,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    pairs,
)

_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def convert(conversation: Conversation, to: str, *, lossy: bool = False) -> Conversation:
    """The same conversation in another format.

    ConversionError names what has no place there: reasoning, which is bound to its vendor, and blocks of unknown
    kinds. With `lossy` those are left out.
    """
    target = format_named(to)
    if conversation.format == target.name:
        return conversation
    turns = _joined(_turns(conversation, lossy=lossy))
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        leading += 1
    prompt = _texts(turns[:leading], conversation)
    wires = target.compose(turns[leading:] if prompt else turns)
    return _assemble(conversation, target, wires, prompt)


def _assemble(source: Conversation, target: Format, wires: list[object], prompt: str) -> Conversation:
    tools = tools_of(source)
    for tool in tools:
        if tool.schema is None:
            raise ConversionError(f"the tool {tool.name!r} is run by its vendor; {target.title} has no such tool.")
    system = target.compose_system(prompt) if prompt else None
    if system is not None and not target.system_key:
        wires, system = [system, *wires], None
    return Conversation(
        target,
        tuple(target.parse_message(wire, str(index)) for index, wire in enumerate(wires)),
        system=None if system is None else target.parse_system(system),
        tools=tuple(target.compose_tools(tools)),
        options={key: source.options[key] for key in ("model",) if key in source.options},
    )


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    """The turns, with what the model said after a call and before its result joined to the call.

    OpenAI writes parallel calls as items of their own; everywhere else they are one message.
    """
    out: list[Turn] = []
    for turn in turns:
        before = out[-1] if out else None
        if before and before.role == turn.role == "assistant" and any(isinstance(b, ToolCall) for b in before.blocks):
            out[-1] = replace(before, blocks=before.blocks + turn.blocks)
        else:
            out.append(turn)
    return out


def _texts(turns: list[Turn], conversation: Conversation) -> str:
    blocks = [*(conversation.system.blocks if conversation.system else ()), *(b for turn in turns for b in turn.blocks)]
    return "\n\n".join(block.text for block in blocks if isinstance(block, Text))


def _turns(conversation: Conversation, *, lossy: bool) -> Iterator[Turn]:
    ids = _unique_ids(conversation)
    for index, message in enumerate(conversation.messages):
        blocks: list[Block] = []
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                raw = {} if block.raw is None else block.raw
                blocks.append(replace(block, id=ids[index, position], raw=raw))
            elif isinstance(block, ToolResult):
                blocks.append(_result(replace(block, call_id=ids[index, position]), index, lossy=lossy))
            elif isinstance(block, Reasoning | Opaque) or _elsewhere(block):
                if not lossy:
                    raise _no_place(block, index)
            elif not isinstance(block, Text) or block.text:
                blocks.append(block)
        yield Turn(message.role, tuple(blocks), message.name)


def _result(result: ToolResult, index: int, *, lossy: bool) -> ToolResult:
    kept = []
    for part in result.parts:
        if not isinstance(part, Opaque) and not _elsewhere(part):
            if not isinstance(part, Text) or part.text:
                kept.append(part)
        elif not isinstance(part, Opaque) or part.kind != "response" or any(value != "" for value in _values(part)):
            if not lossy:
                raise _no_place(part, index)
    return replace(result, parts=tuple(kept))


def _values(frame: Opaque) -> list[object]:
    return list(frame.value.values()) if isinstance(frame.value, dict) else [frame.value]


def _elsewhere(block: Block) -> bool:
    """Whether the block only names something that its vendor keeps."""
    return isinstance(block, Attachment | Image) and block.data is None and block.url is None


def _no_place(block: Block, index: int) -> ConversionError:
    what = "a file that its vendor keeps"
    if isinstance(block, Reasoning):
        what = "reasoning, which only its own vendor accepts"
    elif isinstance(block, Opaque):
        what = f"a {block.kind!r} block"
    return ConversionError(f"message {index} holds {what}. Convert with lossy=True (--lossy) to leave such blocks out.")


def _unique_ids(conversation: Conversation) -> dict[Place, str]:
    """An id for every call and its result that every vendor accepts and no other call has."""
    answers = pairs(conversation.messages)
    taken: set[str] = set()
    ids: dict[Place, str] = {}
    for index, message in enumerate(conversation.messages):
        for position, block in enumerate(message.blocks):
            place = (index, position)
            if isinstance(block, ToolCall):
                ids[place] = _unique(block.id, place, taken)
            elif isinstance(block, ToolResult):
                ids[place] = ids[answers[place]] if place in answers else _unique(block.call_id, place, taken)
            else:
                continue
            taken.add(ids[place])
    return ids


def _unique(id: str, place: Place, taken: set[str]) -> str:
    if _PORTABLE_ID.fullmatch(id) and id not in taken:
        return id
    digest = hashlib.sha256(f"{id}\0{place}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"call_{digest[:24]}"
