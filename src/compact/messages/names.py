"""What the texts of a conversation are called in words, so that each name leads to one of them."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import takewhile
from typing import TypeAlias

from compact.messages.blocks import Json, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import Where
from compact.messages.pairing import pairs
from compact.messages.references import has_mark
from compact.messages.resolve import followed

_TELLING = ("file_path", "path", "filePath", "filename", "file", "command", "cmd", "pattern", "query", "url")
_COMMANDS = ("command", "cmd")
_LONGEST, _LONGEST_WORDS = 32, 16
_LOOK, _LINES = 2_000, 20
_GOES = re.compile(r"\A(?:cd [^;&|]*(?:&&|;) *|\w+=\S* +)+")
_LINE_NUMBERS = re.compile(r":(?=\d+(?:-\d+)?\Z)")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""Each is one token, and `1st` is two or three."""
_WORD = re.compile(r"[\w./@+][\w./@:+-]*")
_OWN_SIGNS = {ord(sign): None for sign in "⟨⟩“”"}

_Place: TypeAlias = tuple[str, int]
"""A block, as (id of its message, position in it)."""


class Names:
    """The names of a conversation's texts: the tool and what it was called with, or who spoke and with which words.

    A name tells a text from those before it: it says no more of a tool and of a path than is needed for that, and where
    calls have the same name, and another than the latest is meant, which of them. So texts are shown in order, and what
    follows changes no name given before. They are read when a name is asked for.
    """

    def __init__(self, conversation: Conversation) -> None:
        messages = conversation.messages
        self._followed = followed(conversation)
        self._messages: dict[str, Message] = {}
        self._calls: dict[_Place, _Place] = {
            (messages[result].id, position): (messages[call].id, block)
            for (result, position), (call, block) in pairs(messages).items()
        }
        self._paths: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """The paths that end in the same name."""
        self._tools: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """The tools that were called with the same."""
        self._same: defaultdict[tuple[str, str], dict[_Place, int]] = defaultdict(dict)
        """The calls, or what was said, that would have the same name, with which of them each is."""
        self._told: dict[_Place, tuple[str, str]] = {}
        self._latest: dict[tuple[bool, str, str], _Place] = {}
        """Of the texts with the same name, the block of the one that was shown last."""
        self._unread: list[Message | Where] = []
        self._unheard: list[tuple[_Place, str]] = []

    def add(self, message: Message) -> None:
        """Take in the next message."""
        self._unread.append(message)

    def show(self, where: Where) -> None:
        """Take one of its texts as shown."""
        self._unread.append(where)

    def of(self, where: Where) -> str:
        """What a text is called: the call that it answers, one of its arguments, or what somebody said."""
        self._read()
        block = self._messages[where.message].blocks[where.block]
        place = where.message, where.block
        if isinstance(block, ToolCall):
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where.path)
            return f"{self._name(place)} {_plain(path.lstrip('.'))}"
        if isinstance(block, ToolResult):
            parts = [position for position, part in enumerate(block.parts) if isinstance(part, Text)]
            part = f"part {parts.index(int(where.path[0])) + 1} of " if len(parts) > 1 and where.path else ""
            if place not in self._calls:
                return f"{part}a result"
            # `sed a.py:1-9` would read as lines of the file.
            _, blank, file = self._told[self._calls[place]][1].rpartition(" ")
            return f"{part}{self._name(place)}{' output' if blank and _is_path(file) else ''}"
        self._hear()
        return self._name(place)

    def of_lines(self, where: Where) -> str:
        """Return the text's name before numbers of lines that it does not print, which are not those of a file."""
        name, call = self.of(where), self._calls.get((where.message, where.block))
        return f"{name} result" if call and _is_path(self._told[call][1]) else name

    def latest(self, where: Where) -> Where:
        """The text that was shown last of those with its name, but for which of them is meant."""
        message, block = self._latest_of((where.message, where.block))
        return where._replace(message=message, block=block)

    def later(self, where: Where, kind: str) -> str:
        """The call of a block, or its `result`, as one that stands below what speaks of it."""
        self._read()
        place = where.message, where.block
        call = self._calls.get(place, place)
        same = self._same[self._told[call]]
        which = "last " if same[call] == len(same) else _ordinal(same[call])
        return f"the {which}{kind} {'of ' * (kind == 'result')}{self._words(call)}"

    def _read(self) -> None:
        for item in self._unread:
            if isinstance(item, Message):
                self._messages[item.id] = item
                for position, block in enumerate(item.blocks):
                    if isinstance(block, ToolCall):
                        self._tell((item.id, position), block.name, _told(block))
                continue
            place = item.message, item.block
            block = self._messages[item.message].blocks[item.block]
            if isinstance(block, Text):
                self._unheard.append((place, block.text))
            else:
                self._show(place)
        self._unread.clear()

    def _hear(self) -> None:
        """Read what was said: most names are of calls."""
        for place, text in self._unheard:
            whole = self._followed.get(Where(*place))
            self._tell(place, self._messages[place[0]].role, _first_words(whole.meaning if whole else text))
            self._show(place)
        self._unheard.clear()

    def _show(self, place: _Place) -> None:
        if told := self._told.get(self._calls.get(place, place)):
            self._latest[place in self._calls, *told] = place

    def _latest_of(self, place: _Place) -> _Place:
        told = self._told.get(self._calls.get(place, place))
        return self._latest.get((place in self._calls, *told), place) if told else place

    def _tell(self, place: _Place, who: str, told: str) -> None:
        self._told[place] = who, told
        same = self._same[who, told]
        same[place] = len(same) + 1
        self._tools[told][who] = None
        if _is_path(told):
            self._paths[_end(told, 1)][told] = None

    def _name(self, place: _Place) -> str:
        call = self._calls.get(place, place)
        told, latest = self._told[call], self._latest_of(place) == place
        words = self._words(call, brief=call != place and (latest or " " in told[1]))
        return words if latest else _ordinal(self._same[told][call]) + words

    def _words(self, place: _Place, *, brief: bool = False) -> str:
        """The words for a call, or for what was said, which others may share."""
        who, told = self._told[place]
        if isinstance(self._messages[place[0]].blocks[place[1]], Text):
            return f"{who} {'prompt' if who == 'system' else 'message'}" + (f" “{told}”" if told else "")
        short = _LINE_NUMBERS.sub(" ", self._short_path(told))
        return short if brief and short and len(self._tools[told]) == 1 else f"{who} {short}".rstrip()

    def _short_path(self, told: str) -> str:
        """As many folders of a path as tell it from others."""
        others = self._paths.get(_end(told, 1), ()) if _is_path(told) else ()
        for depth in range(1, told.count("/") + 1) if others else ():
            end = _end(told, depth)
            if end and sum(f"/{other}".endswith(f"/{end}") for other in others) == 1:
                return end
        return told


@once
def names_of(conversation: Conversation) -> Names:
    """The names of its calls at its end, kept with it."""
    names = Names(conversation)
    for message in conversation.messages:
        names.add(message)
    return names


def _told(call: ToolCall) -> str:
    """The argument that tells most, on one line; of a command, its first words."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    key = next((key for key in _TELLING if isinstance(arguments.get(key), str | list)), "")
    told = _plain(_value(arguments.get(key)))
    if key in _COMMANDS:
        return _first_command(told)
    return told if _is_path(told) and len(_end(told, 1)) <= _LONGEST else _shorten(told, _LONGEST)


def _first_command(line: str) -> str:
    """A program and what follows up to its options, two words at most; else the first file or word behind these."""
    program, *words = (_GOES.sub("", line) or line).replace(" -m ", " ", 1).split(" ")[:20]
    plain = list(takewhile(_WORD.fullmatch, words[:2]))
    if not plain:
        named = [word for word in words if _WORD.fullmatch(word)]
        plain = [*filter(_is_path, named), *named][:1]
    return _shorten(
        " ".join([_end(word.rstrip("/"), 1) if "/" in word else word for word in (program, *plain)]), _LONGEST
    )


def _is_path(told: str) -> bool:
    return " " not in told and ("/" in told or "." in told)


def _end(path: str, depth: int) -> str:
    return "/".join(path.rsplit("/", depth)[-depth:])


def _first_words(text: str) -> str:
    """The first words of a text that are its own: a reference that leads nowhere is none of them."""
    lines = (line for line in text[:_LOOK].split("\n", _LINES) if not has_mark(line))
    words = " ".join(next((line for line in lines if line.strip()), "").split())
    return _shorten(_plain(words), _LONGEST_WORDS)


def _value(value: Json) -> str:
    if isinstance(value, list):
        return " ".join(map(_value, value[:20]))
    if isinstance(value, str):
        return " ".join(value[:_LOOK].split())
    return str(value) if isinstance(value, int | float) else ""


def _shorten(text: str, longest: int) -> str:
    """A text in few characters; of a path, which has no blanks, its end says most."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1].rstrip()}…" if " " in text else f"…{text[1 - longest :]}"


def _plain(text: str) -> str:
    """The text on one line, without our own signs."""
    plain = text.translate(_OWN_SIGNS)
    return plain if plain.isprintable() else "".join(char if char.isprintable() else " " for char in plain)


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return f"{_ORDINALS[number - 1]} "
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} "
