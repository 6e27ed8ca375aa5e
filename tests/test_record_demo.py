"""The demo's transcript is a true recording: real tools, the same bytes each time, valid for every vendor."""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compact.app import count, read_transcript
from compact.formats import FORMATS, tools_of, violations
from compact.messages import Conversation
from scripts import record_demo
from scripts.recording.recorder import Recorder, StoryBroken, edit, expect, failing, line_with, list_files, read, run
from scripts.recording.recorder import search as search_for
from scripts.recording.transcript import SYSTEM, TOOLS, Call, files
from scripts.recording.workspace import LONGEST_OUTPUT, LONGEST_READ, ToolError, Workspace, normalised, shortened

NAMES = [f"session.{name}.json" for name in FORMATS]

PROJECT = {
    "pyproject.toml": '[project]\nname = "tiny"\n\n[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\n',
    "src/tiny.py": "def double(number):\n    return number + number\n",
    "tests/test_tiny.py": "import tiny\n\n\ndef test_double():\n    assert tiny.double(3) == 6, [object(), __file__]\n",
    "src/compact/cli/transcripts/session.openai-chat.json": "[]",
    "src/__pycache__/tiny.pyc": "",
    ".venv/pyvenv.cfg": "",
}


def make_project(root: Path) -> Path:
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(make_project(tmp_path / "project"), tmp_path / "home")


def tell_short_story(recorder: Recorder) -> None:
    recorder.ask("Make it triple.")
    recorder.act("I look first.", list_files("."), read("src/tiny.py"), search_for("double", "."))
    recorder.act("", failing(read("src/gone.py")), edit("src/tiny.py", "number + number", "number * 3"))
    output = recorder.act("And the test?", run("python -m pytest -v"))[0]
    expect(output, r"1 failed(?s:.*)\[exit code 1\]", "The test must fail")
    volatile = "import os, sys, time; print(object(), os.getcwd(), sys.executable, f'{time.perf_counter():.3f}s')"
    recorder.act("", run(f'python -c "{volatile}"'))
    recorder.answer("The test still expects the double.")
    recorder.ask("Then rename the function, please.")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """The short story, recorded twice, in different places."""
    made = []
    for name in ("first", "another"):
        place = tmp_path_factory.mktemp(name)
        recorder = Recorder(Workspace(make_project(place / "project"), place / "home"), list[str]().append)
        tell_short_story(recorder)
        made.append(files(recorder.events))
    return made


def test_recording_twice_gives_the_same_bytes(recordings: list[dict[str, str]]) -> None:
    assert recordings[0] == recordings[1]
    assert sorted(recordings[0]) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_a_whole_and_valid_request(recordings: list[dict[str, str]], name: str) -> None:
    text = recordings[0][name]
    conversation = read_transcript(text.encode())
    assert name == f"session.{conversation.format}.json"
    assert violations(conversation) == []
    assert ("model" in json.loads(text)) == (conversation.format != "google-gemini")
    assert (conversation.system or conversation.messages[0]).text == SYSTEM
    assert [tool.name for tool in tools_of(conversation)] == [tool["name"] for tool in TOOLS]
    assert "/workspace/compact/.venv/bin/python" in text


@pytest.mark.parametrize("vendor", ["anthropic-messages", "google-gemini"])
def test_an_error_is_marked_where_the_vendor_has_a_mark_for_it(recordings: list[dict[str, str]], vendor: str) -> None:
    messages = read_transcript(recordings[0][f"session.{vendor}.json"].encode()).messages
    results = [result for message in messages for result in message.results]
    assert [result.error for result in results] == [False, False, False, True, False, False, False]


def test_the_copy_holds_sources_only(workspace: Workspace) -> None:
    assert workspace.list_files(".").splitlines() == [
        "pyproject.toml  83 bytes",
        "src/tiny.py  47 bytes",
        "tests/test_tiny.py  86 bytes",
    ]


def test_reading_shows_numbered_lines_and_says_where_to_read_on(workspace: Workspace) -> None:
    assert workspace.read_file("src/tiny.py") == "     1\tdef double(number):\n     2\t    return number + number"
    assert workspace.read_file("src/tiny.py", start=2, end=9) == "     2\t    return number + number"
    workspace.write_file("long.txt", "line\n" * (LONGEST_READ + 1))
    *shown, note = workspace.read_file("long.txt").splitlines()
    assert len(shown) == LONGEST_READ
    assert note == f"[lines 1-{LONGEST_READ} of {LONGEST_READ + 1}; read on with start={LONGEST_READ + 1}]"


def test_searching_is_by_regular_expression(workspace: Workspace) -> None:
    assert workspace.search(r"^def \w+\(number", "src") == "src/tiny.py:1: def double(number):"
    assert workspace.search("triple", ".") == "[no line matches]"


def test_an_edit_changes_one_place_and_shows_it(workspace: Workspace) -> None:
    shown = workspace.edit_file("src/tiny.py", "number + number", "(\n        2 * number\n    )")
    assert shown.splitlines()[2:] == ["     2\t    return (", "     3\t        2 * number", "     4\t    )"]
    assert workspace.read_file("src/tiny.py", 2) in shown
    with pytest.raises(ToolError, match="occurs 2 times"):
        workspace.edit_file("src/tiny.py", "number", "n")


@pytest.mark.parametrize("path", ["../home/x", "/etc/hostname", "src/../../x"])
def test_nothing_outside_the_copy_can_be_touched(workspace: Workspace, path: str) -> None:
    for tool, more in (("read_file", {}), ("write_file", {"content": ""}), ("edit_file", {"old": "a", "new": "b"})):
        with pytest.raises(ToolError, match="outside the checkout"):
            workspace.use(tool, {"path": path, **more})


@pytest.mark.parametrize("command", ["ls", "python script.py", "python -m pip list", "python", "sh -c 'python -c 1'"])
def test_only_pytest_ruff_and_snippets_may_be_run(workspace: Workspace, command: str) -> None:
    with pytest.raises(ToolError, match="may be run"):
        workspace.run(command)


def test_commands_see_nothing_of_the_environment(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_TRANSCRIPTS", "somewhere")
    output = workspace.run("python -c \"import os; print(os.environ.get('COMPACT_TRANSCRIPTS'), os.environ['USER'])\"")
    assert output == "None user\n[exit code 0]"


def test_what_differs_from_run_to_run_is_made_equal(tmp_path: Path) -> None:
    today = datetime.now(UTC).date().isoformat()
    texts = {
        f"{tmp_path}/compact/a.py": "/workspace/compact/a.py",
        "<object object at 0x7f3c5a2b>": "<object object at 0x7f0000000000>",
        "mask = 0xff00": "mask = 0xff00",
        f"at {today} 10:11:12.5": "at 2026-01-01",
        f"seen {today}, since 2025-10-07": "seen 2026-01-01, since 2025-10-07",
        "==== 3 passed in 61.20s (0:01:01) ====": f"{'=' * 30} 3 passed in 1.00s {'=' * 30}",
        "========== 3 passed in 0.1s ==========": f"{'=' * 30} 3 passed in 1.00s {'=' * 30}",
        "======== a headline ========": "======== a headline ========",
    }
    assert {text: normalised(text, tmp_path) for text in texts} == texts


def test_long_outputs_lose_their_middle_between_lines() -> None:
    lines = [f"line {number}" for number in range(LONGEST_OUTPUT)]
    head, middle, tail = re.split(r"(\[\d+ lines left out\])\n", shortened("\n".join(lines)))
    kept = [*head.splitlines(), *tail.splitlines()]
    assert middle == f"[{len(lines) - len(kept)} lines left out]"
    assert kept == lines[: len(head.splitlines())] + lines[-len(tail.splitlines()) :]
    assert len(head) + len(tail) <= LONGEST_OUTPUT
    assert shortened("short\n") == "short\n"


@pytest.mark.parametrize("call", [edit("src/tiny.py", "gone", "new"), read("gone.py"), failing(read("src/tiny.py"))])
def test_a_story_that_no_longer_fits_the_sources_says_so(workspace: Workspace, call: Call) -> None:
    recorder = Recorder(workspace, list[str]().append)
    recorder.ask("Do something.")
    with pytest.raises(StoryBroken, match=rf"{call.tool}(?s:.*)adapt it in scripts/recording"):
        recorder.act("", call)


def test_an_anchor_or_an_outcome_that_is_gone_is_named(workspace: Workspace) -> None:
    with pytest.raises(StoryBroken, match="'double' stands on 2 lines"):
        line_with("double\ndouble", "double")
    with pytest.raises(StoryBroken, match=r"must pass, but nothing matches '3 passed'"):
        expect("2 passed", "3 passed", "The tests must pass")
    with pytest.raises(StoryBroken, match=r"gone\.py is gone"):
        Recorder(workspace, list[str]().append).read("gone.py")


def test_user_and_agent_take_turns(workspace: Workspace) -> None:
    recorder = Recorder(workspace, list[str]().append)
    with pytest.raises(StoryBroken, match="take turns"):
        recorder.answer("I begin.")
    recorder.ask("No, I do.")
    with pytest.raises(StoryBroken, match="take turns"):
        recorder.ask("And I go on.")


def test_checking_tells_which_files_are_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = {"one.json": "1\n", "two.json": "2\n"}
    assert record_demo.compare(recorded, tmp_path) == 1
    assert record_demo.write(recorded, tmp_path) == 0
    assert record_demo.compare(recorded, tmp_path) == 0
    (tmp_path / "two.json").write_text("3\n", encoding="utf-8")
    capsys.readouterr()
    assert record_demo.compare(recorded, tmp_path) == 1
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"{tmp_path / 'two.json'}: is not up to date; run scripts/record_demo.py",
        "1 of 2 files are up to date",
    ]


@pytest.mark.soak
def test_the_story_still_fits_the_sources() -> None:
    assert sorted(record_demo.record()) == sorted(NAMES)


def bundled(name: str) -> Conversation:
    return read_transcript((record_demo.BUNDLED / name).read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_each_bundled_file_is_a_valid_request_of_the_promised_size(name: str) -> None:
    conversation = bundled(name)
    assert name == f"session.{conversation.format}.json"
    assert violations(conversation) == []
    assert count(conversation, model="gpt-4o").total in record_demo.TOKENS
    assert (record_demo.BUNDLED / name).stat().st_size < 700_000
    # A Responses request has an item for each call and each result.
    assert len(conversation) in range(150, 400 if conversation.format == "openai-responses" else 221)


def test_the_bundled_conversation_has_what_makes_condensing_hard() -> None:
    conversation = bundled("session.anthropic-messages.json")
    wishes = [message for message in conversation.messages if message.from_user and not message.results]
    results = [result for message in conversation.messages for result in message.results]
    texts = [result.text for result in results]
    assert len(wishes) >= 6
    assert conversation.messages[-1] is wishes[-1]
    assert "Never touch files under src/compact/messages" in wishes[0].text
    assert any(len(message.calls) > 1 for message in conversation.messages)
    assert any(result.error for result in results)
    assert len(texts) - len(set(texts)) >= 5  # the same answer more than once
    assert any("\x1b[31mFAILED" in text for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_no_bundled_file_tells_where_or_by_whom_it_was_made(name: str) -> None:
    text = (record_demo.BUNDLED / name).read_text(encoding="utf-8")
    places = r"(?<!\w)/(?:work|root|home|Users|private)/|(?<!workspace)/tmp/|pytest-of-(?!user\b)"
    hosts = rf"\b{re.escape(socket.gethostname())}\b(?=[.:/@])|py(?:pi|thonhosted)\.|npm(?:js)\.|crates\.(?:io)"
    people = r"(?i:co-authored|generated (?:by|with)|written by|authors? ?=|copyright)"
    assert re.findall(f"{places}|{hosts}|{people}", text) == []
