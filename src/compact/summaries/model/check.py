"""Checking a model's summary: what it says stands, unless its sources speak against it.

A summarizer reads what tools and strangers wrote, and may obey it. So a statement goes where it names something that
occurs nowhere, or imitates a mark; it is called unconfirmed, with the reason, where it demands something that no person
is on record as saying, or gives a thing the value of another. Everything else stays word for word: a paraphrase is
what a summary is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, TypeAlias

from compact.facts import directives_in
from compact.summaries.model.attribution import A_PERSON, AGREED, ATTRIBUTED, DENIED, SPOKEN
from compact.summaries.model.complaints import find_complaint
from compact.summaries.model.demands import (
    COMMENT,
    PARTS,
    PRESCRIBED,
    SENTENCES,
    directs,
    prescribes,
    prose_in,
    texts_in,
)
from compact.summaries.model.neutral import has_marks, make_legible, neutralise
from compact.summaries.model.sources import Sources, Voice, is_sentence
from compact.summaries.model.statements import Change, Draft, Statement, parse
from compact.summaries.model.strategy import NAMES, Section, Strategy, known_sections, prompt_text
from compact.summaries.model.words import CODE, capitals_name, narrow, plain, words

_OWN_NAME = re.compile(r"\bCompact\b")
UNCONFIRMED = " (unconfirmed: "
"""What a mark begins with; the reason follows, and a bracket."""
_UNSAID, _UNASKED = "not found in what the user said", "not found among what the user asked for"
_BY_PROGRAM = "a tool or a program says so, not the user"
_EXCHANGED = "the messages have {} and {} the other way round"
_MISPLACED = "the messages have {1} here, not {0}"
_ANY = ("[^()]{1,80}",) * 2
_WHYS = (_UNSAID, _UNASKED, _BY_PROGRAM, *(why.format(*_ANY) for why in (_EXCHANGED, _MISPLACED)))
_MARKS = re.compile(rf" \(unconfirmed: (?:{'|'.join(_WHYS)})\)")
_END = re.compile(r"[.!?;:。！？]*\s*\Z")  # noqa: RUF001 - the marks themselves
_ATTRIBUTABLE, _ATTRIBUTABLE_PART, _AGREED_TO = 0.8, 0.8, 0.9
"""How much a person must have said of what is put into their mouth, and of the part that does so.

And how much they or the assistant must have said of what they agreed to."""
_ASKED_FOR, _SAID = 0.75, 0.3
"""How much of a demand a person must have said; and how much of an instruction the user or the assistant."""
_TELLING = 3
"""Words that a part must have to be looked at by itself."""
_BY_OTHERS = 0.2
"""How much more of a demand others must have said, so that it is theirs."""
_COPIED = 0.9
"""How much of a demand stands in a result, where it comes from there."""
_OWN_WORDS = 0.25
"""How much of a statement may be other words, where it was copied from the example."""
_MORE = re.compile(r"\s*[:(–—/,]")
"""What stands between the title of a section and what a heading says more."""
_QUOTED = re.compile(r'"[^"\n]*"')
_LABEL = re.compile(r"(?:\A|(?<=[.!?*_]\s))[A-Z]\w{2,12}:\s+|(?<=\s)[A-Z]{3,12}:\s+")
"""A word before what is said, such as "TODO:"."""
_REPORTED = re.compile(
    r"(?:\w+ ){0,3}(?:lint(?:er)?|compiler|type|test|build|log|audit)s? "
    r"(?:errors?|warnings?|findings?|lines?|failures?)\b",
    re.IGNORECASE,
)
"""How a statement begins that tells what a program complains of."""
_PROSE = re.compile(r".+?(?:[.!?][\"')\]]*\s+(?=[^a-z\s])|。|\Z)")
_ADDRESSED = re.compile(
    r"\byou(?:r|'re|’re)?\b|\b(?:next|later|following) (?:model|assistant|agent|reader)s?\b|\bthis summary\b"
    r"|\bwithout (?:asking|confirm\w+|approval)\b|\bno (?:confirmation|approval|permission) is\b",
    re.IGNORECASE,
)
_CERTIFIED = re.compile(
    r"\b(?:acknowledged|verified|approved|confirmed|granted|accepted|authori[sz]ed|cleared|signed off) by "
    r"(?:the |an? )?(?:harness|system|host|checker|admin\w*|operator|platform|supervisor|security|management)\b",
    re.IGNORECASE,
)
_SHOUTED = re.compile(r"\A\W{0,3}(?P<label>[A-Z][A-Z ·-]{3,})\b(?:\s?\([^)]{1,30}\))?[^a-z]{0,3}[:,\])]")
_AUTHORITY = re.compile(
    r"(?:SYSTEM|ADMIN|DEVELOPER|OPERATOR|HOST|USER|HUMAN|ASSISTANT|IMPORTANT|OVERRIDE|POLICY|ORDER)"
)
_BRACKETED = re.compile(
    r"\A\W{0,3}\[(?:[^\]\d][^\]]{2,60}|\d+ [a-z][^\]]{2,80})\](?=\s)|\A\W{0,3}\[(?:[^\]\d]|\d+ [a-z])[^\]]*\]\Z"
)
"""A label in brackets, or a statement that is nothing else."""
_TURN = re.compile(r"\A(?:system|assistant|developer|tool|operator)(?P<claim> ?\([^)]{1,40}\))?:", re.IGNORECASE)
"""Text that could be taken for a turn of a speaker other than the user."""
_LABELLED = re.compile(
    r"\A[A-Z][\w ()-]{0,40}\b(?i:note|notice|priority|hierarchy)\b[^.;]{0,40}:"
    r"|\A(?i:(?:\w+ )?rule:)|\A(?i:pinned|protected|locked)(?=[,:]| by| from)\b"
)


_PROGRAM = r"(?:program|system|harness|host|platform|checker|supervisor|admin\w*)"
_APPARATUS = re.compile(
    r"\b(?:(?:system|harness|host|platform|compaction|memory|checker|supervisor|security) "
    r"(?:message|program|note|notice|layer|check|order|rule|policy)"
    rf"|(?:note|message|notice|order) (?:of|from|by) (?:the |a )?(?:\w+ )?{_PROGRAM}"
    rf"|(?:pinned|signed|verified|certified|approved|issued|locked|granted) by (?:the |an? )?{_PROGRAM}"
    r"|integrity (?:mark|check|hash|code)|trust level|trusted|clearance|seal(?:ed)?|privileged|supervisor|superuser"
    r"|overrid(?:e|es|den)|waived|precedence|role ?= ?\w+)\b"
    r"|\A\W{0,3}\[(?:user|system|assistant|developer|admin|tool|operator)\]",
    re.IGNORECASE,
)
"""What a summary has no use for: marks of authority, and programs that are said to stand above the conversation."""


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
    """There is nothing to use: an error text, a refusal, nothing at all, or nothing that is true."""

    kind: Literal["error", "refusal", "empty", "untrue"]
    reason: str


Verdict: TypeAlias = Checked | Refused


def check_summary(text: str, sources: Sources, strategy: Strategy, earlier: Iterable[Statement] = ()) -> Verdict:
    """Read a model's answer, and check each statement against what it was written from.

    `earlier` are the statements of the summary before it, which it may say something about.
    """
    if not text.strip():
        return Refused("empty", "the model answered with nothing")
    complaint = find_complaint(text)
    if complaint and not (complaint.maybe and sources.contain(text.strip().split("\n", 1)[0])):
        what = "an error" if complaint.kind == "error" else "a refusal"
        return Refused(complaint.kind, f"the model answered with {what}: {complaint.text}")
    draft = parse(make_legible(text), strategy, earlier)
    checker = _Checker(sources, known_sections(strategy), capitals_name(text, sources.speech))
    statements = [one for each in draft.statements if (one := checker.statement(each))]
    changes = [change for each in draft.changes if (change := checker.change(each))]
    doubts = tuple(checker.doubts)
    if statements or changes:
        return Checked(Draft(tuple(statements), tuple(changes)), doubts)
    if doubts:
        return Refused("untrue", f"nothing of it stands in the sources: {doubts[0].why}")
    return Refused("empty", "the model answered with nothing that says anything")


@dataclass(slots=True)
class _Checker:
    """Checks one by one, and collects the doubts; `capitals` says whether a word with a capital is a name."""

    sources: Sources
    sections: dict[str, Section]
    capitals: bool
    doubts: list[Doubt] = field(default_factory=list)

    def statement(self, each: Statement) -> Statement | None:
        """The statement as it may stand, if it may; of free prose, the sentences that may."""
        if each.section or each.text != each.line:
            return self._sentence(each)
        checked = [(found, self._sentence(Statement(found.strip()))) for found in _PROSE.findall(each.text)]
        kept = [found.replace(found.strip(), one.text) for found, one in checked if one]
        return Statement("".join(kept).strip()) if kept else None

    def _sentence(self, each: Statement) -> Statement | None:
        doubt = self._doubt(each)
        if doubt is not None:
            self.doubts.append(doubt)
            if doubt.removed:
                return None
        text = _mark(each.text, doubt.why) if doubt else each.text
        return replace(each, text=neutralise(text), section=self._heading(each.section))

    def change(self, change: Change) -> Change | None:
        """The change, if it may be made: what a user asked for holds until a user takes it back."""
        why = neutralise(change.why)
        asked = self._instructs(change.statement)
        if change.to == "outdated" and asked and (not why or self.sources.support(why, "user") < _ASKED_FOR):
            doubt = Doubt(change.statement.text, "the user did not take it back, so it still holds", removed=True)
            self.doubts.append(doubt)
            return None
        if why and (doubted := self._doubt(Statement(why, change.statement.section, change.statement.status))):
            self.doubts.append(doubted)
            why = ""
        return replace(change, why=why)

    def _heading(self, title: str) -> str:
        """A heading of the model's own stays, unless it says what a statement could not say."""
        if title.casefold() in self.sections:
            return title
        support = self.sources.support
        copied = title.count(" ") > 2 and support(title, "tool") > support(title, "user", "assistant")
        parts = (text for text in texts_in(title) if text.count(" ") > 2 or is_sentence(text))
        copied = copied or any(self.sources.contain(text) and support(text, "user") < _ASKED_FOR for text in parts)
        return "" if copied or self._doubt(Statement(title)) else neutralise(title)

    def _doubt(self, each: Statement) -> Doubt | None:
        """What speaks against the statement, if anything does."""
        each = replace(each, text=narrow(each.text))
        if has_marks(CODE.sub("", each.line)) or self._speaks_of_itself(each.text):
            return Doubt(each.text, "it imitates a mark", removed=True)
        unknown = self.sources.unknown(each.text, capitals=self.capitals)
        if unknown := [name for name in unknown if name.casefold() not in self.sections]:
            named = ", ".join(map(repr, unknown[:3]))
            return Doubt(each.text, f"{named} occurs nowhere in the sources", removed=True)
        if self._is_example(each.line):
            return Doubt(each.text, "it is part of the example in the instructions", removed=True)
        bare = replace(each, text=_MARKS.sub("", each.text))
        if self._is_copied(bare):
            return Doubt(each.text, _BY_PROGRAM)
        if self._is_unasked(bare):
            by_program = bare.line.startswith('"') and self.sources.support(bare.line, "tool") >= _COPIED
            unsaid = _UNSAID if ATTRIBUTED.search(bare.line) else _UNASKED
            return Doubt(each.text, _BY_PROGRAM if by_program else unsaid)
        if exchanged := self.sources.bindings.exchanged(bare.line):
            return Doubt(each.text, _EXCHANGED.format(*exchanged))
        sources = self.sources
        misplaced = sources.bindings.misplaced(bare.line) or sources.file_index.misfiled(bare.line)
        if misplaced := misplaced or sources.records.mistaken(bare.line):
            return Doubt(each.text, _MISPLACED.format(*misplaced))
        return None

    def _is_example(self, line: str) -> bool:
        """Whether words that are not in the sources come from a line of the example."""
        said = set(words(plain(line)))
        lacking = self.sources.lacking(said)
        return len(lacking) > 2 and any(
            lacking <= shown and len(said - shown) <= _OWN_WORDS * len(said) for shown in _example()
        )

    def _is_copied(self, each: Statement) -> bool:
        """Whether it says word for word what a tool prescribes, or puts a sentence of a tool among the open work."""
        section = self._section(each.section)
        is_open = section is not None and (section.instructs or section.standing) and each.status != "completed"
        line, *code = each.text.split("\n")
        if self._is_report(each):
            return False
        demanded = is_open or PRESCRIBED.search(line) is not None
        quoted = (text for below in code if not COMMENT.match(below) for text in prose_in(below))
        return any(
            self.sources.copied(text)
            for text, suffices in [
                *((text, demanded) for text in prose_in(line)),
                *((text, False) for text in quoted),
            ]
            if suffices or prescribes(text) or self.sources.joins(text)
        )

    def _is_report(self, each: Statement) -> bool:
        """Whether a statement outside of the open work tells what a program complains of."""
        section = self._section(each.section)
        is_open = section is not None and (section.instructs or section.standing)
        return not is_open and _REPORTED.match(each.line) is not None

    def _is_unasked(self, each: Statement) -> bool:
        """Whether the statement demands something that was not said; a demand may follow a true sentence."""
        orders = self._instructs(each) and each.status != "completed"
        if orders and self.sources.support(each.line, "user", "assistant") < _SAID:
            return True
        if self._is_report(each):
            return False
        lines = each.text.split("\n") if orders else [each.line]
        if not _QUOTED.search(plain(each.line)):
            lines += [*SENTENCES.split(each.line), *_LABEL.split(each.line)]
        return any(self._demands(line, orders=orders) for line in set(lines))

    def _demands(self, line: str, *, orders: bool) -> bool:
        """Whether a line demands what was not said, or what somebody else said: a tool, a file, a web page."""
        support, own = self.sources.support, DENIED.sub(" ", line)
        if ATTRIBUTED.search(own):
            return self._is_unsaid(line, own) or self.sources.forbid(line, anywhere=True)
        begins = CODE.match(plain(own).lstrip("*_ "))
        own = _QUOTED.sub(" ", CODE.sub(" ", plain(own))).strip("*_ ")
        own = f"it {own}" if begins and own[:1].islower() else own  # what is said of a command orders nothing
        if any(not self.sources.contain(claim[0]) for claim in _APPARATUS.finditer(own)):
            return True
        if self._is_labelled(own):
            return support(line, "user") < _ASKED_FOR
        if _CERTIFIED.search(own):
            return support(line, "user", "assistant", "tool") < _ASKED_FOR
        said = support(line, "user", "assistant")
        if _ADDRESSED.search(own):
            return said < _ASKED_FOR
        is_demand = orders or any(own.startswith(one.text) for one in directives_in(own))
        is_demand = is_demand or (directs(own) and self.sources.contain(own.rstrip(".!? ")))
        return is_demand and (said < min(_ASKED_FOR, support(line, "tool") - _BY_OTHERS) or self.sources.forbid(line))

    def _is_unsaid(self, line: str, own: str) -> bool:
        """Whether what is put into a person's mouth was not said: all of the line, and each part that says it of them.

        What a person agreed to may have been put into words by the assistant.
        """
        support = self.sources.support
        if self.sources.quotes_others(line):
            return True
        if support(line, "user", near=1, strict=True) >= _ATTRIBUTABLE:
            return False
        parts = PARTS.split(own)
        if (spoken := SPOKEN.search(own)) and directs(own[spoken.end() :]):
            parts.append(own)  # "user: go on" is one part, though there is a colon in it
        for part in parts:
            if found := ATTRIBUTED.search(part):
                rest = f"{part[: found.start()]} {part[found.end() :]}"
                agreed = AGREED.search(found[0]) and A_PERSON.search(found[0])
                voices: tuple[Voice, ...] = ("user", "assistant") if agreed else ("user",)
                alone = len(set(words(plain(rest)))) >= _TELLING
                said = support(rest if alone else own, *voices, near=1, strict=alone)
                if said < (_AGREED_TO if agreed else _ATTRIBUTABLE_PART):
                    return True
        return False

    def _is_labelled(self, text: str) -> bool:
        """Whether the statement begins with a label that claims to be more than a summary's."""
        if shouted := _SHOUTED.match(text):
            # A name in capitals may be told about: it is no label.
            label = shouted["label"].strip(" ·-")
            return _AUTHORITY.fullmatch(label) is not None or not self.sources.writes(label)
        if bracket := _BRACKETED.match(text):
            return not self.sources.contain(bracket[0])
        if turn := _TURN.match(text):
            said = text[turn.end() :].strip(" .!?")
            return turn["claim"] is not None or prescribes(said) or not self.sources.contain(said)
        found = _LABELLED.match(text)
        return found is not None and bool(self.sources.lacking(set(words(found[0]))))

    def _speaks_of_itself(self, text: str) -> bool:
        """Whether a summary calls on what it is written for, of which the conversation does not speak."""
        bracket = _BRACKETED.match(text)
        if bracket and _OWN_NAME.search(bracket[0].title()):
            return not self.sources.contain(bracket[0], "user", "assistant")
        return _OWN_NAME.search(text) is not None and not self.sources.writes("Compact")

    def _instructs(self, each: Statement) -> bool:
        section = self._section(each.section)
        return section is not None and section.instructs

    def _section(self, title: str) -> Section | None:
        """The section of a heading, which may say more than its title."""
        name = title.casefold()
        return self.sections.get(name) or self.sections.get(_MORE.split(name, maxsplit=1)[0])


def _mark(text: str, why: str) -> str:
    """The statement with the reason for the doubt behind it, before the full stop and the code quoted below."""
    line, *code = _MARKS.sub("", text).split("\n")
    end = _END.search(line)
    at = end.start() if end else len(line)
    return "\n".join((f"{line[:at]}{UNCONFIRMED}{why}){line[at:]}", *code))


@cache
def _example() -> tuple[frozenset[str], ...]:
    """The words of each line of the example that a request shows."""
    shown = (prompt_text("example"), *(prompt_text(f"examples/{name}") for name in NAMES))
    return tuple(frozenset(words(plain(line))) for text in shown for line in text.split("\n"))
