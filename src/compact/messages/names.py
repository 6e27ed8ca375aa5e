"""What the texts of a conversation are called in words, so that each name leads to one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from compact.messages.blocks import Json, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import Where
from compact.messages.pairing import pairs
from compact.messages.references import MARKS
from compact.messages.resolve import followed

_TELLING = ("file_path", "path", "filePath", "filename", "file", "command", "cmd", "pattern", "query", "url")
_SHORT, _LONG, _LONGEST_VALUE = 60, 200, 40
_LOOK = 2_000
_DETAILS = 2
_OWN_SIGNS = {ord(sign): None for sign in "⟨⟩"}

_Place: TypeAlias = tuple[str, int]
"""A block, as (id of its message, position in it)."""


class Names:
    """The names of a conversation's texts: the tool and what it was called with, or who spoke and with which words.

    Where two calls would have the same name, more of their arguments is said; where these are the same, which of the
    calls is meant.
    """

    def __init__(self, conversation: Conversation) -> None:
        messages = conversation.messages
        self._conversation = conversation
        self._messages: dict[str, Message] = {message.id: message for message in messages}
        self._calls: dict[_Place, _Place] = {
            (messages[result].id, position): (messages[call].id, block)
            for (result, position), (call, block) in pairs(messages).items()
        }
        self._names = dict(_tell_apart(self._called(messages)))
        self._spoken: dict[_Place, str] = {}

    def of(self, where: Where) -> str:
        """What a text is called: the result of a call, one of its arguments, or what somebody said."""
        message = self._messages.get(where.message)
        if message is None:
            return "the system prompt"
        block = message.blocks[where.block]
        place = where.message, where.block
        if isinstance(block, ToolCall):
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where.path)
            return f"the argument {_plain(path.lstrip('.'))} of {self._call(place, 'call')}"
        if isinstance(block, ToolResult):
            parts = [position for position, part in enumerate(block.parts) if isinstance(part, Text)]
            part = f"part {parts.index(int(where.path[0])) + 1} of " if len(parts) > 1 and where.path else ""
            called = self._calls.get(place)
            return part + (self._call(called, "result") if called else "a result")
        if not self._spoken:
            self._spoken = dict(_tell_spoken(self._conversation))
        return self._spoken[place]

    def later(self, where: Where, kind: str) -> str:
        """The call of a block, or its `result`, as one that stands below what speaks of it."""
        place = where.message, where.block
        return self._call(self._calls.get(place, place), kind, below=True)

    def _call(self, place: _Place, kind: str, *, below: bool = False) -> str:
        name, which, count = self._names[place]
        one = _ordinal(which) if count > 1 else ""
        if below and which == count:
            one = "last "
        return f"the {one}{kind} of {name}" if kind == "result" else f"the {one}call {name}"

    @staticmethod
    def _called(messages: Iterable[Message]) -> Iterator[tuple[_Place, ToolCall]]:
        for message in messages:
            for position, block in enumerate(message.blocks):
                if isinstance(block, ToolCall):
                    yield (message.id, position), block


@once
def names_of(conversation: Conversation) -> Names:
    """The names of its texts, kept with it."""
    return Names(conversation)


def _name_call(call: ToolCall, detail: int = 0) -> str:
    """The tool's name and the argument that tells most, on one line; with more `detail` the others, then all of it."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    key = next((key for key in _TELLING if isinstance(arguments.get(key), str | list)), "")
    told = [call.name, _shorten(_value(arguments.get(key, "")), _LONG if detail > 1 else _SHORT)]
    if detail:
        others = ((name, _value(value)) for name, value in arguments.items() if name != key)
        told += [f"{name}={value}" for name, value in others if 0 < len(value) <= _LONGEST_VALUE]
    return _shorten(_plain(" ".join(filter(None, told))), 2 * _LONG) or "a call"


def _tell_apart(
    calls: Iterable[tuple[_Place, ToolCall]], detail: int = 0
) -> Iterator[tuple[_Place, tuple[str, int, int]]]:
    """Each call's name, which of the calls of that name it is, and how many there are."""
    for name, same in _grouped(calls, detail):
        if len(same) > 1 and detail < _DETAILS and len(_grouped(same, _DETAILS)) > 1:
            yield from _tell_apart(same, detail + 1)
        else:
            yield from ((place, (name, which, len(same))) for which, (place, _) in enumerate(same, 1))


def _grouped(calls: Iterable[tuple[_Place, ToolCall]], detail: int) -> list[tuple[str, list[tuple[_Place, ToolCall]]]]:
    groups: defaultdict[str, list[tuple[_Place, ToolCall]]] = defaultdict(list)
    for place, call in calls:
        groups[_name_call(call, detail)].append((place, call))
    return list(groups.items())


def _tell_spoken(conversation: Conversation) -> Iterator[tuple[_Place, str]]:
    """Each text that somebody said, by its first words; the same whether or not they became a reference."""
    known = followed(conversation)
    counts: Counter[str] = Counter()
    for message in conversation.messages:
        for position, block in enumerate(message.blocks):
            if isinstance(block, Text):
                whole = known.get(Where(message.id, position))
                words = _shorten(_plain(_first_words(whole.meaning if whole else block.text)), _SHORT)
                name = f"{message.role} message" + (f" with the words “{words}”" if words else "")
                counts[name] += 1
                yield (message.id, position), f"the {_ordinal(counts[name]) if counts[name] > 1 else ''}{name}"


def _first_words(text: str) -> str:
    """The first words of a text that are its own: a reference that leads nowhere is none of them."""
    lines = (line for line in text[:_LOOK].split("\n") if not line.startswith(MARKS))
    return " ".join(next((line for line in lines if line.strip()), "").split())


def _value(value: Json) -> str:
    if isinstance(value, list):
        return " ".join(map(_value, value[:20]))
    return " ".join(value.split()) if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _shorten(text: str, longest: int) -> str:
    """A text in few characters; of a path, which has no blanks, its end says most."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1]}…" if " " in text else f"…{text[1 - longest :]}"


def _plain(text: str) -> str:
    """The text on one line, without our own signs."""
    plain = text.translate(_OWN_SIGNS)
    return plain if plain.isprintable() else "".join(char if char.isprintable() else " " for char in plain)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} "
