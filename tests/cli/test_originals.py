"""`compact originals` as people use it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import CliRunner

from compact.cli.main import app
from compact.errors import CompactError
from compact.messages import Json, digest_of
from compact.originals import FileOriginals
from compact.originals.survey import segment_name
from compact.ports import Record

Command: TypeAlias = Callable[..., tuple[int, str]]
MESSAGES: list[Json] = [{"role": "user", "content": f"number {number}"} for number in range(3)]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    store = FileOriginals(tmp_path / ".compact" / "originals")
    for session in ("alpha", "beta"):
        for number in (1, 2):
            log = MESSAGES[: number + 1]
            made = Record(session, number, number - 1, "openai-chat", tuple(map(digest_of, log)), [], "2030")
            store.put(log, made)

    def call(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["originals", *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit | CompactError), done.exception
        return done.exit_code, done.stdout or str(done.exception)

    return call


def damage(session: str, folder: Path = Path(".compact/originals")) -> Path:
    path = folder / segment_name(session, 0)
    path.write_bytes(path.read_bytes().replace(b"number 2", b"number 7"))
    return path.resolve()


def test_verify_and_repair_of_what_is_whole(command: Command) -> None:
    assert command("verify") == (0, "2 sessions, 0 problems\n")
    assert command("verify", "beta") == (0, "1 session, 0 problems\n")
    assert command("repair") == (0, "2 sessions, 0 repaired\n")
    assert json.loads(command("verify", "--json")[1]) == {"sessions": 2, "problems": []}


def test_verify_names_the_line_and_repair_keeps_the_rest(command: Command) -> None:
    path = damage("alpha")
    status, output = command("verify")
    assert status == 1
    assert output.splitlines() == [
        f"alpha: {path}, line 6: it is not as it was written",
        f"alpha: {path}, line 8: the lines before it are not those that were written",
        f"alpha: {path}, line 7: message {digest_of(MESSAGES[2])[:12]} of compaction 2 is missing",
        "2 sessions, 3 problems",
        "Keep what is whole: compact originals repair",
    ]
    assert command("verify", "beta")[0] == 0
    status, output = command("repair", "alpha")
    assert status == 1
    assert output.splitlines()[3:] == [
        "alpha: kept 2 messages and these compactions: 1",
        "alpha: could not keep these compactions: 2",
        f"alpha: the damaged file is {path}.damaged-1",
        "1 session, 1 repaired",
    ]
    assert command("verify") == (0, "2 sessions, 0 problems\n")
    assert command("repair") == (0, "2 sessions, 0 repaired\n")


def test_json_of_both(command: Command) -> None:
    path = damage("alpha")
    status, output = command("verify", "--json")
    assert status == 1
    first = json.loads(output)["problems"][0]
    assert first == {"session": "alpha", "file": str(path), "line": 6, "problem": "it is not as it was written"}
    status, output = command("repair", "--json")
    told = json.loads(output)
    assert (status, told["sessions"], told["unknown"]) == (1, 2, [])
    (repaired,) = told["repaired"]
    del repaired["problems"]
    assert repaired == {
        "session": "alpha",
        "messages": 2,
        "compactions": [1],
        "lost": [2],
        "aside": [f"{path}.damaged-1"],
    }


def test_a_file_that_does_not_say_whose_it_is_is_repaired_by_its_name(command: Command) -> None:
    path = Path(".compact/originals", segment_name("alpha", 0)).resolve()
    path.write_bytes(b"#\n")
    status, output = command("verify")
    assert status == 1
    assert output.startswith(
        f"{path}: its first line, which says whose it is, is damaged. Run: compact originals repair"
    )
    assert command("repair")[0] == 1
    assert path.read_bytes() == b"#\n"
    assert command("repair", "alpha")[0] == 1
    assert Path(f"{path}.damaged-1").read_bytes() == b"#\n"
    assert command("verify") == (0, "2 sessions, 0 problems\n")


def test_another_folder_and_sessions_that_are_not_there(command: Command) -> None:
    shutil.move(".compact", "elsewhere")
    assert command("verify") == (0, "0 sessions, 0 problems\n")
    assert command("verify", "--storage", "elsewhere") == (0, "2 sessions, 0 problems\n")
    assert command("verify", "alpha")[1] == "SESSION: nothing was kept of alpha. Look at --storage."
    assert command("repair", "../up")[1] == "SESSION: nothing was kept of ../up. Look at --storage."
    assert command("repair", "no\tid")[1].startswith("session_id: ")


def test_help_has_examples(command: Command) -> None:
    for name in ("verify", "repair"):
        status, output = command(name, "--help")
        assert status == 0
        assert f"compact originals {name}" in output
