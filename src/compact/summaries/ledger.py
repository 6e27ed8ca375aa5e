"""The names and numbers of a conversation: what they belong to, and how they were mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.facts import Kind, Source, Standing, names_in, numbers_in, strings_in, written_by
from compact.messages import Message, Text, ToolCall, ToolResult
from compact.summaries.actions import Action, describe
from compact.summaries.marks import is_torn, unmarked
from compact.summaries.plans import plans
from compact.summaries.quoting import quote, users_own
from compact.summaries.reading import Reading

Key: TypeAlias = tuple[Kind, str]

_LABEL = re.compile(r"(?<![.\w])([A-Za-z_][\w-]{1,30})[\"']?\s?[:=]\s?[\"']?[$€£#]?\Z")
_NAME = re.compile(r"[A-Za-z_][\w.-]{1,30}")
_LOOK_BACK = 40
_KEPT_IDS = 2
_LONGEST_URL = 300
_LONGEST_CALL = 48


@dataclass(slots=True)
class Entry(Standing):
    """A name or number with its standing, what it belongs to, and the messages that mention it."""

    subject: str = ""
    ids: list[str] = field(default_factory=list)


class Ledger:
    """Every name and number of a conversation."""

    def __init__(self) -> None:
        self.entries: dict[Key, Entry] = {}

    def note(self, key: Key, index: int, message_id: str) -> Entry:
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
    """Enters what the messages mention; a list of tasks names nothing new."""
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            done = reading.by_place.get((index, position), [])
            if isinstance(block, Text):
                _note_words(ledger, index, message, block.text)
            elif isinstance(block, ToolCall) and not plans(done[0]):
                _note_call(ledger, index, done[0])
            elif isinstance(block, ToolResult):
                subject = subject_of(done[0]) if done and not plans(done[0]) else ""
                for key, label in _mentions(block.text, Source.SHOWN):
                    entry = ledger.note(key, index, message.id)
                    entry.shown = True
                    entry.subject = subject or entry.subject
                    entry.label = label or entry.label


def subject_of(action: Action) -> str:
    """What the facts of a call and its result are about: a file, or the call itself."""
    if action.is_command:
        named = names_in(action.subject, Source.CALL)
        paths = [text for kind, text in named if kind is Kind.PATH and not text.startswith("/dev/")]
        return paths[-1] if paths and action.kind == "read" else ""
    return action.subject or describe(action.call, _LONGEST_CALL)


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


def _note_call(ledger: Ledger, index: int, action: Action) -> None:
    subject = subject_of(action)
    for name, text in strings_in(action.call.arguments):
        for key, label in _mentions(text, Source.CALL):
            if action.kind == "read" and key[0] is Kind.NUMBER:
                continue  # it says how much to show
            entry = ledger.note(key, index, action.message_id)
            entry.subject = subject or entry.subject
            entry.label = label or entry.label or (name if key[1] == text and _NAME.fullmatch(name) else "")


def _mentions(text: str, source: Source) -> Iterator[tuple[Key, str]]:
    """The facts of a text, with what a number is called there."""
    text = unmarked(text, mentions=True)
    for kind, name in dict.fromkeys(names_in(text, source)):
        if is_torn(name):
            continue
        yield (kind, quote(name, _LONGEST_URL) if kind is Kind.URL else name), ""
    seen: set[str] = set()
    for number in numbers_in(text):
        if number.text not in seen:
            seen.add(number.text)
            label = _LABEL.search(text[max(0, number.start - _LOOK_BACK) : number.start])
            yield (Kind.NUMBER, number.text), label[1] if label else ""
