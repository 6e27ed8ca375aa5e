"""`compact evaluate` as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.app import write_transcript
from tests.cli.conftest import Run
from tests.lab.test_evaluating import named


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(write_transcript(named()))
    return path


def test_what_was_used_later_is_told_for_every_size(run: Run, file: Path) -> None:
    told = run("evaluate", file, "--preset", "balanced", "--preset", "v2")
    assert told.status == 0
    assert "2 cases of 1 session;" in told.out
    assert all(f" {share}" in told.out for share in ("50%", "25%", "10%"))
    assert "Every result is valid for its vendor." in told.out
    assert "come to a valid end" in told.out


def test_evaluate_for_programs(run: Run, file: Path) -> None:
    told = json.loads(run("evaluate", file, "--preset", "v2", "--share", "0.3", "--retain-facts", "--json").out)
    (row,) = told["ways"]
    assert (row["way"], row["share"], row["lost"]) == ("v2", 0.3, 0)
    assert told["survives_faults"] == 1


def test_a_session_that_is_too_short_tells_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_text('[{"role": "user", "content": "Hi"}]')
    told = run("evaluate", path)
    assert told.status == 2
    assert "long enough" in told.err
