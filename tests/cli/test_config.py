"""`compact config`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.app.presets import keep_presets
from compact.cli.config import commands
from compact.policies import CompactConfig
from compact.providers import Preset
from compact.settings.compaction import all_settings, variables_of
from compact.settings.profiles import load_profiles, load_prompt, profiles_path
from scripts.document_config import PAGE, SCHEMA, document, schema
from tests.cli.conftest import Run

OLD = {
    "autoCondenseContext": True,
    "autoCondenseContextPercent": 75,
    "profileThresholds": {"cheap": 60, "own": -1, "dear": "most"},
    "customCondensingPrompt": "Write for a lawyer.",
}


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in all_settings():
        for name in variables_of(setting):
            monkeypatch.delenv(name, raising=False)
    for name in ("COMPACT_SOAK", "COMPACT_TRANSCRIPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(out: str) -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for line in out.splitlines() if (cells := line.split())}


def test_what_holds_is_shown_with_where_it_comes_from(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("compact.yaml").write_text("model: gpt-4o\npolicy: {trigger_pct: 0.85, keep_recent_turns: 8}\n")
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "0.9")
    monkeypatch.setenv("COMPACT_TRIGER_PCT", "0.7")
    told = run("config", "show")
    assert (told.status, told.err) == (0, "")
    rows = rows_of(told.out)
    assert rows["policy.trigger_pct"] == ["0.9", "COMPACT_TRIGGER_PCT"]
    assert rows["policy.keep_recent_turns"] == ["8", "compact.yaml"]
    assert rows["policy.keep_tool_io_pairs"] == ["4", "default"]
    assert [setting.path for setting in all_settings() if setting.path not in rows] == []
    assert "warning: COMPACT_TRIGER_PCT is no setting, COMPACT_TRIGGER_PCT is" in told.out


def test_the_threshold_in_force_is_shown_with_where_it_was_set(run: Run, tmp_path: Path) -> None:
    def shown() -> tuple[str, object]:
        facts = json.loads(run("config", "show", "--json").out)["threshold"]
        return run("config", "show").out, facts

    Path("compact.yaml").write_text("model: gpt-4o\n")
    out, facts = shown()
    assert "In force: compacts at 0.85 of the window, down to 0.5; from default." in out
    assert facts == {"trigger_pct": 0.85, "target_pct": 0.5, "source": "default", "name": ""}
    Path("compact.yaml").write_text("model: gpt-4o\npolicy: {trigger_pct: 0.4}\n")
    out, facts = shown()
    assert "In force: compacts at 0.4 of the window, down to 0.235; from global." in out
    assert rows_of(out)["policy.target_pct"] == ["0.235", "default"]
    profiles = "profiles: [{name: work, vendor: openai, model: gpt-4o, threshold: %s}]"
    profiles_path().parent.mkdir(parents=True, exist_ok=True)
    try:
        profiles_path().write_text(profiles % 30)
        out, facts = shown()
        assert "In force: compacts at 0.3 of the window, down to 0.176; from profile work." in out
        assert facts == {"trigger_pct": 0.3, "target_pct": 0.176, "source": "profile", "name": "work"}
        profiles_path().write_text(profiles % 500)
        out, facts = shown()
        assert "compacts at 0.4 of the window" in out
        assert "warning: profile work: threshold 500% is outside 5% to 100% and is not used" in " ".join(out.split())
        assert run("profiles").status == 0
    finally:
        profiles_path().unlink()


def test_what_holds_for_programs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.json").write_text('{"model": "gpt-4o", "redaction": {"patterns": ["EMP-[0-9]{6}"]}}')
    monkeypatch.setenv("COMPACT_STORAGE_ADAPTER", "none")
    told = json.loads(run("config", "show", "--path", "other.json", "--json").out)
    assert (told["file"], told["problems"], told["warnings"]) == ("other.json", [], [])
    settings = {each["field"]: each for each in told["settings"]}
    assert settings["redaction.patterns"] == {
        "field": "redaction.patterns",
        "value": ["EMP-[0-9]{6}"],
        "default": [],
        "source": "file",
        "from": "other.json",
        "variables": ["COMPACT_REDACTION_PATTERNS"],
        "meaning": "Regular expressions of your own, beside the built-in ones.",
    }
    adapter = settings["storage.adapter"]
    assert (adapter["value"], adapter["source"], adapter["from"]) == ("none", "environment", "COMPACT_STORAGE_ADAPTER")
    assert (settings["background"]["source"], settings["background"]["from"]) == ("default", None)


def test_without_a_model_the_rest_is_shown(run: Run) -> None:
    told = run("config", "show")
    assert told.status == 0
    assert rows_of(told.out)["model"] == ["needed", "default"]
    assert "No model is named" in told.out


def test_problems_are_shown_with_status_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "9")
    told = run("config", "show")
    assert told.status == 1
    problem = "must be a share from 0.05 to 1 (5% to 100%), or -1 to inherit; 9% is 0.09"
    assert f"wrong: policy.trigger_pct: {problem}; from COMPACT_TRIGGER_PCT" in told.out
    answer = json.loads(run("config", "show", "--json").out)
    assert answer["problems"] == [
        {
            "field": "policy.trigger_pct",
            "problem": problem,
            "from": ["COMPACT_TRIGGER_PCT"],
        }
    ]


def test_no_problem_hides_another(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("compact.yaml").write_text("policy: {preset: zzz, target_pct: 0.9}\nprofile: zzz\noriginals: none\nzzz: 1\n")
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "abc")
    told = json.loads(run("config", "show", "--json").out)
    fields = [problem["field"] for problem in told["problems"]]
    assert fields == ["zzz", "max_context_tokens", "policy", "", "policy.preset", "profile"]


def test_a_wrong_value_is_one_problem(run: Run) -> None:
    Path("mine.yaml").write_text("policy: {target_pct: abc, trigger_pct: 0.3}\n")
    told = json.loads(run("config", "check", "mine.yaml", "--json").out)
    assert [problem["field"] for problem in told["problems"]] == ["policy.target_pct"]


def test_a_secret_is_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_SEAL_KEY", "a key of the tests")
    told = run("config", "show")
    assert rows_of(told.out)["seal_key"] == ["(set)", "COMPACT_SEAL_KEY"]
    assert "a key of the tests" not in told.out + run("config", "show", "--json").out
    Path("mine.yaml").write_text("model: gpt-4o\nseal_key: a key of the tests\n")
    refused = run("config", "check", "mine.yaml")
    assert refused.status == 1
    assert refused.out.startswith("seal_key: ")
    assert "set COMPACT_SEAL_KEY" in refused.out
    assert "a key of the tests" not in refused.out + refused.err


def test_a_password_in_an_address_is_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "ftp"):
        monkeypatch.setenv("COMPACT_TRACING_ARIADNE", f"{scheme}://me:pw@localhost:5175")
        for options in ([], ["--json"]):
            told = run("config", "show", *options)
            assert f"{scheme}://<REDACTED>@localhost:5175" in told.out
            assert "me:pw" not in told.out + told.err


def test_a_valid_file_is_checked_without_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "9")
    Path("mine.yaml").write_text("policy: {strategy: brief}\n")
    told = run("config", "check", "mine.yaml")
    assert (told.status, told.out) == (0, "mine.yaml is valid; the model must be named elsewhere.\n")
    answer = json.loads(run("config", "check", "mine.yaml", "--json").out)
    assert answer == {"file": "mine.yaml", "valid": True, "problems": []}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("policy: {strategy: nope}", "policy.strategy: there is no strategy 'nope' (Known strategies: task_state, "),
        ("policy: {provider: nope}", "policy.provider: 'nope' is unknown (Known providers: auto, layers, "),
        ("policy: {recipe: nope}", "policy.recipe: 'nope' is unknown (Known recipes: auto, "),
        ("policy: {recipe: v2, strategy: brief}", "policy.strategy: has no place in Truncation, which was chosen"),
        ("policy: {preset: nope}", "policy.preset: 'nope' is unknown (Known presets: speed, "),
        ("profile: nope", "profile: there is no profile 'nope' (Known: openai, "),
        ("redaction: {patterns: ['(a)(?=b)']}", "redaction.patterns: "),
        ("storage: {adapter: s3}", "storage: adapter s3 needs a bucket; from mine.yaml"),
        ("tracing: {ariadne: not a url}", "tracing.ariadne: 'not a url' is no address"),
        ("tracing: {otlp: zzz}", "tracing.otlp: 'zzz' is no address"),
    ],
)
def test_what_a_manager_would_refuse_is_found(run: Run, text: str, problem: str) -> None:
    Path("mine.yaml").write_text(f"model: gpt-4o\n{text}\n")
    told = run("config", "check", "mine.yaml")
    assert told.status == 1
    assert told.out.startswith(problem)
    assert "; from mine.yaml" in told.out
    assert json.loads(run("config", "check", "mine.yaml", "--json").out)["valid"] is False


def test_a_file_that_cannot_be_read_is_told(run: Run) -> None:
    told = run("config", "check", "missing.yaml")
    assert told.status == 2
    assert "missing.yaml: cannot be read" in told.err


def test_a_new_file_holds_every_default_and_is_never_overwritten(run: Run) -> None:
    told = run("config", "init", "--model", "gpt-5")
    assert (told.status, told.err) == (0, "wrote compact.yaml\n")
    assert CompactConfig.load() == CompactConfig(model="gpt-5")
    text = Path("compact.yaml").read_text()
    assert [setting.path for setting in all_settings() if f"# {setting.meaning}\n" not in text] == ["seal_key"]
    again = run("config", "init")
    assert again.status == 2
    assert "compact.yaml: exists, and is not overwritten" in again.err
    assert Path("compact.yaml").read_text() == text
    assert run("config", "check", "compact.yaml").status == 0


def test_a_second_configuration_is_not_put_beside_the_first(run: Run) -> None:
    Path("compact.json").write_text("{}")
    told = run("config", "init")
    assert told.status == 2
    assert "compact.json: exists" in told.err
    assert not Path("compact.yaml").exists()
    assert run("config", "init", "production.yaml").status == 0
    assert "production.yaml: exists" in run("config", "init", "production.yaml").err
    refused = run("config", "init", "new.json")
    assert "must end in .yaml or .yml" in refused.err
    assert "cannot be written" in run("config", "init", "no/such/folder.yaml").err


def test_the_schema_is_printed_or_written(run: Run) -> None:
    told = run("config", "schema")
    assert told.out == schema()
    assert run("config", "schema", "--output", "compact.schema.json").status == 0
    assert Path("compact.schema.json").read_text(encoding="utf-8") == schema()
    Path("compact.schema.json").write_text("an earlier version's")
    assert run("config", "schema", "--output", "compact.schema.json").status == 0
    assert Path("compact.schema.json").read_text(encoding="utf-8") == schema()


def test_older_settings_become_a_file_with_remarks(run: Run) -> None:
    Path("old.json").write_text(json.dumps(OLD))
    told = run("config", "migrate", "old.json", "--model", "gpt-5", "-o", "compact.yaml", "--prompt", "lawyer")
    assert told.status == 0
    assert CompactConfig.load() == CompactConfig.model_validate({"model": "gpt-5", "policy": {"trigger_pct": 0.75}})
    remarks = Path("compact.yaml").read_text()
    assert "# profileThresholds: write `threshold: 60` below profile cheap" in remarks
    assert "# profileThresholds: 'most' of dear is no percentage" in remarks
    assert "below profile dear" not in remarks
    assert "below profile own" not in remarks
    assert load_prompt("lawyer") == "Write for a lawyer."
    again = run("config", "migrate", "old.json", "-o", "compact.yaml")
    assert again.status == 2
    assert "compact.yaml: exists, and is not overwritten" in again.err
    assert "lawyer.md: exists" in run("config", "migrate", "old.json", "--prompt", "lawyer").err


def test_older_settings_are_kept_with_their_values(run: Run) -> None:
    configs = {"cheap": {"id": "a1", "apiProvider": "openai-native", "apiModelId": "gpt-4o-mini"}}
    old = {**OLD, "version": "v2", "v2": {"toolResultThreshold": 900}, "profileThresholds": {"a1": 60}}
    Path("old.json").write_text(json.dumps({"providerProfiles": {"apiConfigs": configs}, "globalSettings": old}))
    told = run(
        "config", "migrate", "old.json", "--model", "gpt-5", "--apply", "--prompt", "lawyer", "-o", "compact.yaml"
    )
    assert (told.status, CompactConfig.load().policy.preset) == (0, "migrated-v2")
    assert "# " not in Path("compact.yaml").read_text()  # nothing is left to do by hand
    assert load_profiles().profiles[0].threshold == 60
    assert load_profiles().profiles[0].prompt == "file:lawyer"
    assert load_prompt("lawyer") == "Write for a lawyer."
    again = run("config", "migrate", "old.json", "--apply")
    assert (again.status, "profile cheap: exists, and is not replaced" in again.err) == (2, True)


@pytest.mark.parametrize("options", [[], ["--apply"]])
def test_what_has_no_counterpart_is_a_comment_of_the_new_file(run: Run, options: list[str]) -> None:
    configs = {"odd": {"id": "a1", "apiProvider": "human-relay"}}
    old = {"version": "v2", "v2": {"toolResultThreshold": 900, "dropPictures": True}}
    given = json.dumps({"providerProfiles": {"apiConfigs": configs}, "globalSettings": old})
    Path("old.json").write_text(given)
    assert run("config", "migrate", "old.json", "-o", "compact.yaml", *options).status == 0
    remarks = Path("compact.yaml").read_text().split("\n")
    assert any(line.startswith("# v2.dropPictures: ") and line.endswith("has no counterpart") for line in remarks)
    assert any(line.startswith("# apiConfigs") and "left out" in line and "odd" in line for line in remarks)
    assert Path("old.json").read_text() == given
    again = run("config", "migrate", "old.json", "-o", "old.json", *options)
    assert (again.status, "old.json: exists, and is not overwritten" in again.err) == (2, True)
    assert Path("old.json").read_text() == given


def test_migrated_settings_are_printed(run: Run) -> None:
    Path("old.yaml").write_text("version: v3\n")
    assert run("config", "migrate", "old.yaml").out == "policy:\n  preset: v3\n"
    answer = json.loads(run("config", "migrate", "old.yaml", "--json").out)
    assert answer == {"config": {"policy": {"preset": "v3"}}, "thresholds": {}, "prompt": "", "remarks": []}
    Path("old.json").write_text(json.dumps(OLD))
    told = run("config", "migrate", "old.json", "-o", "new.json")
    assert "profileThresholds: write" in told.out
    assert json.loads(Path("new.json").read_text()) == {"policy": {"trigger_pct": 0.75}}
    assert "there is no custom prompt" in run("config", "migrate", "old.yaml", "--prompt", "x").err


@pytest.mark.parametrize("text", ["[]", '{"theme": "dark"}'])
def test_a_file_without_older_settings_is_told(run: Run, text: str) -> None:
    Path("old.json").write_text(text)
    told = run("config", "migrate", "old.json")
    assert told.status == 2
    assert "old.json: " in told.err


def test_the_reference_and_the_schema_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run: python -m scripts.document_config"
    assert SCHEMA.read_text(encoding="utf-8") == schema(), "run: python -m scripts.document_config"


def test_every_command_of_the_group_is_documented() -> None:
    page = (PAGE.parent / "command-line.md").read_text(encoding="utf-8")
    names = [command.name for command in commands.registered_commands]
    assert names == ["show", "schema", "check", "init", "migrate"]
    assert [name for name in names if f"compact config {name}" not in page] == []


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("profile: nobody", "profile: there is no profile 'nobody' (Known: "),
        ("policy: {recipe: balanse}", "policy.recipe: 'balanse' is "),
        ("policy: {provider: smartest}", "policy.provider: 'smartest' is unknown (Known providers: auto, "),
        ("policy: {preset: balanse}", "policy.preset: "),
        ("policy: {strategy: task_stat}", "policy.strategy: "),
        (
            "policy: {preset: mine}",
            "policy.preset: a pass of mine names 'nobody', and there is no such profile (Known: ",
        ),
        (
            "policy: {recipe: mine}",
            "policy.recipe: a pass of mine names 'nobody', and there is no such profile (Known: ",
        ),
    ],
)
def test_names_of_what_is_not_there_are_problems(run: Run, document: str, told: str) -> None:
    passes = [{"id": "sum", "mode": "batch", "batch": {"profile": "nobody"}}]
    keep_presets([Preset("mine", "Passes of my own.", "smart", {"passes": passes})])
    Path("compact.yaml").write_text(f"model: gpt-4o\n{document}\n")
    checked = run("config", "check", "compact.yaml")
    assert checked.status == 1
    assert told in checked.out
    assert "(" in checked.out
    assert run("config", "show").status == 1
