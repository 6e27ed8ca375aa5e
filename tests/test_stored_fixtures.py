"""What earlier versions stored is read as they would have read it: restored, replayed, recalled and undone.

The data below tests/fixtures/stored was written by the version that was recorded. It is what users have on their
drives, so a test that fails here is mended in the code, never in the data.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compact import CompactConfig, CompactManager
from compact.cli.main import app
from compact.formats import parse, render
from compact.messages import Json, apply_plan, assuming, plan_from_json
from compact.originals.survey import segment_name
from compact.policies import StorageSettings
from tests.fixtures.stored.reading import (
    PLACE,
    KeptSession,
    Pool,
    history_of,
    observe_archive,
    observe_plan,
    observe_stored,
    stored_history,
)

ORIGINALS, PLANS, DATABASE, ARCHIVE = (PLACE / part for part in ("originals", "plans", "database", "archive"))


def _read(path: Path) -> dict[str, Json]:
    content: dict[str, Json] = json.loads(path.read_text(encoding="utf-8"))
    return content


SESSIONS = sorted(path.stem for path in (ORIGINALS / "expected").glob("*.json"))
PLAN_FILES = _read(PLANS / "expected.json")
STORED = _read(DATABASE / "expected.json")


def _same(observed: Json, expected: Json) -> None:
    """Equal, the order of keys included: what is sent is compared byte for byte by caches."""
    assert observed == expected
    assert json.dumps(observed) == json.dumps(expected)


def test_the_recordings_are_there() -> None:
    formats = ("anthropic-messages", "google-gemini", "openai-chat", "openai-responses")
    ways = ("balanced", "drawn", "handles", "layers", "lossless", "native", "truncation", "v1", "v2")
    assert {*SESSIONS} == {f"{format}.{way}" for format in formats for way in ways} | {"openai-chat.branched"}
    assert len(PLAN_FILES) == 25
    assert {*STORED} == {*(f"{format}.cascade" for format in formats), "blocked", "thoughtless"}
    assert STORED["blocked"]["blocked"].startswith("The automatic compression failed: no summary")


@pytest.mark.parametrize("session", SESSIONS)
def test_kept_sessions_are_replayed_undone_and_recalled(session: str, tmp_path: Path) -> None:
    expected = _read(ORIGINALS / "expected" / f"{session}.json")
    body = _read(ORIGINALS / f"history.{expected.pop('history')}.json")
    pool = Pool(history_of(body), expected["messages"])
    recorded = len(pool.others)
    (tmp_path / "stored" / "originals").mkdir(parents=True)
    shutil.copy(ORIGINALS / "originals" / segment_name(session, 0), tmp_path / "stored" / "originals")
    kept = KeptSession(tmp_path / "stored", tmp_path, session, body)
    observed = {**kept.observe(pool), "recalled": kept.recalled(expected["recalled"], pool), "messages": pool.others}
    assert dict(list(pool.others.items())[recorded:]) == {}
    _same(observed, expected)
    assert [event for event in kept.told if event.failed or event.name == "compact.condensed"] == []


@pytest.mark.parametrize("name", sorted(PLAN_FILES))
def test_plan_files_give_back_the_original(name: str, tmp_path: Path) -> None:
    expected = dict(PLAN_FILES[name])
    original = (PLANS / expected.pop("original")).read_bytes()
    condensed, plan = PLANS / f"{name}.condensed.json", PLANS / f"{name}.plan.json"
    _same(observe_plan(original, condensed.read_bytes(), plan.read_bytes()), expected)
    restored = tmp_path / "restored.json"
    done = CliRunner().invoke(app, ["restore", str(condensed), "--plan", str(plan), "-o", str(restored)])
    assert done.exit_code == 0
    assert restored.read_bytes() == original


@pytest.mark.parametrize("session", sorted(STORED))
def test_stored_sessions_send_the_same_and_their_summaries_are_undone(session: str, tmp_path: Path) -> None:
    database = Path(shutil.copy(DATABASE / "sessions.db", tmp_path))
    expected = dict(STORED[session])
    pool = Pool(stored_history(database, session), expected["messages"])
    input = expected.pop("input")
    observed = {**observe_stored(database, session, pool, input), "messages": pool.others}
    _same(observed, expected)


def test_archives_are_read(tmp_path: Path) -> None:
    shutil.copytree(ARCHIVE, tmp_path / "copy")
    _same(observe_archive(tmp_path / "copy"), _read(ARCHIVE / "expected.json"))


def test_turns_that_were_kept_apart_stay_apart(tmp_path: Path) -> None:
    """Servers that want user and assistant to alternate once got a turn of one line between two of one role."""
    expected = _read(PLACE / "turns" / "expected.json")
    condensed = expected["condensed"]
    before = assuming(parse(condensed["messages"], format="openai-chat"), {"variant": "vllm"})
    _same(render(apply_plan(before, plan_from_json(condensed["plan"]))[0]), condensed["sent"])
    shutil.copytree(PLACE / "turns" / "originals", tmp_path / "originals")
    storage = StorageSettings(adapter="none", path=str(tmp_path))
    config = CompactConfig(model="gpt-4o", max_context_tokens=100_000, storage=storage, variant="vllm")
    for given in (expected["messages"], expected["sent"]):
        with CompactManager(config) as manager:
            _same(manager.preflight("turns", given), expected["sent"])
