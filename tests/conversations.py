"""Conversations that once showed a mistake, as they were then: generators change, and seeds with them."""

from __future__ import annotations

import json
from pathlib import Path

from compact.formats import parse
from compact.messages import Conversation

_FOLDER = Path(__file__).parent / "fixtures" / "conversations"


def stored(name: str, format: str = "anthropic-messages") -> Conversation:
    """The conversation of that name."""
    return parse(json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")), format=format)
