"""The application's callback that answers questions: what it must be, and what it may give."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from compact.errors import InvalidInput
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.quantities import counted

_REMEDY = "Pass a function that takes a list of questions and returns a list with one answer to each."
_ANSWERS = "return a list with a Completion, a Refusal or a Failure for each question"


def require_callback(ask: object) -> None:
    """InvalidInput where `ask` is given and cannot be called with a list of questions."""
    if ask is None:
        return
    if isinstance(ask, str):
        raise InvalidInput("must be a function, not text", field="ask", remedy="To name a model, set a profile.")
    if not callable(ask):
        raise InvalidInput(f"must be a function, not {type(ask).__name__}", field="ask", remedy=_REMEDY)
    # Of an object, what counts is its __call__.
    if inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(type(ask).__call__):
        raise InvalidInput(
            "must not be an async function",
            field="ask",
            remedy="Pass one that returns the answers themselves; `apreflight` and its like call it in a thread.",
        )
    try:
        signature = inspect.signature(ask)
    except (TypeError, ValueError):  # some that are written in C have none
        return
    try:
        signature.bind(())
    except TypeError:
        raise InvalidInput(f"must take one argument, not {signature}", field="ask", remedy=_REMEDY) from None


def read_answers(given: object, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """One answer to each question, whatever the callback gave; Failures say what is wrong with it."""
    if inspect.iscoroutine(given):
        given.close()
    if isinstance(given, str | bytes | Mapping | Completion | Refusal | Failure) or not isinstance(given, Iterable):
        return _failures(asks, f"the callback gave {_kind(given)} in place of a list: {_ANSWERS}")
    answers = tuple(map(_read, given))
    if len(answers) == len(asks):
        return answers
    questions = f"{counted(len(asks), 'question')} {'was' if len(asks) == 1 else 'were'} asked"
    return _failures(asks, f"{questions}, and {counted(len(answers), 'answer')} came: {_ANSWERS}")


def failed_answers(error: Exception, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """What stands for the answers of a callback that raised."""
    return _failures(asks, f"{type(error).__name__}: {error}")


def _failures(asks: Sequence[Ask], why: str) -> tuple[Answer, ...]:
    return tuple(Failure(why) for _ in asks)


def _read(given: object) -> Answer:
    if isinstance(given, Completion | Refusal | Failure):
        return given
    return Failure(f"{_kind(given)} is no answer: give a Completion, a Refusal or a Failure")


def _kind(given: object) -> str:
    name = "None" if given is None else type(given).__name__
    return name if given is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
