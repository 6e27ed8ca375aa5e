"""How much of what a session went on to use is still there after condensing it, measured without a model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from compact.app.condensing import Condensation, Result, Retain
from compact.app.costing import Way
from compact.errors import EditError
from compact.facts import Fact
from compact.formats import reject, violations
from compact.lab.questions import Question, kept
from compact.lab.retention import missing, text_of, used_again
from compact.messages import Conversation, restore
from compact.ports import Answer, Ask, Completion, Failure

CUTS = (0.5, 0.75)
SHARES = (0.5, 0.25, 0.1)
FAULTS = 0.05


@dataclass(frozen=True, slots=True)
class Case:
    """A session as far as it had come, and what it then used of what it had seen."""

    before: Conversation
    needed: frozenset[Fact]
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """What one condensation kept: shares of the facts that were used later, and of the user's messages.

    `answers` is the share of the questions' answers that can still be read, None where there are no questions.
    """

    in_context: float
    recoverable: float
    lost: float
    verbatim: float
    ratio: float
    met: bool
    valid: bool
    answers: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """The scores of one way at one size, on the average."""

    way: str
    share: float
    cases: int
    in_context: float
    recoverable: float
    lost: float
    verbatim: float
    ratio: float
    met: float
    valid: float
    answers: float | None


def cases(session: Conversation, questions: Sequence[Question] = ()) -> Iterator[Case]:
    """The session cut at each place; and the whole of it, where there are questions about it."""
    for share in CUTS:
        at = int(len(session) * share)
        before = session.with_messages(session.messages[:at])
        if needed := used_again(before.messages, session.messages[at:]):
            yield Case(before, needed)
    if questions:
        yield Case(session, frozenset(), tuple(questions))


def score(case: Case, way: Way, share: float, model: str, retain: Retain | None = None) -> Score:
    """Condense the case to a share of its tokens, and look at what is left."""
    condensation = Condensation(case.before, model, share, retain)
    result = condensation.run(way.provider, way.settings)
    text = "\n".join(map(text_of, result.conversation.messages))
    gone = missing(case.needed, text)
    back = gone if restored(result, case.before) else set()
    of = max(len(case.needed), 1)
    report = result.report
    return Score(
        in_context=1 - len(gone) / of,
        recoverable=len(back) / of,
        lost=(len(gone) - len(back)) / of,
        verbatim=verbatim(case.before, result.conversation),
        ratio=report.tokens_after / max(report.tokens_before, 1),
        met=report.target_met,
        valid=_is_valid(case.before, result.conversation),
        answers=fmean(kept(question, text) for question in case.questions) if case.questions else None,
    )


def summary(way: str, share: float, scores: Sequence[Score]) -> Row:
    """The average of the scores; of the facts, over the cases that have any."""
    facts = [one for one in scores if one.answers is None] or list(scores)
    answers = [one.answers for one in scores if one.answers is not None]
    return Row(
        way,
        share,
        len(scores),
        in_context=fmean(one.in_context for one in facts),
        recoverable=fmean(one.recoverable for one in facts),
        lost=fmean(one.lost for one in facts),
        verbatim=fmean(one.verbatim for one in scores),
        ratio=fmean(one.ratio for one in scores),
        met=fmean(one.met for one in scores),
        valid=fmean(one.valid for one in scores),
        answers=fmean(answers) if answers else None,
    )


def verbatim(before: Conversation, after: Conversation) -> float:
    """The share of the user's messages that stand as they were."""
    said = [message for message in before.messages if message.from_user]
    left = {id(message.wire) for message in after.messages}
    return sum(id(message.wire) in left for message in said) / len(said) if said else 1.0


def restored(result: Result, before: Conversation) -> bool:
    """Whether the plan brings everything back."""
    try:
        return restore(result.conversation, result.plan).messages == before.messages
    except EditError:
        return False


def survives_faults(case: Case, way: Way, share: float, model: str, seed: int = 0) -> bool:
    """Whether it comes to a valid, smaller conversation although one answer in twenty of the model's fails."""
    rng = random.Random(seed)  # noqa: S311 - the same faults every time

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(
            Failure("injected") if rng.random() < FAULTS else Completion(_beginning(one), trusted=True) for one in asks
        )

    result = Condensation(case.before, model, share).run(way.provider, way.settings, ask)
    smaller = result.report.tokens_after < result.report.tokens_before
    return (smaller or not result.plan) and _is_valid(case.before, result.conversation)


def _beginning(ask: Ask) -> str:
    return " ".join(ask.material.split()[: max(8, ask.max_tokens // 4)])


def _is_valid(before: Conversation, after: Conversation) -> bool:
    known = {violation.rule for violation in violations(before)}
    return all(violation.rule in known for violation in reject(before, after))
