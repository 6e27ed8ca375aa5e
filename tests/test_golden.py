"""The working tree puts out what is recorded in tests/golden.json; and two trees are compared as promised."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scripts.golden import main
from scripts.referee.bodies import transcripts, world_body
from scripts.referee.canonical import digests_of, without_noise
from scripts.referee.comparison import Comparison, compare_results, explain
from scripts.referee.differences import first_places
from scripts.referee.inputs import tasks
from scripts.referee.tasks import Task, outputs, run_all
from scripts.referee.trees import ROOT, Tree, keep_tree, working_tree


def test_the_working_tree_puts_out_what_is_recorded() -> None:
    command = [sys.executable, "scripts/golden.py", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def task() -> Task:
    runs = [(recipe, 0.25, asks) for recipe, asks in (("v1", False), ("auto", False), ("native", True))]
    return Task("worlds", "condense", {"sessions": [{"name": "003", "body": world_body(3), "runs": runs}]})


def test_a_changed_word_is_shown_with_its_case_and_place(tmp_path: Path, task: Task) -> None:
    changed = scratch_tree(tmp_path, {"This tells what was": "This says what was"})
    trees = working_tree(), changed
    results = list(run_all(trees, [task], 2))
    comparison = compare_results(trees, results)
    explain(comparison, trees, results, 1)
    shown = str(comparison)
    assert "worlds/auto/003@25%: messages, plan" in shown
    for sign, words in (("-", "This tells what was"), ("+", "This says what was")):
        assert any(words in line for line in shown.splitlines() if line.startswith(f"      {sign} "))
    assert shown.endswith("differ")


def test_a_tree_puts_out_the_same_whatever_the_order_of_sets(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ["worlds/v1/003@25%", "worlds/auto/003@25%", "worlds/native/003@25% asking"]
    found = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(outputs(working_tree(), task, cases))
    assert found[0] == found[1]
    assert list(found[0]) == cases


def test_what_the_gateway_answers_and_which_headers_it_forwards_count(tmp_path: Path) -> None:
    *_, singles = tasks(None, quick=True, areas=["gateway"])
    changes = {'"status": "ok"': '"status": "broken"', "name not in dropped": 'name not in {*dropped, "user-agent"}'}
    trees = working_tree(), scratch_tree(tmp_path, changes)
    results = list(run_all(trees, [singles], 2))
    comparison = compare_results(trees, results)
    assert {one.case: one.aspects for one in comparison.differences} == {
        "gateway/overflow/anthropic-messages": ["headers"],
        "gateway/overflow/openai-chat": ["headers"],
        "gateway/overflow/openai-responses": ["headers"],
        "gateway/single/requests": ["responses", "headers"],
    }
    shutil.rmtree(trees[1].source.parent)  # what it put out is kept, so showing it starts no server again
    explain(comparison, trees, results, 1)
    assert '"status":"broken"' in str(comparison)


def scratch_tree(folder: Path, changes: Mapping[str, str]) -> Tree:
    """A copy of the sources with other words."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    missing = set(changes)
    for file in (folder / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        missing -= {old for old in changes if old in text}
        for old, new in changes.items():
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    assert not missing, f"nothing says any more: {missing}"
    return keep_tree("scratch", folder / "src")


def test_clocks_ids_ports_and_paths_make_no_difference() -> None:
    def run(number: int) -> Mapping[str, Any]:
        return {
            "seconds": number / 7,
            "at": f"2026-01-0{number}T10:00:00Z",
            "session": f"gw-{number:016x}",
            "again": f"gw-{number:016x}",
            "other": f"gw-{number + 1:016x}",
            "url": f"http://127.0.0.1:{40_000 + number}/v1",
            "file": f"/tmp/golden-aaaaaaa{number}/chat.json",
            "note": f"done in 0.{number} seconds",
            "input": {"date": "2026-03-05", "query": ""},
        }

    one, other = (without_noise(run(number)) for number in (1, 2))
    assert one == other
    assert one == {
        "session": "<gw-1>",
        "again": "<gw-1>",
        "other": "<gw-2>",
        "url": "http://127.0.0.1:<port>/v1",
        "file": "<folder>/chat.json",
        "note": "done in <time> seconds",
        "input": {"date": "2026-03-05", "query": ""},
    }


def test_the_order_of_keys_counts_in_messages_only() -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert digests_of({"messages": [one]}) != digests_of({"messages": [other]})
    assert digests_of({"report": one}) == digests_of({"report": other})
    assert [place.path for place in first_places({"messages": [one]}, {"messages": [other]})] == [
        "messages[0] (order of keys)"
    ]


def test_places_show_the_line_that_differs_rather_than_the_hash_before_it() -> None:
    before = "[Account 1f46cc4e]\nsame\nThe build failed.\nend"
    after = "[Account 5869e2f2]\nsame\nThe build passed.\nend"
    places = first_places(
        {"messages": [{"content": before}], "report": {"tokens": 1}}, {"messages": [{"content": after}], "plan": [1]}
    )
    assert [(place.path, place.before, place.after) for place in places] == [
        ("messages[0].content", "The build failed.", "The build passed."),
        ("report", '{"tokens": 1}', "(nothing)"),
        ("plan", "(nothing)", "[1]"),
    ]


def test_a_case_that_only_one_side_has_differs() -> None:
    comparison = Comparison("before", "after")
    comparison.add({"a/x/1": "messages=1 plan=2", "a/x/2": "messages=1"}, {"a/x/1": "messages=1 plan=3", "b/1": "p=1"})
    assert [(each.case, list(each.aspects)) for each in comparison.differences] == [
        ("a/x/1", ["plan"]),
        ("a/x/2", ["only in before"]),
        ("b/1", ["only in after"]),
    ]
    assert json.loads(json.dumps(comparison.to_json()))["groups"] == {
        "a/x": {"same": 0, "differ": 2},
        "b": {"same": 0, "differ": 1},
    }


def test_an_unknown_commit_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "no-such-commit"]) == 2
    assert "no-such-commit" in capsys.readouterr().err


def test_a_folder_without_transcripts_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "limits.json").write_text('{"share": 0.5}', encoding="utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        assert main(["compare", "HEAD", "--data", str(folder), "--area", "transcripts"]) == 2
        assert f"no transcripts in {folder}: " in capsys.readouterr().err


def test_transcripts_are_in_a_folder_or_in_folders_of_it(tmp_path: Path) -> None:
    for file in ("one.json", "one.qa.json", "chat/two.json"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(json.dumps(world_body(0)), encoding="utf-8")
    assert sorted(name for name, _ in transcripts(tmp_path)) == ["chat/two", "one"]
