"""Plan files: what a condensation did, with everything that is needed to get the original file back.

A plan file is one JSON document. It holds the passes with their edits, the report, and once each the original messages
that the condensed file no longer holds. Those two files together give back the original, byte for byte: how its JSON
was laid out is written down, too, and where it follows no known layout its bytes are kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TypeVar

from compact.app.condensing import Result
from compact.app.transcripts import dump_json, read_transcript
from compact.errors import InvalidConversation, InvalidInput, UnknownFormat
from compact.formats import format_named, request_body
from compact.messages import Conversation, Json, Plan, plan_from_json, plan_to_json, turns_of, wires_of

VERSION = 2
"""What plan files are written as; those of version 1 read the same."""
_BLANK = " \t\r\n"
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a JSON document is written.

    `escaped`: everything beyond ASCII is. `lines`: each item of a list stands on a line of its own.
    """

    escaped: bool
    indent: str | None
    item: str
    colon: str
    lines: bool
    newline: str
    head: str
    tail: str

    def write(self, document: Json) -> bytes:
        """The document in this layout; UnicodeEncodeError where it holds a lone surrogate that is not escaped."""
        encoder = json.JSONEncoder(
            ensure_ascii=self.escaped, indent=self.indent, separators=(self.item, self.colon), check_circular=False
        )
        text = "\n".join(map(encoder.encode, document)) if self.lines else encoder.encode(document)
        if self.newline != "\n":
            text = text.replace("\n", self.newline)  # those inside strings are escaped, so each one here is layout
        return f"{self.head}{text}{self.tail}".encode()


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file, read.

    `passes` can be applied again; what they removed is in `originals`, by position in the original conversation of
    `count` messages. `ids` are those of the condensed messages, in order: positions, and handles of folds.
    """

    name: str
    format: str
    sha256: str
    condensed: str
    passes: Plan
    report: Mapping[str, Json]
    count: int
    originals: Mapping[str, Json]
    ids: tuple[str, ...]
    layout: Layout | None
    kept: bytes | None


def dump_plan(original: bytes, before: Conversation, result: Result, *, name: str = "") -> str:
    """The plan file of a condensation; `before` is what `read_transcript` made of the original file."""
    condensed = result.conversation
    layout = find_layout(original, before)
    heads = [turn[0].id for turn in turns_of(condensed.messages)]
    now = dict(zip(heads, wires_of(condensed), strict=True))
    document = {
        "version": VERSION,
        "name": name,
        "format": before.format,
        "sha256": hashlib.sha256(original).hexdigest(),
        "condensed_sha256": _digest(list(now.values())),
        "report": result.report.to_json(),
        "passes": plan_to_json(result.plan),
        "count": len(before),
        # An untouched message is the very object it was: equality would miss a changed order of keys.
        "originals": {
            message.id: message.wire for message in before.messages if now.get(message.id) is not message.wire
        },
        "ids": list(now),
        "layout": asdict(layout) if layout else None,
        "bytes": None if layout else base64.b64encode(zlib.compress(original, 9)).decode(),
    }
    return dump_json(document) + "\n"


def load_plan(text: str | bytes) -> PlanFile:
    """The plan file in a text; InvalidInput where it is none, is damaged, or was written by a newer Compact."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"is not JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("version"), int) or "passes" not in data:
        raise InvalidInput(
            "is no plan file", field="plan", remedy="Give the file that `compact condense --plan` wrote."
        )
    if data["version"] > VERSION:
        raise InvalidInput(
            f"is of version {data['version']}, and this Compact reads version {VERSION}",
            field="plan",
            remedy="Upgrade Compact.",
        )
    try:
        return _read(data)
    except (KeyError, TypeError, ValueError, zlib.error, binascii.Error) as error:
        raise _damaged(f"is damaged ({type(error).__name__}: {error})") from None


def restore_file(condensed: Conversation, plan: PlanFile) -> bytes:
    """The original file, byte for byte; messages appended to the condensed conversation since follow at the end.

    InvalidInput where the plan belongs to another file, or the result is not the original.
    """
    original = _original_bytes(condensed, plan)
    if not (added := wires_of(condensed)[len(plan.ids) :]):
        return original
    before = _read_again(original, condensed, plan)
    return write_like(original, before, [*wires_of(before), *added])


def restore_conversation(condensed: Conversation, plan: PlanFile) -> Conversation:
    """What the condensation had read of the original file; InvalidInput as for `restore_file`."""
    return _read_again(_original_bytes(condensed, plan), condensed, plan)


def write_like(original: bytes, before: Conversation, messages: Sequence[Json]) -> bytes:
    """The file with other messages in it, laid out as it was where that can be told, else as readable JSON."""
    document = _document(before, messages)
    layout = find_layout(original, before)
    return (_written(layout, document) if layout else None) or (dump_json(document, indent=2) + "\n").encode()


def find_layout(original: bytes, before: Conversation) -> Layout | None:
    """The layout that reproduces the file; None where no known one does."""
    document = _document(before, wires_of(before))
    text = original.decode()
    core = text.removeprefix("\ufeff").strip(_BLANK)
    at = text.index(core)
    lines = isinstance(document, list) and not core.startswith("[")
    indented = None if lines else re.match(r"[\[{]\r?\n([ \t]+)", core)
    for escaped in (True, False) if "\\u" in core else (False,):
        for item, colon in ((",", ": "),) if indented else ((", ", ": "), (",", ":")):
            layout = Layout(
                escaped=escaped,
                indent=indented[1] if indented else None,
                item=item,
                colon=colon,
                lines=lines,
                newline="\r\n" if "\r\n" in core else "\n",
                head=text[:at],
                tail=text[at + len(core) :],
            )
            if _written(layout, document) == original:
                return layout
    return None


def _read_again(original: bytes, condensed: Conversation, plan: PlanFile) -> Conversation:
    """The original as it was read then: found out by looking at it, as an agent's log is, or in the format named."""
    wires = _original_wires(condensed, plan)
    for format in (None, plan.format):
        with suppress(InvalidConversation, UnknownFormat):
            before = read_transcript(original, format=format)
            if before.format == plan.format and wires_of(before) == wires:
                return before
    raise _damaged("does not give back the original messages")


def _original_wires(condensed: Conversation, plan: PlanFile) -> list[Json]:
    kept = {**dict(zip(plan.ids, wires_of(condensed), strict=False)), **plan.originals}
    return [kept.get(str(index)) for index in range(plan.count)]


def _original_bytes(condensed: Conversation, plan: PlanFile) -> bytes:
    if _digest(wires_of(condensed)[: len(plan.ids)]) != plan.condensed:
        raise InvalidInput(
            f"was written for another file{f' (condensed from {plan.name})' if plan.name else ''}, or the file was "
            "changed since",
            field="plan",
            remedy="Give the condensed file as it was written, with the plan written beside it.",
        )
    original = plan.kept
    if plan.layout is not None:
        original = _written(plan.layout, _document(condensed, _original_wires(condensed, plan)))
    if original is None or hashlib.sha256(original).hexdigest() != plan.sha256:
        raise _damaged(
            "does not give back the original file: it is damaged, or what stands beside the messages changed"
        )
    return original


def _written(layout: Layout, document: Json) -> bytes | None:
    try:
        return layout.write(document)
    except (UnicodeEncodeError, RecursionError):
        return None


def _document(conversation: Conversation, messages: Sequence[Json]) -> Json:
    """What a file with this conversation holds, with these messages in the place of its own."""
    if not conversation.options:
        return list(messages)
    return {**request_body(conversation), format_named(conversation.format).messages_key: list(messages)}


def _digest(wires: Sequence[Json]) -> str:
    return hashlib.sha256(json.dumps(wires, separators=(",", ":")).encode()).hexdigest()


def _damaged(problem: str) -> InvalidInput:
    return InvalidInput(problem, field="plan", remedy="Take an unchanged copy of the plan file.")


def _read(data: Mapping[str, Json]) -> PlanFile:
    layout = data["layout"]
    if _is(int, data["count"]) > len(_is(dict, data["originals"])) + len(_is(list, data["ids"])):
        raise ValueError("messages are missing")
    return PlanFile(
        name=_is(str, data["name"]),
        format=_is(str, data["format"]),
        sha256=_is(str, data["sha256"]),
        condensed=_is(str, data["condensed_sha256"]),
        passes=plan_from_json(data["passes"]),
        report=_is(dict, data["report"]),
        count=data["count"],
        originals=data["originals"],
        ids=tuple(_texts(data["ids"])),
        layout=None if layout is None else _read_layout(_is(dict, layout)),
        kept=None if layout else zlib.decompress(base64.b64decode(_is(str, data["bytes"]), validate=True)),
    )


def _read_layout(data: Mapping[str, Json]) -> Layout:
    kinds: dict[str, type | tuple[type, ...]] = {"escaped": bool, "lines": bool, "indent": (str, type(None))}
    for name, value in data.items():
        if not isinstance(value, kinds.get(name, str)):
            raise TypeError(f"layout.{name} is of a wrong type")
    return Layout(**data)


def _texts(values: Json) -> Iterator[str]:
    return (_is(str, value) for value in _is(list, values))


def _is(kind: type[_Kind], value: Json) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} expected, not {type(value).__name__}")
    return value
