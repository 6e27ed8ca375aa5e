"""An account counts what it does not describe over all compactions, and how much of that is the user's."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager

_STATED = re.compile(r"- \((\d+) messages? (?:are|is) not described(?:, (\d+|none) of them the user's)?[^)]*\)")


def talk(seed: int, turns: int) -> Iterator[list[dict[str, Any]]]:
    """A chat, turn by turn, in which each message has a name of its own in every sentence."""
    rng = random.Random(seed)
    for number in range(turns):
        asks = f"What about ask{number}_x? " * rng.choice((1, 1, 2, 6))
        answers = f"The answer ans{number}_x has {rng.randrange(900)} rows. " * rng.choice((2, 8, 30, 90))
        yield [{"role": "user", "content": asks.strip()}, {"role": "assistant", "content": answers.strip()}]


def stated(messages: list[Any]) -> tuple[int, int | None]:
    """How many messages the account says it does not describe, and how many of them are the user's."""
    found = [each for message in messages for each in _STATED.findall(str(message["content"]))]
    if not found:
        return 0, None
    ((count, by_user),) = found
    return int(count), None if not by_user else 0 if by_user == "none" else int(by_user)


def absent(turns: int, messages: list[Any]) -> tuple[int, int]:
    """How many messages are neither there nor named, and how many of them are the user's."""
    shown = json.dumps(messages)
    asks = sum(f"ask{number}_x" not in shown for number in range(turns))
    return asks + sum(f"ans{number}_x" not in shown for number in range(turns)), asks


@pytest.mark.parametrize("window", [4_000, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_described_is_counted_over_all_compactions(seed: int, window: int) -> None:
    config = CompactConfig.model_validate(
        {
            "model": "gpt-4o",
            "max_context_tokens": window,
            "profile": "offline",
            "originals": "none",
            "allow_loss": True,
            "storage": {"adapter": "none"},
            "policy": {"target_pct": 0.3, "trigger_pct": 0.8},
        }
    )
    messages: list[Any] = []
    compactions = told = 0
    with CompactManager(config) as manager:
        for number, turn in enumerate(talk(seed, 400), 1):
            messages += turn
            outcome = manager.prepare("s", messages)
            if outcome.compacted:
                count, by_user = stated(outcome.messages)
                missing, asks = absent(number, outcome.messages)
                assert count == missing
                assert by_user == asks if count >= 10 and window > 8_000 else by_user in (None, asks)
                told += by_user is not None
                compactions += 1
                if compactions == 12:
                    break
    assert compactions == 12
    assert told or window < 8_000


def test_without_state_an_account_counts_no_fewer_than_the_one_before() -> None:
    messages: list[Any] = []
    before = 0
    for number, turn in enumerate(talk(5, 240), 1):
        messages += turn
        if number % 40 == 0:
            messages = compact.condense(messages, target=1_600).messages
            count, _ = stated(messages)
            assert before <= count <= absent(number, messages)[0]
            before = count
    assert before > 100


@pytest.mark.parametrize("recipe", ["native", "speed"])
def test_a_summary_without_a_model_counts_what_the_one_before_did_not_describe(recipe: str) -> None:
    messages: list[Any] = []
    before = 0
    for number, turn in enumerate(talk(6, 200), 1):
        messages += turn
        if number % 50 == 0:
            messages = compact.condense(messages, target=1_600, recipe=recipe).messages
            count, _ = stated(messages)
            assert before <= count <= absent(number, messages)[0]
            before = count
