"""A callback that answers questions, and the mistakes that people make with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from compact import CompactConfig, CompactManager, condense
from compact.app.stored import StoredSessions
from compact.engine.callback import read_answers, require_callback
from compact.errors import InvalidInput
from compact.ports import Ask, Completion, Failure

ASKS = (Ask("Summarize.", "a", 10), Ask("Summarize.", "b", 10))
TALK = [
    {"role": role, "content": f"{number}: {'The parser reads a line of the file. ' * 40}"}
    for number in range(12)
    for role in ("user", "assistant")
]


async def later(asks: object) -> list[Completion]:
    raise AssertionError(asks)


class Later:
    async def __call__(self, asks: object) -> list[Completion]:
        raise AssertionError(asks)


UNFIT: list[tuple[Any, str]] = [
    ("gpt-4o", "must be a function, not text. To name a model, set a profile"),
    (object(), "must be a function, not object"),
    (Completion("done"), "must be a function, not Completion"),
    (later, "must not be an async function"),
    (Later(), "must not be an async function"),
    (partial(later), "must not be an async function"),
    (lambda: [Completion("done")], "must take one argument, not ()"),
    (lambda asks, model: [], "must take one argument, not (asks, model)"),
]


@pytest.mark.parametrize(("ask", "problem"), UNFIT, ids=range(len(UNFIT)))
def test_what_cannot_be_called_with_questions_is_an_error_at_once(ask: Any, problem: str) -> None:
    by_name = isinstance(ask, str)  # condense takes it for a profile's name
    for open_with in (
        *(() if by_name else (lambda: condense(TALK, ask=ask),)),
        lambda: CompactManager(CompactConfig(model="gpt-4o"), ask=ask),
        lambda: StoredSessions("sqlite://", ask=ask),
    ):
        with pytest.raises(InvalidInput) as raised:
            open_with()
        assert str(raised.value).startswith(f"ask: {problem}")


class Model:
    def answer(self, asks: object, *, brief: bool = True) -> list[Completion]:
        raise AssertionError((asks, brief))

    def __call__(self, asks: object) -> list[Completion]:
        raise AssertionError(asks)


TAKEN: list[Any] = [None, lambda asks: [], lambda *asks: [], Model(), Model().answer, tuple]


@pytest.mark.parametrize("ask", TAKEN, ids=range(len(TAKEN)))
def test_what_can_be_called_with_questions_is_taken(ask: object) -> None:
    require_callback(ask)


def test_answers_may_come_as_any_row_of_answers() -> None:
    given = (Completion("one"), Failure("two"))
    assert read_answers(list(given), ASKS) == given
    assert read_answers((answer for answer in given), ASKS) == given


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: "one text", "the callback gave a str in place of a list: return a list with a Completion"),
    (lambda: None, "the callback gave None in place of a list"),
    (lambda: Completion("one"), "the callback gave a Completion in place of a list"),
    (lambda: {"text": "one"}, "the callback gave a dict in place of a list"),
    (lambda: 7, "the callback gave an int in place of a list"),
    (lambda: later(()), "the callback gave a coroutine in place of a list"),
    (lambda: [Completion("one")], "2 questions were asked, and 1 answer came"),
    (list, "2 questions were asked, and 0 answers came"),
    (lambda: ["one", "two"], "a str is no answer: give a Completion, a Refusal or a Failure"),
]


@pytest.mark.parametrize(("give", "reason"), WRONG, ids=range(len(WRONG)))
@pytest.mark.filterwarnings("error")  # such as that of a coroutine which is never awaited
def test_what_is_no_list_of_answers_is_a_failure_that_says_so(give: Callable[[], object], reason: str) -> None:
    for answer in read_answers(give(), ASKS):
        assert isinstance(answer, Failure)
        assert answer.reason.startswith(reason)


@pytest.mark.filterwarnings("error")
def test_the_report_says_what_was_wrong_with_the_answers() -> None:
    mistakes: list[Any] = [lambda _: "What was said.", lambda _: later(()), lambda _: None]
    for ask, named in zip(mistakes, ("a str", "a coroutine", "None"), strict=True):
        report = str(condense(TALK, recipe="native", ask=ask).report)
        assert f"the callback gave {named} in place of a list" in report


def test_one_question_is_one() -> None:
    (answer,) = read_answers([Completion("one"), Completion("two")], ASKS[:1])
    assert answer == Failure(
        "1 question was asked, and 2 answers came: "
        "return a list with a Completion, a Refusal or a Failure for each question"
    )
