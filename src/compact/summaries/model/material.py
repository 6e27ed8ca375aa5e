"""What a summarizer is given to read, in parts it can take in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from compact.messages import Message, body_of, is_own, is_removed_marker, is_summary
from compact.ports import LEAST_ANSWER, LEAST_SAVED, Measure
from compact.summaries.accounts import unverified_items
from compact.summaries.model.instructions import Frame, instructions, part_note
from compact.summaries.model.ladder import Ladder, Question
from compact.summaries.model.sources import Sources
from compact.summaries.model.statements import Statement, parse
from compact.summaries.model.strategy import Strategy, Style
from compact.summaries.model.transcript import transcribe

OnFailure: TypeAlias = Literal["prune", "block", "offline"]

LEAST_ROOM = 256
# What parts count for does not add up to the count of the whole exactly, and the fence around them counts too.
_MARGIN = 0.95
_FENCE = 48


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be summarized, how, in how many tokens (`budget`), by a model that takes so many at once (`reads`).

    The messages are in order; an earlier summary of ours among them is merged. `on_failure` says what to do without a
    usable answer: let the messages go (prune), leave them (block), or summarize them without a model (offline).
    `kept` are the ids of those that go on standing beside the summary: they are read, and need not be repeated.
    `beside` are all messages of the conversation: what the answer says may stand there, too. `below` tells, in a few
    lines, how the conversation goes on. `asks`: a model answers, so that the question must be worth its price.
    """

    messages: tuple[Message, ...]
    strategy: Strategy
    style: Style
    budget: int
    reads: int
    profile: str = ""
    on_failure: OnFailure = "block"
    kept: frozenset[str] = frozenset()
    beside: tuple[Message, ...] = ()
    below: str = ""
    asks: bool = False


class Material:
    """What there is to read for a request: a transcript, and what an earlier summary left."""

    def __init__(self, request: Request, measure: Measure) -> None:
        self.request = request
        self.measure = measure
        self.size = sum(map(measure.message, request.messages))
        self.limit = max(1, min(request.budget, self.size - (LEAST_SAVED if request.asks else 1)))
        self.earlier, self._earlier_message = _earlier(request)
        self.messages = [message for message in request.messages if message is not self._earlier_message]
        self.transcript = transcribe(self.messages, request.kept)

    @property
    def is_worth_asking(self) -> bool:
        """True if there is something to summarize and, where a model answers, a summary saves enough."""
        least = LEAST_ANSWER + LEAST_SAVED if self.request.asks else 2
        return bool(self.messages) and self.size >= least

    @cached_property
    def sources(self) -> Sources:
        """What the answers rest on: the messages, those beside them, and the earlier summary."""
        read = {message.id for message in self.request.messages}
        return Sources([*self.request.messages, *(one for one in self.request.beside if one.id not in read)])

    def ladder(self) -> Ladder:
        return Ladder(self._instruct, self.sources, self.measure.text, self.request.profile, self.earlier)

    def questions(self, reads: int) -> list[Question]:
        """A question for each part that can be read at once: every message is in one of them, or in several."""
        first = Question(self.transcript, (), self.request.strategy, self.limit, self.size, parts=2)
        room = max(int(reads * _MARGIN) - self.measure.text(self._instruct(first)) - _FENCE, LEAST_ROOM)
        parts = self.transcript.parts(room, self.measure)
        sources = [tuple(dict.fromkeys(entry.id for entry in part.entries)) for part in parts]
        if self._earlier_message:
            sources[0] = (self._earlier_message.id, *sources[0])
        # Together they may come to more than the whole may take: what is worth least is left out in the end.
        share = self.limit if len(parts) == 1 else max(self.limit // len(parts), min(self.limit, LEAST_ANSWER))
        return [
            replace(first, material=part, sources=ids, limit=share, number=number, parts=len(parts))
            for number, (part, ids) in enumerate(zip(parts, sources, strict=True), 1)
        ]

    def _instruct(self, question: Question) -> str:
        below = self.request.below if question.number == question.parts else ""
        frame = Frame(question.material.code, self.earlier, below)
        said = instructions(question.strategy, self.request.style, frame, budget=question.budget)
        return said if question.parts == 1 else f"{said}\n\n{part_note(question.number, question.parts)}"


def _earlier(request: Request) -> tuple[tuple[Statement, ...], Message | None]:
    """The statements of the last earlier summary among the messages; other earlier ones are read like the rest.

    What only looks like a summary of ours is kept as that, and nothing in it is an instruction.
    """
    for message in reversed(request.messages):
        if is_own(message) and not is_removed_marker(message.text):
            return parse(body_of(message), request.strategy).statements, message
        if is_summary(message) and not is_removed_marker(message.text):
            return tuple(Statement(item.text) for item in unverified_items(body_of(message))), message
    return (), None
