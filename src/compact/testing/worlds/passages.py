"""Reads wire messages of any origin as passages and lines, each line with what governs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compact.messages import Json

_BULLET = re.compile(r"^(\s*)(?:[-*•·‣–]|\d{1,3}[.)、]|[a-z][.)])\s+(?=\S)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_BOLD = re.compile(r"^(?:\*\*|__)[^*_]+(?:\*\*|__)\s*[:：]?$|^\[[^\]]{2,60}\]$|^=+\s.*\s=+$")  # noqa: RUF001
_COLON = re.compile(r"[:：]\**\s*$")  # noqa: RUF001
_OPENING = re.compile(r"^<([A-Za-z][\w-]*)[^>/]*>")
_CLOSING = re.compile(r"</([A-Za-z][\w-]*)>\s*$")
_UNDERLINE = re.compile(r"^(?:-{3,}|={3,})$")
_FIELD = re.compile(r"^\s*\"[\w-]+\":\s")
"""A field of an object that is written over several lines."""
_GAP = re.compile(
    r"(?:\.\.\.|…|⟨|\[|<)[^\n\[\]⟨⟩<>]{0,80}?\b(?:truncated|omitted|removed|cut|suppressed|elided|skipped|trimmed|snip)\b"
    r"[^\n\[\]⟨⟩<>]{0,80}?(?:\]|⟩|>|\.\.\.|…)"
)
"""What programs write where they cut something out of a line."""
_TURN = re.compile(r"(?<=[\"”`)]) → | → (?=[^\"→]{1,120}: [\"“])|(?<=[\"”])(?: -|;) (?=[^\"→:;]{1,40}: [\"“])")
"""Between what one said and what another answered or did, on one line."""
_LONGEST_HEAD = 120


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in a message: words, the arguments of a call, or a result."""

    message: int
    role: str
    """user, assistant, system, tool, or empty for a text by itself."""
    kind: str
    """text, call or result."""
    text: str
    call: str = ""
    """The id of the call."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a passage with its place, and what governs it, outermost first."""

    start: int
    end: int
    text: str
    heads: tuple[str, ...]
    below: int
    """Where the lines end that stand deeper below it."""


def read_messages(messages: Sequence[Json]) -> Iterator[Passage]:
    """All texts of the messages, in order."""
    for index, message in enumerate(messages):
        if isinstance(message, str):
            yield Passage(index, "", "text", message)
        elif isinstance(message, Mapping):
            yield from _read(index, message)


def _read(index: int, message: Mapping[str, Json]) -> Iterator[Passage]:
    role = str(message.get("role", ""))
    role = "system" if role == "developer" else role
    content = message.get("content")
    kind, call = ("result", str(message.get("tool_call_id", ""))) if role == "tool" else ("text", "")
    if isinstance(content, str):
        yield Passage(index, role, kind, content, call)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            yield from _block(index, role, kind, block)
    calls = message.get("tool_calls")
    for made in calls if isinstance(calls, list) else ():
        if isinstance(made, Mapping) and isinstance(function := made.get("function"), Mapping):
            yield Passage(index, role, "call", str(function.get("arguments", "")), str(made.get("id", "")))


def _block(index: int, role: str, kind: str, block: Mapping[str, Json]) -> Iterator[Passage]:
    match block.get("type"):
        case "text":
            yield Passage(index, role, kind, str(block.get("text", "")))
        case "tool_use":
            text = json.dumps(block.get("input"), ensure_ascii=False)
            yield Passage(index, role, "call", text, str(block.get("id", "")))
        case "tool_result":
            content = block.get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            text = "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
            yield Passage(index, "tool", "result", text, str(block.get("tool_use_id", "")))


class _Heads:
    """What governs the line that is read."""

    def __init__(self) -> None:
        self.headings: list[tuple[int, str]] = []
        self.tags: list[str] = []
        self.lead = ""
        self.bullets: list[tuple[int, str]] = []
        self.listed = self.blank = self.used = False
        self.previous = ""
        """The line before, unless it is an item of a list."""

    def heading(self, level: int, text: str) -> None:
        self.headings = [entry for entry in self.headings if entry[0] < level] + [(level, text)]
        self.lead, self.bullets, self.listed = "", [], False

    def all(self) -> tuple[str, ...]:
        heads = [text for _, text in self.headings] + self.tags
        heads += [self.lead] if self.lead else []
        return tuple(heads + [text for _, text in self.bullets])


def split_lines(text: str) -> list[Line]:
    """The lines of a passage that say something."""
    heads = _Heads()
    found: list[tuple[int, int, str, tuple[str, ...], int]] = []
    for at, raw in _pieces(text):
        line = raw.rstrip()
        if not line.strip():
            heads.blank = True
            continue
        depth = _place(heads, line)
        if depth < -1 or (depth == -1 and found and _continues(found[-1][2], line) and not heads.blank):
            first = found[-1] if found else None
            if first:
                found[-1] = (first[0], at + len(line), text[first[0] : at + len(line)], first[3], first[4])
        else:
            found.append((at, at + len(line), line, heads.all(), max(depth, 0)))
        _remember(heads, line, depth)
        heads.blank = False
    return _with_below(found)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their places; where something was cut out of one, it is two."""
    start = 0
    for raw in text.split("\n"):
        at = 0
        for gap in _GAP.finditer(raw):
            yield start + at, raw[at : gap.start()]
            at = gap.end()
        yield start + at, raw[at:]
        start += len(raw) + 1


def _place(heads: _Heads, line: str) -> int:
    """How deep the line stands: -1 no list item, -2 the rest of one."""
    bullet = _BULLET.match(line)
    if bullet:
        depth = len(bullet[1]) + 1
        heads.bullets = [entry for entry in heads.bullets if entry[0] < depth]
        heads.listed = True
        return depth
    if heads.bullets and line[0].isspace() and not heads.blank:
        return -2
    heads.bullets = []
    if heads.lead and (heads.listed or (heads.used and heads.blank)) and not line[0].isspace():
        heads.lead, heads.listed = "", False
    return -1


def _remember(heads: _Heads, line: str, depth: int) -> None:
    """What the line means for those after it."""
    bare, previous = line.strip(), heads.previous
    heads.previous = "" if depth > 0 else bare
    if depth > 0:
        heads.bullets.append((depth, bare))
    elif _UNDERLINE.match(bare) and previous:
        heads.heading(1 if bare[0] == "=" else 2, previous)
    elif match := _HEADING.match(bare):
        heads.heading(len(match[1]), match[2])
    elif _BOLD.match(bare) and not _COLON.search(bare.rstrip("*_")):
        heads.heading(7, bare)
    elif match := _OPENING.match(bare):
        if f"</{match[1]}>" not in bare:
            heads.tags.append(bare)
        else:
            heads.lead = bare
    elif _CLOSING.search(bare):
        heads.tags = heads.tags[:-1]
    elif _COLON.search(bare.rstrip("*_ ")) and len(bare) <= _LONGEST_HEAD:
        heads.lead, heads.listed, heads.used = bare, False, False
    else:
        heads.used = True


def _continues(before: str, line: str) -> bool:
    """Whether the line is the rest of a sentence or of a record that the one before began."""
    last = before.rstrip()[-1:]
    if last in ("{", ",") and _FIELD.match(line):
        return True
    return last.isalpha() and line[:1].islower() and len(before) > 50 and not re.match(r"[\w' ]{1,30}:", line)


def _with_below(found: list[tuple[int, int, str, tuple[str, ...], int]]) -> list[Line]:
    lines: list[Line] = []
    for index, (start, end, text, heads, depth) in enumerate(found):
        below = end
        for later in found[index + 1 :]:
            if not depth or later[4] <= depth:
                break
            below = later[1]
        lines += _turns(Line(start, end, text, heads, below))
    return lines


def _turns(line: Line) -> Iterator[Line]:
    """What each one says on a line of several; `→ done` belongs to the first, what quotes something does not."""
    turns = list(_TURN.finditer(line.text))
    starts = [0, *(turn.end() for turn in turns)]
    ends = [*(turn.start() for turn in turns), len(line.text)]
    parts = list(zip(starts, ends, strict=True))
    quoting = next((line.start + start for start, end in parts[1:] if '"' in line.text[start:end]), line.below)
    for start, end in parts:
        below = line.start + end if start else quoting
        yield Line(line.start + start, line.start + end, line.text[start:end], line.heads, below)
