"""What a summarizer is given to read, in parts it can take in, and how its answers become one summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from compact.messages import Message, body_of, fingerprint, is_removed_marker, is_summary
from compact.ports import Measure
from compact.summaries.evidence import Evidence
from compact.summaries.instructing import instructions, part_note, shortening
from compact.summaries.ladder import Good, Ladder, Question
from compact.summaries.merging import merge
from compact.summaries.parsing import parse_record
from compact.summaries.record import Item, Record, item_lines, render_record
from compact.summaries.strategy import Strategy, Style, known_sections
from compact.summaries.transcript import Entry, Transcript, transcribe

OnFailure: TypeAlias = Literal["prune", "block", "offline"]
Draft: TypeAlias = Record | str

LEAST_ROOM = 256
LEAST_SHARE = 128
# What parts count for does not add up to the count of the whole exactly, and the fence around them counts too.
_MARGIN = 0.95
_FENCE = 48


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be summarized, how, in how many tokens (`budget`), by a model that takes so many at once (`reads`).

    The messages are in order; an earlier summary of ours among them is merged. `on_failure` says what to do without a
    usable answer: let the messages go (prune), leave them (block), or summarize them without a model (offline).
    `kept` are the ids of those that go on standing beside the summary: they are read, and need not be repeated.
    """

    messages: tuple[Message, ...]
    strategy: Strategy
    style: Style
    budget: int
    reads: int
    profile: str = ""
    on_failure: OnFailure = "block"
    kept: frozenset[str] = frozenset()


class Material:
    """What there is to read for a request: a transcript, and what an earlier summary left."""

    def __init__(self, request: Request, measure: Measure) -> None:
        self.request = request
        self.measure = measure
        self.size = sum(map(measure.message, request.messages))
        self.limit = max(1, min(request.budget, self.size - 1))
        self.earlier, self._earlier_message = _earlier(request)
        self.messages = [message for message in request.messages if message is not self._earlier_message]
        self.transcript = transcribe(self.messages)

    @cached_property
    def evidence(self) -> Evidence:
        """What the answers may rest on: the transcript, and the earlier summary with what a person said in it."""
        earlier = self._earlier_message.text if self._earlier_message else ""
        items = self.earlier.items if self.earlier else ()
        demanded = (item.text for item in items if _demands(item, self.request.strategy))
        return Evidence(self.messages, (*(entry.body for entry in self.transcript.entries), earlier), demanded)

    def ladder(self) -> Ladder:
        return Ladder(self._instruct, self.evidence, self.measure.text, self.request.profile, self.earlier)

    def questions(self, reads: int) -> list[Question]:
        """A question for each part that can be read at once: every message is in one of them, or in several."""
        first = Question(self.transcript, (), self.request.strategy, self.limit, self.size, parts=2)
        parts = self.transcript.parts(self._room(reads, self._instruct(first)), self.measure)
        sources = [tuple(dict.fromkeys(entry.id for entry in part.entries)) for part in parts]
        if self._earlier_message:
            sources[0] = (self._earlier_message.id, *sources[0])
        return [
            replace(first, material=part, sources=ids, limit=self._share(len(parts)), number=number, parts=len(parts))
            for number, (part, ids) in enumerate(zip(parts, sources, strict=True), 1)
        ]

    def shortener(self) -> Ladder:
        """A ladder for questions that only shorten what was written before."""
        return Ladder(_shorten, self.evidence, self.measure.text, self.request.profile)

    def shortenings(self, draft: Draft, reads: int) -> list[Question]:
        """Questions that ask for a shorter draft, each about as much of it as can be read at once."""
        strategy = self.request.strategy
        room = self._room(reads, shortening(strategy, budget=self.limit, code="0" * 8))
        if isinstance(draft, Record):
            pieces = [_fenced(render_record(piece, strategy)) for piece in self._pieces(draft, room)]
        else:
            pieces = _fenced(draft).parts(room, self.measure)
        ids = tuple(message.id for message in self.request.messages)
        share, count = self._share(len(pieces)), self.measure.text
        return [
            Question(piece, ids, strategy, share, count(str(piece)), number, len(pieces))
            for number, piece in enumerate(pieces, 1)
        ]

    def draft(self, answers: Sequence[Good]) -> Draft:
        """The answers as one: records by rules, texts one after the other.

        What is new is not merged with what was known before: an answer may still be shortened, that may not.
        """
        if all(answer.finished for answer in answers):
            return "\n".join(answer.text for answer in answers)
        if any(answer.finished for answer in answers) or not (self.earlier or any(answer.record for answer in answers)):
            texts = [self.text(answer.record) if answer.record else answer.text for answer in answers]
            numbered = (f"Part {number} of {len(texts)}\n\n{text}" for number, text in enumerate(texts, 1))
            return texts[0] if len(texts) == 1 else "\n\n".join(numbered)
        records = [answer.record or self._lines(answer.text) for answer in answers]
        items = Record()
        for record in records:
            items = merge(items, replace(record, changes=()))
        changes = tuple(change for record in records for change in record.changes)
        return Record(items.items, changes, tuple(line for record in records for line in record.unread))

    def text(self, draft: Draft) -> str:
        return draft if isinstance(draft, str) else render_record(draft, self.request.strategy)

    def _instruct(self, question: Question) -> str:
        said = instructions(
            question.strategy,
            self.request.style,
            budget=question.budget,
            code=question.material.code,
            previous=self.earlier,
        )
        return said if question.parts == 1 else f"{said}\n\n{part_note(question.number, question.parts)}"

    def _room(self, reads: int, told: str) -> int:
        return max(int(reads * _MARGIN) - self.measure.text(told) - _FENCE, LEAST_ROOM)

    def _share(self, parts: int) -> int:
        """What each of the parts may take, so that together they are not much more than the whole may."""
        return self.limit if parts == 1 else max(self.limit // parts, min(self.limit, LEAST_SHARE))

    def _lines(self, text: str) -> Record:
        """Free prose as items that instruct nobody."""
        title = self.request.strategy.catch_all.title
        lines = (line.strip(" \t-*#") for line in text.split("\n"))
        return Record(tuple(Item(title, line) for line in lines if line))

    def _pieces(self, record: Record, room: int) -> Iterator[Record]:
        """The record cut between items, so that each piece can be read at once."""
        strategy, count = self.request.strategy, self.measure.text
        piece: list[Item] = []
        left = room
        for item in record.items:
            price = count("\n".join((f"## {item.section}", *item_lines(item, strategy))))
            if piece and price > left:
                yield Record(tuple(piece))
                piece, left = [], room
            piece.append(item)
            left -= price
        yield Record(tuple(piece))


def _earlier(request: Request) -> tuple[Record | None, Message | None]:
    """The last earlier summary among the messages, if it can be read back; one that cannot is read like the rest."""
    for message in reversed(request.messages):
        if is_summary(message) and not is_removed_marker(message.text):
            record = parse_record(body_of(message), request.strategy)
            return (record, message) if record and record.items and not record.unread else (None, None)
    return None, None


def _demands(item: Item, strategy: Strategy) -> bool:
    section = known_sections(strategy).get(item.section.casefold())
    return section is not None and section.instructs


def _fenced(text: str) -> Transcript:
    code = fingerprint(text)[:8]
    return Transcript((Entry("", f"--- {code} summary ---", text),), code)


def _shorten(question: Question) -> str:
    return shortening(question.strategy, budget=question.budget, code=question.material.code)
