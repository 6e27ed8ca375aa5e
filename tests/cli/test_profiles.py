"""`compact profiles`, and condensing with them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from compact.policies import Profile, Profiles
from compact.settings.profiles import load_profiles, save_profiles
from compact.settings.spending import load_spending
from compact.testing.vendors import FakeVendors, Fault
from tests.cli.conftest import Run
from tests.llm.refusing import refusing

SECRET = "sk-made-up-0123456789abcdef"
ANSWER = "## Findings\n### Active\n- The work on the counting of tokens goes on [2]\n"


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes((files("compact.cli") / "transcripts" / "session.anthropic-messages.json").read_bytes())
    return path


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def configure(server: FakeVendors, *names: str) -> None:
    url = f"{server.url}/v1"
    save_profiles(
        Profiles(
            profiles=tuple(
                Profile(name=name, vendor="openai", model="gpt-4o-mini", url=url, priority=number, attempts=1)
                for number, name in enumerate(names)
            )
        )
    )


def test_vendors_are_listed_with_their_keys_unseen(run: Run) -> None:
    told = run("profiles")
    assert told.status == 0
    assert "env:OPENAI_API_KEY (set)" in told.out
    assert "ANTHROPIC_API_KEY is not set" in told.out
    assert "when named" in told.out
    assert SECRET not in told.out + told.err


def test_profiles_for_programs(run: Run, server: FakeVendors) -> None:
    configure(server, "one", "two")
    listed = json.loads(run("profiles", "--json").out)
    assert [each["name"] for each in listed[:2]] == ["one", "two"]
    first = listed[0]
    assert (first["source"], first["ready"], first["problems"]) == ("configured", True, [])
    assert (first["input_price"], first["output_price"], first["context_window"]) == (0.15, 0.6, 128_000)
    assert first["key"] == "env:OPENAI_API_KEY (set)"
    assert "check" not in first
    (only,) = json.loads(run("profiles", "anthropic", "--json").out)
    assert (only["source"], only["ready"]) == ("vendor", False)
    assert server.requests == ()


def test_a_check_asks_those_that_are_configured(run: Run, server: FakeVendors) -> None:
    configure(server, "one")
    server.reply("Yes.")
    told = run("profiles", "--check")
    assert told.status == 0
    assert " s" in told.out
    assert len(server.requests) == 1
    server.fail(Fault("server_error"))
    failed = run("profiles", "--check", "--json")
    assert failed.status == 1
    assert json.loads(failed.out)[0]["check"]["answered"] is False
    assert SECRET not in failed.out


def test_a_check_of_nobody_asks_nobody(run: Run) -> None:
    told = run("profiles", "--check")
    assert told.status == 0
    assert "no model was called" in told.out
    keyless = run("profiles", "anthropic", "--check")
    assert keyless.status == 1
    assert "not asked" in keyless.out


def test_an_unknown_profile_is_told(run: Run) -> None:
    told = run("profiles", "nobody")
    assert told.status == 2
    assert "there is no profile 'nobody'. Known: openai" in told.err


def test_a_profile_is_added_changed_and_removed(run: Run) -> None:
    added = run("profiles", "add", "cheap", "--vendor", "openai", "--model", "gpt-4o-mini", "--use", "condensation")
    assert (added.status, added.err) == (0, "")
    assert "Added cheap: gpt-4o-mini of openai." in added.out
    assert "Test it: compact profiles test cheap" in added.out
    changed = run("profiles", "edit", "cheap", "--threshold", "70", "--priority", "2", "--set", "seed=null", "--json")
    facts = json.loads(changed.out)
    assert (facts["name"], facts["threshold"], facts["priority"], facts["use"]) == ("cheap", 70, 2, "condensation")
    (kept,) = load_profiles().profiles
    assert (kept.threshold, kept.seed, kept.model) == (70, None, "gpt-4o-mini")
    assert json.loads(run("profiles", "cheap", "--json").out) == [facts]
    assert json.loads(run("profiles", "show", "cheap", "--json").out) == [facts]
    renamed = run("profiles", "edit", "cheap", "--set", "name=dear")
    assert "Changed dear" in renamed.out
    assert json.loads(run("profiles", "remove", "dear", "--json").out) == {"removed": "dear"}
    assert load_profiles().profiles == ()


def test_commands_at_the_same_time_lose_nothing() -> None:
    code = (
        "import sys\n"
        "from compact.cli import main\n"
        "name = sys.argv[1]\n"
        "sys.stdin.readline()\n"
        "for number in range(5):\n"
        "    sys.argv = ['compact', 'profiles', 'add', f'{name}-{number}', '--vendor', 'openai', '--model', 'm']\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as left:\n"
        "        assert not left.code\n"
    )
    names = ("one", "two", "three")
    command = [sys.executable, "-c", code]
    running = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for name in names
    ]
    for each in running:
        assert each.stdin is not None
        each.stdin.write("begin\n")
        each.stdin.flush()
    for each in running:
        each.communicate(timeout=120)
        assert each.returncode == 0
    found = {profile.name for profile in load_profiles().profiles}
    assert found == {f"{name}-{number}" for name in names for number in range(5)}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["add", "mine", "--vendor", "openai", "--model", "m"], "name: there is a profile 'mine' already. Choose"),
        (["add", "new", "--vendor", "acme", "--model", "m"], "vendor: should be 'openai', 'azure'"),
        (["add", "new", "--vendor", "openai"], "model: is needed"),
        (["add", "new", "--vendor", "compatible", "--model", "m"], "url: is needed for compatible"),
        (["add", "new", "--vendor", "openai", "--model", "m", "--key", SECRET], "key: holds what looks like a key"),
        (["add", "new", "--vendor", "openai", "--model", "m", "--set", "speed=3"], "speed: is no setting"),
        (["add", "offline", "--vendor", "openai", "--model", "m"], "name: 'offline' means that no model is called."),
        (["edit", "mine", "--threshold", "3"], "threshold: must be from 5 to 100"),
        (["edit", "mine", "--set", "name=other"], "name: there is a profile 'other' already"),
        (["edit", "mine"], "mine: nothing to change. Name a setting"),
        (["edit", "nobody", "--priority", "1"], "name: there is no profile 'nobody'. Configured: mine, other."),
        (["remove", "openai"], "name: 'openai' is a vendor's usual model and no profile. Add one: "),
        (["remove", "nobody"], "name: there is no profile 'nobody'. Configured: mine, other."),
        (["test", "nobody"], "there is no profile 'nobody'. Known: mine, other, openai"),
        (["--check", "test", "mine"], "stands before the command. Write options at the end."),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    run: Run, server: FakeVendors, tmp_path: Path, arguments: list[str], told: str
) -> None:
    configure(server, "mine", "other")
    before = (tmp_path / "home" / "profiles.yaml").read_bytes()
    refused = run("profiles", *arguments)
    assert refused.status == 2
    assert told in refused.err
    assert SECRET not in refused.err + refused.out
    assert (tmp_path / "home" / "profiles.yaml").read_bytes() == before


def test_a_test_asks_one_question_and_shows_model_seconds_and_cost(run: Run, server: FakeVendors) -> None:
    configure(server, "mine")
    server.reply("Yes.")
    told = run("profiles", "test", "mine")
    assert told.status == 0
    assert re.fullmatch(r"mine: \S+ answered in \d+\.\d s, \$\S+\.\n", told.out)
    assert len(server.requests) == 1
    facts = json.loads(run("profiles", "test", "mine", "--json").out)
    assert (facts["profile"], facts["answered"], facts["reason"]) == ("mine", True, None)
    assert facts["cost"] > 0
    assert facts["seconds"] > 0
    server.fail(Fault("server_error"))
    failed = run("profiles", "test", "mine")
    assert failed.status == 1
    assert failed.out.startswith("mine: ")
    assert "answered" not in failed.out
    keyless = run("profiles", "test", "anthropic", "--json")
    assert keyless.status == 1
    assert "ANTHROPIC_API_KEY is not set" in json.loads(keyless.out)["reason"]


def test_a_key_follows_no_redirect(run: Run, server: FakeVendors, file: Path) -> None:
    with refusing(307, "", {"location": f"{server.url}/v1/chat/completions"}) as url:
        profile = {"name": "mine", "vendor": "openai", "model": "gpt-4o-mini", "url": url, "attempts": 1}
        save_profiles(Profiles(profiles=(Profile.model_validate(profile),)))
        assert run("profiles", "test", "mine").status == 1
        told = run("condense", file, "--recipe", "native", "--profile", "mine", "--json")
    assert server.requests == ()
    assert SECRET not in told.out + told.err


def test_a_broken_file_is_told_with_its_field(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "profiles.yaml").write_text(f"profiles:\n - {{name: x, vendor: openai, model: m, key: {SECRET}}}\n")
    told = run("profiles")
    assert told.status == 2
    assert "profiles.yaml: profiles.0.key: " in told.err
    assert SECRET not in told.err + told.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("profiles: 5", "profiles.yaml: profiles: should be a list. "),
        ("profiles: [{n}, {n}]".replace("n", "name: a, vendor: openai, model: m"), "yaml: profiles: more than one is "),
    ],
)
def test_mistakes_are_told_once_and_in_plain_words(run: Run, tmp_path: Path, text: str, told: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "profiles.yaml").write_text(text)
    assert told in run("profiles").err


def test_a_wrong_threshold_in_the_file_is_a_warning(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "profiles.yaml").write_text("profiles: [{name: high, vendor: openai, model: gpt-4o, threshold: 500}]")
    told = run("profiles")
    assert told.status == 0
    assert "threshold 500% is outside 5% to 100% and is not used" in " ".join(told.out.split())


def test_a_key_that_no_profile_names_is_not_used(
    run: Run, server: FakeVendors, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.reply(lambda request: ANSWER)
    offline = run("condense", file, "--recipe", "native", "--model", "gpt-4o", "-o", file.with_name("small.json"))
    assert (offline.status, server.requests) == (0, ())
    run("condense", file, "--recipe", "native", "--profile", "openai", "-o", file.with_name("other.json"))
    assert len(server.requests) > 0


def test_a_profile_that_cannot_summarize_is_told(run: Run) -> None:
    save_profiles(Profiles(profiles=(Profile(name="mine", vendor="openai", model="gpt-4o-mini", strategy="bogus"),)))
    assert "mine: strategy: there is no strategy 'bogus'. Known strategies: " in run("profiles").out
    assert json.loads(run("profiles", "mine", "--json").out)[0]["ready"] is False


def test_a_configured_profile_summarizes_and_is_accounted_for(run: Run, server: FakeVendors, file: Path) -> None:
    configure(server, "mine")
    server.reply(lambda request: ANSWER)
    small = file.with_name("small.json")
    told = run("condense", file, "--recipe", "native", "--strategy", "task_state", "-o", small)
    assert told.status == 0
    assert " - Summaries by gpt-4o-mini: $0.0" in told.out
    assert ", estimated $0.0" in told.out
    assert "The work on the counting of tokens goes on" in small.read_text()
    (record,) = load_spending()
    assert (record.way, record.profile, record.actual.questions) == ("native", "mine", 1)
    assert run("check", small).status == 0


def test_where_the_first_profile_fails_the_second_summarizes(run: Run, server: FakeVendors, file: Path) -> None:
    configure(server, "first", "second")
    server.fail(Fault("server_error"))
    server.reply(lambda request: ANSWER)
    told = run("condense", file, "--provider", "native", "-o", file.with_name("small.json"))
    assert told.status == 0
    assert " - Could not be asked: first: " in told.out
    assert "Summaries by gpt-4o-mini" in told.out
    assert [request.status for request in server.requests] == [500, 200]


@pytest.mark.parametrize(
    ("options", "how", "passed", "footer"),
    [
        (
            ["--recipe", "native"],
            "failed",
            "skipped, ",
            "No summary was made; --set on_failure=offline makes one without a model",
        ),
        (
            ["--recipe", "native", "--set", "on_failure=prune"],
            "failed",
            "; no summary: mine",
            "No summary was made; --set on_failure=offline",
        ),
        (
            ["--recipe", "native", "--set", "on_failure=offline"],
            "offline",
            "; summarized without a model: mine",
            "Written offline",
        ),
        (["--preset", "v3"], "failed", " without a summary: mine", "No summary was made; --profile offline makes one"),
    ],
)
def test_a_summary_that_failed_is_told(
    run: Run, server: FakeVendors, file: Path, options: list[str], how: str, passed: str, footer: str
) -> None:
    configure(server, "mine")
    server.close()
    told = run("condense", file, "--profile", "mine", "-t", "30%", *options, "-o", file.with_name("small.json"))
    assert told.status == 0
    assert any(line.startswith(" - Summar") and passed in line for line in told.out.splitlines())
    assert f" - {footer}" in told.out
    assert "--profile names one" not in told.out
    assert json.loads(run("condense", file, "--profile", "mine", *options, "--json").out)["summaries"] == how


@pytest.mark.parametrize("options", [("--target", "20%"), ("--provider", "native")])
def test_offline_names_the_flag_that_asks_a_model(
    run: Run, server: FakeVendors, file: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    command = ("condense", file, *options, "-o", file.with_name("small.json"))
    offline = run(*command).out
    assert " - Written offline: no profile is configured or named" in offline
    assert " - To have a model write it: --profile NAME; `compact profiles` lists them" in offline
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    assert " - To have a model write it: --profile openai (gpt-4o-mini)" in run(*command).out
    assert server.requests == ()
    server.reply(lambda request: ANSWER)
    assert " - Written by gpt-4o-mini" in run(*command, "--profile", "openai").out
    assert server.requests


def test_no_model_is_called_with_offline(run: Run, server: FakeVendors, file: Path) -> None:
    configure(server, "mine")
    told = run("condense", file, "--recipe", "native", "--offline", "-o", file.with_name("small.json"))
    assert " - Written offline: the profile is offline" in told.out
    answer = json.loads(run("condense", file, "--recipe", "native", "--profile", "offline", "--json").out)
    assert (answer["summaries"], answer["spending"], answer["report"]["provider"]) == ("offline", None, "Native")
    assert server.requests == ()
    assert run("condense", file, "--offline", "--profile", "mine").status == 2


def test_the_default_recipe_asks_the_profile_where_it_removes_messages(
    run: Run, server: FakeVendors, file: Path
) -> None:
    configure(server, "mine")
    server.reply(lambda request: ANSWER)
    answer = json.loads(run("condense", file, "-t", "10%", "--strategy", "brief", "--json").out)
    assert (answer["recipe"], answer["summaries"]) == ("auto", "model")
    assert len(server.requests) == answer["spending"]["actual"]["questions"] == 1
    (record,) = load_spending()
    assert (record.way, record.profile) == ("auto", "mine")


def test_a_recipe_without_summaries_calls_no_model(run: Run, server: FakeVendors, file: Path) -> None:
    configure(server, "mine")
    answer = json.loads(run("condense", file, "--recipe", "v2", "--json").out)
    assert answer["summaries"] is None
    assert server.requests == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--profile", "anthropic"], "profile anthropic: ANTHROPIC_API_KEY is not set"),
        (["--profile", "nobody"], "profile: there is no profile 'nobody'"),
        (["--strategy", "nope"], "strategy: there is no strategy 'nope'"),
        (["--preset", "v2", "--profile", "openai"], "--profile: v2 writes no summaries"),
        (["--preset", "v2", "--strategy", "brief"], "--strategy: v2 writes no summaries"),
        (["--preset", "v3", "--strategy", "brief"], "--strategy: v3 writes no summaries by a strategy"),
    ],
)
def test_mistakes_are_told_before_anything_is_asked(run: Run, file: Path, options: list[str], told: str) -> None:
    outcome = run("condense", file, *options)
    assert outcome.status == 2
    assert told in outcome.err
