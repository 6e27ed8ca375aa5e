"""The recipe `layers` in a manager: exact numbers as long as a request fits, and an error at one of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compact import CompactConfig, CompactManager
from compact.app.preflight import Preflight
from compact.errors import InsufficientBudget


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))


def talk(turns: int, words: int) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": "Move the tables one by one."}]
    for number in range(turns):
        answer = f"Table {number} is moved. " + f"Row {number} is fine. " * words
        messages.append({"role": "assistant", "content": answer})
        messages.append({"role": "user", "content": f"Go on with table {number + 1}."})
    return messages


def prepared(tmp_path: Path, window: int, messages: list[dict[str, Any]]) -> Preflight:
    values = {"model": "gpt-4o", "max_context_tokens": window, "storage": {"path": str(tmp_path / "kept")}}
    with CompactManager(CompactConfig.model_validate({**values, "policy": {"recipe": "layers"}})) as manager:
        return manager.prepare("s", messages)


def test_all_turns_that_are_set_stay_where_they_fit_though_the_target_lies_below(tmp_path: Path) -> None:
    messages = talk(20, 130)
    done = prepared(tmp_path, 8_000, messages)
    assert done.report is not None
    assert done.report.passes[0].notes[0] == "6 turns and 4 calls kept"
    assert done.messages[-12:] == messages[-12:]
    assert done.report.target is not None
    assert done.report.target < done.tokens_after <= 6_500


def test_turns_are_given_up_only_where_the_request_would_not_fit(tmp_path: Path) -> None:
    done = prepared(tmp_path, 4_000, talk(40, 60))
    assert done.report is not None
    assert done.report.passes[0].notes[0] == "4 turns and 3 calls kept"
    assert done.tokens_after <= 2_500


def test_one_turn_and_one_call_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InsufficientBudget, match="larger context window"):
        prepared(tmp_path, 4_000, talk(40, 500))


def test_a_small_window_without_a_model_still_has_an_account(tmp_path: Path) -> None:
    done = prepared(tmp_path, 2_600, talk(80, 30))
    account = str(done.messages[1]["content"])
    assert "<COMPACT-SUMMARY v1" in account
    assert "Go on with table 76" in account
    assert done.report is not None
    assert not any("part" in note for note in done.report.passes[0].notes)
