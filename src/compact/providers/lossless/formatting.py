"""Layout that says nothing: colours, trailing blanks, indented JSON, a number before every line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from compact.messages import (
    Block,
    Conversation,
    EditKind,
    Numbering,
    Replace,
    ToolCall,
    ToolResult,
    has_mark,
    message_texts,
    pairs,
    segments,
    untouchable,
)
from compact.providers.lossless.failures import failures_of
from compact.providers.lossless.reads import shows_file

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_BLANKS = " \t"
_NUMBERED = "[lines numbered from "
NUMBERED = (_NUMBERED, "⟨ lines from ")
"""What stands in the place of the numbers of lines; the second was written by earlier versions."""
_TOKENS = re.compile(r'(?:[^"\s]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")++')
_LINE_MARKS = ("→", "\t")
"""What stands behind the number of a line, and nowhere else as a rule."""
_SHORTEST = 40
_FEWEST = 3
_NUMBER = re.compile(r"[ 0]*\d{1,9}(?:: |\t|\| )")
"""An empty line's number, without whose blank it would not be counted as one."""


def find_layout(conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
    """The edits that write tools' answers more plainly, where that saves tokens; failures stay as they are."""
    fixed, failures = untouchable(conversation), failures_of(conversation)
    calls = pairs(conversation.messages)
    edits = []
    for at, message in enumerate(conversation.messages):
        if message.id in fixed or not message.results:
            continue
        for where, text in message_texts(message):
            if isinstance(message.blocks[where.block], ToolResult) and len(text) >= _SHORTEST:
                index, block = calls.get((at, where.block), (at, where.block))
                plain = simplify(text, conversation.messages[index].blocks[block])
                shorter = plain.strip() and len(plain) < len(text) and count(plain) < count(text)
                if shorter and not failures.at(message.id, where.block):
                    edits.append(Replace(where, plain, EditKind.LAYOUT))
    return tuple(edits)


def simplify(text: str, call: Block | None = None) -> str:
    """The text in fewer characters that say the same; one that carries our own marks stays as it is.

    What does not answer a `call` for a file may be a table, whose rows begin with numbers of their own.
    """
    if has_mark(text) or any(map(text.__contains__, NUMBERED)):
        return text
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    # A file is edited by its text, so it stays as it is written.
    compact = None if isinstance(call, ToolCall) and shows_file(call) else _compact_json(plain)
    return _without_trailing(_without_numbers(plain, call)) if compact is None else compact


def _without_trailing(text: str) -> str:
    if text[-1:] in _BLANKS or any(f"{blank}\n" in text for blank in _BLANKS):
        return "\n".join([line if _NUMBER.fullmatch(line) else line.rstrip(_BLANKS) for line in text.split("\n")])
    return text


def _compact_json(text: str) -> str | None:
    """JSON without the blanks between its tokens, every other character as it was; None where it is no JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    plain = "".join(_TOKENS.findall(text))
    return plain if len(plain) < len(text) else None


def _without_numbers(text: str, call: Block | None) -> str:
    out: list[str] = []
    parts = list(segments(text))
    if all(part.numbering is None for part in parts):
        return text
    for segment in parts:
        numbering = segment.numbering
        if numbering is None or len(segment.lines) < _FEWEST or not _counts_lines(numbering, call):
            out += text_lines(segment.lines, numbering.prefix if numbering else None)
        else:
            out.append(f"{_NUMBERED}{numbering.start}]")
            out += segment.lines
    return "\n".join(out)


def _counts_lines(numbering: Numbering, call: Block | None) -> bool:
    return numbering.mark in _LINE_MARKS or (isinstance(call, ToolCall) and shows_file(call))


def text_lines(lines: list[str], prefix: Callable[[int], str] | None) -> list[str]:
    return lines if prefix is None else [prefix(at) + line for at, line in enumerate(lines)]
