"""Whom questions go to when one cannot answer, how often a model is asked, and what is answered without one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from compact.engine import Judge
from compact.engine.answering import answer_offline, answer_safely
from compact.engine.hidden_secrets import hide_secrets
from compact.engine.question_limits import LimitedQuestions
from compact.engine.relays import vendors_of
from compact.formats import parse, reject
from compact.messages import Where
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.redaction import Redactor
from tests.providers.conversations import LONG, assistant, gauge_for, step, user


class Told:
    """Answers by profile, and keeps whom it was asked for, round by round."""

    vendors = frozenset({"openai"})

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.rounds: list[list[str]] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.rounds.append([ask.profile for ask in asks])
        return tuple(self.answers[ask.profile or "own"] for ask in asks)


def ask(profile: str = "") -> Ask:
    return Ask("Tell.", "what was said", 100, profile=profile)


def test_where_a_profile_cannot_be_asked_the_own_model_is_for_that_question_alone() -> None:
    own, good, no = Completion("own"), Completion("good"), Refusal("no")
    told = Told(own=own, good=good, down=Failure("down"), gone=Failure("gone", final=True), no=no)
    asks = [ask("good"), ask("down"), ask("gone"), ask("no"), ask()]
    assert answer_safely(told, asks) == (good, own, Failure("gone", final=True), no, own)
    assert told.rounds == [["good", "down", "gone", "no", ""], [""]]
    told = Told(own=Failure("down"))
    assert answer_safely(told, [ask()]) == (Failure("down"),)
    assert told.rounds == [[""]]


def test_a_model_is_asked_so_many_questions_and_then_every_question_fails_for_good() -> None:
    told = Told(own=Completion("own"))
    limited = LimitedQuestions(told, 3)
    assert limited.vendors == {"openai"}
    assert limited([ask(), ask()]) == (Completion("own"), Completion("own"))
    failure = Failure("the model was asked 2 questions, and 2 more would exceed max_asks, which is 3", final=True)
    assert limited([ask(), ask()]) == (failure, failure)
    assert limited([ask()]) == (Completion("own"),)
    failure = Failure("the model was asked 3 questions, and 1 more would exceed max_asks, which is 3", final=True)
    assert limited([ask()]) == (failure,)
    assert len(told.rounds) == 2


def test_what_is_read_in_more_parts_is_asked_about_once() -> None:
    told = Told(own=Completion("own"))
    limited = LimitedQuestions(told, 1)
    assert limited([ask(), ask()]) == (Completion("own"), Completion("own"))
    assert isinstance(limited([ask()])[0], Failure)
    assert len(told.rounds) == 1


@pytest.mark.parametrize(
    ("named", "vendors"),
    [(("openai", "google"), {"openai", "google"}), ("openai", set()), (b"openai", set()), (3, set()), ([], set())],
)
def test_a_callback_names_its_vendors_in_a_collection(named: object, vendors: set[str]) -> None:
    told = Told()
    told.vendors = named  # type: ignore[assignment]
    assert vendors_of(told) == vendors
    assert vendors_of(lambda _: ()) == frozenset()


def test_secrets_are_hidden_from_all_but_the_conversations_own_vendor() -> None:
    conversation, told = parse([user("Hello.")]), Told()
    assert hide_secrets(told, "openai", conversation, None) is told

    def never() -> None:
        raise AssertionError("nothing was asked")

    for vendor, same in (("openai", True), ("google", False), ("", False)):
        assert (hide_secrets(told, vendor, conversation, never) is told) is same  # type: ignore[arg-type]


def test_without_a_model_the_sources_are_told_in_their_own_words_and_only_the_place_asked_about() -> None:
    called = step("c1", "read", {"path": "src/parser.py"}, "ERROR in src/parser.py: tabs are not skipped\n" + LONG)
    parts = [{"type": "text", "text": f"I mended src/{name}.py, which failed.\n" * 9} for name in ("first", "second")]
    told = {"role": "assistant", "content": parts}
    conversation = parse([user("Begin."), *called, told, assistant("Read."), user("Go on.")])
    gauge = gauge_for(conversation)
    judge = Judge(conversation, gauge, reject)
    ids = [message.id for message in conversation.messages]

    def answered(sources: tuple[str, ...], place: Where | None = None, most: int = 500) -> Answer:
        (answer,) = answer_offline(judge, [Ask("Tell.", "", most, sources, place=place)])
        return answer

    whole = answered((ids[1], ids[2]))
    assert isinstance(whole, Completion)
    assert whole.trusted
    assert "src/parser.py" in whole.text
    assert gauge.text(whole.text) <= 500
    assert answered(("nobody",)) == Failure("there is nothing to summarize")
    assert answered(()) == Failure("there is nothing to summarize")
    result = answered((ids[2],), Where(ids[2], 0, (0,)))
    assert isinstance(result, Completion)
    assert result.text.startswith("- tool: ")
    with_call = answered((ids[1], ids[2]), Where(ids[2], 0, (0,)))
    assert with_call == Completion("- read src/parser.py", trusted=True)  # what was called is known by its id
    for block, (shown, other) in enumerate([("first", "second"), ("second", "first")]):
        said = answered((ids[3],), Where(ids[3], block))
        assert isinstance(said, Completion)
        assert f"src/{shown}.py" in said.text
        assert f"src/{other}.py" not in said.text
    assert answered((ids[3],), Where(ids[3], 5)) == answered((ids[3],))  # a place that is not there


@pytest.mark.parametrize(
    ("asks", "failure"),
    [([ask()], Failure("down")), ([ask("fast")], Failure("none is left", final=True))],
)
def test_a_failure_of_the_own_model_or_a_final_one_stands(asks: list[Ask], failure: Failure) -> None:
    told = Told(fast=failure, own=failure)
    assert answer_safely(told, asks) == (failure,)
    assert len(told.rounds) == 1


def test_a_callback_that_raises_gives_failures() -> None:
    def broken(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        raise RuntimeError(f"{len(asks)} asked")

    assert answer_safely(broken, [ask(), ask()]) == (Failure("RuntimeError: 2 asked"),) * 2
    failures = answer_safely(broken, [ask("fast"), ask()])
    assert failures == (Failure("RuntimeError: 1 asked"), Failure("RuntimeError: 2 asked"))


def test_what_is_no_text_of_a_model_is_passed_on_as_it_is() -> None:
    conversation = parse([{"role": "user", "content": "password: Sommerregen"}], format="openai-chat")
    refused = Refusal("<SECRET-1>?")
    assert hide_secrets(Told(own=refused), "", conversation, Redactor)([ask()]) == (refused,)
