"""What the rules read of a request: as much of it as is readable."""

from __future__ import annotations

from collections.abc import Mapping

from compact.formats.format import text_of
from compact.messages import Json


def messages_of(body: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The messages; one that is no object counts as an empty one, so that positions stay."""
    messages = body.get("messages")
    return [message if isinstance(message, dict) else {} for message in messages] if isinstance(messages, list) else []


def calls_of(message: Mapping[str, Json]) -> list[Json]:
    """The calls of the model; nobody else can make any."""
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) and message.get("role") == "assistant" else []


def call_ids(message: Mapping[str, Json]) -> list[str]:
    """The ids of its calls, each once: what counts is the set."""
    calls = calls_of(message)
    return list(dict.fromkeys([text_of(call.get("id")) for call in calls if isinstance(call, dict)])) if calls else []


def model_of(body: Mapping[str, Json]) -> str:
    """The model's name without the prefix by which gateways tell vendors apart."""
    return text_of(body.get("model")).rpartition("/")[2]
