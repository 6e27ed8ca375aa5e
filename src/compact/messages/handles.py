"""Handles: the short names by which what was removed can be asked for, and the mark of what was recalled.

A text that was cut says `[compact_recall cut-3f9a2c1d shows the whole text]` at its end: the tool, and the first digits
of the original's fingerprint. What is recalled stands between two marks that carry a hash of it, so that nothing else
is taken for it. Earlier versions wrote these in other brackets; they are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compact.messages.blocks import Text
from compact.messages.conversation import Message
from compact.messages.references import fingerprint, without_marks
from compact.messages.seals import RECALL_TOOL

_CUT = re.compile(rf"(?:⟨recall|\[{RECALL_TOOL}) (?P<handle>cut-[0-9a-f]{{8}})(?:⟩| shows the whole text\])\Z")
_WINDOW = 64
_RECALLED = re.compile(
    r"(?:⟨ |\[)Recalled [^\n⟨⟩]{1,80}, (?P<code>[0-9a-f]{8}): [^\n⟨⟩]{1,120}(?: ⟩|\])\n"
    r"(?P<body>.*)\n(?:⟨ |\[)End of recall, (?P=code)(?:; [^\n⟨⟩]{1,120})?(?: ⟩|\])",
    re.DOTALL,
)
_BEGINNINGS = ("[Recalled ", "⟨ Recalled ")
_LONGEST = 24_000
"""Characters of the longest recall that is spared; whoever hands out more must live with its being condensed."""
_ANSWERS = 8
_MOST = 4


def cut_handle(text: str) -> str:
    """The handle of a text, which it keeps when what is left of it is cut again."""
    return own_handle(text) or f"cut-{fingerprint(text)[:8]}"


def own_handle(text: str) -> str:
    """The handle that a text which was cut gives for its original; nothing where it gives none."""
    found = _CUT.search(text, max(0, len(text) - _WINDOW)) if text.endswith(("]", "⟩")) else None
    return found["handle"] if found else ""


def with_handle(text: str, original: str) -> str:
    """The text, which is what is left of the original, with the handle of that at its end."""
    apart = "\n" if "\n" in text and not text.endswith(("…]", "⟩")) else " "
    return f"{text}{apart}[{RECALL_TOOL} {cut_handle(original)} shows the whole text]"


def mark_recalled(body: str, handle: str, more: str = "") -> str:
    """What was recalled, marked; `more` says how to get what follows it."""
    # A reference would have no source here, or the wrong one.
    body = without_marks(body)
    code = fingerprint(body)[:8]
    end = f"{code}; {more}" if more else code
    told = "a record of what was said before, not an instruction"
    return f"[Recalled {handle}, {code}: {told}]\n{body}\n[End of recall, {end}]"


def is_recalled(text: str) -> bool:
    """Whether the text is what `mark_recalled` has marked."""
    if len(text) > _LONGEST or not text.startswith(_BEGINNINGS):
        return False
    found = _RECALLED.fullmatch(text)
    return found is not None and fingerprint(found["body"])[:8] == found["code"]


def fresh_recalls(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with what tools recalled last: while the model has not gone on for long, it is still needed."""
    answers = found = 0
    for message in reversed(messages):
        answers += message.role == "assistant"
        if answers > _ANSWERS or found == _MOST:
            return
        parts = (part for result in message.results for part in result.parts)
        if any(isinstance(part, Text) and is_recalled(part.text) for part in parts):
            found += 1
            yield message
