"""Every example runs, without a key and without a network, and does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compact.testing.ariadne import FakeAriadne

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, folder: Path, *arguments: str) -> tuple[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    environment |= {"COMPACT_HOME": str(folder / "home"), "NO_COLOR": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "agents_sdk_minimal.py",
        "coding_session.py",
        "long_research.py",
    }


def test_agents_sdk_minimal(tmp_path: Path) -> None:
    told, events = run("agents_sdk_minimal.py", tmp_path)
    stored, sent = map(int, re.findall(r"\d+", told))
    assert stored == 16
    assert sent < 10
    assert "compact.token_estimate" in events
    assert "compact.summary_created" in events
    assert (tmp_path / ".compact" / "archive" / "minimal" / "transcript-pre-compact-001.jsonl").exists()


def test_minimal_enablement_in_less_than_10_lines_of_code() -> None:
    lines = (EXAMPLES / "agents_sdk_minimal.py").read_text(encoding="utf-8").splitlines()[4:]
    ours = re.compile(r"compact|manager|config\b|max_context_tokens", re.IGNORECASE)
    assert len([line for line in lines if ours.search(line)]) < 10


def test_coding_session_tells_ariadne(tmp_path: Path) -> None:
    with FakeAriadne() as ariadne:
        told, events = run("coding_session.py", tmp_path, ariadne.url)
        names = {span["name"] for span in ariadne.spans}
    assert {"compact.token_estimate", "compact.trigger_decision", "compact.condensed"} <= names
    assert events == ""
    sizes = re.findall(r"([\d,]+) tokens stored, +([\d,]+) sent", told)[-1]
    stored, sent = (int(number.replace(",", "")) for number in sizes)
    assert sent < stored / 2
    assert "Repaired in shop/taxes.py; 48 tests pass." in told
    before, after = (int(number.replace(",", "")) for number in re.findall(r"[\d,]+(?= tokens to|\.$)", told)[-2:])
    assert after < before < 8_000


def test_coding_session_needs_no_ariadne(tmp_path: Path) -> None:
    told, events = run("coding_session.py", tmp_path)
    assert "The last compaction took" in told
    assert events == ""


@pytest.mark.parametrize("again", [False, True])
def test_long_research_compacts_again_and_again(tmp_path: Path, again: bool) -> None:
    told, _ = run("long_research.py", tmp_path)
    told, _ = run("long_research.py", tmp_path) if again else (told, "")
    *rounds, result = told.splitlines()
    read, window, count, largest = (int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", result))
    assert read > 3 * window
    assert count == len(rounds) >= 3
    assert largest < window
