"""Which names and numbers will be needed again.

Fitted on real coding sessions, where what was asked is what the model wrote in its next forty messages: what it edits
or has written itself comes back most, then what several messages mention, then what was mentioned last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log2

from compact.facts import Kind, Source, names_in, numbers_in, strings_in, written_by
from compact.messages import Message, Text, ToolCall, ToolResult
from compact.summaries.plans import plans
from compact.summaries.quoting import quote, users_own
from compact.summaries.reading import Action, Reading

_LABEL = re.compile(r"(?<![.\w])([A-Za-z_][\w-]{1,30})[\"']?\s?[:=]\s?[\"']?[$€£#]?\Z")
_KEPT_IDS = 2


@dataclass(slots=True)
class Entry:
    """A name or number, and where and by whom it was mentioned."""

    kind: Kind
    text: str
    last: int = -1
    mentions: float = 0
    by_user: bool = False
    by_assistant: bool = False
    edits: int = 0
    shown: bool = False
    subject: str = ""
    label: str = ""
    ids: list[str] = field(default_factory=list)

    def value(self, length: int) -> float:
        """The odds that it will be needed, up to a factor."""
        odds = (
            -0.5 * log2(max(length - self.last, 1))
            + 0.9 * log2(self.mentions + 1)
            + 0.6 * log2(1 + self.edits)
            + 1.5 * (not self.shown)
            + 1.0 * self.by_user
            + 0.3 * self.by_assistant
            - 1.0 * (self.kind is Kind.NUMBER)
            - 2.0 * (self.kind is Kind.NUMBER and not self.label)
            - 1.5 * (self.kind is Kind.IDENTIFIER and self.text.isalpha() and self.text.islower())
        )
        return float(2**odds)


class Ledger:
    """Every name and number of a conversation."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Kind, str], Entry] = {}

    def note(self, key: tuple[Kind, str], index: int, message_id: str) -> Entry:
        """Counts a mention, once a message."""
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry(*key)
        if entry.last != index:
            entry.last = index
            entry.mentions += 1
            entry.ids = [*entry.ids[: _KEPT_IDS - 1], message_id]
        return entry


def keep_ledger(messages: Sequence[Message], reading: Reading, ledger: Ledger) -> None:
    """Enters what the messages mention."""
    actions: dict[int, Action] = {}
    for action in reading.actions:
        actions.setdefault(id(action.call), action)
    results: dict[tuple[str, str], Action] = {(a.result_id, a.call.id): a for a in reading.actions if a.result_id}
    for index, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, Text):
                _note_words(ledger, index, message, block.text)
            elif isinstance(block, ToolCall) and (done := actions.get(id(block))) and not plans(done):
                _note_call(ledger, index, message.id, done)
            elif isinstance(block, ToolResult):
                subject = subject_of(found) if (found := results.get((message.id, block.call_id))) else ""
                for key, label in _mentions(block.text, Source.SHOWN):
                    entry = ledger.note(key, index, message.id)
                    entry.shown = True
                    entry.subject = subject or entry.subject
                    entry.label = label or entry.label


def subject_of(action: Action) -> str:
    """What the facts of a call and its result are about: a file, or the call itself."""
    if action.kind in ("edited", "wrote") or (action.kind == "read" and action.subject and "\n" not in action.subject):
        if action.kind != "read" or " " not in action.subject:
            return quote(action.subject, 200)
        paths = [text for kind, text in names_in(action.subject, Source.CALL) if kind is Kind.PATH]
        return paths[-1] if paths else ""
    return describe(action.call, 48) if action.kind in ("called", "read") else ""


def describe(call: ToolCall, longest: int) -> str:
    """A call with its short arguments."""
    shown = [f"{key}={quote(text, 60)}" if key else quote(text, 60) for key, text in strings_in(call.arguments)][:8]
    return quote(f"{call.name}({', '.join(shown)})", longest)


def _note_words(ledger: Ledger, index: int, message: Message, text: str) -> None:
    source = written_by(message)
    if source is Source.SYSTEM:
        return
    for key, label in _mentions(users_own(text) if source is Source.USER else text, source):
        entry = ledger.note(key, index, message.id)
        entry.by_user |= source is Source.USER
        entry.by_assistant |= source is Source.ASSISTANT
        entry.shown |= source is Source.TOOL
        entry.label = entry.label or label


def _note_call(ledger: Ledger, index: int, message_id: str, action: Action) -> None:
    subject = subject_of(action)
    editing = action.kind in ("edited", "wrote")
    for key, text in strings_in(action.call.arguments):
        for fact, label in _mentions(text, Source.CALL):
            if action.kind == "read" and fact[0] is Kind.NUMBER:
                continue  # how much to show
            entry = ledger.note(fact, index, message_id)
            entry.edits += editing
            entry.subject = subject or entry.subject
            entry.label = label or entry.label or (key if fact[1] == text else "")


def _mentions(text: str, source: Source) -> Iterator[tuple[tuple[Kind, str], str]]:
    """The facts of a text with what they are called there."""
    for key in dict.fromkeys(names_in(text, source)):
        yield key, ""
    seen: set[str] = set()
    for number in numbers_in(text):
        if number.text not in seen:
            seen.add(number.text)
            label = _LABEL.search(text[max(0, number.start - 40) : number.start])
            yield (Kind.NUMBER, number.text), label[1] if label else ""
