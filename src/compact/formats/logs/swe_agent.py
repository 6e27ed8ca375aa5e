"""SWE-agent and mini-swe-agent: a trajectory, whose messages are Chat Completions with more keys."""

from __future__ import annotations

from collections.abc import Sequence

from compact.formats.logs.log import CHAT, Log, Row, only, rows_of
from compact.messages import Json
from compact.ports import Usage

_ROLES = ("system", "user", "assistant", "tool")


def read(content: Json) -> Log | None:
    """The history of a trajectory, as it was sent."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("trajectory"), list) and isinstance(content.get("history"), list):
        return Log("SWE-agent", CHAT, [_plain(row) for row in rows_of(content["history"]) if _is_said(row)])
    if str(content.get("trajectory_format", "")).startswith("mini-swe-agent"):
        rows = [row for row in rows_of(content.get("messages")) if _is_said(row)]
        usages = {at: usage for at, row in enumerate(rows) if (usage := _usage(row))}
        return Log("mini-swe-agent", CHAT, list(map(_plain, rows)), _model(content), usages=usages)
    return None


def _is_said(row: Row) -> bool:
    return row.get("role") in _ROLES


def _usage(row: Row) -> Usage | None:
    """Return the usage that the vendor reported for an answer."""
    place: Json = row
    for key in ("extra", "response", "usage"):
        place = place.get(key) if isinstance(place, dict) else None
    return Usage.from_openai(place) if isinstance(place, dict) else None


def _plain(row: Row) -> Json:
    message = only(row, "role", "name", "tool_call_id", "reasoning_content")
    message["content"] = row.get("content")
    if calls := [_call(call) for call in rows_of(row.get("tool_calls"))]:
        message["tool_calls"] = calls
    ids = row.get("tool_call_ids")
    if isinstance(ids, Sequence) and ids and row["role"] == "tool" and "tool_call_id" not in message:
        message["tool_call_id"] = ids[0]
    return message


def _call(call: Row) -> Row:
    return {"type": "function", **only(call, "id", "type", "function")}


def _model(content: Row) -> str:
    """The model, where the run's configuration names it."""
    place: Json = content
    for key in ("info", "config", "model", "model_name"):
        place = place.get(key) if isinstance(place, dict) else None
    return place if isinstance(place, str) else ""
