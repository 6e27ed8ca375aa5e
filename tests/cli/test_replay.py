"""`compact replay` as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.app import write_transcript
from tests.cli.conftest import Run
from tests.lab.test_replaying import session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(write_transcript(session(20)))
    return path


def test_every_preset_stands_beside_doing_nothing(run: Run, file: Path) -> None:
    told = run("replay", file, "--window", "8000")
    assert told.status == 0
    assert "40 requests to gpt-4o, which reads 8,000 tokens" in told.out
    assert all(f"\n{way} " in told.out for way in ("no compaction", "naive truncation", "balanced", "v2"))
    assert "requests would have been refused" in " ".join(told.out.split())


def test_replay_for_programs(run: Run, file: Path) -> None:
    told = json.loads(
        run("replay", file, "--window", "8000", "--preset", "v2", "-m", "claude-sonnet-4-5", "--json").out
    )
    assert [way["way"] for way in told["ways"]] == ["no compaction", "naive truncation", "v2"]
    assert told["ways"][2]["overflows"] == 0 < told["ways"][0]["overflows"]
    assert len(told["ways"][2]["requests"]) == 40
    assert told["summarizer"] == "claude-haiku-4-5"


def test_a_model_without_prices_is_played_all_the_same(run: Run, file: Path) -> None:
    told = run("replay", file, "-m", "nobody-knows-it", "--preset", "v2")
    assert told.status == 0
    assert "Prices are not known" in told.out


def test_a_target_above_the_trigger_is_refused(run: Run, file: Path) -> None:
    told = run("replay", file, "--target", "0.9")
    assert told.status == 2
    assert "--target" in told.err
