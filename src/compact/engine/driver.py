"""Runs a provider: applies, checks, counts, times and records each pass it proposes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import takewhile
from time import perf_counter
from typing import TypeAlias

from compact.engine.report import PassReport
from compact.errors import EditError
from compact.messages import (
    Conversation,
    Drop,
    EditKind,
    Message,
    Pass,
    Plan,
    Problem,
    Reasoning,
    Rules,
    Where,
    apply,
    check,
    mend,
    untouchable,
    visible,
)
from compact.ports import Answer, Ask, CompactionOrigin, Completion, Event, Failure, Measure, Observe
from compact.providers import Applied, Rejected, Steps, Verdict
from compact.quantities import counted

AskModel: TypeAlias = Callable[[Sequence[Ask]], tuple[Answer, ...]]


@dataclass(frozen=True, slots=True)
class NoModel:
    """Stands where a callback would, and says why no model is called."""

    reason: str


UNNAMED = "a model"
"""What a callback's model is called where the answer does not name it."""
Asker: TypeAlias = AskModel | NoModel | None
"""A callback that answers questions; or why there is none. None: nothing was said about it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: the conversation, the accepted passes, a report of each pass, accepted or not, the events.

    `models` are those that answered questions, which took `asking` seconds; `unasked` says why none was asked.
    `failure` says how the recipe's own provider failed, and `stand_in` is the name of the one that did its work.
    `origin` is where it was made, which took `seconds`.
    """

    conversation: Conversation
    plan: Plan
    passes: tuple[PassReport, ...]
    events: tuple[Event, ...] = ()
    models: tuple[str, ...] = ()
    unasked: str = ""
    asking: float = 0.0
    failure: str = ""
    stand_in: str = ""
    origin: CompactionOrigin = field(default_factory=CompactionOrigin)
    seconds: float = 0.0


class Judge:
    """Decides about proposed passes; what it accepts becomes the plan."""

    def __init__(
        self, conversation: Conversation, measure: Measure, rules: Rules, observe: Observe | None = None
    ) -> None:
        self.conversation = conversation
        self.tokens = measure.conversation(conversation)
        self.measure = measure
        self._rules = rules
        self._observe = observe
        self._events: list[Event] = []
        self._plan: list[Pass] = []
        self._reports: list[PassReport] = []
        self._began = perf_counter()
        self._cost: Decimal | None = None
        self._asked = 0
        self._models: dict[str, None] = {}
        self._asking = 0.0
        self.wished = self.unused = 0
        """Tokens that the answers might have had together, and those of them that they did not take."""
        self.forbidden = False
        """True if a rule of the vendor forbade a pass."""
        self.bound = False
        """True if it did because of reasoning that may neither stay behind the change nor go."""

    def decide(self, proposal: Pass) -> Verdict:
        """Apply the pass, mend the references it broke, and keep it if nothing speaks against it."""
        if not proposal.edits:
            return self._record(proposal, Rejected("; ".join(proposal.notes) or "nothing to do"))
        before = self.conversation
        try:
            after, steps = _applied(before, proposal)
            problems = self._problems(after)
            if problems and not proposal.alone and all(problem.kind == "invalid" for problem in problems):
                after, problems, drops = self._without_reasoning(after, problems)
                steps += drops
        except EditError as error:
            return self._record(proposal, Rejected(str(error)))
        if problems:
            self.forbidden |= any(problem.kind == "invalid" for problem in problems)
            why = "; ".join(problem.text for problem in problems[:3])
            return self._record(proposal, Rejected(why, frozenset(problem.message for problem in problems) - {""}))
        self._plan += steps
        self.conversation = after
        proposal = replace(proposal, notes=(*proposal.notes, *(note for step in steps[1:] for note in step.notes)))
        return self._record(proposal, Applied(visible(after), self.measure.conversation(after)))

    def note_answers(self, asks: Sequence[Ask], answers: Sequence[Answer], seconds: float) -> None:
        """Charge the next pass with what its questions cost."""
        for ask, answer in zip(asks, answers, strict=True):
            text = answer.text if isinstance(answer, Completion) else ""
            self.wished += ask.wished
            self.unused += max(0, ask.wished - self.measure.text(text))
        self._asking += seconds
        self._asked += len(answers)
        for answer in answers:
            if not isinstance(answer, Failure) and answer.cost is not None:
                self._cost = (self._cost or Decimal(0)) + answer.cost
            if isinstance(answer, Completion) and not (answer.trusted or answer.estimated):
                self._models[answer.model or UNNAMED] = None

    def _problems(self, after: Conversation, thoughtless: Collection[str] = ()) -> tuple[Problem, ...]:
        count = self.measure.conversation
        return check(self.conversation, after, rules=self._rules, count=count, thoughtless=thoughtless)

    def _without_reasoning(
        self, after: Conversation, problems: tuple[Problem, ...]
    ) -> tuple[Conversation, tuple[Problem, ...], list[Pass]]:
        """The same with what the model thought since the first change dropped, if that makes it valid.

        Some vendors bind reasoning to everything before it: it goes with what it was bound to. The current step keeps
        its own if that will do. What was protected on purpose keeps it in any case.
        """
        before = self.conversation
        tried: tuple[Drop, ...] = ()
        pinned = frozenset(message.id for message in before.messages if message.protected)
        for fixed in (untouchable(before), pinned):
            drops = _later_reasoning(before, after, fixed)
            if not drops or drops == tried:
                continue
            tried = drops
            note = f"{counted(len(drops), 'block of reasoning')} went, bound to what changed"
            freed, done = apply(after, Pass("Reasoning dropped", drops, (note,)))
            left = self._problems(freed, {drop.where.message for drop in drops})
            if not left:
                return freed, (), [done]
            why = f"nor without what was thought since, as then: {left[0].text}"
            problems = (problems[0], Problem("invalid", why))
        self.bound |= bool(tried)
        return after, problems, []

    def note(self, event: Event) -> None:
        """Keep what happened, and pass it on."""
        self._events.append(event)
        if self._observe is not None:
            self._observe(event)

    def outcome(self) -> Outcome:
        passes, events = tuple(self._charged()), tuple(self._events)
        models = tuple(self._models)
        return Outcome(self.conversation, tuple(self._plan), passes, events, models, asking=self._asking)

    def _charged(self) -> list[PassReport]:
        """The reports; the last pass is charged with questions that none followed."""
        if not self._asked or not self._reports:
            return self._reports
        *others, last = self._reports
        cost = last.cost if self._cost is None else (last.cost or Decimal(0)) + self._cost
        return [*others, replace(last, asked=last.asked + self._asked, cost=cost)]

    def _record(self, proposal: Pass, verdict: Verdict) -> Verdict:
        now = perf_counter()
        before, kept = self.tokens, isinstance(verdict, Applied)
        self.tokens = verdict.tokens if isinstance(verdict, Applied) else before
        self._reports.append(
            PassReport(
                name=proposal.name,
                tokens_before=before,
                tokens_after=self.tokens,
                edits=len(proposal.edits) if kept else 0,
                asked=self._asked,
                cost=self._cost,
                seconds=now - self._began,
                notes=proposal.notes if kept else (),
                skipped="" if isinstance(verdict, Applied) else verdict.why,
            )
        )
        self._began, self._cost, self._asked = now, None, 0
        return verdict


def _applied(before: Conversation, proposal: Pass) -> tuple[Conversation, list[Pass]]:
    """The conversation after the pass with the references it broke mended, and what was done.

    Several presets begin with the very same edits: what these come to is kept.
    """
    edits, known = before.memo.get(_applied, ((), ()))
    if edits is proposal.edits:
        after, (done, *rest) = known
        again = replace(proposal, originals=done.originals, added=done.added, merges=done.merges)
        return after, [again, *rest]
    after, done = apply(before, proposal)
    steps = [done]
    if mending := mend(before, after):
        after, mended = apply(after, mending)
        steps.append(mended)
    before.memo[_applied] = proposal.edits, (after, tuple(steps))
    return after, steps


def _later_reasoning(before: Conversation, after: Conversation, fixed: Collection[str]) -> tuple[Drop, ...]:
    """The edits that drop what was thought after the first message that changed, but for the fixed messages."""
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(before.messages, after.messages, strict=False))
    )
    return reasoning_drops(message for message in after.messages[same:] if message.id not in fixed)


def reasoning_drops(messages: Iterable[Message]) -> tuple[Drop, ...]:
    """The edits that drop what was thought in the messages."""
    return tuple(
        Drop(Where(message.id, position), EditKind.BOUND_TO_CHANGED)
        for message in messages
        for position, block in enumerate(message.blocks)
        if isinstance(block, Reasoning)
    )


def run(steps: Steps, judge: Judge, ask: AskModel) -> Outcome:
    """Drive the provider to its end."""
    try:
        step = next(steps)
        while True:
            step = steps.send(_reply(judge, step, ask))
    except StopIteration:
        return judge.outcome()


def _reply(judge: Judge, step: object, ask: AskModel) -> Verdict | tuple[Answer, ...] | None:
    """What the step is answered with."""
    if isinstance(step, Pass):
        return judge.decide(step)
    if isinstance(step, Event):
        judge.note(step)
        return None
    if isinstance(step, tuple) and all(isinstance(one, Ask) for one in step):
        began = perf_counter()
        answers = ask(step)
        judge.note_answers(step, answers, perf_counter() - began)
        return answers
    raise TypeError(f"a provider yields a Pass, an Event or a tuple of Asks, not {step!r}"[:200])
