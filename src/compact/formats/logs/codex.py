"""Codex CLI: items of the Responses API, one JSON object a line, wrapped or (in older logs) bare."""

from __future__ import annotations

from compact.formats.logs.log import RESPONSES, Log, Row, rows_of
from compact.messages import Json
from compact.ports import Usage

_WRAPPERS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_ITEMS = (
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
)


def read(content: Json) -> Log | None:
    """The items of a session, in the order they were exchanged."""
    rows = rows_of(content)
    if any(row.get("type") in _WRAPPERS and isinstance(row.get("payload"), dict) for row in rows):
        return _wrapped([row for row in rows if isinstance(row.get("payload"), dict)])
    if rows and "instructions" in rows[0] and "timestamp" in rows[0] and "type" not in rows[0]:
        items = [_bare(row) for row in rows[1:] if row.get("type") in _ITEMS]
        return Log("Codex CLI", RESPONSES, items, system=_text(rows[0].get("instructions")))
    return None


def _wrapped(rows: list[Row]) -> Log:
    items: list[Json] = []
    boundaries: dict[int, str] = {}
    usages: dict[int, Usage] = {}
    model, system = "", None
    for row in rows:
        payload = row["payload"]
        if row["type"] == "session_meta":
            system = _text(payload.get("base_instructions")) or _text(payload.get("instructions")) or system
        elif row["type"] == "turn_context":
            model = _text(payload.get("model")) or model
        elif row["type"] == "compacted":
            boundaries[len(items)] = _text(payload.get("message"))
            if (text := _text(payload.get("message"))) is not None:
                part = {"type": "input_text", "text": text}
                items.append({"type": "message", "role": "user", "content": [part]})
        elif row["type"] == "response_item" and payload.get("type") in _ITEMS:
            items.append(_bare(payload))
        elif items and (usage := _usage(payload)):
            usages[len(items) - 1] = usage
    return Log("Codex CLI", RESPONSES, items, model, system, tuple(boundaries), tuple(boundaries.values()), usages)


def _usage(payload: Row) -> Usage | None:
    """The usage of the last request, where the event gives it."""
    info = payload.get("info") if payload.get("type") == "token_count" else None
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    if not isinstance(last, dict):
        return None
    return Usage.from_openai({**last, "input_tokens_details": {"cached_tokens": last.get("cached_input_tokens")}})


def _bare(item: Row) -> Row:
    """The item without what the vendor binds to the request it came from."""
    return {key: value for key, value in item.items() if key not in ("id", "timestamp", "status") and value is not None}


def _text(value: Json) -> str:
    """A text, or the text in an object."""
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else ""
