"""Checking a model's summary: whether it is one, whose words its statements are, and whether exact words were read.

A summarizer reads what tools and strangers wrote, and may obey it. So a statement that passes for the user's words, or
that says what is to be done, gets a label where its words stand elsewhere. The label names the place and judges no
truth; what was written stands, save a line of the request's own example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Literal, TypeAlias

from compact.summaries.model.attribution import ATTRIBUTED, DENIED
from compact.summaries.model.complaints import find_complaint
from compact.summaries.model.neutral import make_legible, neutralise
from compact.summaries.model.origin import ADDRESS, LABEL, Sentence, origin, sentences_of
from compact.summaries.model.sources import Sources
from compact.summaries.model.statements import Change, Draft, Statement, parse
from compact.summaries.model.strategy import (
    NAMES,
    Claim,
    Section,
    Strategy,
    claim_of,
    find_section,
    known_sections,
    prompt_text,
)
from compact.summaries.model.words import plain, quotations, words

_END = re.compile(r"[.!?;:。！？]*\s*\Z")  # noqa: RUF001 - the marks themselves
_OWN_WORDS = 0.25
"""How much of a statement may be other words, where it was copied from the example."""
_PROSE = re.compile(r".+?(?:[.!?][\"')\]]*\s+(?=[^a-z\s])|。|\Z)")
_ENOUGH = 2
"""Words of a clause that says what the user wants."""
_CODE = re.compile(r"[={}<>\[\]]|\w\(|;\s*\Z")
_COLON = re.compile(r":\s+")
_JOINTS, _CLAUSE = re.compile(r"\s[–—]\s|;\s"), 4
"""The beginning of a clause that says something by itself, and the least number of its words."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A statement that does not stand as it was written, and why; `removed` where it does not stand at all."""

    text: str
    why: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer that can be used, and what is doubted of it."""

    draft: Draft
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """There is nothing to use: an error text, a refusal, nothing at all, or nothing but the example."""

    kind: Literal["error", "refusal", "empty", "untrue"]
    reason: str


Verdict: TypeAlias = Checked | Refused


def check_summary(text: str, sources: Sources, strategy: Strategy, earlier: Iterable[Statement] = ()) -> Verdict:
    """Read a model's answer, and say of each statement where its words come from if that is not the user.

    `earlier` are the statements of the summary before it, which it may say something about.
    """
    if not text.strip():
        return Refused("empty", "the model answered with nothing")
    complaint = find_complaint(text)
    if complaint and not (complaint.maybe and sources.contain(text.strip().split("\n", 1)[0])):
        what = "an error" if complaint.kind == "error" else "a refusal"
        return Refused(complaint.kind, f"the model answered with {what}: {complaint.text}")
    draft = parse(make_legible(text), strategy, earlier)
    checker = _Checker(sources, known_sections(strategy))
    statements = [one for each in draft.statements if (one := checker.statement(each))]
    changes = [change for each in draft.changes if (change := checker.change(each))]
    doubts = tuple(checker.doubts)
    if statements or changes:
        return Checked(Draft(tuple(statements), tuple(changes)), doubts)
    if doubts:
        return Refused("untrue", f"nothing of it stands: {doubts[0].why}")
    return Refused("empty", "the model answered with nothing that says anything")


@dataclass(slots=True)
class _Checker:
    """Checks one by one, and collects what is doubted."""

    sources: Sources
    sections: dict[str, Section]
    doubts: list[Doubt] = field(default_factory=list)

    def statement(self, each: Statement) -> Statement | None:
        """The statement with its labels; free prose sentence by sentence."""
        if each.section or each.text != each.line:
            return self._sentence(each)
        checked = [(found, self._sentence(Statement(found.strip()))) for found in _PROSE.findall(each.text)]
        kept = [found.replace(found.strip(), one.text) for found, one in checked if one]
        return Statement("".join(kept).strip()) if kept else None

    def change(self, change: Change) -> Change | None:
        """The change, if it may be made: what a user asked for holds until a user takes it back."""
        why = neutralise(change.why)
        claim: Claim = "user" if change.to == "outdated" else "open"
        elsewhere = bool(why and self._label(Statement(why), claim))
        asked = find_section(change.statement.section, self.sections)
        if change.to == "outdated" and asked and asked.instructs and (not why or elsewhere):
            self.doubts.append(
                Doubt(change.statement.text, "the user did not take it back, so it still holds", removed=True)
            )
            return None
        if elsewhere:
            self.doubts.append(Doubt(why, "not the user's words"))
        return replace(change, why="" if elsewhere else why)

    def _sentence(self, each: Statement) -> Statement | None:
        each = replace(each, text=LABEL.sub("", each.text))
        if self._is_example(each.line):
            self.doubts.append(Doubt(each.text, "it is part of the example in the instructions", removed=True))
            return None
        text, unread = self.sources.exact.mark_unread(neutralise(each.text))
        claim = "told" if each.status == "completed" else claim_of(each.section, self.sections)
        label = self._label(each, claim)
        if why := label or (f"{unread[0]!r} stands in no message" if unread else ""):
            self.doubts.append(Doubt(each.text, why))
        text = _with_label(text, label) if label else text
        return replace(each, text=text, section=self._heading(each.section))

    def _heading(self, title: str) -> str:
        """A heading of the model's own stays, unless it says what would get a label as a statement."""
        if known := find_section(title, self.sections):
            return known.title
        return "" if self._label(Statement(title), "user") else neutralise(title)

    def _label(self, each: Statement, claim: Claim) -> str:
        """The label of a statement that passes for that, if it gets one; one that tells of the user claims more."""
        most = len(set(words(plain(each.line)))) / 2
        for part in _parts(each):
            told = list(_told_of_user(part)) if claim != "user" else []
            for said, users in told or [(part, claim == "user")] * (claim != "told"):
                found = origin(said, self.sources.index, alone=not users)
                # A few words beside others that were read are how the model puts it; an address is where to send it.
                whole = len(said.words) >= most or any(map(ADDRESS.fullmatch, said.words))
                if found and (found.voice or ((users or claim == "open") and whole)):
                    return found.label
        return ""

    def _is_example(self, line: str) -> bool:
        """Whether words that are not in the sources come from a line of the example."""
        said = set(words(plain(line)))
        lacking = {word for word in said if not self.sources.index.holders(word)}
        most = _OWN_WORDS * len(said) if len(lacking) > 2 else 0
        alike = (lacking <= shown and len(said - shown) <= most for shown in _example())
        return bool(lacking) and len(said) > 2 and any(alike)


def _parts(each: Statement) -> Iterator[Sentence]:
    """Yield the parts of a statement: sentences, text behind a colon, quotations, longer clauses, prose below it."""
    line, *below = each.text.split("\n")
    prose = (text for text in below if not _CODE.search(text))
    for sentence in chain(sentences_of(line), chain.from_iterable(map(sentences_of, prose))):
        yield sentence
        for colon in _COLON.finditer(sentence.text):
            yield from sentences_of(sentence.text[colon.end() :])
        clauses = (sentences_of(clause) for clause in _JOINTS.split(sentence.text)[1:])
        yield from (clause for clause in chain.from_iterable(clauses) if len(clause.words) >= _CLAUSE)
    for quoted in quotations(plain(line)):
        yield from sentences_of(quoted)


def _told_of_user(part: Sentence) -> Iterator[tuple[Sentence, bool]]:
    """Return the part of a sentence that is put into the user's mouth, and True if that is all of it.

    Where the clause that has those words says too little, the rest of the sentence may be what is meant.
    """
    clauses = _JOINTS.split(part.text)
    for text in clauses:
        if told := ATTRIBUTED.search(DENIED.sub(" ", text)):
            rest = list(sentences_of(text.replace(told[0], " ")))
            if len(clauses) > 1 and sum(len(one.words) for one in rest) < _ENOUGH:
                yield part, False
            else:
                yield from ((one, True) for one in (*sentences_of(text), *rest))


def _with_label(text: str, label: str) -> str:
    """The statement with the label behind it, before the full stop and the code quoted below."""
    line, *code = text.split("\n")
    end = _END.search(line)
    at = end.start() if end else len(line)
    return "\n".join((f"{line[:at]} [{label}]{line[at:]}", *code))


@cache
def _example() -> tuple[frozenset[str], ...]:
    """The words of each line of the example that a request shows."""
    shown = (prompt_text("example"), *(prompt_text(f"examples/{name}") for name in NAMES))
    return tuple(frozenset(words(plain(line))) for text in shown for line in text.split("\n"))
