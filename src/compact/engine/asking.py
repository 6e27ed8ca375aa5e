"""Asking models on behalf of providers.

A question may name the profile that is to answer it. Where that one cannot be asked, the conversation's own model is;
where nobody can, the answer is a `Failure`, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from compact.engine.driver import AskModel
from compact.ports import Answer, Ask, Completion, Failure, Refusal


class Asking:
    """Asks, and remembers what is worth telling and what was spent."""

    def __init__(self, notes: Iterable[str] = ()) -> None:
        self.notes = list(notes)
        self.cost: Decimal | None = None

    def now(self, ask: AskModel) -> AskModel:
        """The function with the fallback added."""

        def once(asks: Sequence[Ask]) -> tuple[Answer, ...]:
            try:
                return self._checked(asks, ask(asks))
            except Exception as error:  # noqa: BLE001 - the application's own code; a provider can cope with a Failure
                return _failures(asks, f"{type(error).__name__}: {error}")

        def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
            answers = once(asks)
            again = _unanswered(asks, answers)
            return self._completed(answers, again, once(list(again.values()))) if again else answers

        return answer

    def _checked(self, asks: Sequence[Ask], answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
        answers = tuple(map(_read, answers))
        for answer in answers:
            if not isinstance(answer, Failure) and answer.cost is not None:
                self.cost = (self.cost or Decimal(0)) + answer.cost
        if len(answers) == len(asks):
            return answers
        return _failures(asks, f"{len(asks)} questions were asked, and {len(answers)} answers came")

    def _completed(
        self, answers: tuple[Answer, ...], again: dict[int, Ask], second: tuple[Answer, ...]
    ) -> tuple[Answer, ...]:
        whole = list(answers)
        for position, answer in zip(again, second, strict=True):
            whole[position] = answer
        first = answers[next(iter(again))]
        why = first.reason if isinstance(first, Failure) else ""
        self.notes.append(f"the condensing model could not be asked ({why}), so the conversation's own was")
        return tuple(whole)


def _failures(asks: Sequence[Ask], why: str) -> tuple[Answer, ...]:
    return tuple(Failure(why) for _ in asks)


def _unanswered(asks: Sequence[Ask], answers: Sequence[Answer]) -> dict[int, Ask]:
    """Questions that a profile of their own failed to answer, put to the conversation's own unless that was asked."""
    return {
        at: replace(ask, profile="")
        for at, (ask, got) in enumerate(zip(asks, answers, strict=True))
        if ask.profile and isinstance(got, Failure) and not got.final
    }


def _read(given: object) -> Answer:
    """What was given, if it is an answer: the function is the application's own."""
    if isinstance(given, Completion | Refusal | Failure):
        return given
    return Failure(f"a {type(given).__name__} is no answer: give a Completion, a Refusal or a Failure")
