"""What the rules read of a request: as much of it as is readable."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from compact.formats.format import Request, text_of
from compact.messages import Json
from compact.messages.conversation import once


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


class View:
    """The messages of a request, read once for all rules."""

    def __init__(self, body: Mapping[str, Json]) -> None:
        self.messages = messages_of(body)
        self.roles: list[Json] = [message.get("role") for message in self.messages]
        self.calls = {index: calls for index, message in enumerate(self.messages) if (calls := calls_of(message))}
        """The calls of every message that has any, by its position."""

    @cached_property
    def answers(self) -> dict[int, str]:
        """The ids that the tool messages answer, by their positions."""
        messages = self.messages
        return {at: text_of(messages[at].get("tool_call_id")) for at, role in enumerate(self.roles) if role == "tool"}

    @cached_property
    def called(self) -> dict[int, list[str]]:
        """The ids of the calls of every message that has any, by its position."""
        return {index: call_ids(self.messages[index]) for index in self.calls}


@once
def view(request: Request) -> View:
    """The request's messages, read; a request is not changed while it is judged."""
    return View(request.body)
