"""What a summary may rest on: the names and numbers of its sources, and who said which words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from compact.facts import Kind, Origin, Source, extract
from compact.messages import Message, is_summary, message_texts
from compact.summaries.quoting import users_own
from compact.summaries.speech import Speech

_EDGES = ".,;:!?()[]{}<>\"'`*~|=⟨⟩“”’"
_ESCAPED = re.compile(r"\\+[ntr\"'/]")
_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_DIGITS = re.compile(r"\d+")
_HEX = re.compile(r"[0-9a-f]{7,64}")
_CHECKED = frozenset((Kind.PATH, Kind.URL, Kind.IDENTIFIER))
_WRITTEN = Origin("", Source.ASSISTANT)
_ALL, _DEMANDED = -1, 0  # in place of a message's number


class Evidence:
    """What a summarizer has read; asked about what it wrote.

    Messages are numbered from 1, as a transcript numbers them. `read` is what was read of them and beside them,
    `demanded` what a person is known to have said before.
    """

    def __init__(self, messages: Sequence[Message], read: Iterable[str], demanded: Iterable[str] = ()) -> None:
        self._messages = messages
        self._read = tuple(read)
        self._demanded = "\n".join(demanded)
        self._speeches: dict[tuple[int, bool], Speech] = {}
        self._known: dict[str, bool] = {}

    def unknown(self, text: str) -> list[str]:
        """The paths, addresses, names and numbers of a text that occur nowhere in what was read."""
        facts = extract(text, origin=_WRITTEN)
        return [fact.text for fact in facts if not self._occurs(fact.kind, fact.text)]

    def has(self, line: str) -> bool:
        """Whether this was read, word by word."""
        words = " ".join(line.casefold().split())
        return any(words in " ".join(text.casefold().split()) for text in self._read)

    def cited(self, sources: Iterable[int | str]) -> bool:
        """Whether one of the sources may be what was read: an id from before, or the number of a message."""
        return any(isinstance(source, str) or 1 <= source <= len(self._messages) for source in sources)

    def demanded(self, text: str, numbers: Iterable[int]) -> tuple[int, ...] | None:
        """The messages in which people said it: of those numbers if possible, since models cite what they like.

        Empty where it is known from before; None where nobody said it.
        """
        for number in (_DEMANDED, *self._people(numbers), _ALL):
            if self._speech_of(number, by_people=True).holds(text):
                return (number,) if number > 0 else tuple(self._people(numbers)) if number == _ALL else ()
        return None

    def quoted(self, text: str, numbers: Iterable[int], share: float) -> tuple[str, int] | None:
        """The sentence of a person that has at least this share of the text's words, and the number of its message."""
        for number in self._people(numbers):
            if said := self._speech_of(number, by_people=True).nearest(text, share):
                return said, number
        return None

    def spoken(self, text: str, share: float) -> bool:
        """Whether people or the assistant said something like it; what a tool answered is nobody's speech."""
        speeches = (self._speech_of(number, by_people=False) for number in (_DEMANDED, _ALL))
        return any(speech.nearest(text, share) for speech in speeches)

    def _people(self, numbers: Iterable[int]) -> Iterator[int]:
        """The numbers of the messages that people wrote, these first."""
        return iter(dict.fromkeys((*(number for number in numbers if number in self._written), *self._written)))

    @cached_property
    def _written(self) -> dict[int, None]:
        return dict.fromkeys(at for at, message in enumerate(self._messages, 1) if by_person(message))

    def _speech_of(self, number: int, *, by_people: bool) -> Speech:
        found = self._speeches.get((number, by_people))
        if found is None:
            if number == _DEMANDED:
                text = self._demanded
            elif number == _ALL:
                text = "\n".join(_spoken(message, by_people=by_people) for message in self._messages)
            else:
                text = _spoken(self._messages[number - 1], by_people=by_people)
            found = self._speeches[number, by_people] = Speech(text)
        return found

    def _occurs(self, kind: Kind, text: str) -> bool:
        if kind is Kind.NUMBER:
            return self._counts(text)
        if kind not in _CHECKED:
            return True
        name = text.casefold()
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = name in self._names or self._stands(name)
        return known

    def _counts(self, number: str) -> bool:
        figure = _FIGURE.search(number)
        # Up to nine things a summarizer may have counted itself.
        return figure is None or len(figure[0]) == 1 or figure[0].replace(",", "") in self._figures

    def _stands(self, name: str) -> bool:
        """Whether the name stands somewhere by itself, and not as a part of a longer word.

        A hash may be shortened, and a version lose its "v".
        """
        at = self._pool.find(name)
        whole = _HEX.fullmatch(name) is None
        while at >= 0:
            end = at + len(name)
            start = at - 1 if name[0].isdigit() and self._pool[at - 1] == "v" else at
            if not (_joins(self._pool[start - 1 : start]) or (whole and _joins(self._pool[end : end + 1]))):
                return True
            at = self._pool.find(name, end)
        return False

    @cached_property
    def _chunks(self) -> tuple[str, ...]:
        """Everything between blanks, each once: far less than the whole, and all of it."""
        chunks: dict[str, None] = {}
        arguments = (text for message in self._messages if message.calls for _, text in message_texts(message))
        for text in (*self._read, self._demanded, *arguments):
            lower = text.casefold()
            chunks.update(dict.fromkeys(lower.split()))
            if "\\" in lower:
                chunks.update(dict.fromkeys(_ESCAPED.sub(" ", lower).split()))
        return tuple(chunks)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(chunk.strip(_EDGES) for chunk in self._chunks)

    @cached_property
    def _pool(self) -> str:
        return "\n".join(("", *self._chunks, ""))

    @cached_property
    def _figures(self) -> frozenset[str]:
        figures: set[str] = set()
        for chunk in self._chunks:
            for figure in _FIGURE.findall(chunk):
                figures.add(figure.replace(",", ""))
                figures.update(_DIGITS.findall(figure))
        return frozenset(figures)


def by_person(message: Message) -> bool:
    """Whether a person wrote it: a summary may have had to take the user's role."""
    return message.from_user and not is_summary(message)


def _spoken(message: Message, *, by_people: bool) -> str:
    speaks = by_person(message) or (not by_people and message.role == "assistant")
    if not speaks or is_summary(message):
        return ""
    return users_own(message.text) if message.role == "user" else message.text


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
