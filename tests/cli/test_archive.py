"""`compact archive` as people use it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import typer

from compact.archive import FileArchive
from compact.cli import archive
from compact.cli.main import run
from compact.messages import Json
from compact.ports import Export

MESSAGES: list[Json] = [
    {"role": "user", "content": "hello \x1b[31mred\x1b[0m " + "x" * 300},
    {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
    {"type": "function_call", "name": "f", "arguments": "{}"},
]

Command: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    commands = typer.Typer(pretty_exceptions_enable=False)
    commands.add_typer(archive.commands, name="archive")

    def call(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["compact", "archive", *map(str, arguments)])
        try:
            status = run(commands)
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 1
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return call


@pytest.fixture
def filled(tmp_path: Path) -> FileArchive:
    made = FileArchive(tmp_path / ".compact")
    made.save(Export("alpha", 1, MESSAGES[:1], {"summary": "one"}))
    made.save(Export("alpha", 2, MESSAGES, {"summary": "two"}))
    made.save(Export("beta", 1, MESSAGES, {"summary": "other"}))
    made.note("alpha", [{"event": 1}])
    return made


def test_an_empty_archive_is_no_mistake(command: Command) -> None:
    assert command("list") == (0, "Nothing is archived in .compact.\n")
    assert command("list", "nobody") == (0, "Nothing is archived of nobody.\n")
    assert command("list", "--json") == (0, "[]\n")
    assert command("verify") == (0, "0 files, 0 problems\n")


def test_list_shows_sessions_and_files(command: Command, filled: FileArchive) -> None:
    status, output = command("list")
    assert status == 0
    assert [line.split()[:3] for line in output.splitlines()[2:]] == [["alpha", "2", "2"], ["beta", "1", "1"]]
    status, output = command("list", "alpha")
    assert [line.split()[0] for line in output.splitlines()[2:]] == [
        "events.jsonl",
        "summary-001.json",
        "summary-002.json",
        "transcript-pre-compact-001.jsonl",
        "transcript-pre-compact-002.jsonl",
    ]
    status, output = command("list", "beta", "--json")
    assert json.loads(output)[0] == {
        "session": "beta",
        "file": "summary-001.json",
        "kind": "summary",
        "step": 1,
        "bytes": 20,
    }


def test_show_tells_the_last_step_and_cannot_drive_the_terminal(command: Command, filled: FileArchive) -> None:
    status, output = command("show", "alpha")
    assert status == 0
    assert "alpha, step 2: 3 messages before it" in output
    assert '"summary": "two"' in output
    assert "function_call" in output
    assert "\x1b" not in output
    assert "alpha, step 1: 1 message before" in command("show", "alpha", 1)[1]
    found = json.loads(command("show", "alpha", "--json")[1])
    assert found == {"session": "alpha", "step": 2, "transcript": MESSAGES, "summary": {"summary": "two"}}


def test_what_is_not_there_is_told_with_a_remedy(command: Command, filled: FileArchive) -> None:
    status, output = command("show", "alpha", 9)
    assert (status, "Archived steps: 1, 2." in output) == (2, True)
    status, output = command("show", "gamma")
    assert (status, "compact archive list" in output) == (2, True)
    status, output = command("verify", "gamma")
    assert (status, output) == (2, "error: SESSION: nothing is archived of gamma. See: compact archive list.\n")
    assert command("verify", "gamma", "--json")[0] == 2
    assert "nothing is archived of ../etc" in command("show", "../etc")[1]
    status, output = command("show", "x" * 257)
    assert (status, "session_id" in output) == (2, True)


def test_verify_ends_with_one_where_something_is_wrong(command: Command, filled: FileArchive, tmp_path: Path) -> None:
    assert command("verify") == (0, "7 files, 0 problems\n")
    (tmp_path / ".compact" / "archive" / "beta" / "summary-001.json").write_bytes(b"{}\n")
    status, output = command("verify", "--path", tmp_path / ".compact")
    assert status == 1
    assert output.startswith("beta/summary-001.json: damaged")
    assert command("verify", "alpha")[0] == 0
    status, output = command("verify", "--json")
    assert status == 1
    assert json.loads(output)["problems"][0]["file"] == "summary-001.json"


def test_verify_tells_what_is_missing_damaged_unfinished_or_cannot_be_joined(
    command: Command, filled: FileArchive, tmp_path: Path
) -> None:
    alpha, beta = (tmp_path / ".compact" / "archive" / name for name in ("alpha", "beta"))
    (alpha / "transcript-pre-compact-001.jsonl").unlink()
    (beta / "transcript-pre-compact-001.jsonl").write_bytes(b"{}\n")
    sums = (beta / "SHA256SUMS").read_text().splitlines(keepends=True)
    (beta / "SHA256SUMS").write_text("".join(line for line in sums if "summary-001" not in line))
    status, output = command("verify", "--json")
    assert status == 1
    told = {f"{each['session']}/{each['file']}": each["problem"] for each in json.loads(output)["problems"]}
    assert told == {
        "alpha/transcript-pre-compact-001.jsonl": "missing",
        "alpha/transcript-pre-compact-002.jsonl": "cannot be joined: transcript-pre-compact-001.jsonl is missing",
        "beta/summary-001.json": "unfinished: no checksum was written",
        "beta/transcript-pre-compact-001.jsonl": "damaged: its SHA-256 is not the one it was saved with",
    }


def test_export_gives_what_other_commands_read(command: Command, filled: FileArchive, tmp_path: Path) -> None:
    assert json.loads(command("export", "alpha", "--step", 2)[1]) == MESSAGES
    status, output = command("export", "alpha", "--output", tmp_path / "out.json")
    assert (status, output) == (0, f"wrote {tmp_path / 'out.json'}\n")
    everything = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [step["step"] for step in everything["steps"]] == [1, 2]
    assert everything["events"] == [{"event": 1}]


def test_help_has_examples(command: Command) -> None:
    for name in ("list", "show", "verify", "export"):
        status, output = command(name, "--help")
        assert status == 0
        assert f"compact archive {name}" in output
