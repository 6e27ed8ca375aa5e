"""What a summary rests on: the names and numbers of its sources, what stands beside what, and who said it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from math import log
from typing import Literal, NamedTuple, TypeAlias

from compact.history.outcomes.answers import refused
from compact.messages import Message, Reasoning, Speaker, Text, ToolResult, body_of, is_summary, message_texts, spoken
from compact.summaries.accounts import UNVERIFIED
from compact.summaries.model.bindings import Bindings, Passage
from compact.summaries.model.files import FileIndex, files_of
from compact.summaries.model.records import Records
from compact.summaries.model.words import (
    COMMON,
    CUT,
    FIGURE,
    FILE,
    PARTS,
    WORD,
    digits,
    fold,
    is_capitalized,
    is_name,
    normal,
    plain,
    quotations,
    stem,
    words,
)

Voice: TypeAlias = Literal["user", "assistant", "tool"]

_PIECES = re.compile(rf"{CUT.pattern}|\s/\s")
_UNITS = frozenset({"kib", "mib", "gib", "tib"})
_LABEL = re.compile(r"[a-z]\d")
_ALL = re.compile(r"\b(?:all|the other) \Z", re.IGNORECASE)
"""What stands before the number of things that were counted."""
_QUANTITY = re.compile(r"(\d[\d.,]*)(?:-?[^\W\d_]+)*")
_EXACT = re.compile(r"(?<![\w-])--[a-z][\w-]+|(?<![\w&])#\d{1,9}\b|(?<!without )(?<!no )`[A-Za-z0-9_-]{4,80}`")
"""What is copied letter by letter, or not at all: options, numbers of issues, one word of code."""
_PROSE_IN_CODE = re.compile(
    r"`(?=(?:[^`\n]* ){2})(?:[A-Za-z]\w*: )?[A-Za-z][a-z']*(?:[ ,:;.]+(?:\w+|'[^'`\n]*'))*[.!]?`"
)
"""A message that a program wrote, or a command in plain words: it is quoted, though it stands in no quotation marks."""
_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?!\d)")
_MESSAGES = re.compile(r"\bmessages?\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[{【][\s#,;&\d–-]+[)\]}】]")
_CLAUSES = re.compile(r"[;,—]\s|[.!?]\s|\n|\s(?:and|while|but|only|instead|–)\s")
_NOT = re.compile(
    r"\b(?:please |you )?(?:do not|must not|never|not|no|without|avoid\w*|forbid\w*|prohibit\w*)\b"
    r"|\b(?:please )?(?:do|must|should)n'?t\b|\b(?:nicht|nie|niemals|keine?|pas|jamais|nunca|não|non|mai)\b"
    r"|\b(?:не|никогда|нельзя)\b|不|别|勿|ない",
    re.IGNORECASE,
)
_OBJECT = re.compile(r'(?:"[^"{}]{1,80}"\s*:\s*)?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}')
_SENTENCE = re.compile(r"(?<=[.!?;。])\s*")
_LONGEST_RECORD = 300
_UNVERIFIED, _UNCONFIRMED = "(unverified)", "(unconfirmed: "
_RESULT = re.compile(r"(?<!user)(?<!assistant)(?<![)])(?<=\S): (?:\"(?P<words>[^\"]*)\"|“(?P<code>[^”]*)”)")
"""What an account quotes behind a call; what a person said stands behind their name."""
_BINDING = (Speaker.PERSON, Speaker.RULES, Speaker.COMMAND)
"""Whose words in the user's role may demand something."""
_ANYTHING = frozenset(words("changes anything files code things work"))
"""What a prohibition may be about that is about everything."""
_SPEAKERS: tuple[Voice, ...] = ("user", "assistant")
_SPACING = re.compile(r"[\W_]+")
_UNSPACED_SCRIPT = re.compile(r"[\x00-\u024f]")
_SHORTEST = 4
"""Spaces that a sentence has at least."""
_LONGEST_WORD = 15
_NEAR = 3
"""Lines around a line that belong to it."""
_FREQUENT = 200
"""A word that occurs more often is near to everything."""
_OWN = 0.1
"""What a word that occurs nowhere counts for: it is how the model puts it."""
_INVENTED = 0.4
"""What it counts for where no word may be put into a mouth, by that of a word that occurs once."""


class Told(NamedTuple):
    """Who wrote a text, the text, and the files that it was about where a call wrote or read it."""

    speaker: str
    text: str
    files: tuple[str, ...] = ()


class Sources:
    """What a summarizer has read; asked about what it wrote.

    `beside` are texts that it read beside the messages, such as an earlier summary.
    """

    def __init__(self, messages: Sequence[Message], beside: Iterable[str] = ()) -> None:
        self._messages = messages
        self._beside = tuple(map(plain, beside))

    def unknown(self, text: str, *, capitals: bool = True) -> list[str]:
        """The names, numbers and quotations of a statement that occur nowhere in the sources.

        `capitals` says whether a word with a capital is a name. Numbers of messages are no facts.
        """
        quoted = list(quotations(plain(text)))
        text = _IN_BRACKETS.sub(lambda found: " " if self._are_messages(found[0]) else found[0], plain(text))
        numbers_messages = _MESSAGES.search(text) is not None
        found = []
        for word in WORD.finditer(CUT.sub(" ", text)):
            name = normal(word[0])
            if name in _UNITS:
                continue
            if is_name(word[0]):
                counted = _ALL.search(text, 0, word.start()) and len(name) < 3 and name.isdigit()
                if not counted and not (numbers_messages and self._are_messages(name)) and not self._occurs(name):
                    found.append(word[0])
            elif capitals and len(name) > 2 and name.isascii() and is_capitalized(word) and not self.knows(name):
                found.append(word[0])
        found += [exact for exact in _EXACT.findall(text) if exact.strip("`").lower() not in self._text]
        quoted += [code.strip("`") for code in _PROSE_IN_CODE.findall(text)]
        return found + [words for words in quoted if not self._stands(words, self._text)]

    def knows(self, word: str) -> bool:
        """Whether the word occurs, with whatever ending."""
        return not {normal(word), stem(normal(word))}.isdisjoint(self._vocabulary)

    def lacking(self, among: set[str]) -> set[str]:
        """Those of the words that occur nowhere."""
        return {word for word in among if word not in self._places}

    def support(self, text: str, *by: Voice, near: int = _NEAR, strict: bool = False) -> float:
        """How much of a statement one passage of these speakers has, from 0 to 1; rare words count for more.

        `near` is how many lines around a line are one passage with it. Words that occur nowhere count for little, save
        where it is `strict`.
        """
        text = plain(text)
        quoted = list(quotations(text))
        if any(self._stands(one, self._said[speaker]) for one in quoted for speaker in by):
            return 1.0
        own = _INVENTED * log(1 + len(self._passages) / 2) if strict else _OWN
        weights = {word: self._weight(word) if word in self._places else own for word in words(text)}
        everywhere = 0.0
        reached: defaultdict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            places = sorted(chain.from_iterable(self._spoken[speaker].get(word, ()) for speaker in by))
            if len(places) > _FREQUENT:
                everywhere += weight
                continue
            end = 0
            for place in places:
                for at in range(max(end, place - near), place + near + 1):
                    reached[at] += weight
                end = place + near + 1
        whole = sum(weights.values())
        return (everywhere + max(reached.values(), default=0.0)) / whole if whole else 1.0

    def forbid(self, demand: str, *, anywhere: bool = False) -> bool:
        """Whether a person said what the demand begins with, or says `anywhere`, and said not to."""
        wanted = list(words(plain(demand)))
        if not wanted or _NOT.search(demand):
            return False
        begins = set(wanted) if anywhere else {wanted[0]}
        return any(verb in begins and set(rest) - _ANYTHING <= set(wanted) for verb, *rest in self._forbidden)

    def contain(self, line: str, *by: Voice) -> bool:
        """Whether this was read, word by word; or said, where it is asked who said it."""
        texts = [self._said[speaker] for speaker in by] if by else [self._text]
        return any(self._stands(plain(line), text) for text in texts)

    def copied(self, text: str) -> bool:
        """Whether the text is a sentence of a tool, word for word, that neither a person nor the model said."""
        found = _unspaced(plain(text))
        return (
            (is_sentence(text) or self.joins(text))
            and found in self._unspaced["tool"]
            and not any(found in self._unspaced[speaker] for speaker in _SPEAKERS)
        )

    def joins(self, text: str) -> bool:
        """Whether the text has a long word that occurs nowhere: several words, from which somebody took the spaces."""
        return any(
            len(word) > _LONGEST_WORD and word.isalpha() and normal(word) not in self._vocabulary
            for word in WORD.findall(plain(text))
        )

    def writes(self, word: str) -> bool:
        """Whether the word stands somewhere as it is written."""
        return any(word in told.text for told in self._texts)

    def quotes_others(self, text: str) -> bool:
        """Whether the statement quotes something that stands in the sources, but that no person said."""
        quoted = list(quotations(plain(text)))
        return bool(quoted) and not any(self._stands(one, self._said["user"]) for one in quoted)

    @property
    def speech(self) -> Iterator[str]:
        """What people and the model said."""
        return (told.text for told in self._texts if told.speaker in _SPEAKERS)

    def _are_messages(self, numbers: str) -> bool:
        found = re.findall(r"\d+", numbers)
        return bool(found) and all(int(one) <= len(self._messages) for one in found)

    def _weight(self, word: str) -> float:
        return log(1 + len(self._passages) / (1 + len(self._places[word]))) if word in self._places else _OWN

    def _occurs(self, name: str) -> bool:
        if name in self._vocabulary or _LABEL.fullmatch(name):
            return True
        if quantity := _QUANTITY.fullmatch(name):
            return self._is_counted(quantity[1])
        if self._begins_word(name):
            return True
        folder, _, base = name.rpartition("/")
        if FILE.fullmatch(base):
            return base in self._vocabulary and self._is_folder(folder.rpartition("/")[2])
        parts = [part for part in PARTS.split(name) if part]
        if all(map(str.isdecimal, parts)):
            return all(map(self._is_counted, parts))
        return len(parts) > 1 and all(
            len(part) == 1 or self.knows(part) or part in COMMON or digits(part) in self._figures for part in parts
        )

    def _is_folder(self, name: str) -> bool:
        return not name or f"{name}/" in self._text or f"/{name}" in self._text

    def _is_counted(self, figure: str) -> bool:
        """Whether the number occurs, or is so small that anybody may have counted; 3,4 may be two of them."""
        return digits(figure) in self._figures or all(
            len(part) < 2 or part in self._figures for part in figure.split(",")
        )

    def _begins_word(self, name: str) -> bool:
        """Whether a word begins with it: the short form of a hash, a name with something behind it."""
        at = self._text.find(name)
        while at > 0 and self._text[at - 1].isalnum():
            at = self._text.find(name, at + 1)
        return at >= 0

    def _stands(self, quoted: str, text: str) -> bool:
        """Whether a quotation stands in the text, piece by piece where something was left out of it."""
        return all(fold([piece]).strip(" .,;:!?") in text for piece in _PIECES.split(quoted))

    @cached_property
    def _texts(self) -> list[Told]:
        texts: list[Told] = []
        files: dict[str, tuple[str, ...]] = {}
        for message, passages in zip(self._messages, spoken(self._messages), strict=True):
            if is_summary(message):
                texts += [Told(speaker, plain(text)) for speaker, text in _told_in(body_of(message))]
                continue
            own = message.role
            files |= {call.id: files_of(call) for call in message.calls}
            if own == "user":
                told = (("user" if one.speaker in _BINDING else "tool", one.text) for one in passages)
                texts += [Told(speaker, plain(text)) for speaker, text in told]
            for where, text in message_texts(message):
                block = message.blocks[where.block]
                if not isinstance(block, Text):
                    call = getattr(block, "call_id", "") or getattr(block, "id", "")
                    texts.append(Told("tool", plain(text), files.get(call, ())))
                    flagged = isinstance(block, ToolResult) and block.error  # else a page may have written it
                    if flagged and (answer := refused(text)) and answer.text:
                        texts.append(Told("user", plain(answer.text)))
                elif own != "user":
                    texts.append(Told("assistant" if own == "assistant" else "tool", plain(text)))
            thoughts = (block.text for block in message.blocks if isinstance(block, Reasoning))
            texts += [Told("assistant", plain(text)) for text in thoughts if text]
            texts += [Told("tool", f"{call.name} {call.name.replace('_', ' ')}") for call in message.calls]
        return [*texts, *(Told(*one) for one in chain.from_iterable(map(_told_in, self._beside)))]

    @cached_property
    def _text(self) -> str:
        return fold(told.text for told in self._texts)

    @cached_property
    def _said(self) -> dict[str, str]:
        """What each of the speakers said."""
        return {one: fold(told.text for told in self._texts if told.speaker == one) for one in (*_SPEAKERS, "tool")}

    @cached_property
    def _unspaced(self) -> dict[str, str]:
        """The same without spaces and marks, which may get lost where something is copied."""
        return {speaker: _unspaced(text) for speaker, text in self._said.items()}

    @cached_property
    def _forbidden(self) -> list[list[str]]:
        """The words of each clause in which a person says not to do something."""
        clauses = (clause for told in self._texts if told.speaker == "user" for clause in _CLAUSES.split(told.text))
        found = (list(words(_NOT.sub(" ", clause))) for clause in clauses if _NOT.search(clause))
        return [clause for clause in found if len(clause) > 1]

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        known: set[str] = set()
        for chunk in set(self._text.split()):
            for word in WORD.findall(chunk):
                name = normal(word)
                known |= {name, stem(name), *PARTS.split(name), name.rpartition("/")[2]}
        for year, month, day in set(_DATE.findall(self._text)):
            try:
                known |= set(date(int(year), int(month), int(day)).strftime("%A %B %a %b").casefold().split())
            except ValueError:
                continue
        return frozenset(known)

    @cached_property
    def _figures(self) -> frozenset[str]:
        return frozenset(map(digits, FIGURE.findall(self._text)))

    @cached_property
    def bindings(self) -> Bindings:
        """Which words each value and name stands beside."""
        return Bindings(self._passages, self._places, self._weight)

    @cached_property
    def file_index(self) -> FileIndex:
        """Which files each name stands in."""
        return FileIndex(self._passages, self._places)

    @cached_property
    def records(self) -> Records:
        """What the data says of each thing."""
        return Records(self._passages)

    @cached_property
    def _indexed(self) -> tuple[list[Passage], dict[str, dict[str, list[int]]]]:
        """Each line, sentence or object, and by who wrote it where each word stands."""
        passages: list[Passage] = []
        places: dict[str, dict[str, list[int]]] = {speaker: defaultdict(list) for speaker in (*_SPEAKERS, "tool")}
        for speaker, text, files in self._texts:
            own = places[speaker]
            for passage in _passages(text):
                found = set(words(passage))
                for word in found:
                    own[word].append(len(passages))
                passages.append(Passage(passage, speaker, found, files))
            # What is near in one text is not near in the next.
            passages += [Passage("", speaker, ())] * _NEAR
        return passages, places

    @property
    def _passages(self) -> list[Passage]:
        return self._indexed[0]

    @property
    def _spoken(self) -> dict[str, dict[str, list[int]]]:
        return self._indexed[1]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word stands, whoever wrote it."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for own in self._spoken.values():
            for word, found in own.items():
                places[word] += found
        return dict(places)


def _unspaced(text: str) -> str:
    return _SPACING.sub("", text.casefold())


def is_sentence(text: str) -> bool:
    """Whether a text is long enough to be a sentence, in whatever script."""
    return text.strip().count(" ") >= _SHORTEST or len(_UNSPACED_SCRIPT.sub("", text)) > 2 * _SHORTEST


def _told_in(account: str) -> Iterator[tuple[str, str]]:
    """The lines of an account: the assistant's, save what they call unconfirmed and what they quote of a result.

    What is indented belongs to the line above.
    """
    unverified = doubted = False
    for line in account.splitlines():
        unverified = _UNVERIFIED in line if line.startswith("#") else unverified
        marked = _UNCONFIRMED in line or line.startswith(f"- {UNVERIFIED}")
        doubted = marked or (doubted and line[:1].isspace())
        if unverified or doubted:
            yield "tool", line
            continue
        yield "assistant", _RESULT.sub(" ", line)
        yield from (("tool", found["words"] or found["code"] or "") for found in _RESULT.finditer(line))


def _passages(text: str) -> Iterator[str]:
    """The lines of a text, the sentences of long ones, and the objects of JSON."""
    if '{"' in text or '": ' in text:
        yield from (found[0] for found in _OBJECT.finditer(text))
    for line in filter(str.strip, text.split("\n")):
        yield from (line,) if len(line) <= _LONGEST_RECORD else filter(None, _SENTENCE.split(line))
