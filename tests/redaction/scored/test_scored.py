"""Secrets of thirty kinds in forty surroundings and eight languages are found, and lines without any stay."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import pytest

from tests.redaction.scored.scoring import Score, modules, score

SEED = 0
ALL, EACH, TOUCHED = 0.99, 0.95, 0.01
MODULES = list(modules())


@cache
def scored(module: ModuleType) -> Score:
    return score(module, SEED)


@pytest.fixture(params=MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def result(request: pytest.FixtureRequest) -> Score:
    module: ModuleType = request.param
    return scored(module)


def test_at_most_one_secret_of_a_hundred_is_missed(result: Score) -> None:
    assert result.recall("all")["all"] >= ALL, result.missed[:20]


@pytest.mark.parametrize("group", ["kind", "language"])
def test_at_most_one_of_twenty_of_a_kind_or_in_a_language_is_missed(result: Score, group: str) -> None:
    assert {name: share for name, share in result.recall(group).items() if share < EACH} == {}


def test_at_most_one_line_of_a_hundred_that_must_stay_is_touched(result: Score) -> None:
    assert len(result.touched) <= TOUCHED * result.lines, result.touched


def test_there_are_thirty_kinds_forty_surroundings_and_eight_languages(result: Score) -> None:
    assert len(result.recall("kind")) >= 30
    assert len(result.recall("surrounding")) >= 40
    assert len(result.recall("language")) == 8
