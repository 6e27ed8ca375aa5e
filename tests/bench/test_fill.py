"""What the benchmarks of `auto` count: targets left empty, messages lost as targets grow, results with no account."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from bench import cliffs, fill
from bench.fill import Filled
from compact.app import Condensation, resolve_recipe
from compact.formats import parse, render
from tests.lab.test_replaying import session


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("one.json", "one.qa.json"):
        path = tmp_path / "coding" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(render(session(8))))
    monkeypatch.setenv("COMPACT_TRANSCRIPTS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("target", "after", "unfilled"),
    [(10_000, 9_500, False), (10_000, 9_499, True), (1_000, 900, False), (1_000, 899, True), (1_000, 1_001, False)],
)
def test_a_target_is_unfilled_by_share_or_by_tokens(target: int, after: int, unfilled: bool) -> None:
    assert Filled("one", target, after).unfilled is unfilled


@pytest.mark.usefixtures("folder")
def test_questions_are_no_sessions_and_a_target_below_what_must_stay_is_no_case() -> None:
    ((name, found),) = fill.sessions()
    assert name == "coding/one.json"
    assert fill.filled(name, found, 0.01) is None
    filled = fill.filled(name, found, 0.5)
    assert filled is not None
    assert filled.met
    out = io.StringIO()
    fill.run(out)
    assert out.getvalue().startswith("1 sessions for gpt-4o")


def test_only_what_stands_as_it_was_is_whole() -> None:
    before = session(8)
    assert len(cliffs.whole(before, before)) == len(before)
    cut = Condensation(before, "gpt-4o", 0.3).run(resolve_recipe("v2"))
    assert 0 < len(cliffs.whole(before, cut.conversation)) < len(before)


def test_a_result_that_only_drops_messages_is_unaccounted() -> None:
    before = parse([{"role": "user", "content": f"Number {number}: {'word ' * 40}"} for number in range(30)])
    result = Condensation(before, "gpt-4o", 0.3).run(resolve_recipe("auto"))
    assert not cliffs.unaccounted(before, result)
    silent = type(result)(before.with_messages(before.messages[:3]), (), result.report)
    assert cliffs.unaccounted(before, silent)
