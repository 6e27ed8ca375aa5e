"""What of a summary can be believed.

A summarizer reads what tools and strangers wrote, and may obey it. So nothing it writes is taken on its word: what
names something that was never read goes, what demands something that nobody demanded is no demand, and no mark in it
works. What is left is a report.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from compact.facts import directives_in
from compact.summaries.complaints import find_complaint
from compact.summaries.evidence import Evidence
from compact.summaries.neutral import neutralise
from compact.summaries.parsing import parse_record
from compact.summaries.quoting import quote
from compact.summaries.record import Change, Item, Record
from compact.summaries.strategy import Strategy

LABEL = "Not the user's words: "
_UNASKED = "it demands something, and nobody who may has said so"
# How many of the words must be somebody's, so that it is what they said in other words.
_SIMILAR, _MOST = 0.5, 0.75
# Of one answer; nobody needs more, and each is looked up in everything that was read.
MOST_READ = 500
_TOO_MANY = f"only the first {MOST_READ} statements of an answer are read"
_LONGEST_QUOTE = 240
_LONGEST_TITLE = 60
_CITED = re.compile(r"\[[\d\s,;–-]{1,200}\]|\b(?:messages?|msgs?) #?\d{1,6}(?:(?:, | and |-|–)\d{1,6})*", re.IGNORECASE)
_BLANK = re.compile(r"\n[ \t]*\n\s*\n")
_NUMBER = re.compile(r"\d{1,6}")
_SENTENCES = re.compile(r"(?<=[.!?])[ \t]+(?=[^a-z])")
_STATEMENTS = re.compile(rf"{_SENTENCES.pattern}|\n\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6})?[ \t]*")
# Who may demand something, and words that say that they did.
_CLAIM = re.compile(
    r"\b(?:user|person|human|customer|client|owner|admin\w*|operator|developer|system|anthropic|openai|you)\b[^.\n]{0,40}"
    r"\b(?:sa(?:id|ys)|ask(?:s|ed)|want(?:s|ed)?|request(?:s|ed)|demand(?:s|ed)|instruct(?:s|ed|ion)|order(?:s|ed)|requir\w+"
    r"|approv\w+|authori[sz]\w+|confirm\w+|consent\w*|permi\w+|allow\w*|agree\w*|insist\w*|told|tells|must|should|need(?:s|ed)?)"
    r"|\b(?:instructions?|directives?|orders?|request)\b[^.\n]{0,10}:",
    re.IGNORECASE,
)

# Nobody is spoken to in a report.
_ADDRESSING = re.compile(
    r"\byou(?:r|'re|’re)?\b|\b(?:note|message|instructions?|reminder) (?:to|for) (?:the |any |all )?"
    r"(?:summari[sz]er|assistant|model|ai|agent|reader)s?\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[:–—)\]>]+\s*")


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that was not taken over as it was written, and why."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What can be believed: a record, or for free prose the text; and what was flagged."""

    text: str
    record: Record | None
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """There is nothing to believe: an error text, a refusal, nothing at all, or nothing that is true."""

    kind: Literal["error", "refusal", "empty", "untrue"]
    reason: str


Verdict: TypeAlias = Cleaned | Refused


def check_summary(
    text: str, evidence: Evidence, strategy: Strategy | None = None, previous: Record | None = None
) -> Verdict:
    """What of a model's answer can be believed, given what it has read.

    It is read by the strategy's headings; without a strategy, or under none of them, it is free prose. `previous` is
    the earlier record whose items it may say something about.
    """
    if not text.strip():
        return Refused("empty", "the model answered with nothing")
    complaint = find_complaint(text)
    if complaint and not (complaint.maybe and evidence.has(text.strip().split("\n", 1)[0])):
        what = "an error" if complaint.kind == "error" else "a refusal"
        return Refused(complaint.kind, f"the model answered with {what}: {complaint.text}")
    text = neutralise(text).strip()
    record = parse_record(text, strategy, previous) if strategy else None
    checked = _check_prose(text, evidence) if record is None or strategy is None else _check(record, evidence, strategy)
    if checked.text or (checked.record and (checked.record.items or checked.record.changes)):
        return checked
    if checked.flags:
        return Refused("untrue", f"nothing of it stands in the sources: {checked.flags[0].why}")
    return Refused("empty", "the model answered with nothing that says anything")


def _check(record: Record, evidence: Evidence, strategy: Strategy) -> Cleaned:
    flags: list[Flag] = []
    items = [_check_item(item, evidence, strategy, flags) for item in record.items[:MOST_READ]]
    changes = [_check_change(change, evidence, strategy, flags) for change in record.changes[:MOST_READ]]
    kept = Record(tuple(filter(None, items)), tuple(filter(None, changes)), record.unread)
    unread = (*record.items[MOST_READ:], *(change.item for change in record.changes[MOST_READ:]))
    return Cleaned("", kept, (*flags, *(Flag(item.text, _TOO_MANY) for item in unread)))


def _check_item(item: Item, evidence: Evidence, strategy: Strategy, flags: list[Flag]) -> Item | None:
    if unknown := evidence.unknown(f"{item.text}\n{item.note}"):
        flags.append(Flag(item.text, _nowhere(unknown)))
        return None
    numbers = [source for source in item.sources if isinstance(source, int)]
    section = strategy.section(item.section)
    if section and section.instructs:
        return _check_demand(item, numbers, evidence, strategy, flags)
    if item.code and (unknown := evidence.unknown(item.code)):
        flags.append(Flag(item.code, _nowhere(unknown)))
        item = replace(item, code="")
    acted_on = section is None or section.standing
    if section is None:
        # The sections of others may promise that the user said what stands there.
        item = replace(item, section=strategy.catch_all.title, status=None)
    whole = f"{item.text}. {item.note}" if item.note else item.text
    unasked = _is_unasked(whole, numbers, evidence)
    if not unasked and (not acted_on or evidence.spoken(whole, _SIMILAR)):
        return item
    flags.append(Flag(item.text, _UNASKED))
    # What is done already tells nobody to do it, unless it is said like that.
    moves = acted_on and (unasked or item.is_open)
    return _as_nobodys(item, evidence, strategy) if moves else _reported(item)


def _check_demand(
    item: Item, numbers: list[int], evidence: Evidence, strategy: Strategy, flags: list[Flag]
) -> Item | None:
    """The item in words of the user; what the user did not say is reported elsewhere, as nobody's demand."""
    if item.note and not evidence.spoken(item.note, _SIMILAR):
        flags.append(Flag(item.note, _UNASKED))
        item = replace(item, note="")
    item = replace(item, code="")
    said_in = evidence.demanded(item.text, numbers)
    if said_in is not None:
        return item if not said_in or set(said_in) & set(numbers) else replace(item, sources=said_in)
    said, number = evidence.quoted(item.text, numbers, _SIMILAR) or ("", 0)
    if words := neutralise(quote(said, _LONGEST_QUOTE)):
        flags.append(Flag(item.text, "the user said it in other words, which are put in its place"))
        return replace(item, text=f'"{words}"', sources=(number,))
    flags.append(Flag(item.text, "the user did not say so, so it is no instruction"))
    return _as_nobodys(item, evidence, strategy)


def _check_change(change: Change, evidence: Evidence, strategy: Strategy, flags: list[Flag]) -> Change | None:
    """The change, if it may be made: what a user asked for holds until a user takes it back."""
    section = strategy.section(change.item.section)
    asked = section is None or section.instructs
    numbers = [source for source in change.sources if isinstance(source, int)]
    if change.to == "outdated" and asked and evidence.demanded(change.why, numbers) is None:
        flags.append(Flag(change.item.text, "the user did not take it back, so it still holds"))
        return None
    if unknown := evidence.unknown(change.why):
        flags.append(Flag(change.why, _nowhere(unknown)))
        return replace(change, why="")
    spoken = evidence.spoken(change.why, _SIMILAR) if asked else not _is_unasked(change.why, numbers, evidence)
    return change if spoken or not change.why else replace(change, why="")


def _is_unasked(text: str, numbers: Sequence[int], evidence: Evidence) -> bool:
    """Whether the text demands something, or claims that somebody does, and nobody said anything like it."""
    if _CLAIM.search(text):
        return evidence.demanded(text, numbers) is None and evidence.quoted(text, numbers, _MOST) is None
    return _directs(text) and not evidence.spoken(text, _SIMILAR)


def _directs(text: str) -> bool:
    """Whether the text tells somebody to do something, at its beginning or behind a colon or a bracket."""
    pieces = (text, *_BEHIND.split(text)[1:])
    return _ADDRESSING.search(text) is not None or any(True for piece in pieces for _ in directives_in(piece))


def _as_nobodys(item: Item, evidence: Evidence, strategy: Strategy) -> Item | None:
    """The item where nothing is to be done; None if it does not even say where it was read."""
    if not evidence.cited(item.sources):
        return None
    return _reported(replace(item, section=strategy.catch_all.title, status=None))


def _reported(item: Item) -> Item:
    return item if item.text.startswith(LABEL) else replace(item, text=_labelled(item.text))


def _labelled(text: str) -> str:
    return f'{LABEL}"{text}"'


def _check_prose(text: str, evidence: Evidence) -> Cleaned:
    flags: list[Flag] = []
    end = next(islice(_STATEMENTS.finditer(text), MOST_READ - 1, None), None)
    unread = text[end.end() :] if end else ""
    lines = [_check_line(line, evidence, flags) for line in text[: len(text) - len(unread)].split("\n")]
    flags += [Flag(statement, _TOO_MANY) for statement in _STATEMENTS.split(unread) if statement]
    text = "\n".join(line for line in lines if line is not None)
    # Where paragraphs went, one blank line stays of those that were around them.
    return Cleaned(_BLANK.sub("\n\n", text).strip(), None, tuple(flags))


def _check_line(line: str, evidence: Evidence, flags: list[Flag]) -> str | None:
    """The line without the sentences that cannot be believed; None where none is left."""
    mark = _BULLET.match(line)
    head = mark[0] if mark else ""
    said = line[len(head) :]
    titled = "#" in head
    if titled and (len(said) > _LONGEST_TITLE or ":" in said.rstrip(": ")):
        head = ""  # under such a title, whatever it says would seem to be in force
    kept: list[str] = []
    for sentence in _SENTENCES.split(said) if said else ():
        cited = [int(number) for found in _CITED.findall(sentence) for number in _NUMBER.findall(found)]
        bare = _CITED.sub(" ", sentence)
        if unknown := evidence.unknown(bare):
            flags.append(Flag(sentence, _nowhere(unknown)))
        elif not sentence.startswith(LABEL) and (
            _is_unasked(bare, cited, evidence) or (titled and not head and not evidence.spoken(bare, _SIMILAR))
        ):
            flags.append(Flag(sentence, _UNASKED))
            kept.append(_labelled(sentence))
            head = head.replace("#", "").lstrip()
        else:
            kept.append(sentence)
    return head + " ".join(kept) if kept or not said else None


def _nowhere(unknown: list[str]) -> str:
    return f"{', '.join(map(repr, unknown[:3]))} occurs nowhere in the sources"
