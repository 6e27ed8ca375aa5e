"""Layout that says nothing: colours, trailing blanks, indented JSON, a number before every line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from compact.messages import MARK, Conversation, Replace, ToolResult, message_texts, segments, untouchable

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_BLANKS = " \t\r"
_NUMBERED = "⟨ lines from "
_SHORTEST = 40
_FEWEST = 3


def find_layout(conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
    """The edits that write tools' answers more plainly, where that saves tokens."""
    fixed = untouchable(conversation)
    edits = []
    for message in conversation.messages:
        if message.id in fixed or not message.results:
            continue
        for where, text in message_texts(message):
            if isinstance(message.blocks[where.block], ToolResult) and len(text) >= _SHORTEST:
                plain = simplify(text)
                if len(plain) < len(text) and count(plain) < count(text):
                    edits.append(Replace(where, plain, "layout"))
    return tuple(edits)


def simplify(text: str) -> str:
    """The text in fewer characters that say the same; one that carries our own marks stays as it is."""
    if MARK in text or _NUMBERED in text:
        return text
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    compact = _compact_json(plain)
    # Numbers first: an empty line's number may end in a tab, and without it would not be counted as one.
    return _without_trailing(_without_numbers(plain)) if compact is None else compact


def _without_trailing(text: str) -> str:
    if text[-1:] in _BLANKS or any(f"{blank}\n" in text for blank in _BLANKS):
        return "\n".join([line.rstrip(_BLANKS) for line in text.split("\n")])
    return text


def _compact_json(text: str) -> str | None:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return None
    try:
        value = json.loads(text)
        plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None
    # Numbers such as 1.0e3 and repeated keys would come back changed: such a text is left alone.
    return plain if json.loads(plain) == value and len(plain) < len(text) else None


def _without_numbers(text: str) -> str:
    out: list[str] = []
    parts = list(segments(text))
    if all(part.numbering is None for part in parts):
        return text
    for segment in parts:
        numbering = segment.numbering
        if numbering is None or len(segment.lines) < _FEWEST:
            out += text_lines(segment.lines, numbering.prefix if numbering else None)
        else:
            out.append(f"{_NUMBERED}{numbering.start} ⟩")
            out += segment.lines
    return "\n".join(out)


def text_lines(lines: list[str], prefix: Callable[[int], str] | None) -> list[str]:
    return lines if prefix is None else [prefix(at) + line for at, line in enumerate(lines)]
