"""Random requests that a vendor accepts.

They are built from what the vendors document, not from the rules in `compact.formats`, so that each can prove the
other wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from compact.testing.generate import anthropic, gemini, openai_chat, openai_responses
from compact.testing.generate.dice import Body, Dice, Writer

_WRITERS: Mapping[str, Callable[[Random, int], Writer]] = {
    "openai-chat": openai_chat.ChatWriter,
    "openai-responses": openai_responses.ResponsesWriter,
    "anthropic-messages": anthropic.AnthropicWriter,
    "google-gemini": gemini.GeminiWriter,
}


def random_body(rng: Random, format: str, *, size: int = 20) -> Body:
    """A request body in the format, with about `size` messages.

    One body in a hundred is a single user message followed by many times as many calls, as agents leave behind.
    """
    return _WRITERS[format](rng, size).body()


__all__ = ["Body", "Dice", "random_body"]
