"""What stood in a world's conversation: the lines of each role, and which message holds which result."""

from __future__ import annotations

import re
from functools import lru_cache

from compact.testing.worlds.lexicon import SPACELESS
from compact.testing.worlds.passages import Line, Passage, read_messages
from compact.testing.worlds.truth import Truth, World

SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？؟])\s*")  # noqa: RUF001 - the marks themselves
_ENDS = ".!?。！？؟"  # noqa: RUF001
_SHORTEST_LAST = 8
"""Letters of a last sentence that cannot be a mere no before something else."""
_BULLET = re.compile(r"^\s*(?:[-*•·‣–>]|\d{1,3}[.)])\s+")


class Originals:
    """The words of a conversation, by role."""

    def __init__(self, world: World) -> None:
        self.passages: set[tuple[str, str, str]] = set()
        self._lines: dict[tuple[str, str], set[str]] = {}
        self._sentences: dict[tuple[str, str], set[str]] = {}
        self.results: dict[str, int] = {}
        """The message of each result, by the id of its call."""
        self._texts: dict[tuple[str, str], list[str]] = {}
        self._messages = world.messages
        self._beside: dict[str, set[str]] = {}
        self._said: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._last: dict[str, tuple[str, ...]] = {}
        for passage in read_messages(world.messages):
            key = (passage.role, passage.kind)
            self.passages.add((*key, passage.text))
            self._texts.setdefault(key, []).append(passage.text)
            if passage.kind == "result":
                self.results[passage.call] = passage.message

    def holds(self, passage: Passage, text: str) -> bool:
        """Whether the role said this, word for word: the line, or each of its sentences."""
        if "\n" in text:
            return any(text in said for said in self._texts.get((passage.role, passage.kind), ()))
        lines, sentences = self._words((passage.role, passage.kind))
        bare = unlisted(text)
        if text.strip() in lines or bare in lines:
            return True
        return all(part.strip() in sentences for part in SENTENCE.split(bare) if part.strip())

    def quotes(self, role: str, text: str) -> bool:
        """Whether the text, in lower case, is quoted from one message of the role; whole lines may be left out."""
        if role not in self._said:
            said = self._texts.get((role, "text"), ())
            lines = [[" ".join(line.split()) for line in each.lower().split("\n")] for each in said]
            self._said[role] = [(" ".join(filter(None, each)), tuple(filter(None, each))) for each in lines]
        quote = " ".join(text.split())
        return any(quote in whole or _is_made_of(quote, lines) for whole, lines in self._said[role])

    def ends_line(self, role: str, text: str) -> bool:
        """Whether the text, in lower case, ends as a line of the role does that has no mark at its end.

        Where lines are quoted as one, what follows it begins a sentence, though nothing shows it.
        """
        if role not in self._last:
            lines, _ = self._words((role, "text"))
            last = {" ".join(SENTENCE.split(line)[-1].lower().split()) for line in lines if line[-1:] not in _ENDS}
            self._last[role] = tuple(each for each in last if _weight(each) >= _SHORTEST_LAST)
        said = " ".join(text.split())
        return any(said.endswith(each) and not said[-len(each) - 1 : -len(each)].isalnum() for each in self._last[role])

    def beside(self, truth: Truth) -> set[str]:
        """The other sentences of the message that made a request: none of them tells what became of it."""
        if truth.id not in self._beside:
            said = [passage.text for passage in read_messages(self._messages[truth.said : truth.said + 1])]
            lines = [line for text in said for line in text.replace(truth.text, "\n").lower().split("\n")]
            parts = {part.strip() for line in lines for part in SENTENCE.split(line)}
            self._beside[truth.id] = parts - {""}
        return self._beside[truth.id]

    def original(self, passage: Passage, line: Line) -> bool:
        """Whether the line and all that governs it are the role's own words."""
        return self.holds(passage, line.text) and all(self.holds(passage, head) for head in line.heads)

    def _words(self, key: tuple[str, str]) -> tuple[set[str], set[str]]:
        if key not in self._lines:
            lines = {line.strip() for text in self._texts.get(key, ()) for line in text.split("\n")}
            lines |= {unlisted(line) for line in lines}
            self._lines[key] = lines
            self._sentences[key] = {part.strip() for line in lines for part in SENTENCE.split(line)}
        return self._lines[key], self._sentences[key]


def _weight(text: str) -> int:
    """The letters of a text; a Chinese or Japanese one says as much as two others."""
    return len(text) + len(SPACELESS.findall(text))


def _is_made_of(quote: str, lines: tuple[str, ...]) -> bool:
    """Whether the quote is some of the lines, in their order."""
    for line in lines:
        if quote and line.startswith(quote):
            return True
        if quote.startswith(line):
            quote = quote[len(line) :].lstrip()
    return not quote


def unlisted(line: str) -> str:
    """The line without the mark of a list."""
    return _BULLET.sub("", line).strip()


@lru_cache(maxsize=16)
def originals_of(world: World) -> Originals:
    """The words of the world's conversation."""
    return Originals(world)
