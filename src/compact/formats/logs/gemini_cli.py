"""Gemini CLI: a session in one object, or a JSON object a line with changes to what earlier lines say."""

from __future__ import annotations

from collections.abc import Iterator

from compact.formats.logs.log import GEMINI, Log, Row, only, rows_of
from compact.messages import Json

_SPEAKERS = ("user", "gemini")


def read(content: Json) -> Log | None:
    """Return what was said and done; what the program told its user stays out, as it did for the model."""
    rows = _rows_in(content)
    if not any(row.get("type") in _SPEAKERS and "content" in row and "role" not in row for row in rows):
        return None
    contents: list[Row] = []
    model = ""
    for row in rows:
        if row.get("type") == "user":
            contents += _content("user", _parts(row.get("content")))
        elif row.get("type") == "gemini":
            model = str(row.get("model") or model)
            _speak(contents, row)
    return Log("Gemini CLI", GEMINI, list(contents), model)


def _rows_in(content: Json) -> list[Row]:
    """Return the messages of a session; nothing where it is none."""
    if isinstance(content, dict):
        return rows_of(content.get("messages")) if "sessionId" in content and "contents" not in content else []
    rows = rows_of(content)
    if not (rows and "sessionId" in rows[0] and "projectHash" in rows[0]):
        return []
    found: dict[str, Row] = {}
    for row in rows:
        changes = row.get("$set")
        if "$rewindTo" in row:
            ids = list(found)
            found = {id: found[id] for id in ids[: ids.index(row["$rewindTo"])]} if row["$rewindTo"] in ids else {}
        elif isinstance(changes, dict) and (whole := rows_of(changes.get("messages"))):
            found = {str(one.get("id", at)): one for at, one in enumerate(whole)}
        elif isinstance(row.get("id"), str):
            found[row["id"]] = row
    return list(found.values())


def _speak(contents: list[Row], row: Row) -> None:
    """Add an answer of the model: its thoughts, its words and its calls, then the results of these."""
    calls = rows_of(row.get("toolCalls"))
    said = [*_parts(row.get("content")), *({"functionCall": _call(call)} for call in calls)]
    if not said:
        return
    parts = [*map(_thought, rows_of(row.get("thoughts"))), *said]
    if contents and contents[-1]["role"] == "model":  # a content of calls alone does not follow one of words
        contents[-1]["parts"] += parts
    else:
        contents += _content("model", parts)
    answers = [_answer(call) for call in calls]
    contents += _content("user", [answer for answer, _ in answers])
    contents += _content("user", [part for _, others in answers for part in others])


def _content(role: str, parts: list[Row]) -> Iterator[Row]:
    if parts:
        yield {"role": role, "parts": parts}


def _parts(content: Json) -> list[Row]:
    """Return the parts of a message, which may be a text, a part, or a list of both."""
    given = content if isinstance(content, list) else [content]
    parts = [{"text": part} if isinstance(part, str) else part for part in given]
    return [part for part in rows_of(parts) if part and part.get("text") != ""]


def _thought(thought: Row) -> Row:
    lines = [str(thought[key]) for key in ("subject", "description") if thought.get(key)]
    return {"text": "\n".join(lines), "thought": True}


def _call(call: Row) -> Row:
    arguments = call.get("args")
    return only(call, "id") | {"name": str(call.get("name")), "args": arguments if isinstance(arguments, dict) else {}}


def _answer(call: Row) -> tuple[Row, list[Row]]:
    """Return the response to a call, and what came beside it, such as an image."""
    parts = _parts(call.get("result"))
    responses = [part for part in parts if isinstance(part.get("functionResponse"), dict)]
    others = [part for part in parts if part not in responses]
    if responses:
        return responses[0], [*others, *responses[1:]]
    texts = [str(part["text"]) for part in others if "text" in part]
    failed = {} if texts or others else {"error": str(call.get("status") or "no result")}
    response = failed or {"output": "\n".join(texts)}
    answer = {**only(call, "id"), "name": str(call.get("name")), "response": response}
    return {"functionResponse": answer}, [part for part in others if "text" not in part]
