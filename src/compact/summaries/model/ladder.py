"""Asking for a summary, and asking again: what is done about an answer that is of no use.

Too long: ask for half of it, and once more for half of that. A refusal: ask for less, by the strategy `brief`. Anything
else ends the attempt: the same question would get the same answer. Every step is an event; what to do about a question
that was too long itself is for the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from compact.ports import LEAST_ANSWER, Answer, Ask, Event, Failure, Refusal
from compact.summaries.model.check import Checked, Doubt, check_summary
from compact.summaries.model.sources import Sources
from compact.summaries.model.statements import Draft, Statement
from compact.summaries.model.strategy import Strategy, find_strategy
from compact.summaries.model.transcript import Transcript

HALVINGS = 2
LAST_RESORT = "brief"
# An answer so many times as long as it may be is not even read: what cannot be believed is never that much of it.
_HOPELESS = 2
_SLACK = 1.25
"""An answer so many times as long as it may be is used: what matters least of it is left out."""
# Up to here it may be an error or a refusal, and those are told apart.
_READ_ANYWAY = 1_000  # tokens

Trouble: TypeAlias = Literal["failure", "overflow", "refusal", "empty", "untrue", "longer", "over_long"]
Steps: TypeAlias = Generator[tuple[Ask, ...] | Event, Any, "list[Good] | Stop"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question: what is to be read, by which strategy, in how many tokens; and what was tried already.

    `limit` is what the answer may take in the end, `size` what everything that is summarized takes now.
    """

    material: Transcript
    sources: tuple[str, ...]
    strategy: Strategy
    limit: int
    size: int
    number: int = 1
    parts: int = 1
    attempt: int = 1
    halvings: int = 0

    @property
    def budget(self) -> int:
        return max(LEAST_ANSWER, self.limit >> self.halvings)

    @property
    def where(self) -> str:
        return f"part {self.number} of {self.parts}: " if self.parts > 1 else ""

    def halved(self) -> Question:
        return replace(self, halvings=self.halvings + 1, attempt=self.attempt + 1)

    def brief(self) -> Question:
        return replace(self, strategy=find_strategy(LAST_RESORT), attempt=self.attempt + 1)


@dataclass(frozen=True, slots=True)
class Good:
    """An answer that can be used, with what is doubted of it. `offline`: no model wrote it."""

    text: str
    draft: Draft = field(default_factory=Draft)
    doubts: tuple[Doubt, ...] = ()
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """There is no usable answer."""

    kind: Trouble
    reason: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """How questions are put, and by what their answers are judged."""

    instruct: Callable[[Question], str]
    sources: Sources
    count: Callable[[str], int]
    profile: str = ""
    earlier: tuple[Statement, ...] = ()

    def climb(self, questions: Sequence[Question]) -> Steps:
        """Usable answers to all questions, in order; or why there is none for one of them.

        A part without an answer would be a loss that nobody sees, so the first one stops it all.
        """
        good: dict[int, Good] = {}
        waiting = list(questions)
        while waiting:
            asks = tuple(map(self._ask, waiting))
            yield Event("summary_requested", _requested(waiting))
            answers: tuple[Answer, ...] = yield asks
            again: list[Question] = []
            for question, answer in zip(waiting, answers, strict=True):
                outcome = self._judge(question, answer)
                if isinstance(outcome, Stop):
                    following = _next(question, outcome)
                    yield from _told(question, outcome, following)
                    if following is None:
                        return replace(outcome, reason=question.where + outcome.reason)
                    again.append(following)
                else:
                    if outcome.doubts:
                        yield Event("summary_flagged", _flagged(question, outcome.doubts))
                    good[question.number] = outcome
            waiting = again
        return [good[question.number] for question in questions]

    def _ask(self, question: Question) -> Ask:
        said, about = self.instruct(question), str(question.material)
        name = question.strategy.name
        return Ask(said, about, question.budget, question.sources, self.profile, strategy=name)

    def _judge(self, question: Question, answer: Answer) -> Good | Stop:
        if isinstance(answer, Failure):
            return Stop("overflow" if answer.kind == "overflow" else "failure", answer.reason)
        if isinstance(answer, Refusal):
            return Stop("refusal", answer.reason)
        if answer.truncated:
            return Stop("over_long", f"the answer was cut off at {question.budget:,} tokens")
        tokens = self.count(answer.text)
        if stop := _too_long(question, tokens):
            return stop
        if (answer.trusted or answer.estimated) and (text := answer.text.strip()):
            return Good(text, offline=True)
        verdict = check_summary(answer.text, self.sources, question.strategy, self.earlier)
        if not isinstance(verdict, Checked):
            return Stop("failure" if verdict.kind == "error" else verdict.kind, verdict.reason)
        return Good(answer.text, verdict.draft, verdict.doubts)


def is_hopeless(tokens: int, limit: int) -> bool:
    """Whether an answer is so long that it will hardly fit, whatever is left out: reading it would take long, too."""
    return tokens > max(_HOPELESS * limit, _READ_ANYWAY)


def _too_long(question: Question, tokens: int) -> Stop | None:
    if tokens >= question.size > 0:
        return Stop("longer", f"{question.size:,} tokens would have become {tokens:,}")
    if tokens > max(question.limit, LEAST_ANSWER) * _SLACK:
        return Stop("over_long", f"{tokens:,} tokens where {question.limit:,} are allowed")
    return None


def _requested(questions: Sequence[Question]) -> dict[str, Any]:
    return {
        "parts": len(questions),
        "attempt": max(question.attempt for question in questions),
        "strategy": questions[0].strategy.name,
        "tokens": questions[0].size,
        "max_tokens": sum(question.budget for question in questions),
    }


def _next(question: Question, stop: Stop) -> Question | None:
    """The question to ask instead; None at the top of the ladder."""
    if stop.kind in ("longer", "over_long"):
        halved = question.halved()
        return halved if question.halvings < HALVINGS and halved.budget < question.budget else None
    if stop.kind == "refusal":
        return question.brief() if question.strategy.name != LAST_RESORT else None
    return None


def _told(question: Question, stop: Stop, following: Question | None) -> Generator[Event, None, None]:
    facts = {"kind": stop.kind, "reason": stop.reason, "attempt": question.attempt, "part": question.number}
    if stop.kind == "refusal":
        yield Event("summary_refused", facts)
    if following is not None:
        changed = {"attempt": following.attempt, "max_tokens": following.budget, "strategy": following.strategy.name}
        yield Event("summary_retry", facts | changed)
    elif stop.kind not in ("refusal", "overflow"):
        yield Event("summary_failed", facts)


def _flagged(question: Question, doubts: Sequence[Doubt]) -> dict[str, Any]:
    reasons = list(dict.fromkeys(doubt.why for doubt in doubts))[:3]
    return {"count": len(doubts), "reasons": reasons, "part": question.number, "attempt": question.attempt}
