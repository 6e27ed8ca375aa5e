"""`compact explain`: why a model no longer knows something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.messages import Json
from tests.app.test_explanation import talk
from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(talk(30)))
    return path


def row(kind: str, content: Json, **more: Json) -> str:
    message = {"role": kind, "content": content}
    return json.dumps({"type": kind, "sessionId": "s", "uuid": str(content), "message": message, **more})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of Claude Code, which compacted after the second message."""
    path = tmp_path / "log.jsonl"
    summary = "This session is continued.\n- The user wants port 8099."
    rows = [
        row("user", "Use port 8099, and mind the key K4471."),
        row("assistant", [{"type": "text", "text": "I will."}]),
        json.dumps({"type": "system", "subtype": "compact_boundary", "sessionId": "s"}),
        row("user", summary, isCompactSummary=True, isVisibleInTranscriptOnly=True),
        row("user", "Go on."),
        row("assistant", [{"type": "text", "text": "Done."}]),
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_what_became_of_a_text_under_a_recipe(run: Run, file: Path) -> None:
    told = run("explain", str(file), "BERTH", "k4471", "--target", "25%")
    assert told.status == 0
    assert "message 2, user: summarized at compaction 1; handle msg-2" in told.out
    assert 'compaction 1 says: - user: "My boat is the Albatros, berth K4471."' in told.out
    assert "1 message with this text; the model still reads it in 1; if condensed by auto" in told.out
    assert json.loads(file.read_text()) == talk(30)


def test_the_same_for_programs(run: Run, file: Path) -> None:
    told = json.loads(run("explain", str(file), "K4471", "--target", "25%", "--recipe", "auto", "--json").out)
    assert (told["text"], told["compactions"]) == ("K4471", 1)
    (only,) = told["occurrences"]
    assert (only["message"], only["fate"], only["compaction"], only["shown"]) == (2, "summarized", 1, True)
    assert (only["handle"], only["role"], only["tool"]) == ("msg-2", "user", None)
    assert only["changes"][0]["sentence"] == only["sentence"]


def test_a_plan_file_explains_what_was_done(run: Run, file: Path, tmp_path: Path) -> None:
    small, plan = tmp_path / "small.json", tmp_path / "plan.json"
    run("condense", str(file), "--target", "25%", "-o", str(small), "--plan", str(plan))
    told = run("explain", str(small), "K4471", "--plan", str(plan))
    assert told.status == 0
    assert "message 2, user: summarized at compaction 1" in told.out
    assert f"by {plan}" in told.out


def test_the_compactions_of_claude_code_count(run: Run, log: Path) -> None:
    told = run("explain", str(log), "port")
    assert "message 0, user: summarized at compaction 1\n" in told.out
    assert "compaction 1 says: - The user wants port 8099." in told.out
    assert "by 1 compaction of Claude Code itself" in told.out
    told = run("explain", str(log), "K4471")
    assert "message 0, user: omitted at compaction 1\n" in told.out
    assert "the model still reads it in 0" in told.out
    assert "if condensed by auto" in run("explain", str(log), "K4471", "--target", "0.9").out


def test_a_session_of_a_manager_is_explained_from_its_folder(run: Run, tmp_path: Path) -> None:
    values = {"model": "gpt-4o", "max_context_tokens": 2_500, "storage": {"path": str(tmp_path / "kept")}}
    config = CompactConfig.model_validate({**values, "policy": {"hard_cap_buffer": 100}, "profile": "offline"})
    with CompactManager(config) as manager:
        for rounds in range(4, 50, 4):
            manager.preflight("s", talk(rounds))
    told = json.loads(run("explain", str(tmp_path / "kept"), "Boat 2 came", "--session", "s", "--json").out)
    assert told["compactions"] >= 2
    (only,) = told["occurrences"]
    assert (only["message"], only["handle"]) == (7, "msg-7")
    assert only["fate"] in ("summarized", "omitted")


def test_a_text_that_no_message_holds(run: Run, file: Path) -> None:
    told = run("explain", str(file), "zeppelin")
    assert (told.status, told.out) == (0, "No message holds this text.\n")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--plan", "p.json", "--session", "s"], "cannot be given together"),
        (["--session", "nobody"], "holds no `originals`"),
        (["--plan", "no-such.json"], "cannot be read"),
        (["--recipe", "nope"], "nope"),
    ],
)
def test_what_cannot_be_explained_is_a_clear_error(run: Run, file: Path, options: list[str], problem: str) -> None:
    told = run("explain", str(file), "K4471", *options)
    assert told.status == 2
    assert problem in told.err
