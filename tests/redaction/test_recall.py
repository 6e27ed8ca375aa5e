"""Secrets of every kind are found in every form."""

from __future__ import annotations

import random

import pytest

from compact.redaction import Redactor
from tests.redaction.secrets import FORMS, KINDS, PREFIXED, nested, survives

SAMPLES = 15
REDACTOR = Redactor()


def missed(kind: str, form: str) -> list[str]:
    planted = [KINDS[kind](random.Random(f"{kind} {number}")) for number in range(SAMPLES)]
    return [each.secret for each in planted if survives(each, REDACTOR.text(FORMS[form](each)))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", PREFIXED)
def test_no_secret_that_names_its_maker_is_missed(kind: str, form: str) -> None:
    assert missed(kind, form) == []


@pytest.mark.parametrize("form", FORMS)
def test_at_most_one_of_two_hundred_is_missed(form: str) -> None:
    misses = {kind: found for kind in KINDS if (found := missed(kind, form))}
    assert sum(map(len, misses.values())) <= 0.005 * SAMPLES * len(KINDS), misses


@pytest.mark.parametrize("depth", range(9))
def test_json_within_json_is_walked_eight_times(depth: int) -> None:
    planted = KINDS["json in a log"](random.Random(depth))
    text = nested(f'{{"config": {{"auth_token": "{planted.secret}"}}}}', depth)
    assert not survives(planted, REDACTOR.text(text))


def test_what_is_beside_a_secret_stays() -> None:
    for kind, make in KINDS.items():
        planted = make(random.Random(kind))
        text = f"The first line.\n\n{planted.text}\n\nThe last line."
        redacted = REDACTOR.text(text)
        assert redacted.startswith("The first line.\n\n"), kind
        assert redacted.endswith("\n\nThe last line."), kind
