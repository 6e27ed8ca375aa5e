"""Every command, on good and on bad input."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from compact.cli import demo
from compact.cli.main import run as run_commands
from compact.formats import FORMATS, parse
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
    assert "of input of my-own-model, assumed; its window has 128,000" in shown


def test_tokens_says_what_is_estimated(run: Run) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    shown = run("tokens", "-", stdin=json.dumps([{"role": "user", "content": [image]}]).encode())
    assert "estimated: images of unknown size or price (1)" in shown.out


def test_tokens_are_those_of_the_model_the_request_names(run: Run) -> None:
    request = json.dumps({"model": "gemini-2.5-pro", "messages": CHAT}).encode()
    told = json.loads(run("tokens", "-", "--json", stdin=request).out)
    assert (told["model"], told["model_source"]) == ("gemini-2.5-pro", "request")
    assert "of gemini-2.5-pro, the model of the request" in run("tokens", "-", stdin=request).out
    told = json.loads(run("tokens", "-", "--json", "-m", "gpt-5", stdin=request).out)
    assert (told["model"], told["model_source"]) == ("gpt-5", "option")
    assert "of gpt-4o, as no --model is given" in run("tokens", "-", stdin=json.dumps(CHAT).encode()).out
    assert json.loads(run("tokens", "-", "--json", "-m", "", stdin=request).out)["model_source"] == "request"


def test_the_share_is_that_of_what_the_model_takes_as_input(run: Run, chat: Path) -> None:
    told = json.loads(run("tokens", chat, "--json", "-m", "gpt-5").out)
    assert (told["window"], told["max_input"]) == (400_000, 272_000)
    assert told["share"] == told["tokens"] / 272_000
    assert "of the 272,000 tokens of input of gpt-5; its window has 400,000" in run("tokens", chat, "-m", "gpt-5").out


def test_an_interrupt_while_the_commands_are_loaded_is_no_crash() -> None:
    code = """if 1:
        import sys
        class Interrupted:
            def find_spec(self, name, path=None, target=None):
                if name == "compact.cli.main":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupted())
        import compact.cli
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


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


def test_check_shows_the_first_of_many_violations(run: Run) -> None:
    calls = [{**CHAT[2], "tool_calls": [{**CHAT[2]["tool_calls"][0], "id": f"c{number}"}]} for number in range(2000)]
    data = json.dumps([CHAT[1], *calls]).encode()
    shown = run("check", "-", stdin=data)
    assert shown.status == 1
    *rows, more, verdict = shown.out.splitlines()
    assert sum(" C1 " in row for row in rows) == 50
    assert (more, verdict) == ("… and 1,950 more (--json lists all)", "2,000 violations in 2,001 messages")
    assert len(json.loads(run("check", "-", "--json", stdin=data).out)["violations"]) == 2000


def test_check_knows_variants(run: Run, chat: Path) -> None:
    assert run("check", chat, "--variant", "mistral").status == 1
    orphan = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "call_1", "content": "?"}]
    for variant in FORMATS["openai-chat"].variants:
        assert "C2" in run("check", "-", "--variant", variant, stdin=json.dumps(orphan).encode()).out
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


def test_convert_does_not_overwrite_its_input(run: Run, chat: Path) -> None:
    before = chat.read_bytes()
    refused = run("convert", chat, "--to", "anthropic-messages", "-o", chat)
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "--output: is FILE itself, which would be overwritten." in refused.err
    assert chat.read_bytes() == before


def test_convert_refuses_what_has_no_place(run: Run) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    data = json.dumps([{"role": "assistant", "content": [thinking, {"type": "text", "text": "yes"}]}]).encode()
    refused = run("convert", "-", "--to", "openai-chat", stdin=data)
    assert refused.status == 2
    assert "message 0 holds reasoning" in refused.err
    kept = run("convert", "-", "--to", "openai-chat", "--lossy", stdin=data)
    assert json.loads(kept.out) == [{"role": "assistant", "content": "yes"}]


def test_convert_writes_to_standard_output_by_name_too(
    run: Run, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = run("convert", chat, "--to", "openai-chat", "-o", "-")
    assert json.loads(written.out) == CHAT
    assert not Path("-").exists()
    failed = run("convert", chat, "--to", "openai-chat", "-o", "out[/a].json")
    assert failed.err.startswith("error: out[/a].json: cannot be written: No such file or directory")
    assert run("convert", chat, "--to", "openai-chat", "-o", "out[a].json").err == "wrote out[a].json\n"


def test_convert_keeps_what_is_protected(run: Run) -> None:
    messages = [{**CHAT[1], "meta": {"protected": True}}]
    data = json.dumps(messages).encode()
    assert json.loads(run("convert", "-", "--to", "openai-chat", stdin=data).out) == messages


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
    (assumed,) = json.loads(run("models", "no-such-model-at-all", "--json").out)
    assert (assumed["context_window"], assumed["source"], assumed["input_price"]) == (128_000, "default", None)


def test_models_of_a_vendor_are_only_its_own(run: Run) -> None:
    assert {model["vendor"] for model in json.loads(run("models", "gpt-4o", "--vendor", "azure", "--json").out)} == {
        "azure"
    }
    wrong = run("models", "gpt-5", "--vendor", "anthropic")
    assert (wrong.status, wrong.err) == (
        2,
        "error: NAME: anthropic has no model 'gpt-5'. `compact models --vendor anthropic` lists all.\n",
    )
    unknown = run("models", "--vendor", "nosuch")
    assert unknown.status == 2
    assert "--vendor: no models of 'nosuch' are known. Known vendors: " in unknown.err
    assert "anthropic, " in unknown.err
    assert run("models", "-").err.startswith("error: NAME: this command reads no file")


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
    rows = [line.split() for line in shown.out.splitlines() if line.startswith(("openai-", "anthropic-", "google-"))]
    assert [row[-2:] for row in rows] == [["yes", "yes"]] * 4
    assert "Restored from the plan: equal to the original" in shown.out
    assert "recounted in" in shown.out


def test_demo_compares_with_the_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    request = {"model": "gpt-4o", "messages": CHAT}
    for original, verdict in ((request, "yes"), ({**request, "messages": CHAT[:-1]}, "no")):
        demo._show_formats({"openai-chat": parse(request)}, {"openai-chat": original})
        assert capsys.readouterr().out.splitlines()[-1].split()[3] == verdict


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


def test_no_role_or_name_is_taken_for_markup_or_obeyed(run: Run, chat: Path) -> None:
    hostile = "\x1b]0;owned\x07[/x]:smile:\nvalid"
    shown = run("tokens", "-", stdin=json.dumps([{"role": hostile, "content": "a"}]).encode())
    assert shown.status == 0
    assert "\\x1b]0;owned\\x07[/x]:smile:\\nvalid" in shown.out
    assert "of [/x], assumed" in run("tokens", chat, "--model", "[/x]").out
    assert "[/x] is not in the catalogue" in run("models", "[/x]").out
    missing = run("tokens", hostile)
    assert missing.err.startswith("error: \\x1b]0;owned\\x07[/x]:smile:\\nvalid: cannot be read")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("convert", "chat.json"), "error: Missing option '--to'. See: compact convert --help.\n"),
        (("tokens", "--nosuch", "chat.json"), "error: No such option: --nosuch. See: compact tokens --help.\n"),
        (("tokenz",), "error: No such command 'tokenz'. Did you mean 'tokens'? See: compact --help.\n"),
    ],
)
def test_wrong_usage_is_one_line(run: Run, arguments: tuple[str, ...], says: str) -> None:
    assert (run(*arguments).status, run(*arguments).err) == (2, says)
    failed = run(*arguments, "--json")
    assert failed.status == 2
    assert f"error: {json.loads(failed.out)['error']['message']}\n" == failed.err


def test_no_command_shows_help(run: Run) -> None:
    shown = run()
    assert (shown.status, shown.err) == (2, "")
    assert "Usage: compact" in shown.out


def test_a_fault_of_ours_is_no_verdict(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    faulty = typer.Typer()

    @faulty.command()
    def fail() -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(sys, "argv", ["compact"])
    with pytest.raises(SystemExit, match="70"):
        run_commands(faulty)
    assert "ZeroDivisionError: a fault" in capsys.readouterr().err


def compact(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, whose streams can be what they cannot be in this one."""
    command = [sys.executable, "-m", "compact", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", check=False, **options)


def test_version() -> None:
    assert compact("--version", stdout=subprocess.PIPE).stdout.startswith("compact 0.")


@pytest.mark.parametrize("arguments", [["models", "--json"], ["models", "gpt-5"], ["models", "--help"]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_verdict(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    left = compact(*arguments, stdout=writing)
    os.close(writing)
    assert (left.returncode, left.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["table", "json"])
def test_a_full_disk_is_one_line(chat: Path, more: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        failed = compact("tokens", chat, *more, stdout=full)
    assert (failed.returncode, failed.stderr) == (
        2,
        "error: standard output: cannot be written: No space left on device. Make room, or choose another place.\n",
    )


def test_closed_streams_are_one_line(chat: Path) -> None:
    command = shlex.join([sys.executable, "-m", "compact"])
    lost, nothing = (
        subprocess.run(f"{command} {rest}", shell=True, capture_output=True, text=True, check=False)
        for rest in (f"tokens {chat} >&-", "tokens - <&-")
    )
    assert lost.returncode == nothing.returncode == 2
    assert lost.stderr.startswith("error: standard output: cannot be written: Bad file descriptor")
    assert nothing.stderr.startswith("error: standard input: cannot be read: Bad file descriptor")


def test_a_narrow_encoding_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    messages = [{"role": "\u4e2d", "content": "\u4e2d\U0001f600"}]
    path.write_text(json.dumps(messages))
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "COMPACT_HOME": str(tmp_path)}
    shown, told, written = (
        compact(*arguments, stdout=subprocess.PIPE, env=environment)
        for arguments in (["tokens", path], ["tokens", path, "--json"], ["convert", path, "--to", "openai-chat"])
    )
    assert [each.stderr for each in (shown, told, written)] == ["", "", ""]
    assert "\\u4e2d" in shown.stdout
    assert list(json.loads(told.stdout)["by_role"]) == ["\u4e2d"]
    assert json.loads(written.stdout) == messages


def test_one_is_no_plural(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('[{"role": "user", "content": "hello"}]')
    assert run("check", file).out == "valid openai-chat, 1 message\n"
    assert run("plan", file).out.splitlines()[0].endswith("tokens of gpt-4o in 1 message")
