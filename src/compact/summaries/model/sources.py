"""What a summary rests on: the names and numbers of its sources, what stands beside what, and who said it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, product
from math import log

from compact.messages import Message, Speaker, Text, is_summary, message_texts, spoken

_WORD = re.compile(r"[^\W_](?:[\w./@#$+~'-]*\w)?|#\d+|__\w+")
_EDGES = ".'-/~+$@"
_PARTS = re.compile(r"[^\w.]+|(?<=[^\W\d])\.|\.(?=[^\W\d])")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_FILE = re.compile(r"[\w.+-]+\.[A-Za-z]\w{0,5}")
_LABEL = re.compile(r"[a-z]\d")
_MESSAGES = re.compile(r"\bmessages?\b", re.IGNORECASE)
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e|ly)\Z")
_OPENS = frozenset('.:"“-*;!?(/`')
_TYPOGRAPHY = str.maketrans({"’": "'", "\u2018": "'", "“": '"', "”": '"', "\u2011": "-", "\u2010": "-", "\u00a0": " "})
_SET_IN = str.maketrans("", "", "\"'`*")
_ESCAPED = re.compile(r"\\[ntr]")
_QUOTED = re.compile(r'"([^"\n]{8,})"')
_CODE = re.compile(r"`[^`\n]*`")
_CUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
_CLAUSES = re.compile(r"[;,—]\s|\.\s|\s(?:and|while|but|only|instead|–)\s")
_OBJECT = re.compile(r'(?:"[^"{}]{1,80}"\s*:\s*)?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}')
_SENTENCE = re.compile(r"(?<=[.!?;。！？])\s*")  # noqa: RUF001 - Chinese and Japanese end sentences with these
_LONGEST_RECORD = 300
_NEAR = 3
"""Lines around a line that belong to it."""
_SWAPPED = 0.3
"""How much better values must fit the other way round."""
_COMMON_WORDS = """
the a an and or but if then than that this these those there here with from into of to for in on at by as is are
was were be been being has have had do does did done it its they them their he him his she her we us our you
your i my me not no nor so such also only just any all each both more most other which who what when where why
how while until before after about over under again still yet up down out very can could may might must shall
should will would user users wants want wanted asks asked ask requests requested said says
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Sources:
    """What a summarizer has read; asked about what it wrote.

    `beside` are texts that it read beside the messages, such as an earlier summary.
    """

    def __init__(self, messages: Sequence[Message], beside: Iterable[str] = ()) -> None:
        self._messages = messages
        self._beside = tuple(map(_plain, beside))

    def unknown(self, text: str) -> list[str]:
        """The names and numbers of a statement that occur nowhere in the sources."""
        text = _plain(text)
        numbers_messages = _MESSAGES.search(text) is not None
        found = []
        for word in _WORD.finditer(_CUT.sub(" ", text)):
            name = _normal(word[0])
            if _is_name(word[0]):
                counted = numbers_messages and name.isdecimal() and int(name) <= len(self._messages)
                if not counted and not self._occurs(name):
                    found.append(word[0])
            elif _is_proper(word, text) and not {name, _stem(name)} & self._vocabulary:
                found.append(word[0])
        found += [quoted for quoted in _quotations(text) if not self._stands(quoted, self._text)]
        return found

    def swapped(self, text: str) -> tuple[str, str] | None:
        """Two values of a statement that stand beside the other's words in the sources, and not beside their own."""
        clauses = [words for clause in _CLAUSES.split(_plain(text)) if (words := set(_words(clause)))]
        for one, other in combinations(clauses, 2):
            firsts, seconds = self._values(one - other), self._values(other - one)
            own, others = one - other - set(firsts), other - one - set(seconds)
            for first, second in product(firsts, seconds):
                if self._fits(first, others) >= self._fits(first, own) + _SWAPPED and (
                    self._fits(second, own) >= self._fits(second, others) + _SWAPPED
                ):
                    return first, second
        return None

    def support(self, text: str, *, by_person: bool) -> float:
        """How much of a statement one passage of what was said has, from 0 to 1; rare words count for more."""
        text = _plain(text)
        said = self._asked if by_person else self._said
        quoted = list(_quotations(text))
        if quoted and any(self._stands(one, said) for one in quoted):
            return 1.0
        words = set(_words(text))
        whole = sum(map(self._weight, words))
        reached: defaultdict[int, float] = defaultdict(float)
        for word in words:
            around = {
                at
                for place in self._places.get(word, ())
                if self._speakers[place] == "user" or (not by_person and self._speakers[place] == "assistant")
                for at in range(place - _NEAR, place + _NEAR + 1)
            }
            for at in around:
                reached[at] += self._weight(word)
        return max(reached.values(), default=0.0) / whole if whole else 1.0

    def contain(self, line: str) -> bool:
        """Whether this was read, word by word."""
        return self._stands(line, self._text)

    def quotes_others(self, text: str) -> bool:
        """Whether the statement quotes something that stands in the sources, but that no person said."""
        quoted = list(_quotations(_plain(text)))
        return bool(quoted) and not any(self._stands(one, self._asked) for one in quoted)

    def _values(self, words: set[str]) -> list[str]:
        return [word for word in words if word in self._places and any(map(str.isdigit, word))]

    def _fits(self, value: str, words: set[str]) -> float:
        """The share of the words that a line with the value has at best."""
        others = words - {value}
        whole = sum(map(self._weight, others))
        if not whole:
            return 0.0
        return max(sum(self._weight(word) for word in others & self._records[at]) for at in self._places[value]) / whole

    def _weight(self, word: str) -> float:
        return log(1 + len(self._records) / (1 + len(self._places[word]))) if word in self._places else 0.5

    def _occurs(self, name: str) -> bool:
        if name in self._vocabulary or name in self._text or _LABEL.fullmatch(name):
            return True
        if _FIGURE.fullmatch(name):
            figure = name.replace(",", "")
            return len(figure) == 1 or figure in self._figures or figure.rstrip("0").rstrip(".") in self._figures
        base = name.rpartition("/")[2]
        if _FILE.fullmatch(base):
            return base in self._vocabulary
        parts = [part for part in _PARTS.split(name) if part]
        return len(parts) > 1 and all(part in self._vocabulary or part in self._figures for part in parts)

    def _stands(self, quoted: str, text: str) -> bool:
        """Whether a quotation stands in the text, piece by piece where something was left out of it."""
        return all(_folded([piece]).strip(" .,;:!?") in text for piece in _CUT.split(quoted))

    @cached_property
    def _texts(self) -> list[tuple[str, str]]:
        """Who wrote it, and what."""
        texts = []
        for message, passages in zip(self._messages, spoken(self._messages), strict=True):
            own = "assistant" if is_summary(message) else message.role
            if own == "user":
                told = (("user" if one.speaker is Speaker.PERSON else "tool", one.text) for one in passages)
                texts += [(speaker, _plain(text)) for speaker, text in told]
            for where, text in message_texts(message):
                if not isinstance(message.blocks[where.block], Text):
                    texts.append(("tool", _plain(text)))
                elif own != "user":
                    texts.append(("assistant" if own == "assistant" else "tool", _plain(text)))
            texts += [("tool", call.name) for call in message.calls]
        return [*texts, *(("assistant", text) for text in self._beside)]

    @cached_property
    def _text(self) -> str:
        return _folded(text for _, text in self._texts)

    @cached_property
    def _asked(self) -> str:
        return _folded(text for speaker, text in self._texts if speaker == "user")

    @cached_property
    def _said(self) -> str:
        return _folded(text for speaker, text in self._texts if speaker in ("user", "assistant"))

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        words: set[str] = set()
        for chunk in set(self._text.split()):
            for word in _WORD.findall(chunk):
                name = _normal(word)
                words |= {name, _stem(name), *_PARTS.split(name), name.rpartition("/")[2]}
        return frozenset(words)

    @cached_property
    def _figures(self) -> frozenset[str]:
        return frozenset(figure.replace(",", "").rstrip(".") for figure in _FIGURE.findall(self._text))

    @cached_property
    def _indexed(self) -> tuple[list[set[str]], list[str], dict[str, list[int]]]:
        """The words of each line, sentence or object, who wrote it, and where each word stands."""
        records: list[set[str]] = []
        speakers: list[str] = []
        places: defaultdict[str, list[int]] = defaultdict(list)
        for speaker, text in self._texts:
            for record in _passages(text):
                words = set(_words(record))
                for word in words:
                    places[word].append(len(records))
                records.append(words)
                speakers.append(speaker)
            # What is near in one text is not near in the next.
            records += [set()] * _NEAR
            speakers += [""] * _NEAR
        return records, speakers, dict(places)

    @property
    def _records(self) -> list[set[str]]:
        return self._indexed[0]

    @property
    def _speakers(self) -> list[str]:
        return self._indexed[1]

    @property
    def _places(self) -> dict[str, list[int]]:
        return self._indexed[2]


def _plain(text: str) -> str:
    return _ESCAPED.sub("\n", text.translate(_TYPOGRAPHY)).replace('\\"', '"')


def _folded(texts: Iterable[str]) -> str:
    """The texts as one line that quotations are looked for in, whatever they are set in."""
    return " ".join(chain.from_iterable(text.casefold().translate(_SET_IN).split() for text in texts))


def _normal(word: str) -> str:
    name = word.casefold().strip(_EDGES)
    return name.removesuffix("'s")


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if word.isalpha() else word


def _is_name(word: str) -> bool:
    """Whether a word is written like a name of something: with figures, joined by signs, or with capitals inside."""
    bare = word.strip(_EDGES)
    return (
        any(map(str.isdigit, bare))
        or "_" in bare
        or "/" in bare
        or re.search(r"\w\.\w", bare) is not None
        or re.search(r"[a-z][A-Z]", bare) is not None
    )


def _is_proper(word: re.Match[str], text: str) -> bool:
    """Whether a word is a proper noun: capitalized where no sentence begins."""
    before = text[: word.start()].rstrip()
    return len(word[0]) > 2 and word[0].istitle() and word[0].isascii() and bool(before) and before[-1] not in _OPENS


def _words(text: str) -> Iterator[str]:
    """The words of a text as they are compared, without the commonest; names also in parts."""
    for word in _WORD.findall(text):
        name = _normal(word)
        if name in _COMMON:
            continue
        yield _stem(name)
        if _is_name(word):
            yield from (_stem(part) for part in _PARTS.split(name) if part and part not in _COMMON)
            yield from (figure.replace(",", "") for figure in _FIGURE.findall(name))


def _passages(text: str) -> Iterator[str]:
    """The lines of a text, the sentences of long ones, and the objects of JSON."""
    if '{"' in text or '": ' in text:
        yield from (found[0] for found in _OBJECT.finditer(text))
    for line in filter(str.strip, text.split("\n")):
        yield from (line,) if len(line) <= _LONGEST_RECORD else filter(None, _SENTENCE.split(line))


def _quotations(text: str) -> Iterator[str]:
    """What a statement quotes, where that is more than a word or two."""
    within = _CODE.sub(lambda code: code[0].replace('"', "'"), text)
    return (quoted for quoted in _QUOTED.findall(within) if quoted.count(" ") > 1)
