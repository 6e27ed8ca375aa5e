"""What no edit may touch."""

from __future__ import annotations

from compact.messages import Conversation, Json, untouchable
from compact.testing.generate.anthropic import BINDING

STATE = (
    *("additional_tools", "tool_search_call", "tool_search_output", "configuration_update", "from_next_year"),
    *("compaction", "compaction_trigger", "tool_reference", "tool_search_tool_result"),
)
"""Items and blocks that hold tools, settings or state of a vendor."""


def holds_state(wire: object) -> bool:
    """Whether the wire object holds any of these, however deep."""
    if isinstance(wire, dict):
        return wire.get("type") in STATE or any(map(holds_state, wire.values()))
    return isinstance(wire, list) and any(map(holds_state, wire))


def _signed(wire: Json) -> list[Json]:
    """The parts that Gemini has signed."""
    parts = wire.get("parts")
    keys = ("thoughtSignature", "thought_signature")
    return [part for part in parts if any(key in part for key in keys)] if isinstance(parts, list) else []


def assert_signed(before: Conversation, after: Conversation) -> None:
    """What is signed is as it was, or gone."""
    then = {message.id: message.wire for message in before.messages}
    for message in after.messages:
        known = _signed(then[message.id]) if message.id in then else []
        assert all(part in known for part in _signed(message.wire))


def assert_untouched(before: Conversation, after: Conversation) -> None:
    """What no edit may touch is as it was, but for thinking that the model bound to what changed before it."""
    now = {message.id: message for message in after.messages}
    fixed = untouchable(before) | {message.id for message in before.messages if holds_state(message.wire)}
    for message in before.messages:
        if message.id in fixed and now[message.id].wire != message.wire:
            assert before.options["model"] == BINDING
            assert not message.protected
            kept = [block for block in message.wire["content"] if "thinking" not in block["type"]]
            assert now[message.id].wire == {**message.wire, "content": kept}
