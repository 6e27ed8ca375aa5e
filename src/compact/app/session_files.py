"""Sessions as files: every message byte for byte, both ways."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice

from compact.app.counting import choose_model
from compact.app.stored import StoredSessions
from compact.app.transcripts import dump_json, read_transcript
from compact.formats import format_named, parse, request_body
from compact.messages import Json, message_bytes
from compact.ports import StoredSession

_PAGE = 500
_BLANKS = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def export_session(sessions: StoredSessions, id: str) -> bytes:
    """The session as a request in its own format, its messages byte for byte as they were stored."""
    session = sessions.session(id)
    frame = parse([], format=session.format, system=session.system, tools=session.tools)
    body = {"model": session.model, **request_body(frame)}
    key = format_named(session.format).messages_key
    body.pop(key)
    messages = b",\n".join(_utf8(raw) for raw in stored_bytes(sessions, id))
    return b'%s, "%s": [\n%s\n]}\n' % (dump_json(body)[:-1].encode(), key.encode(), messages)


def import_session(sessions: StoredSessions, data: bytes, wanted: StoredSession, *, name: str) -> str:
    """Store the conversation in a file as a new session, whole or not at all, and return its id.

    The model is that of `wanted`, else the one that the request names.
    """
    conversation = read_transcript(data, name=name)
    model, _ = choose_model(wanted.model, conversation)
    new = sessions.create(
        replace(
            wanted,
            model=model,
            format=conversation.format,
            system=conversation.system.wire if conversation.system else None,
            tools=list(conversation.tools) or None,
        )
    )
    wires = [message.wire for message in conversation.messages]
    with ExitStack() as unfinished:
        unfinished.callback(sessions.delete, new.id)
        pieces = iter(_pieces(data, format_named(conversation.format).messages_key, wires))
        while page := list(islice(pieces, _PAGE)):
            sessions.append(new.id, page)
        unfinished.pop_all()
    return new.id


def stored_bytes(sessions: StoredSessions, id: str) -> Iterator[bytes]:
    """Every message of a session as it was stored, in order."""
    at = -1
    while page := sessions.history(id, after=at, limit=_PAGE):
        yield from (message.raw for message in page)
        at = page[-1].position


def _utf8(raw: bytes) -> bytes:
    """The bytes, which may be JSON in another encoding, as a file in UTF-8 can hold them."""
    encoding = json.detect_encoding(raw)
    return raw if encoding == "utf-8" else raw.decode(encoding).encode()


def _pieces(data: bytes, key: str, wires: Sequence[Json]) -> list[bytes]:
    """The bytes of each message in the file; where they cannot be found, the messages are serialized again."""
    text = data.decode("utf-8-sig")
    try:
        found = [text[start:end] for start, end in _spans(text, key)]
        if [json.loads(one) for one in found] == list(wires):
            return [one.encode() for one in found]
    except (ValueError, IndexError):  # a wrapper of another kind
        pass
    return [message_bytes(wire) for wire in wires]


def _spans(text: str, key: str) -> Iterator[tuple[int, int]]:
    """Where the items of a list stand: of the document itself, of the one under the key, or of JSON lines."""
    at = _skip(text, 0)
    if text[at] == "[":
        yield from _items(text, at + 1)
    elif (start := _value_of(text, at, key)) is not None and text[start] == "[":
        yield from _items(text, start + 1)
    else:
        while at < len(text):
            _, end = _decoder.raw_decode(text, at)
            yield at, end
            at = _skip(text, end)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    at = _skip(text, at)
    while text[at] != "]":
        _, end = _decoder.raw_decode(text, at)
        yield at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _value_of(text: str, at: int, key: str) -> int | None:
    """Where the value of the key begins, in the object that begins there; the last one counts, as it does in JSON."""
    found, at = None, _skip(text, at + 1)
    while text[at] != "}":
        name, end = _decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, end) + 1)
        found = start if name == key else found
        _, end = _decoder.raw_decode(text, start)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    """Past blanks."""
    match = _BLANKS.match(text, at)
    return match.end() if match else at
