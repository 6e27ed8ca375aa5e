"""Spoiled answers are spoiled in every way, and what does not come through is told."""

from __future__ import annotations

from typing import Any

import pytest

from compact.app.recipes import resolve_recipe
from compact.lab.evaluating import Means, cases
from compact.lab.faults import LEAST_TRIED, Faulty, survive, survives
from compact.ports import Ask, Completion, Failure, Refusal
from compact.providers import Capabilities, Recipe, Steps, Task
from compact.providers.native import NativeProvider, NativeSettings
from compact.providers.presets import presets
from tests.lab.test_evaluating import named

ASK = Ask("Summarize.", "one two three four five six seven eight nine ten", 40)
GOOD = Completion("one two three four five six seven eight nine ten", trusted=True)
MEANS = Means("gpt-4o")


class Stubborn:
    """Summarizes or leaves everything as it is: `auto` does not go on from there."""

    id = name = description = "stubborn"
    version = "1"
    capabilities = Capabilities(lossless=True, summarizes=True)
    settings = NativeSettings

    def condense(self, task: Task, settings: Any, /) -> Steps:
        return NativeProvider().condense(task, settings)


def test_one_answer_in_twenty_is_spoiled_in_one_of_four_ways_and_always_the_same() -> None:
    answers = Faulty(seed=1)([ASK] * 2000)
    again = Faulty(seed=1)
    assert again([ASK] * 2000) == answers
    assert (again.answers, again.spoiled) == (2000, sum(answer != GOOD for answer in answers))
    assert again.spoiled == 100
    assert all(any(answer != GOOD for answer in answers[at : at + 20]) for at in range(0, 2000, 20))
    assert {type(answer) for answer in answers} == {Completion, Failure, Refusal}
    assert any(isinstance(answer, Completion) and not answer.text for answer in answers)
    assert any(isinstance(answer, Completion) and answer.truncated for answer in answers)


@pytest.mark.parametrize("preset", [preset.name for preset in presets()])
def test_every_preset_comes_to_a_good_end_although_no_answer_is_of_use(preset: str) -> None:
    assert all(survives(case, resolve_recipe(preset), MEANS, Faulty(seed=0, every=1)) for case in cases(named()))


def test_a_recipe_that_fails_with_its_answers_is_told() -> None:
    stubborn = Recipe("stubborn", Stubborn(), NativeSettings())
    found = list(cases(named()))
    assert survive(found, [stubborn], MEANS, Faulty(seed=0, every=0)).rate == 1
    failing = survive(found, [stubborn], MEANS, Faulty(seed=0, every=1))
    assert failing.rate == 0
    assert failing.spoiled == failing.answers > 0


def test_enough_is_tried_but_only_what_asks_a_model() -> None:
    found = list(cases(named()))
    tried = survive(found, [resolve_recipe("native"), resolve_recipe("v2")], MEANS, Faulty(seed=0))
    assert LEAST_TRIED <= tried.tried < LEAST_TRIED + len(found)
    assert tried.answers >= tried.tried
    assert tried.spoiled >= tried.answers // 20 > 0
    nobody = survive(found, [resolve_recipe("v2")], MEANS, Faulty(seed=0))
    assert (nobody.tried, nobody.rate) == (0, None)
