"""Short ways to write down Anthropic requests and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compact.formats import FORMATS
from compact.formats.format import Request

ANTHROPIC = FORMATS["anthropic-messages"]


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": _content(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": _content(content)}


def system(*content: Any) -> dict[str, Any]:
    return {"role": "system", "content": _content(content)}


def _content(content: tuple[Any, ...]) -> Any:
    return content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def call(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {}, **more}


def result(id: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def thinking(value: str, signature: str = "sig", **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": value, "signature": signature, **more}


def violations(
    *messages: Any,
    variant: str = "",
    switch: Mapping[str, bool] | None = None,
    origin: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[tuple[str, int | None, str]]:
    """The rule, the index and the text of everything that the variant rejects."""
    request = Request({"messages": list(messages), **options}, origin)
    return [(found.rule, found.index, found.text) for found in ANTHROPIC.violations(request, variant, switch)]
