"""What no edit may touch."""

from __future__ import annotations

from compact.messages import Conversation, untouchable
from compact.testing.generate.anthropic import BINDING


def assert_untouched(before: Conversation, after: Conversation) -> None:
    """What no edit may touch is as it was, but for thinking that the model bound to what changed before it."""
    now = {message.id: message for message in after.messages}
    fixed = untouchable(before)
    for message in before.messages:
        if message.id in fixed and now[message.id].wire != message.wire:
            assert before.options["model"] == BINDING
            assert not message.protected
            kept = [block for block in message.wire["content"] if "thinking" not in block["type"]]
            assert now[message.id].wire == {**message.wire, "content": kept}
