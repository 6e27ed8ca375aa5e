"""Every command, on good and on bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compact.testing.vendors import FakeVendors
from tests.cli.conftest import Run

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"name": "it"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "src/it.py"},
    {"role": "assistant", "content": "In src/it.py."},
]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps([message for message in CHAT if message["role"] != "tool"]))
    return path


def test_tokens_for_people_and_for_programs(run: Run, chat: Path) -> None:
    shown = run("tokens", chat)
    assert shown.status == 0
    told = json.loads(run("tokens", chat, "--json").out)
    assert told["precision"] == "exact"
    assert sum(told["by_kind"].values()) == told["tokens"]
    assert f"{told['tokens']} tokens, exact (o200k_base)" in shown.out
    assert json.loads(run("tokens", "-", "--json", stdin=chat.read_bytes()).out) == told


def test_tokens_for_an_unknown_model_says_what_it_assumes(run: Run, chat: Path) -> None:
    shown = run("tokens", chat, "--model", "my-own-model").out
    assert "estimate (o200k_base)" in shown
    assert "of the 128,000 of my-own-model, assumed" in shown


def test_tokens_says_what_is_estimated(run: Run) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    shown = run("tokens", "-", stdin=json.dumps([{"role": "user", "content": [image]}]).encode())
    assert "estimated: images of unknown size or price (1)" in shown.out


def test_check_passes_a_valid_file(run: Run, chat: Path) -> None:
    assert run("check", chat).out == "valid openai-chat, 5 messages\n"
    assert json.loads(run("check", chat, "--json").out)["valid"] is True


def test_check_lists_violations_with_rule_and_remedy(run: Run, broken: Path) -> None:
    shown = run("check", broken)
    assert shown.status == 1
    assert "C1" in shown.out
    assert "1 violation in 4 messages" in shown.out
    told = json.loads(run("check", broken, "--json").out)
    assert [(each["rule"], each["index"]) for each in told["violations"]] == [("C1", 2)]
    assert told["violations"][0]["remedy"]


def test_check_knows_variants(run: Run, chat: Path) -> None:
    assert run("check", chat, "--variant", "mistral").status == 1
    wrong = run("check", chat, "--variant", "moon")
    assert wrong.status == 2
    assert "error: variant: openai-chat has no variant 'moon'" in wrong.err


def test_convert_there_and_back(run: Run, chat: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert run("convert", chat, "--to", "anthropic-messages", "-o", target).status == 0
    written = json.loads(target.read_text())
    assert written["system"] == "Be brief."
    back = json.loads(run("convert", target, "--to", "openai-chat").out)
    assert back == CHAT


def test_convert_refuses_what_has_no_place(run: Run) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    data = json.dumps([{"role": "assistant", "content": [thinking, {"type": "text", "text": "yes"}]}]).encode()
    refused = run("convert", "-", "--to", "openai-chat", stdin=data)
    assert refused.status == 2
    assert "message 0 holds reasoning" in refused.err
    kept = run("convert", "-", "--to", "openai-chat", "--lossy", stdin=data)
    assert json.loads(kept.out) == [{"role": "assistant", "content": "yes"}]


def test_convert_names_a_place_it_cannot_write(run: Run, chat: Path, tmp_path: Path) -> None:
    failed = run("convert", chat, "--to", "google-gemini", "-o", tmp_path / "no" / "such" / "place.json")
    assert failed.status == 2
    assert "cannot be written: No such file or directory" in failed.err


def test_models_by_name_part_and_vendor(run: Run) -> None:
    assert "400,000" in run("models", "gpt-5").out
    listed = json.loads(run("models", "--vendor", "anthropic", "--json").out)
    assert listed
    assert all(model["vendor"] == "anthropic" for model in listed)
    assert len(json.loads(run("models", "sonnet", "--json").out)) > 1
    unknown = run("models", "no-such-model-at-all")
    assert "is not in the catalogue: a window of 128,000 tokens is assumed" in unknown.out
    assert json.loads(run("models", "no-such-model-at-all", "--json").out)[0]["input_price"] is None


def test_calibrate_from_a_reported_count(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps([{"role": "user", "content": "a word " * 2000}]))
    before = json.loads(run("tokens", path, "-m", "claude-opus-4-6", "--json").out)
    learned = run("calibrate", path, "-m", "claude-opus-4-6", "--reported", before["tokens"] + 400)
    assert "from 1 observation" in learned.out
    after = json.loads(run("tokens", path, "-m", "claude-opus-4-6", "--json").out)
    assert after["precision"] == "calibrated"
    assert after["tokens"] == pytest.approx(before["tokens"] + 400, rel=0.01)


def test_calibrate_asks_the_vendor(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_API_KEY", "sk-ant-test")
    path = tmp_path / "long.json"
    body = {"system": "Be brief.", "messages": [{"role": "user", "content": "a word " * 2000}]}
    path.write_text(json.dumps(body))
    with FakeVendors() as server:
        asked = ("calibrate", path, "-m", "claude-opus-4-6", "--url", server.url, "--json")
        learned = run(*asked)
    assert learned.status == 0
    told = json.loads(learned.out)
    assert told["samples"] == 1
    assert told["reported"] > 2000


def test_calibrate_needs_something_to_learn_from(run: Run, chat: Path) -> None:
    failed = run("calibrate", chat, "-m", "gpt-4o")
    assert failed.status == 2
    assert "Give --reported N, or --url to ask." in failed.err


def test_demo_shows_every_format_valid(run: Run) -> None:
    shown = run("demo")
    assert shown.status == 0
    assert "violations" not in shown.out
    assert "recounted in" in shown.out


@pytest.mark.parametrize("command", ["tokens", "check", "convert", "models", "calibrate"])
def test_help_has_examples(run: Run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.status == 0
    assert f"compact {command}" in shown.out


def test_a_missing_file_is_one_clear_line(run: Run) -> None:
    failed = run("tokens", "nowhere.json", "--json")
    assert failed.status == 2
    assert failed.err.strip() == (
        "error: nowhere.json: cannot be read: No such file or directory. Check the name and your permissions."
    )
    assert json.loads(failed.out)["error"]["type"] == "InvalidInput"


def test_hostile_text_cannot_drive_the_terminal(run: Run) -> None:
    message = {"role": "tool", "tool_call_id": "\x1b]0;owned\x07[red]x", "content": "r"}
    messages = [{"role": "user", "content": "a"}, CHAT[2], message]
    shown = run("check", "-", stdin=json.dumps(messages).encode())
    assert "\x1b" not in shown.out
    assert "\\x1b]0;owned\\x07[red]x" in shown.out


def test_version_and_closed_pipe() -> None:
    shown = subprocess.run([sys.executable, "-m", "compact", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("compact 0.")
    piped = subprocess.run(
        f"{sys.executable} -m compact models --json | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stderr == ""
