"""`compact batch`: thousands of transcripts, begun, interrupted and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compact import CompactConfig, CompactManager, condense
from compact.app.bulk import Outcome, Results
from compact.policies import StorageSettings
from tests.app.test_batch import chat, write
from tests.cli.conftest import Run


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    folder = tmp_path / "chats"
    for number in range(3):
        write(folder / f"{number % 2}" / f"{number}.json", chat(str(number), 3))
    return folder


def test_good_ones_are_condensed_once_and_bad_ones_are_told(run: Run, chats: Path) -> None:
    out = chats.with_name("small")
    write(chats / "bad.json", "{")
    first = run("batch", chats, "--target", "50%", "--out", out, "--jobs", "1")
    assert first.status == 1
    assert first.err == ""
    assert f"failed: bad.json: {chats}/bad.json: is not valid JSON" in first.out
    assert (out / "1" / "1.plan.json").is_file()
    restored = run("restore", out / "1" / "1.json", "--plan", out / "1" / "1.plan.json")
    assert restored.out == (chats / "1" / "1.json").read_text(encoding="utf-8")
    write(chats / "bad.json", chat("good", 3))
    write(chats / "1" / "1.json", chat("changed", 3))
    again = json.loads(run("batch", chats, "--target", "50%", "--out", out, "--jobs", "1", "--json").out)
    assert (again["transcripts"], again["condensed"], again["done_before"], again["failed"]) == (4, 2, 2, 0)
    assert 0 < again["tokens_after"] < again["tokens_before"]
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(line["file"] for line in lines) == ["0/0.json", "0/2.json", "1/1.json", "bad.json"]
    assert sum(line["tokens_after"] for line in lines) == again["tokens_after"]


def test_the_chosen_default_holds_for_batches_and_managers(run: Run, chats: Path) -> None:
    run("recipes", "use", "v1")
    out, given = chats.with_name("small"), json.loads((chats / "1" / "1.json").read_text())
    run("batch", chats, "--out", out, "--jobs", "1")
    v1, auto = (condense(given, recipe=recipe).messages for recipe in ("v1", "auto"))
    assert json.loads((out / "1" / "1.json").read_text()) == v1 != auto
    storage = StorageSettings(path=str(chats.with_name("storage")))
    with CompactManager(CompactConfig(model="gpt-4o", storage=storage)) as manager:
        assert manager.manual_compact("a", given) == v1
        report = manager.report("a")
    assert report is not None
    assert report.recipe == "v1"


def test_an_interrupted_batch_goes_on_where_it_was(tmp_path: Path) -> None:
    many = 300
    write(tmp_path / "many.jsonl", "\n".join(json.dumps(chat(str(number))) for number in range(many)))
    command = [sys.executable, "-m", "compact", "batch", "many.jsonl", "--jobs", "1"]
    environment = {**os.environ, "COMPACT_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}
    # A pipe that holds few of the names: while nobody reads them, it cannot come to its end.
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pipesize": 4096, "text": True}
    with subprocess.Popen(command, **pipes, cwd=tmp_path, env=environment) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline().startswith("many.jsonl/")
        begun.send_signal(signal.SIGINT)
        _, told = begun.communicate(timeout=120)
    assert (begun.returncode, told) == (130, "interrupted; the same command goes on from here\n")
    results = tmp_path / "condensed" / "results.jsonl"
    before = len(results.read_text(encoding="utf-8").splitlines())
    assert 0 < before < many
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment, timeout=240
    )
    totals = json.loads(done.stdout)
    assert (totals["transcripts"], totals["done_before"], totals["condensed"]) == (many, before, many - before)
    assert len(results.read_text(encoding="utf-8").splitlines()) == many


def test_two_batches_do_not_share_a_folder_for_results(run: Run, chats: Path) -> None:
    out = chats.with_name("small")
    batch = ("batch", chats, "--out", out, "--jobs", "1")
    with Results(out) as first:
        first.add(Outcome("earlier.json", "earlier.json", "digest"))
        second = run(*batch)
        problem = f"error: {out}: another batch writes into this folder."
        assert (second.status, second.out) == (2, "")
        assert second.err == f"{problem} Wait until that is done, or choose another folder for results.\n"
    assert len((out / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert run(*batch).status == 0
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


def test_whoever_outgrows_the_machine_puts_it_into_a_queue(run: Run, chats: Path) -> None:
    queue = ("--database", chats.with_name("jobs.db"), "--queue", "march")
    put = run("batch", chats, "--out", chats.with_name("small"), *queue)
    assert (put.status, put.err) == (0, "")
    assert put.out.startswith("3 new in the queue march; 3 waiting, 0 at work, 0 done, 0 failed\n")
    assert put.out.endswith(f"start workers: compact worker --database {chats.with_name('jobs.db')} --batch march\n")
    usual = run("batch", chats, "--queue", "april")
    assert usual.out.endswith("start workers: compact worker --batch april\n")
    again = json.loads(run("batch", chats, *queue, "--inline", "--json").out)
    assert (again["new"], again["queued"]) == (0, 3)
    other = json.loads(run("batch", chats, *queue, "--inline", "--target", "30%", "--json").out)
    assert (other["new"], other["queued"]) == (3, 6)
    told = run("batch", *queue, "--out", chats.with_name("fetched"))
    assert "queue march: 6 waiting, 0 at work, 0 done, 0 failed" in told.out
    assert told.status == 0
    unknown = run("batch", "--database", chats.with_name("jobs.db"), "--queue", "unknown")
    assert "--queue: there is no queue 'unknown'." in unknown.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "SOURCES: nothing to condense. Name a folder, a pattern or a file."),
        (("nowhere.json",), "does not exist. Name a folder, a file, or a pattern such as 'chats/*.json'."),
        (("chats", "--preset", "nonsense"), "nonsense"),
        (("chats", "--target", "lots"), "--target: 'lots' is no target."),
        (("chats", "--database", "jobs.db"), "--database: says nothing without a queue. Name one: --queue NAME."),
        (("chats", "--out", "chats"), "which results would overwrite. Choose another folder for results."),
        (("--queue", "unknown", "--database", "jobs.db"), "--database: there is no file "),
    ],
)
def test_mistakes_end_in_one_line(
    run: Run, chats: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(chats.parent)
    told = run("batch", *arguments)
    assert told.status == 2
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert problem in told.err
    assert not Path("condensed").exists()
    assert not Path("jobs.db").exists()
