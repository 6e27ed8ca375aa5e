"""What the integrations share: asking the manager, and going on where it cannot answer."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from compact.messages import without_meta
from compact.policies.session_ids import is_plain

Wire: TypeAlias = dict[str, Any]

json_text = json.JSONEncoder(ensure_ascii=False, default=str).encode
_log = logging.getLogger("compact.integrations")


def chat_tool(name: str, description: str, schema: Any) -> Wire:
    """A tool of Chat Completions."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def responses_tool(name: str, description: str, schema: Any) -> Wire:
    """A tool of the Responses API."""
    return {"type": "function", "name": name, "description": description, "parameters": schema}


def bare(items: Sequence[Any]) -> list[Any]:
    """The items as a vendor takes them: without `meta`."""
    return [without_meta(item) for item in items]


def is_models_own(sent: Sequence[Wire], at: int) -> bool:
    """Whether what the manager wrote can go as the model's words: not every vendor lets it speak first, or twice."""
    around = [*sent[max(at - 1, 0) : at], *sent[at + 1 : at + 2]]
    between = len(around) > 1 and all(other["role"] != "assistant" for other in around)
    return between and sent[at]["role"] == "assistant"


@contextmanager
def going_on(session: object, *, strict: bool) -> Iterator[None]:
    """Log what goes wrong inside and go on, unless it is to be raised.

    A request that was not compacted may still be answered; an exception in a framework's hook ends the run.
    """
    try:
        yield
    except Exception:  # a door: whatever went wrong, the application's request must still go out
        if strict:
            raise
        named = f"session {session}" if isinstance(session, str) else "a session"
        _log.exception("compact.error: %s was not compacted to fit, the request goes all the same", named)


def usable_id(id: str) -> str:
    """The id where it is plain, else its digest: frameworks let people call a conversation anything.

    What was kept of a conversation by earlier versions is under that digest.
    """
    return id if is_plain(id) else hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
