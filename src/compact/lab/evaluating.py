"""How much of what a session went on to use is still there after compacting it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TypeAlias

from compact.app.condensing import Condensation, Result
from compact.app.counting import choose_model, counter_for
from compact.engine import Gauge, floor_of
from compact.errors import EditError
from compact.facts import Fact
from compact.formats import parse, reject, tools_of, violations
from compact.lab.questions import Question, kept
from compact.lab.retention import missing, text_of, used_again
from compact.messages import Conversation, Json, Plan, restore, untouchable
from compact.providers import Recipe

CUTS = (0.5, 0.75)
SHARES = (0.5, 0.25, 0.1)

Run: TypeAlias = Callable[[Condensation, Recipe], Result]


@dataclass(frozen=True, slots=True)
class Means:
    """For which model sessions are compacted, and what does it; no model is called by default.

    Without a `model` it is each request's own, or else the usual one. `variant` is the deployment whose rules hold.
    """

    model: str | None = None
    run: Run = Condensation.run
    variant: str = ""

    def model_for(self, session: Conversation) -> str:
        return choose_model(self.model, session)[0]

    def condensation(self, session: Conversation, share: float) -> Condensation:
        model, source = choose_model(self.model, session)
        return Condensation(session, None if source == "default" else model, share, variant=self.variant)


@dataclass(frozen=True, slots=True)
class Case:
    """A session as far as it had come, and what it then used of what it had seen."""

    before: Conversation
    needed: frozenset[Fact]
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """What one compaction kept: shares of the facts that were used later, and of the user's messages.

    `room` says whether the target has room for all of the user's messages beside what must stay, `restored` whether the
    plan brings everything back. `answers` is the share of the questions' answers that can still be read, None where
    there are no questions.
    """

    in_context: float
    recoverable: float
    lost: float
    verbatim: float
    room: bool
    ratio: float
    met: bool
    valid: bool
    restored: bool
    answers: float | None

    @property
    def kept(self) -> float:
        """What the case asks for: answers where there are questions, else facts."""
        return self.in_context if self.answers is None else self.answers


@dataclass(frozen=True, slots=True)
class Row:
    """The scores of one recipe at one size: their average, and of `ratio` the median.

    What is said of facts and of answers is None where no case has any. `verbatim_in_room` speaks of the cases whose
    target has room for all of the user's messages; there are `in_room`.
    """

    recipe: str
    share: float
    cases: int
    in_context: float | None
    recoverable: float | None
    lost: float | None
    verbatim: float
    verbatim_in_room: float | None
    in_room: int
    ratio: float
    met: float
    valid: float
    restored: float
    answers: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """In how many of the same cases a recipe keeps more than another one, less, and as much; `gain` is the average."""

    recipe: str
    than: str
    share: float
    more: int
    less: int
    same: int
    gain: float


def cases(session: Conversation, questions: Sequence[Question] = ()) -> Iterator[Case]:
    """The session cut at each place; and the whole of it, where there are questions about it."""
    for share in CUTS:
        at = int(len(session) * share)
        before = session.with_messages(session.messages[:at])
        if needed := used_again(before.messages, session.messages[at:]):
            yield Case(before, needed)
    if questions:
        yield Case(session, frozenset(), tuple(questions))


def score(case: Case, recipe: Recipe, share: float, means: Means) -> Score:
    """Compact the case to a share of its tokens, and look at what is left."""
    condensation = means.condensation(case.before, share)
    result = means.run(condensation, recipe)
    text = "\n".join(map(text_of, result.conversation.messages))
    gone = missing(case.needed, text)
    restored = comes_back(result.conversation, result.plan, case.before)
    back = gone if restored else set()
    of = max(len(case.needed), 1)
    report = result.report
    return Score(
        in_context=1 - len(gone) / of,
        recoverable=len(back) / of,
        lost=(len(gone) - len(back)) / of,
        verbatim=verbatim(case.before, result.conversation),
        room=has_room(case.before, condensation.target or 0, means.model_for(case.before)),
        ratio=report.tokens_after / max(report.tokens_before, 1),
        met=report.target_met,
        valid=is_valid(case.before, result.conversation),
        restored=restored,
        answers=fmean(kept(question, text) for question in case.questions) if case.questions else None,
    )


def condense_body(body: Mapping[str, Json], format: str, recipe: Recipe, share: float, means: Means) -> Result:
    """The request compacted to a share of its tokens."""
    session = parse(body, format=format)
    return means.run(means.condensation(session, share), recipe)


def summary(recipe: str, share: float, scores: Sequence[Score]) -> Row:
    """What the scores come to; of the facts, over the cases that have any."""
    facts = [one for one in scores if one.answers is None]
    roomy = [one.verbatim for one in scores if one.room]
    return Row(
        recipe,
        share,
        len(scores),
        in_context=_mean(one.in_context for one in facts),
        recoverable=_mean(one.recoverable for one in facts),
        lost=_mean(one.lost for one in facts),
        verbatim=fmean(one.verbatim for one in scores),
        verbatim_in_room=_mean(roomy),
        in_room=len(roomy),
        ratio=median(one.ratio for one in scores),
        met=fmean(one.met for one in scores),
        valid=fmean(one.valid for one in scores),
        restored=fmean(one.restored for one in scores),
        answers=_mean(one.answers for one in scores if one.answers is not None),
    )


def _mean(numbers: Iterable[float]) -> float | None:
    given = list(numbers)
    return fmean(given) if given else None


def compare(row: Row, scores: Sequence[Score], than: str, others: Sequence[Score]) -> Comparison:
    """The scores of a recipe, case by case, against those of another one at the same size."""
    gains = [one.kept - other.kept for one, other in zip(scores, others, strict=True)]
    more, less = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return Comparison(row.recipe, than, row.share, more, less, len(gains) - more - less, fmean(gains))


def verbatim(before: Conversation, after: Conversation) -> float:
    """The share of the user's messages whose words stand as they were, whatever became of tool results beside them."""
    said = [message for message in before.messages if message.from_user]
    left = {message.id: message.text for message in after.messages}
    return sum(left.get(message.id) == message.text for message in said) / len(said) if said else 1.0


def has_room(conversation: Conversation, target: int, model: str) -> bool:
    """Whether so many tokens hold everything that the user said beside what must stay."""
    gauge = Gauge(counter_for(model), tools_of(conversation))
    fixed = untouchable(conversation)
    said = [message for message in conversation.messages if message.from_user and message.id not in fixed]
    return floor_of(conversation, gauge).total + sum(map(gauge.message, said)) <= target


def comes_back(after: Conversation, plan: Plan, before: Conversation) -> bool:
    """Whether the plan brings everything back."""
    try:
        return restore(after, plan).messages == before.messages
    except EditError:
        return False


def is_valid(before: Conversation, after: Conversation) -> bool:
    """Whether the vendor accepts it; what was wrong before is not blamed on it."""
    known = {violation.rule for violation in violations(before)}
    return all(violation.rule in known for violation in reject(before, after))
