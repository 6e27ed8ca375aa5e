"""Transcripts as files hold them: messages, a request, a wrapper with more keys, JSON lines, or an agent's own log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from compact import formats
from compact.errors import InvalidConversation, UnknownFormat
from compact.formats.logs import Log, read_log
from compact.messages import Conversation, Json, wires_of
from compact.ports import Usage


def read_transcript(data: bytes, *, format: str | None = None, name: str = "file") -> Conversation:
    """The conversation in a file's bytes; errors call it by its name."""
    content = _decode(data, name)
    log = read_log(content) if format is None else None
    body, format = (log.body, log.format) if log is not None else (_unwrapped(content), format)
    if not isinstance(body, dict | list):
        raise InvalidConversation(
            "holds a single JSON value, not a conversation",
            field=name,
            remedy="Give a list of messages, or a request with its messages.",
        )
    try:
        return formats.parse(body, format=format)
    except (InvalidConversation, UnknownFormat) as error:
        if error.field == "format":  # what the caller has named, not what is in the file
            raise
        field = f"{name}: {error.field}" if error.field else name
        raise type(error)(error.problem, field=field, remedy=error.remedy) from None


def read_agent_log(data: bytes, *, name: str = "file") -> Log | None:
    """The agent's own log in a file's bytes, with the places where it compacted; None where it is none."""
    return read_log(_decode(data, name))


def read_usages(data: bytes, conversation: Conversation, *, name: str = "file") -> Mapping[int, Usage]:
    """The usage that the vendor reported for requests of a log, by position of the answer; empty for other files.

    `conversation` is what was read of the same bytes.
    """
    log = read_agent_log(data, name=name)
    if log is None or len(log.messages) != len(conversation):
        return {}
    return {at: usage for at, usage in log.usages.items() if usage.total_input}


def write_transcript(conversation: Conversation, *, indent: int | None = 2) -> str:
    """The conversation as a JSON document: a plain list if nothing stands beside the messages.

    Unlike a request it keeps what is ours: a message that was marked as protected still is when it is read again.
    """
    messages: Json = wires_of(conversation)
    if conversation.options or conversation.system is not None or conversation.tools:
        key = formats.format_named(conversation.format).messages_key
        return dump_json({**formats.request_body(conversation), key: messages}, indent=indent)
    return dump_json(messages, indent=indent)


def dump_json(value: Json, *, indent: int | None = None) -> str:
    """JSON that people can read; escaped where a lone surrogate could not be written as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def _unwrapped(content: Json) -> Json:
    """What is to be parsed: a wrapper gives its conversation, and a file of one JSON line is a list of one message."""
    if not isinstance(content, dict) or any(format.messages_key in content for format in formats.FORMATS.values()):
        return content
    if isinstance(wrapped := content.get("conversation"), dict | list):
        return wrapped
    return [content] if "role" in content else content


def _decode(data: bytes, name: str) -> Json:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidConversation(
            f"is not UTF-8 text (byte {error.start:,})", field=name, remedy="Save it as UTF-8 JSON."
        ) from None
    if not text.strip():
        raise InvalidConversation("is empty", field=name, remedy="Give a JSON document with messages.")
    try:
        return _loads(text, name)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\n" in text.strip():
            return _lines(text, name)
        raise _broken(error, error.lineno, name) from None


def _lines(text: str, name: str) -> list[Json]:
    messages = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                messages.append(_loads(line, name))
            except json.JSONDecodeError as error:
                raise _broken(error, number, name) from None
    return messages


def _broken(error: json.JSONDecodeError, line: int, name: str) -> InvalidConversation:
    return InvalidConversation(
        f"is not valid JSON: {error.msg.removesuffix(' at')} at line {line}, column {error.colno}",
        field=name,
        remedy="Correct it there, or export it again.",
    )


def _loads(text: str, name: str) -> Json:
    try:
        return json.loads(text, parse_constant=_reject("is no JSON number"), parse_float=_finite)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise InvalidConversation(
            "is nested too deeply", field=name, remedy="Keep objects and lists within a few hundred levels."
        ) from None
    except ValueError as error:
        raise InvalidConversation(str(error), field=name, remedy="Write such a number as a string.") from None


def _reject(why: str) -> Callable[[str], float]:
    def refuse(literal: str) -> float:
        raise ValueError(f"{literal[:20]} {why}")

    return refuse


def _finite(literal: str) -> float:
    value = float(literal)
    return value if value - value == 0 else _reject("is larger than any number a program can hold")(literal)
