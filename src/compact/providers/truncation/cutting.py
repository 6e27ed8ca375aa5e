"""Cutting a text, and saying so in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.messages import own_handle

Markers: TypeAlias = Literal["plain", "s0", "s3"]

SUPPRESSED = "⟨ Content suppressed ⟩"
SUMMARIZED = "⟨ Summarized by LLM ⟩"
EXTRACTED = "⟨ Summarized in its own words ⟩"
_CUT = "⟨ ... truncated ⟩"
_ALL = "[… all "
_SUMMARY = "[Summary of "
_BEGINNINGS = ("⟨", "[… ", _SUMMARY, "[Outdated: see ", "[Consolidated ", "removed here")
_OWN = re.compile(
    r"\[… (?:all )?[\d,]+ (?:lines?|characters?) omitted …\]"
    r"|^\[Summary of [\d,]+ characters, (?:written by a model|in the words of the text)\]$"
    r"|^\[\d+ earlier messages? removed here[^\n\]]*\]$"
    r"|^⟨ (?:Truncated: \d+ more (?:lines|characters)|Content suppressed|Summarized (?:by LLM|in its own words)"
    r"|Superseded: [^\n⟨⟩]+"
    r"|\d+ earlier messages? removed, recall fold-[0-9a-f]{12}) ⟩$|⟨ \.\.\. truncated ⟩$"
    r"|^\[(?:Outdated: see the |Consolidated \d+ operations: )[^\n]+\]$",
    re.MULTILINE,
)


def is_condensed(text: str) -> bool:
    """Whether the text was cut, suppressed or summarized before: such a text is never cut again."""
    return any(map(text.__contains__, _BEGINNINGS)) and (bool(own_handle(text)) or _OWN.search(text) is not None)


def is_cut(text: str) -> bool:
    """Whether a part of the text is missing, and nothing was written in its place."""
    if text.startswith((SUPPRESSED, SUMMARIZED, EXTRACTED, _ALL, _SUMMARY)):
        return False
    return "⟨ Truncated: " in text or _CUT in text or "[… " in text


def missing_lines(count: int, markers: Markers) -> str:
    """The marker that stands for lines that were cut."""
    if markers == "plain":
        return omitted(count, "line")
    return _CUT if markers == "s0" else f"⟨ Truncated: {count} more lines ⟩"


def omitted(count: int, unit: Literal["line", "character"], begin: str = "[… ") -> str:
    """The marker that says in plain words how much was left out."""
    return f"{begin}{count:,} {unit}{'s' * (count != 1)} omitted …]"


def suppress(text: str, markers: Markers) -> str:
    """What stands for a text of which nothing stays."""
    if markers != "plain":
        return SUPPRESSED
    lines = _count_lines(text)
    return omitted(lines, "line", _ALL) if lines > 1 else omitted(len(text), "character", _ALL)


def summarized(text: str, summary: str, markers: Markers, *, extracted: bool) -> str:
    """The summary of a text in its place; it is `extracted` where no model wrote it."""
    if markers == "plain":
        author = "in the words of the text" if extracted else "written by a model"
        return f"{_SUMMARY}{len(text):,} characters, {author}]\n\n{summary}"
    return f"{EXTRACTED if extracted else SUMMARIZED}\n\n{summary}\n\n⟨ Original was {len(text)} chars ⟩"


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of a text stays: lines at its head and at its tail, characters in all; None sets no bound.

    A `value` is an argument of a call: short, and often a single line, so what is missing is said behind it.
    """

    lines: int | None = None
    chars: int | None = None
    tail: int = 0
    markers: Markers = "s3"
    value: bool = False

    def apply(self, text: str, tool: str = "") -> str:
        """The text with its middle or its end replaced by a marker; the text itself where it is within the bounds."""
        kept = self._split(text)
        if kept is None:
            return text
        head, tail = kept
        whole_lines = not head or text[len(head)] == "\n"
        if self.value and self.markers == "s3":
            return f"{head}...{tail}"
        if self.value and self.markers == "plain":
            return f"{head}{omitted(len(text) - len(head) - len(tail), 'character')}{tail}"
        if self.markers == "s0":
            return _joined([head, _CUT, tail] if whole_lines else [head + _CUT, tail])
        lines = _count_lines(text) - (head.count("\n") + 1 if head else 0) - _count_lines(tail)
        characters = len(text) - len(head) - len(tail)
        if self.markers == "plain":
            marker = omitted(lines, "line") if whole_lines else omitted(characters, "character")
            return _joined([head, marker, tail] if whole_lines else [head + marker, tail])
        missing = f"{lines} more lines" if whole_lines else f"{characters} more characters"
        return "\n\n".join(piece for piece in (head, _marker(missing, tool), tail) if piece)

    def apply_to_lines(self, text: str, kept: Sequence[tuple[int, int]], tool: str = "") -> str:
        """The lines from there to there, in order, with a marker for the others."""
        lines = [text[start:end] for start, end in kept]
        if self.markers != "s3":
            return _joined([*lines, missing_lines(_count_lines(text) - len(lines), self.markers)])
        return "\n\n".join(("\n".join(lines), _marker(f"{_count_lines(text) - len(lines)} more lines", tool)))

    def _split(self, text: str) -> tuple[str, str] | None:
        """What stays of the head and of the tail; None when everything stays."""
        head = text if self.lines is None else text[: _end_of_first_lines(text, self.lines)]
        tail = text[_start_of_last_lines(text, self.tail) :]
        if len(head) + len(tail) + 1 >= len(text):
            if self.chars is None or len(text) <= self.chars:
                return None
            head = text
        if self.chars is not None and len(head) + len(tail) > self.chars:
            tail = tail[-(self.chars // 2) :] if self.chars > 1 else ""
            room = self.chars - len(tail)
            head = head[:room] if self.value else _head(head, room)
        return head, tail


def _marker(missing: str, tool: str) -> str:
    return f"⟨ Truncated: {missing} ⟩" + (f"\n⟨ Tool: {' '.join(tool.split())} ⟩" if tool else "")


def _head(text: str, chars: int) -> str:
    """At most so many characters of the head: whole lines, unless that would waste half of them."""
    line_end = text.rfind("\n", 0, chars + 1)
    return text[: line_end if line_end > chars // 2 else chars]


def _end_of_first_lines(text: str, count: int) -> int:
    at = -1
    for _ in range(count):
        at = text.find("\n", at + 1)
        if at < 0:
            return len(text)
    return max(at, 0)


def _start_of_last_lines(text: str, count: int) -> int:
    """Where the last lines begin; a line feed at the very end begins no line."""
    at = len(text)
    while at and count:
        at = text.rfind("\n", 0, at - 1) + 1
        count -= 1
    return at


def _count_lines(text: str) -> int:
    """A line feed at the very end begins no line."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _joined(pieces: list[str]) -> str:
    return "\n".join(piece for piece in pieces if piece)
