"""A line as a judge of one truth sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from compact.testing.worlds.lexicon import Lexicon
from compact.testing.worlds.mentions import Mention, Names, label_before, same_segment, sentence_start
from compact.testing.worlds.truth import Truth

_WORD = re.compile(r"[^\W\d_]{4,}")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")

ENDS = ".!?。！？؟"  # noqa: RUF001 - as they are written
"""What ends a sentence."""


@dataclass(frozen=True, slots=True)
class View:
    """One mention of a truth in its line, everything in lower case."""

    mention: Mention
    mentions: list[Mention]
    line: str
    clean: str
    """The line without names."""
    heads: tuple[str, ...]
    below: str
    """Lines that belong to this one and name nothing themselves."""
    role: str
    lexicon: Lexicon
    meant: set[str]
    """Words that an order consists of."""
    ends_line: Callable[[str], bool]
    """Whether words of the speaker end here as a line of theirs does that has no mark at its end."""

    @property
    def truth(self) -> Truth:
        """What is spoken of."""
        return self.mention.truth

    @property
    def own(self) -> str:
        """The part of the line that belongs to the mention, without names."""
        return self.clean[self.mention.first : self.mention.last]

    @property
    def verbatim(self) -> bool:
        """Whether the truth is quoted word for word, and not as the end of another sentence: `do not` before it.

        What ends its sentence need not be there: an item of a list may end with a semicolon.
        """
        text = self.truth.text.lower().rstrip(ENDS)
        at = self.line.find(text, max(0, self.mention.start - len(text)))
        return 0 <= at <= self.mention.start and self.begins_at(at)

    def begins_at(self, place: int) -> bool:
        """Whether a sentence can begin there."""
        before = self.line[:place].rstrip()
        return not before[-1:].isalnum() or (before != self.line[:place] and self.ends_line(before))

    @property
    def said(self) -> str:
        """The own part behind its label, without names."""
        label = label_before(self.clean, self.mention.start)
        at = self.clean.rfind(label, 0, self.mention.start) + len(label) if label else 0
        return " " * max(0, at - self.mention.first) + self.clean[max(at, self.mention.first) : self.mention.last]

    @property
    def label(self) -> str:
        """The label that the mention stands behind."""
        return label_before(self.clean, self.mention.start)

    def without(self, *texts: str, labelled: bool = True) -> str:
        """The own part without these texts, at the same length; if wanted, without its label, too."""
        line = self.clean if labelled else " " * self.mention.first + self.said
        for text in texts:
            wanted = text.lower().strip(" .!?。！？؟")  # noqa: RUF001 - the marks themselves
            at = self.line.find(wanted) if wanted else -1
            if at >= 0:
                line = line[:at] + " " * len(wanted) + line[at + len(wanted) :]
        return line[self.mention.first : self.mention.last]

    @property
    def sentence(self) -> int:
        """Where the sentence begins that names the truth."""
        return sentence_start(self.line, self.mention.start)

    def neighbours(self) -> list[Mention]:
        """Other mentions in the same part of a sentence, the nearest before it first, then those after it."""
        here = self.mention
        before = [each for each in reversed(self.mentions) if each.start < here.start]
        after = [each for each in self.mentions if each.start > here.start]
        return [each for each in (*before, *after) if same_segment(self.line, each.start, here.start)]


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks at these places."""
    for start, end in spans:
        text = text[:start] + "¤" * (end - start) + text[end:]
    return text


def blank(clean: str, line: str, words: str) -> str:
    """The line without names, with blanks wherever the line with them says the words."""
    at = line.find(words)
    while at >= 0:
        clean = clean[:at] + " " * len(words) + clean[at + len(words) :]
        at = line.find(words, at + len(words))
    return clean


def content(text: str, names: tuple[str, ...]) -> set[str]:
    """The words of a text that carry its meaning, by their beginnings; pairs of letters where words have no blanks."""
    lowered = text.lower()
    for name in names:
        lowered = lowered.replace(name.lower(), " ")
    words = {word[:5] for word in _WORD.findall(lowered) if not _SPACELESS.search(word)}
    for run in _SPACELESS.findall(lowered):
        words |= {run[at : at + 2] for at in range(len(run) - 1)}
    return words


def speaks_of_other(names: Names, head: str, truth: Truth) -> bool:
    """Whether a heading is about another truth."""
    found = names.find(head)
    return bool(found) and all(other is not truth for _, _, other in found)
