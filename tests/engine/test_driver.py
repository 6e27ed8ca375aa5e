"""How passes are judged and charged, and what a run comes to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from compact.engine import Judge, Outcome, run
from compact.formats import parse, reject
from compact.messages import Conversation, EditKind, Fold, Pass, Replace, Where
from compact.ports import Answer, Ask, Completion, Event, Failure, Refusal
from compact.providers import Steps
from compact.providers.provider import Applied, Rejected
from tests.providers.conversations import LONG, assistant, gauge_for, step, tokens_of, user


def talk() -> Conversation:
    called = step("c1", "read", {"path": "a.py"}, LONG)
    return parse([user("Begin."), *called, assistant("Read."), user("Go on."), assistant("Yes."), user("End.")])


def judge_of(conversation: Conversation, observe: Any = None) -> Judge:
    return Judge(conversation, gauge_for(conversation), reject, observe)


def cut(conversation: Conversation, text: str = "short") -> Replace:
    return Replace(Where(conversation.messages[2].id, 0, (0,)), text, EditKind.TRUNCATED)


def test_what_is_kept_becomes_the_plan_and_the_rest_says_why_not() -> None:
    before = talk()
    judge = judge_of(before)
    applied = judge.decide(Pass("Cut", (cut(before),), ("one text",)))
    assert isinstance(applied, Applied)
    assert applied.tokens == judge.tokens == tokens_of(judge.conversation) < tokens_of(before)
    assert judge.decide(Pass("None", ())) == Rejected("nothing to do")
    assert judge.decide(Pass("None", (), ("all is short", "and new"))) == Rejected("all is short; and new")
    longer = judge.decide(Pass("Longer", (cut(before, LONG * 2),)))
    assert isinstance(longer, Rejected)
    half = judge.decide(Pass("Half", (Fold((before.messages[1].id,), None, EditKind.PRUNED),), ("gone",)))
    assert isinstance(half, Rejected)
    missing = judge.decide(Pass("Missing", (Replace(Where("nobody", 0), "x", EditKind.TRUNCATED),)))
    assert isinstance(missing, Rejected)
    outcome = judge.outcome()
    assert [done.name for done in outcome.passes] == ["Cut", "None", "None", "Longer", "Half", "Missing"]
    assert [done.edits for done in outcome.passes] == [1, 0, 0, 0, 0, 0]
    assert [done.notes for done in outcome.passes] == [("one text",), (), (), (), (), ()]
    skipped = [done.skipped for done in outcome.passes]
    assert skipped == ["", "nothing to do", "all is short; and new", longer.why, half.why, missing.why]
    sizes = [(done.tokens_before, done.tokens_after) for done in outcome.passes]
    assert sizes == [(tokens_of(before), applied.tokens), *[(applied.tokens, applied.tokens)] * 5]
    assert [step.name for step in outcome.plan] == ["Cut"]
    assert all(done.seconds >= 0 for done in outcome.passes)


def test_a_pass_is_charged_with_the_questions_before_it_and_the_last_with_those_after_it() -> None:
    before = talk()
    answers: list[tuple[Answer, ...]] = [
        (Completion("a", cost=Decimal("0.5"), model="m"), Completion("b", model="n"), Failure("down")),
        (Refusal("no", cost=Decimal("0.25")), Completion("c", trusted=True, model="t")),
        (Completion("d", cost=Decimal(1)), Completion("e", estimated=True, model="e")),
    ]
    events: list[Event] = []

    def steps() -> Steps:
        yield (Ask("1", "", 1), Ask("2", "", 1), Ask("3", "", 1))
        yield Pass("Cut", (cut(before),))
        yield Event("told")
        yield Pass("None", ())
        yield (Ask("4", "", 1), Ask("5", "", 1))
        yield (Ask("6", "", 1), Ask("7", "", 1))

    given = iter(answers)

    def ask(_: Sequence[Ask]) -> tuple[Answer, ...]:
        return next(given)

    outcome = run(steps(), judge_of(before, events.append), ask)
    assert [(done.asked, done.cost) for done in outcome.passes] == [(3, Decimal("0.5")), (4, Decimal("1.25"))]
    assert outcome.models == ("m", "n", "a model")
    assert outcome.events == tuple(events) == (Event("told"),)
    assert outcome.asking > 0
    assert outcome.unasked == ""


def test_questions_without_a_pass_are_charged_to_nobody() -> None:
    def steps() -> Steps:
        yield (Ask("1", "", 1),)

    outcome = run(steps(), judge_of(talk()), lambda _: (Completion("a", cost=Decimal(1)),))
    assert (outcome.passes, outcome.models) == ((), ("a model",))

    def free() -> Steps:
        yield Pass("None", ())
        yield (Ask("1", "", 1),)

    (done,) = run(free(), judge_of(talk()), lambda _: (Completion("a"),)).passes
    assert (done.asked, done.cost) == (1, None)


@pytest.mark.parametrize("wrong", [3, [Ask("1", "", 1)], (Ask("1", "", 1), "x"), "x" * 500])
def test_what_is_no_step_is_refused(wrong: Any) -> None:
    def steps() -> Steps:
        yield wrong

    with pytest.raises(TypeError, match="a provider yields a Pass, an Event or a tuple of Asks, not ") as caught:
        run(steps(), judge_of(talk()), lambda _: ())
    assert len(str(caught.value)) <= 200


def test_the_same_edits_twice_come_to_the_same() -> None:
    before = talk()
    edits = (cut(before),)
    outcomes: list[Outcome] = []
    for name in ("First", "Second"):
        judge = judge_of(before)
        judge.decide(Pass(name, edits))
        outcomes.append(judge.outcome())
    first, second = outcomes
    assert first.conversation.messages == second.conversation.messages
    assert (first.plan[0].name, second.plan[0].name) == ("First", "Second")
    assert first.plan[0].originals == second.plan[0].originals != ()
