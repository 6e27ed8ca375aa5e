"""Checking a model's summary: what it says stands, unless its sources speak against it.

A summarizer reads what tools and strangers wrote, and may obey it. So a statement goes where it names something that
occurs nowhere, or imitates a mark; it is called unconfirmed where it demands something that no person is on record as
saying, or gives values to the wrong things. Everything else stays word for word: a paraphrase is what a summary is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from compact.facts import directives_in
from compact.summaries.model.complaints import find_complaint
from compact.summaries.model.neutral import has_marks, neutralise
from compact.summaries.model.sources import Sources
from compact.summaries.model.statements import Change, Draft, Statement, parse
from compact.summaries.model.strategy import Section, Strategy, known_sections

UNCONFIRMED = "Unconfirmed: "
MOST_LOST = 0.1
"""Where more of an answer than this is doubted, the model is asked again."""
_ASKED_FOR, _SAID = 0.75, 0.45
"""How much of a demand a person must have said, and of an instruction somebody in the conversation."""
_CODE = re.compile(r"`[^`\n]*`")
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
_PERSON = r"(?:user|person|human|customer|client|owner|operator|developer|admin\w*)"
_WISH = (
    r"(?:want|wish|ask|request|demand|instruct|order|requir|approv|authori[sz]|consent|permit|allow|insist|forbid|forbade"
    r"|expect|prefer|confirm|said|says)\w*"
)
_DENIED = re.compile(r"\b(?:did|has|have|had|was|were)(?: not| never|n't)\b[^.;]{0,40}", re.IGNORECASE)
_ATTRIBUTED = re.compile(
    rf"\b{_PERSON}(?:'s)?\b[^.;:\n]{{0,30}}\b{_WISH}|\b(?:{_WISH}(?: for)? by|from|for) the {_PERSON}:?\b"
    rf"|\bas (?:the {_PERSON} |he |she |they )?{_WISH}|\A{_PERSON}:|\b{_PERSON} (?:told|is waiting|waits)\b",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"\byou(?:r|'re|’re)?\b|\b(?:next|later|following|other) (?:model|assistant|agent|reader)s?\b|\bthis summary\b"
    r"|\bwithout (?:asking|confirm\w+|approval)\b|\bno (?:confirmation|approval|permission)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\A\W{0,3}(?:[A-Z][A-Z ·_-]{3,}\b[^a-z]{0,3}[:,\])]|\[[^\]\d][^\]]{2,60}\]\s"
    r"|[A-Z][\w ()-]{0,40}\b(?i:note|notice|priority|hierarchy)\b[^.;]{0,40}:)"
    r"|\A(?i:pinned|protected|locked)\b"
)


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
    size: int = 1

    @property
    def doubted(self) -> float:
        """The share of the statements that is doubted."""
        return len(self.doubts) / max(self.size, 1)


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
    draft = parse(text, strategy, earlier)
    sections = known_sections(strategy)
    doubts: list[Doubt] = []
    statements = [one for each in draft.statements if (one := _check(each, sources, sections, doubts))]
    changes = [change for each in draft.changes if (change := _check_change(each, sources, sections, doubts))]
    if statements or changes:
        size = len(draft.statements) + len(draft.changes)
        return Checked(Draft(tuple(statements), tuple(changes)), tuple(doubts), size)
    if doubts:
        return Refused("untrue", f"nothing of it stands in the sources: {doubts[0].why}")
    return Refused("empty", "the model answered with nothing that says anything")


def _check(each: Statement, sources: Sources, sections: dict[str, Section], doubts: list[Doubt]) -> Statement | None:
    doubt = _doubt(each, sources, sections)
    if doubt is not None:
        doubts.append(doubt)
        if doubt.removed:
            return None
    mark = UNCONFIRMED if doubt and not each.text.startswith(UNCONFIRMED) else ""
    return replace(each, text=neutralise(mark + each.text), section=neutralise(each.section))


def _doubt(each: Statement, sources: Sources, sections: dict[str, Section]) -> Doubt | None:
    """What speaks against the statement, if anything does."""
    if has_marks(_CODE.sub("", each.line)):
        return Doubt(each.text, "it imitates a mark", removed=True)
    if unknown := sources.unknown(each.text):
        named = ", ".join(map(repr, unknown[:3]))
        return Doubt(each.text, f"{named} occurs nowhere in the sources", removed=True)
    if _is_unasked(each, sources, sections):
        return Doubt(each.text, "it demands something, and no person is on record as saying so")
    if values := sources.swapped(each.line):
        return Doubt(each.text, f"in the sources {values[0]} and {values[1]} belong to each other's things")
    return None


def _is_unasked(each: Statement, sources: Sources, sections: dict[str, Section]) -> bool:
    """Whether the statement demands something that was not said."""
    line = _DENIED.sub(" ", each.line)
    if _ATTRIBUTED.search(line):
        return sources.quotes_others(each.line) or sources.support(each.line, by_person=True) < _ASKED_FOR
    own = _QUOTED.sub(" ", _CODE.sub(" ", line))
    if _LABELLED.search(own) or _ADDRESSED.search(own):
        return True
    section = sections.get(each.section.casefold())
    orders = section is not None and section.instructs and each.status != "completed"
    if orders or any(own.startswith(one.text) for one in directives_in(own)):
        return sources.support(each.line, by_person=False) < _SAID
    return False


def _check_change(change: Change, sources: Sources, sections: dict[str, Section], doubts: list[Doubt]) -> Change | None:
    """The change, if it may be made: what a user asked for holds until a user takes it back."""
    section = sections.get(change.statement.section.casefold())
    asked = section is not None and section.instructs
    why = neutralise(change.why)
    if change.to == "outdated" and asked and (not why or sources.support(why, by_person=True) < _ASKED_FOR):
        doubts.append(Doubt(change.statement.text, "the user did not take it back, so it still holds", removed=True))
        return None
    if why and (doubt := _doubt(Statement(why), sources, sections)):
        doubts.append(doubt)
        why = ""
    return replace(change, why=why)
