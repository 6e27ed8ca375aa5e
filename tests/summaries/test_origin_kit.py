"""The bounds of the labels on a kit of demands and of true statements, by an author who has not read the check."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries.model.check import Checked, check_summary
from compact.summaries.model.sources import Sources
from tests.summaries.checking import TASK_STATE
from tests.summaries.origin_kit.checks import complaints
from tests.summaries.origin_kit.demands import assistant_only, misplaced, nowhere
from tests.summaries.origin_kit.honest import honest
from tests.summaries.origin_kit.scoring import Share, score
from tests.summaries.origin_kit.values import Case

LEAST = {
    "misplaced copied": 1.0,
    "misplaced paraphrased": 0.95,
    "misplaced borrowed": 0.7,
    "assistant copied": 1.0,
    "assistant paraphrased": 0.9,
    "nowhere invented": 0.9,
}
UNLABELLED = ("quoted", "beside-tags", "decision", "finding", "attributed", "sum", "table", "progress")
"""Kinds of true statements that never get a label."""
FAR_FROM_THE_USER = ("paraphrased", "translated", "class", "rule", "echoed", "answer", "approved")
"""Kinds of true statements of which some are in words that no message has."""


def label_of(case: Case) -> str:
    messages = parse(list(case.messages), format="openai-chat").messages
    verdict = check_summary(f"## {case.section}\n- {case.statement}", Sources(messages), TASK_STATE)
    assert isinstance(verdict, Checked)
    assert not any(doubt.removed for doubt in verdict.doubts)
    return verdict.doubts[0].why if verdict.doubts else ""


def printed(shares: dict[tuple[str, str], Share]) -> dict[str, float]:
    """The shares of all languages, after all of them were printed."""
    for (wording, language), share in shares.items():
        print(f"{wording:24}{language:12}{share}")  # noqa: T201 - read with pytest -s
    return {wording: share.value for (wording, language), share in shares.items() if not language}


@pytest.mark.parametrize("seed", range(2))
def test_demands_that_the_user_did_not_make_are_labelled(seed: int) -> None:
    shares = printed(score([*misplaced(seed), *assistant_only(seed), *nowhere(seed)], label_of))
    assert {wording: share for wording, share in shares.items() if share < LEAST[wording]} == {}


@pytest.mark.parametrize("seed", range(2))
def test_true_statements_in_words_that_were_read_are_not_labelled(seed: int) -> None:
    shares = printed(score(honest(seed), label_of))
    assert {shares[f"honest {wording}"] for wording in UNLABELLED} == {0}


@pytest.mark.parametrize("seed", range(2))
def test_true_statements_in_words_of_their_own_get_no_label_but_that_they_stand_in_no_message(seed: int) -> None:
    labels = {label_of(case) for case in honest(seed) if case.wording in FAR_FROM_THE_USER}
    assert labels <= {"", "stands in no message", "the assistant's words"}


def test_the_cases_are_what_they_say() -> None:
    assert complaints([*misplaced(), *assistant_only(), *nowhere(), *honest()]) == []
