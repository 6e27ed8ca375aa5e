"""The measure of estimates beside recorded answers."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from bench.bills import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case of which the only question of native and of auto has an answer."""
    monkeypatch.delenv("COMPACT_TRANSCRIPTS", raising=False)
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    session = (files("compact.cli") / "transcripts" / "session.openai-chat.json").read_bytes()
    (tmp_path / "session.json").write_bytes(session)
    case = tmp_path / "one"
    case.mkdir()
    facts = {"transcript": "session.json", "messages_before_cut": 60, "target": 6_000}
    (case / "exam.json").write_text(json.dumps(facts))
    (case / "model-answer.md").write_text("- The work on the counting of tokens goes on [1]\n" * 150)
    return tmp_path


def test_estimates_stand_beside_the_bills_of_recorded_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--model", "gpt-4o-mini"]) == 0
    told = capsys.readouterr().out
    found = re.search(r"one +native +1 of 1 +1 +([+-][\d.]+)% +([+-][\d.]+)%  yes", told)
    assert found is not None, told
    assert abs(float(found[1])) <= 1
    assert abs(float(found[2])) <= 20
    assert "largest error in dollars" in told


def test_questions_without_an_answer_are_written_and_then_priced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder), "--requests", "v3"]) == 0
    requests = list((folder / "one" / "answers" / "v3").glob("*.request.md"))
    assert f"one: {len(requests)} questions" in capsys.readouterr().out
    assert requests
    for request in requests:
        request.with_name(request.name.replace(".request", "")).write_text("The file counts tokens. " * 16)
    assert main([str(folder), "--model", "gpt-4o-mini"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("one") and " v3 " in line)
    assert f"{len(requests)} of {len(requests)} " in row
    assert row.endswith("yes")
