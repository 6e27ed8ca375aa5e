"""Quoting a long message in little room: the sentences that matter, each with what governs it.

An item of a list says nothing without its lead-in: from "Never: - delete the database" the item alone is an order to
delete it. So a passage is a sentence, or an item with the line that leads in to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, groupby, takewhile
from typing import NamedTuple

from compact.facts import Strength, directives_in, sentences_in
from compact.history.quoting import quote, shorten, shorten_middle, shorten_to_clause
from compact.history.reading import binds
from compact.history.speech import QUESTION_MARKS, asks, corrects, decides, explains, leans, recounts
from compact.summaries.offline.vocabulary import NO_WORDS, Vocabulary

_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_LISTED = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+\S", re.MULTILINE)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(?P<title>.+)|(?P<bold>\*\*[^*\n]+\*\*:?|__[^_\n]+__:?))\s*")
_FENCE, _LONGEST_BLOCK = "```", 300
_LONGEST_LEAD = 120
_LONGEST_TEXT = 40_000
_FIRST, _LAST, _OTHER, _CODE, _OPENS = 1.5, 1.0, 0.5, 0.2, 0.5
_ASKS = 0.8
"""What a question is worth."""
_PARAGRAPH = 3
"""Sentences of a line that is a paragraph."""
_GAP = " … "
_NAMED = re.compile(r"\d|`|\w[_/]\w|\w\.\w|[a-z][A-Z]")
_TELLING, _MOST_TOLD = 15, 1.5
"""Tokens of a sentence that says something, and what it is worth at most for that."""
_LEANS, _MOST_LEANT_ON = 0.8, 2
_REASONED, _NEAR_REASON = 2.0, 6
"""The worth of a decision or its reason in a log of decisions, and the passages within which the two are sought."""
_REFERENCE = 1.0
"""The worth of an id or a reference number, on top of that of a name."""
_SLACK = 4
"""The part of its room that a quote may take beyond it."""
_TELLS_ENOUGH = 0.8
"""The part of what the best sentence is worth that another must have to stand in its place."""
_STATEMENT, _EXCLAMATION = 24, 10
"""Characters of a sentence that is more than an exclamation, and of one that is hardly anything else."""


class Passage(NamedTuple):
    """A sentence, an item of a list or a block of `code`; `lead` is the line that governs it.

    One that `opens` a paragraph says what those `inside` it are about.
    """

    text: str
    lead: str = ""
    code: bool = False
    opens: bool = False
    inside: bool = False

    @property
    def whole(self) -> str:
        return f"{self.lead}: {self.text}" if self.lead else self.text


class Speech:
    """What somebody said at once; quotes of any length are made of it."""

    def __init__(
        self,
        text: str,
        vocabulary: Vocabulary = NO_WORDS,
        *,
        by_person: bool = True,
        references: Sequence[str] = (),
        beside_reasons: float | None = None,
    ) -> None:
        """Read what was said; `references` are the ids and numbers that nobody gave before.

        With `beside_reasons`, decisions come before other sentences, each with its reason; where there are any, the
        others have that share of their room.
        """
        self._text = text
        self._vocabulary = vocabulary
        self._by_person = by_person
        self._references = references
        self._beside_reasons = beside_reasons
        self._quotes: dict[tuple[int, int], str] = {}

    def quote(self, longest: int, rules: int = 0) -> str:
        """What `_choose` makes of it, once for each length."""
        if (known := self._quotes.get((longest, rules))) is None:
            known = self._quotes[longest, rules] = self._choose(longest, rules)
        return known

    def _choose(self, longest: int, rules: int) -> str:
        """The text as one line of at most so many characters; of a longer one what directs, names or tells something.

        What a person begins with says what the rest is about, and a question at the end what is wanted. For what
        directs, and what says most, there may be more room than for the rest: `rules` characters in all.
        """
        text = self._text
        if not text.strip() or (len(text) <= longest and not _LISTED.search(text)):
            return quote(text, longest)
        found = self._passages
        others, longest = longest, max(longest, rules)
        if self._beside_reasons is not None and any(self._reasoned):
            others = int(others * self._beside_reasons)
        if len(found) < 2:
            return shorten_middle(quote(text, 4 * longest), longest)
        weights = self._weights
        first = self._first if rules else []
        chosen: set[int] = set()
        order = sorted(range(len(found)), key=lambda at: (-weights[at], at))
        # A little more room is better than half of what says most.
        slack = longest // _SLACK
        left = longest
        for at in order:
            best = weights[at] >= _TELLS_ENOUGH * weights[order[0]]
            for needed in self._needed(at, best=best):
                missing = [one for one in needed if one not in chosen]
                leads = (len(found[one].lead) for one in missing if one - 1 not in chosen)
                price = sum(len(found[one].text) + len(_GAP) for one in missing) + sum(leads)
                rule = bool(first) and (first[at] or at == order[0])
                if price <= (left if rule else min(left, others)) + slack * best:
                    chosen.update(missing)
                    left -= price
                    others -= 0 if rule else price
                    break
        # An exclamation after a gap says nothing.
        chosen -= {
            at for at in chosen if at and len(found[at].text) < _EXCLAMATION and chosen.isdisjoint((at - 1, at + 1))
        }
        if max((weights[at] for at in chosen), default=0.0) < _TELLS_ENOUGH * weights[order[0]]:
            # The beginning of what says most is better than all of something else.
            said = " ".join(found[at].whole for at in self._needed(order[0], best=True)[-1])
            return shorten_to_clause(quote(said, 4 * longest), longest + slack)
        return quote(" ".join(_runs(found, chosen)).replace("… …", "…"), longest + slack)

    def _needed(self, at: int, *, best: bool) -> list[list[int]]:
        """The passage, and those before it that it needs to be understood: in a later paragraph, what opens that.

        Of the best ones, also without what opens the paragraph.
        """
        first = at
        while first and self._leaning[first] and at - first < _MOST_LEANT_ON:
            first -= 1
        opener, own = self._openers[first], list(range(first, at + 1))
        if (other := self._other_half(at)) is not None:
            return [sorted({*own, other})]
        if not 0 < opener < first or self._reasoned[at]:
            return [own]
        return [[opener, *own], own] if best else [[opener, *own]]

    def _other_half(self, at: int) -> int | None:
        """Return the place of the reason for a decision, or of the decision that a reason is given for."""
        if not self._reasoned[at] or all(self._decided_why[at]):
            return None
        decided = self._decided_why[at][0]
        near = range(at + 1, at + 1 + _NEAR_REASON) if decided else range(at - 1, at - 1 - _NEAR_REASON, -1)
        for place in near:
            if not 0 <= place < len(self._passages) or self._decided_why[place] == self._decided_why[at]:
                return None  # another decision, or another reason, comes first
            if self._reasoned[place]:
                return place
        return None

    def quote_rules(self, longest: int, rest: int) -> str:
        """What of a file directs, in at most so many characters; and what else it says, up to `rest` in all."""
        found, weights, directs = self._passages, self._weights, self._directs
        chosen: set[int] = set()
        taken = 0
        for at in sorted(range(len(found)), key=lambda at: (not directs[at], 0.0 if directs[at] else -weights[at], at)):
            price = len(found[at].text) + len(_GAP) + (0 if at - 1 in chosen else len(found[at].lead))
            if taken + price <= (longest if directs[at] else min(longest, rest)):
                chosen.add(at)
                taken += price
        most = max(longest, rest)
        return quote(" ".join(_runs(found, chosen)), most) if chosen else self.quote(most)

    @property
    def share_of_rules(self) -> float:
        """The part of the text that gives rules: beside one that does, so does all that directs or is listed."""
        found = self._passages
        return self._share([bool(each.lead) or directs for each, directs in zip(found, self._directs, strict=True)])

    @property
    def share_of_reasons(self) -> float:
        """The part of the text that tells decisions and reasons."""
        return self._share(self._reasoned)

    @property
    def share_of_references(self) -> float:
        """The part of the text that gives ids and reference numbers for the first time."""
        return self._share(self._refers)

    def _share(self, chosen: Sequence[bool]) -> float:
        sizes = [len(each.whole) for each in self._passages]
        return sum(compress(sizes, chosen)) / max(sum(sizes), 1)

    @cached_property
    def _first(self) -> list[bool]:
        """Which passages may take more room than others: rules, with their leads, and decisions with their reasons."""
        if self._beside_reasons is not None and not self._by_person:
            return self._reasoned
        found = zip(self._directs, self._passages, self._reasoned, strict=True)
        return [directs or bool(each.lead) or reasoned for directs, each, reasoned in found]

    @cached_property
    def _reasoned(self) -> list[bool]:
        """Which passages tell a decision or a reason, where that matters."""
        return [self._beside_reasons is not None and any(each) for each in self._decided_why]

    @cached_property
    def _decided_why(self) -> list[tuple[bool, bool]]:
        """For each passage, whether it tells a decision, and whether it gives a reason."""
        return [(decides(each.whole), explains(each.whole)) for each in self._passages]

    @cached_property
    def _refers(self) -> list[bool]:
        """Which passages give ids or reference numbers that nobody gave before."""
        return [any(code in each.text for code in self._references) for each in self._passages]

    @cached_property
    def _directs(self) -> list[bool]:
        """Which passages direct."""
        return [binds(each.whole) or any(directives_in(each.whole)) for each in self._passages]

    @cached_property
    def _passages(self) -> list[Passage]:
        """The passages, each once."""
        found: dict[str, Passage] = {}
        for each in passages(self._text[:_LONGEST_TEXT]):
            found.setdefault(each.whole, each)
        return list(found.values())

    @cached_property
    def _openers(self) -> list[int]:
        """The place of the passage that opens the paragraph of each; 0 where there is none."""
        places = (at if each.opens else 0 for at, each in enumerate(self._passages))
        return [
            place if each.inside or each.opens else 0
            for each, place in zip(self._passages, accumulate(places, max), strict=True)
        ]

    @cached_property
    def _leaning(self) -> list[bool]:
        """Which passages need the one before them, unless that is code."""
        before = [Passage(""), *self._passages]
        return [
            not each.lead and not last.code and leans(each.text)
            for last, each in zip(before, self._passages, strict=False)
        ]

    @cached_property
    def _weights(self) -> list[float]:
        """What each passage is worth."""
        found = self._passages
        weights = [
            _weight(passage, self._vocabulary) - _LEANS * leaning + _REASONED * reasoned + _REFERENCE * refers
            for passage, leaning, reasoned, refers in zip(
                found, self._leaning, self._reasoned, self._refers, strict=True
            )
        ]
        if found and self._by_person:
            weights = [
                weight + recounts(each.text) + _OPENS * each.opens + _ASKS * asks(each.text)
                for weight, each in zip(weights, found, strict=True)
            ]
            first = _first_statement(found)
            weights[first] += _FIRST + _OPENS * recounts(found[first].text)
        if found and found[-1].text.endswith(QUESTION_MARKS):
            weights[-1] += _LAST
        return weights


def _first_statement(found: list[Passage]) -> int:
    """Where a message begins to say something; an exclamation before what a person did does not count."""
    first = next((at for at, each in enumerate(found) if len(each.text) >= _STATEMENT), 0)
    exclaims = found[first].text.endswith(("!", "！")) and not recounts(found[first].text)  # noqa: RUF001 - the marks
    return first + (exclaims and first + 1 < len(found) and recounts(found[first + 1].text))


def passages(text: str) -> Iterator[Passage]:
    """The sentences and items of a text, in order."""
    heading = lead = ""
    items = bold = False
    lines = iter(text.split("\n"))
    for line in lines:
        if not line.strip():
            continue
        if line.lstrip().startswith(_FENCE) and "\n" in text:
            yield from _code(lines, lead)
            continue
        item = _ITEM.match(line)
        if not item and (title := _HEADING.fullmatch(line)):
            heading, lead, items, bold = _lead(title["title"] or title["bold"]), "", False, bool(title["bold"])
        elif item:
            items = True
            yield Passage(" ".join(line[item.end() :].split()), lead or heading)
        elif line.rstrip().endswith((":", "：")):  # noqa: RUF001 - Chinese and Japanese write this colon
            *before, last = [span.text for span in sentences_in(line)] or [line.strip()]
            yield from map(Passage, before)
            lead, items = _lead(last), False
        else:
            # A list ends where a line is no item and not part of one, and with it what a line in bold type governs.
            if items and not line[0].isspace():
                heading, lead, items = "" if bold else heading, "", False
            governing = lead or (heading if _governs(heading) else "")
            spans = list(sentences_in(line))
            opens = next((at for at, span in enumerate(spans) if len(span.text) >= _STATEMENT), 0)
            opens = opens if len(spans) >= _PARAGRAPH else len(spans)
            yield from (
                Passage(span.text, governing, opens=at == opens, inside=at > opens) for at, span in enumerate(spans)
            )


def _code(lines: Iterator[str], lead: str) -> Iterator[Passage]:
    """A block of code up to the end of its fence, as one passage; a long one, which may be a document, line by line."""
    block = [" ".join(line.split()) for line in takewhile(lambda line: not line.lstrip().startswith(_FENCE), lines)]
    block = [line for line in block if line]
    if sum(map(len, block)) <= _LONGEST_BLOCK:
        yield from [Passage(" ".join(block), lead, code=True)] if block else []
    else:
        yield from (Passage(line, lead, code=True) for line in block)


def _runs(found: list[Passage], chosen: set[int]) -> Iterator[str]:
    """The chosen passages in order, items of one list behind their lead-in once; "…" where something is left out."""
    skipped = False
    for lead, run in groupby(enumerate(found), key=lambda pair: pair[1].lead):
        members = list(run)
        kept = [(at, passage.text) for at, passage in members if at in chosen]
        if not lead:
            for at, passage in members:
                if at in chosen:
                    yield f"{'… ' * skipped}{passage.text}"
                skipped = at not in chosen
            continue
        if kept:
            items = "; ".join(text.rstrip(".;") for _, text in kept)
            yield f"{'… ' * skipped}{lead}: {items}{'; ….' if len(kept) < len(members) else '.'}"
        skipped = not kept
    if skipped:
        yield "…"


def _lead(title: str) -> str:
    return shorten(title.strip().strip("*_ ").rstrip(":：* "), _LONGEST_LEAD)  # noqa: RUF001 - as above


def _governs(heading: str) -> bool:
    """Whether what stands under the heading would say something else without it."""
    return bool(heading) and any(one.strength.name == "RULE" for one in directives_in(f"{heading} do this."))


def _weight(passage: Passage, vocabulary: Vocabulary) -> float:
    if passage.code:
        return _CODE
    directs = max((float(one.strength) for one in directives_in(passage.whole)), default=0.0)
    directs = max(directs, float(Strength.RULE)) if corrects(passage.text) else directs
    named = _NAMED.search(passage.text) is not None
    reasoned = explains(passage.text)
    told = min(vocabulary.information(passage.text) / _TELLING, _MOST_TOLD)
    return _OTHER + directs + named + reasoned + told
