"""Claude Code: one JSON object a line, an assistant's message in as many rows as it has blocks."""

from __future__ import annotations

from compact.formats.logs.log import ANTHROPIC, Log, Row, rows_of
from compact.messages import Json
from compact.ports import Usage

_SPEAKERS = ("user", "assistant")


def read(content: Json) -> Log | None:
    """The main thread of a session; what side agents did stays out, as it did for the model."""
    rows = rows_of(content)
    if not any("sessionId" in row and row.get("type") in _SPEAKERS and "message" in row for row in rows):
        return None
    messages: list[Row] = []
    boundaries: dict[int, str] = {}
    usages: dict[int, Usage] = {}
    model, last = "", ""
    for row in rows:
        if row.get("subtype") == "compact_boundary" or row.get("isCompactSummary"):
            account = _account(row.get("message")) if row.get("isCompactSummary") else ""
            if messages and not boundaries.get(len(messages)):
                boundaries[len(messages)] = account
        message = row.get("message")
        if not isinstance(message, dict) or row.get("type") not in _SPEAKERS or _aside(row):
            continue
        model = _model(message) or model
        if row["type"] == "user":
            _answer(messages, message)
        else:
            id = str(message.get("id") or row.get("uuid"))
            _speak(messages, message, again=id == last)
            last = id
            if isinstance(usage := message.get("usage"), dict) and (spoken := _last_spoken(messages)) is not None:
                usages[spoken] = Usage.from_anthropic(usage)  # of several rows the last has all of the answer
    places, accounts = tuple(boundaries), tuple(boundaries.values())
    return Log("Claude Code", ANTHROPIC, list(messages), model, None, places, accounts, usages)


def _aside(row: Row) -> bool:
    return bool(row.get("isSidechain") or row.get("isApiErrorMessage") or row.get("isVisibleInTranscriptOnly"))


def _account(message: Json) -> str:
    """Return the agent's summary of all earlier messages."""
    blocks = _blocks(message) if isinstance(message, dict) else []
    return "\n".join(text for block in blocks if isinstance(text := block.get("text"), str))


def _model(message: Row) -> str:
    model = message.get("model")
    return model if isinstance(model, str) and not model.startswith("<") else ""


def _speak(messages: list[Row], message: Row, *, again: bool) -> None:
    """Add a row of the assistant's: to the message it is a block of, before the results that came meanwhile."""
    blocks = _blocks(message)
    if again and (at := _last_spoken(messages)) is not None:
        messages[at]["content"] = [*messages[at]["content"], *blocks]
    elif blocks:
        messages.append({"role": "assistant", "content": blocks})


def _last_spoken(messages: list[Row]) -> int | None:
    return next((at for at in reversed(range(len(messages))) if messages[at]["role"] == "assistant"), None)


def _answer(messages: list[Row], message: Row) -> None:
    """Add a row of the user's; the results of one message's calls go together."""
    blocks = _blocks(message)
    if messages and messages[-1]["role"] == "user" and _are_results(blocks) and _are_results(messages[-1]["content"]):
        messages[-1]["content"] = [*messages[-1]["content"], *blocks]
    elif isinstance(text := message.get("content"), str):
        messages.append({"role": "user", "content": text})
    elif blocks:
        messages.append({"role": "user", "content": blocks})


def _blocks(message: Row) -> list[Json]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(rows_of(content))


def _are_results(blocks: Json) -> bool:
    rows = rows_of(blocks)
    return bool(rows) and all(row.get("type") == "tool_result" for row in rows)
