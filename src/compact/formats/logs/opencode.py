"""OpenCode: an exported session, its messages in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compact.formats.logs.log import CHAT, Log, Row, rows_of
from compact.messages import Json
from compact.ports import Usage


def read(content: Json) -> Log | None:
    """The session as Chat Completions messages: each step of the assistant, then what its tools answered."""
    rows = rows_of(content.get("messages")) if isinstance(content, dict) else []
    if not rows or not all(isinstance(row.get("info"), dict) and isinstance(row.get("parts"), list) for row in rows):
        return None
    messages: list[Json] = []
    boundaries: dict[int, str] = {}
    usages: dict[int, Usage] = {}
    model = ""
    for row in rows:
        info, parts = row["info"], rows_of(row["parts"])
        if any(part.get("type") == "compaction" for part in parts) or info.get("summary") is True:
            account = _said(parts) if info.get("summary") is True else ""
            boundaries[len(messages)] = account or boundaries.get(len(messages), "")
        model = str(info.get("modelID") or model)
        if info.get("role") == "user":
            messages += [{"role": "user", "content": text}] if (text := _said(parts)) else []
        else:
            for step in _steps(parts):
                exchange = list(_exchange(step))
                if exchange and (usage := _usage(step)):
                    usages[len(messages)] = usage
                messages += exchange
    return Log("OpenCode", CHAT, messages, model, None, tuple(boundaries), tuple(boundaries.values()), usages)


def _steps(parts: list[Row]) -> Iterator[list[Row]]:
    """The parts of each request to the model."""
    step: list[Row] = []
    for part in parts:
        if part.get("type") == "step-start" and step:
            yield step
            step = []
        step.append(part)
    if step:
        yield step


def _usage(parts: list[Row]) -> Usage | None:
    """Return the usage of a step, as its end reports it."""
    tokens = next((part["tokens"] for part in parts if isinstance(part.get("tokens"), dict)), None)
    if tokens is None:
        return None
    cache = tokens.get("cache") if isinstance(tokens.get("cache"), dict) else {}
    counts = tokens.get("input"), tokens.get("output"), cache.get("write"), cache.get("read")
    return Usage(*(count if isinstance(count, int) and count > 0 else 0 for count in counts))


def _exchange(parts: list[Row]) -> Iterator[Row]:
    tools = [part for part in parts if part.get("type") == "tool" and isinstance(part.get("state"), dict)]
    thought = "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "reasoning")
    said = _said(parts)
    ids = _ids(tools)
    message: Row = {"role": "assistant", "content": said or None}
    if thought:
        message["reasoning_content"] = thought
    if tools:
        message["tool_calls"] = [_call(part, id) for part, id in zip(tools, ids, strict=True)]
    if said or tools:
        yield message
    for part, id in zip(tools, ids, strict=True):
        yield {"role": "tool", "tool_call_id": id, "content": _result(part["state"])}


def _ids(tools: list[Row]) -> list[str]:
    """The ids of the calls, made unique: an export may have masked them."""
    seen: dict[str, int] = {}
    ids = []
    for part in tools:
        id = str(part.get("callID") or "call")
        seen[id] = seen.get(id, 0) + 1
        ids.append(id if seen[id] == 1 else f"{id}-{seen[id]}")
    return ids


def _call(part: Row, id: str) -> Row:
    arguments = json.dumps(part["state"].get("input") or {}, ensure_ascii=False, separators=(",", ":"))
    return {"id": id, "type": "function", "function": {"name": str(part.get("tool")), "arguments": arguments}}


def _result(state: Row) -> str:
    if state.get("status") == "error":
        return str(state.get("error") or "error")
    return str(state.get("output") if state.get("output") is not None else "")


def _said(parts: list[Row]) -> str:
    return "\n".join(
        str(part.get("text", "")) for part in parts if part.get("type") == "text" and not part.get("ignored")
    )
