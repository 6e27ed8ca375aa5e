"""Who answers a question: a model, another one in its place, no one any more, or nothing but the sources' own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from compact.engine.answering import answer_safely
from compact.engine.hidden_secrets import hide_secrets, vendors_of
from compact.engine.question_limits import LimitedQuestions
from compact.formats import parse
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.redaction import Redactor

ASK = Ask("Summarize.", "a", 10)
NAMED = replace(ASK, profile="fast")


class Model:
    """Answers by the profile that is asked for; keeps what it was asked."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: list[list[Ask]] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.asked.append(list(asks))
        return tuple(self.answers[ask.profile or "usual"] for ask in asks)


def test_where_a_named_model_cannot_be_asked_the_usual_one_is() -> None:
    usual, refused = Completion("usual"), Refusal("no")
    model = Model(fast=Failure("down"), usual=usual, other=refused)
    asks = [NAMED, ASK, replace(ASK, profile="other"), replace(NAMED, material="b")]
    assert answer_safely(model, asks) == (usual, usual, refused, usual)
    assert model.asked == [asks, [ASK, replace(ASK, material="b")]]


@pytest.mark.parametrize(
    ("asks", "failure"),
    [([ASK], Failure("down")), ([NAMED], Failure("nobody is left", final=True))],
)
def test_a_failure_of_the_usual_model_or_a_final_one_stands(asks: list[Ask], failure: Failure) -> None:
    model = Model(fast=failure, usual=failure)
    assert answer_safely(model, asks) == (failure,)
    assert len(model.asked) == 1


def test_a_callback_that_raises_gives_failures() -> None:
    def broken(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        raise RuntimeError(f"{len(asks)} asked")

    assert answer_safely(broken, [ASK, ASK]) == (Failure("RuntimeError: 2 asked"),) * 2
    assert answer_safely(broken, [NAMED, ASK]) == (Failure("RuntimeError: 1 asked"), Failure("RuntimeError: 2 asked"))


@pytest.mark.parametrize(("most", "times"), [(1, "once"), (2, "2 times")])
def test_a_model_is_asked_only_so_many_times(most: int, times: str) -> None:
    model = Model(usual=Completion("usual"))
    ask = LimitedQuestions(model, most)
    for _ in range(most):
        assert ask([ASK, ASK]) == (Completion("usual"),) * 2
    over = Failure(f"the model was asked {times}, which is max_asks", final=True)
    assert ask([ASK, ASK]) == (over, over)
    assert len(model.asked) == most


def named(vendors: object) -> Model:
    model = Model(usual=Completion("Its password is <SECRET-1>."))
    model.__dict__["vendors"] = vendors
    return model


@pytest.mark.parametrize(
    ("vendors", "found"),
    [(["a", "b"], {"a", "b"}), ({"a"}, {"a"}), ("ab", set()), (b"ab", set()), (5, set()), (None, set()), ([5], {"5"})],
)
def test_a_callback_names_the_vendors_that_it_asks(vendors: object, found: set[str]) -> None:
    assert vendors_of(named(vendors)) == LimitedQuestions(named(vendors), 1).vendors == found
    assert vendors_of(Model()) == set()


def test_secrets_are_hidden_from_every_other_vendor_and_put_into_the_answer() -> None:
    conversation = parse([{"role": "user", "content": "password: Sommerregen"}], format="openai-chat")
    own = named({"openai"})
    assert hide_secrets(own, "openai", conversation, Redactor) is own
    assert hide_secrets(own, "openai", conversation, None) is own
    for vendors, vendor in (({"mistral"}, "openai"), ({"openai", "mistral"}, "openai"), ((), "openai"), ({""}, "")):
        model = named(vendors)
        ask = hide_secrets(model, vendor, conversation, Redactor)
        question = Ask("Keep Sommerregen.", "Sommerregen it was", 10)
        assert ask([question]) == (Completion("Its password is Sommerregen."),)
        assert model.asked == [[Ask("Keep <SECRET-1>.", "<SECRET-1> it was", 10)]]


def test_what_is_no_text_of_a_model_is_passed_on_as_it_is() -> None:
    conversation = parse([{"role": "user", "content": "password: Sommerregen"}], format="openai-chat")
    refused = Refusal("<SECRET-1>?")
    assert hide_secrets(Model(usual=refused), "", conversation, Redactor)([ASK]) == (refused,)
