"""The recipe `layers` in a manager: exact numbers, fewer where the next compaction would be due, an error at (1, 1)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from compact import CompactConfig, CompactManager, InsufficientBudget

Message = dict[str, Any]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[CompactManager] = []

    def manager(window: int, **policy: Any) -> CompactManager:
        config = CompactConfig.model_validate(
            {
                "model": "gpt-4o",
                "max_context_tokens": window,
                "storage": {"path": str(tmp_path)},
                "profile": "offline",
                "policy": {"recipe": "layers", **policy},
            }
        )
        made.append(CompactManager(config))
        return made[-1]

    yield manager
    for each in made:
        each.close()


def turn(number: int, words: int) -> list[Message]:
    answer = f"Table {number} is moved. " + f"Row {number} is fine. " * words
    return [
        {"role": "user", "content": f"Go on with table {number}."},
        {"role": "assistant", "content": answer},
    ]


def talk(turns: int, words: int) -> list[Message]:
    return [message for number in range(turns) for message in turn(number, words)]


def kept(manager: CompactManager, messages: list[Message]) -> str:
    report = manager.prepare("s", messages).report
    assert report is not None
    return report.passes[0].notes[0]


def test_all_turns_that_are_set_stay_although_the_target_lies_below(make: Any) -> None:
    messages = talk(20, 100)
    done = make(8000).prepare("s", messages)
    assert done.messages[-12:] == messages[-12:]
    assert done.report is not None
    assert done.report.target == 4000
    assert 4000 < done.tokens_after < 6500


def test_turns_and_calls_are_given_up_by_one_in_turn_where_the_next_compaction_would_be_due(make: Any) -> None:
    notes = [kept(make(8000), talk(20, words)) for words in (100, 120, 150, 200, 260, 330, 600)]
    assert list(dict.fromkeys(notes)) == [
        "6 turns and 4 calls kept",
        "5 turns and 4 calls kept",
        "4 turns and 3 calls kept",
        "3 turns and 2 calls kept",
        "2 turns and 1 call kept",
        "1 turn and 1 call kept",
    ]


def test_several_requests_fit_between_two_compactions(make: Any) -> None:
    manager = make(8000)
    sent, compacted = manager.preflight("s", talk(20, 100)), []
    for number in range(20, 60):
        done = manager.prepare("s", [*sent, *turn(number, 100)])
        compacted.append(done.report is not None)
        sent = done.messages
        assert done.tokens_after < 6800
    assert 4 <= sum(compacted) <= 20
    assert not any(first and second for first, second in pairwise(compacted))


def test_one_turn_and_one_call_that_do_not_fit_are_an_error(make: Any) -> None:
    manager = make(4000)
    with pytest.raises(InsufficientBudget, match="larger context window") as caught:
        manager.preflight("s", [*talk(4, 100), *turn(5, 700), {"role": "user", "content": "And the last?"}])
    assert caught.value.needed > caught.value.budget == 2500
