"""`CompactConfig.load`: from keywords, the environment, a file and the defaults, in this order."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from compact.errors import InvalidConfiguration
from compact.policies import CompactConfig, Policy, StorageSettings
from compact.policies.fields import schema_of, settings_of
from compact.settings.compaction import OTHERS, all_settings, find_file, gather, variables_of

# A value that differs from the default, for every setting there is: a new one must be added here.
SAMPLES: dict[str, Any] = {
    "model": "gpt-5",
    "max_context_tokens": 64_000,
    "variant": "vllm",
    "policy.automatic": False,
    "policy.trigger_pct": 0.9,
    "policy.hard_cap_buffer": 10,
    "policy.target_pct": 0.4,
    "policy.keep_recent_turns": 3,
    "policy.keep_tool_io_pairs": 2,
    "policy.roles_never_prune": ("system", "critic"),
    "policy.strategy": "brief",
    "policy.summary_tokens": 500,
    "policy.on_summary_failure": "block",
    "policy.recipe": "balanced",
    "policy.provider": "native",
    "policy.preset": "v2",
    "storage.adapter": "none",
    "storage.path": "elsewhere",
    "storage.bucket": "a-bucket",
    "storage.prefix": "some/prefix",
    "storage.kms_key": "alias/mine",
    "storage.region": "eu-central-1",
    "storage.endpoint": "http://localhost:9000",
    "originals": "redact",
    "allow_loss": True,
    "redaction.enabled": False,
    "redaction.patterns": ("EMP-[0-9]{2,6}", "badge"),
    "redaction.keys": ("employee_id", "badge"),
    "tracing.console": True,
    "tracing.jsonl": "trace.jsonl",
    "tracing.ariadne": "http://localhost:5175",
    "tracing.otlp": "http://localhost:4318",
    "tracing.agents_sdk": False,
    "profile": "cheap",
    "seal_key": SecretStr("a key of the tests"),
    "recall": True,
    "background": True,
    "max_asks": 1,
    "max_cost": Decimal("0.5"),
    "fallback_max_cost": Decimal("0.2"),
}


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in all_settings():
        for name in variables_of(setting):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def value_of(config: CompactConfig, path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value


def written(value: Any) -> str:
    """As people write it into a variable."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def test_scenario_yaml_configuration_loading() -> None:
    Path("compact.yaml").write_text("model: gpt-4o\npolicy:\n  trigger_pct: 0.8\n  roles_never_prune: [system]\n")
    config = CompactConfig.load()
    assert (config.model, config.policy.trigger_pct) == ("gpt-4o", 0.8)
    assert config.policy.roles_never_prune == ("system",)
    Path("compact.yaml").write_text("model: gpt-4o\npolicy:\n  trigger_pct: 1.5\n")
    with pytest.raises(InvalidConfiguration) as raised:
        CompactConfig.load()
    assert raised.value.field == "policy.trigger_pct"
    assert raised.value.problem == ("must be a share from 0.05 to 1 (5% to 100%), or -1 to inherit; from compact.yaml")


def test_scenario_environment_variable_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("compact.yaml").write_text("model: gpt-4o\npolicy:\n  trigger_pct: 0.85\n")
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "0.9")
    assert CompactConfig.load().policy.trigger_pct == 0.9


def test_scenario_sensible_defaults() -> None:
    policy = CompactConfig.load(model="gpt-4o").policy
    assert (policy.trigger_pct, policy.hard_cap_buffer) == (0.85, 1500)
    assert (policy.keep_recent_turns, policy.keep_tool_io_pairs) == (6, 4)
    assert (policy.roles_never_prune, policy.strategy) == (("system", "developer"), "task_state")


def test_every_setting_has_a_sample_here() -> None:
    assert {setting.path for setting in all_settings()} == SAMPLES.keys()
    config = CompactConfig(model="gpt-4o")
    assert [path for path, sample in SAMPLES.items() if value_of(config, path) == sample] == []


@pytest.mark.parametrize("path", [setting.path for setting in all_settings()])
def test_every_setting_has_a_variable(path: str) -> None:
    (setting,) = (each for each in all_settings() if each.path == path)
    for name in variables_of(setting):
        gathered = gather(environment={"COMPACT_MODEL": "gpt-4o", name: written(SAMPLES[path])})
        assert value_of(gathered.config(), path) == SAMPLES[path]
        (value,) = (each for each in gathered.values if each.setting == setting)
        assert (value.origin.kind, value.origin.name) == ("environment", name)
        assert gathered.warnings == ()


def test_a_secret_is_never_shown_and_belongs_into_no_file() -> None:
    key = "a key of the tests"
    gathered = gather(environment={"COMPACT_MODEL": "gpt-4o", "COMPACT_SEAL_KEY": key})
    (value,) = (each for each in gathered.values if each.setting.secret)
    assert (value.setting.path, value.shown) == ("seal_key", "(set)")
    config = gathered.config()
    assert config.seal_key.get_secret_value() == key
    for shown in (repr(value), repr(gathered), repr(config), config.model_dump_json(), str(config.model_dump())):
        assert key not in shown
    (unset,) = (each for each in gather(environment={}).values if each.setting.secret)
    assert unset.shown == ""
    Path("compact.yaml").write_text(f"model: gpt-4o\nseal_key: {key}\n")
    with pytest.raises(InvalidConfiguration, match="belongs into no file: set COMPACT_SEAL_KEY") as raised:
        CompactConfig.load()
    assert key not in str(raised.value)
    with pytest.raises(InvalidConfiguration, match="at least 16 characters") as raised:
        CompactConfig(model="gpt-4o", seal_key=SecretStr("short"))
    assert "short" not in str(raised.value)


def test_no_two_settings_share_a_variable() -> None:
    names = [name for setting in all_settings() for name in variables_of(setting)]
    assert len(set(names)) == len(names)
    assert not OTHERS & set(names)
    assert "COMPACT_POLICY_TRIGGER_PCT" in names
    assert "COMPACT_TRACING_ARIADNE" in names


LEVELS = ("default", "file", "environment", "keyword")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.dictionaries(st.sampled_from(["keep_recent_turns", "summary_tokens"]), st.sets(st.sampled_from(LEVELS[1:]))))
def test_the_highest_level_that_gives_a_value_holds(given_at: dict[str, set[str]]) -> None:
    worth = {"file": 101, "environment": 102, "keyword": 103}
    in_file = {name: worth["file"] for name, levels in given_at.items() if "file" in levels}
    Path("compact.json").write_text(json.dumps({"model": "gpt-4o", "policy": in_file}))
    variables = {
        f"COMPACT_{name.upper()}": str(worth["environment"])
        for name, levels in given_at.items()
        if "environment" in levels
    }
    keywords = {name: worth["keyword"] for name, levels in given_at.items() if "keyword" in levels}
    gathered = gather(overrides=keywords, environment=variables)
    policy = gathered.config().policy
    for name, levels in given_at.items():
        highest = max(levels, key=LEVELS.index, default="default")
        assert getattr(policy, name) == worth.get(highest, getattr(Policy(), name))
        (value,) = (each for each in gathered.values if each.setting.name == name)
        assert value.origin.kind == highest


def test_keywords_may_be_flat_groups_or_models() -> None:
    assert CompactConfig.load(model="m", trigger_pct=0.7).policy.trigger_pct == 0.7
    assert CompactConfig.load(model="m", policy={"trigger_pct": 0.7}).policy.trigger_pct == 0.7
    config = CompactConfig.load(model="m", policy=Policy(trigger_pct=0.7), storage=StorageSettings(adapter="none"))
    assert config == CompactConfig(model="m", policy=Policy(trigger_pct=0.7), storage=StorageSettings(adapter="none"))


def test_a_group_given_as_a_model_leaves_what_it_does_not_set_to_the_file() -> None:
    Path("compact.yaml").write_text("policy: {keep_recent_turns: 9}\n")
    policy = CompactConfig.load(model="m", policy=Policy(trigger_pct=0.7)).policy
    assert (policy.trigger_pct, policy.keep_recent_turns) == (0.7, 9)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("EMP-[0-9]{1,6}", ["EMP-[0-9]{1,6}"]),
        ("EMP-[0-9]{1,6}, badge [a,b] ,(c,d)", ["EMP-[0-9]{1,6}", "badge [a,b]", "(c,d)"]),
        ('["a, b", "c"]', ["a, b", "c"]),
        ("", []),
    ],
)
def test_lists_in_variables(text: str, patterns: list[str]) -> None:
    gathered = gather(environment={"COMPACT_MODEL": "m", "COMPACT_REDACTION_PATTERNS": text})
    assert gathered.config().redaction.patterns == tuple(patterns)


def test_a_list_that_is_no_json_is_told() -> None:
    gathered = gather(environment={"COMPACT_MODEL": "m", "COMPACT_REDACTION_KEYS": "[broken"})
    assert [str(problem) for problem in gathered.problems()] == [
        "redaction.keys: must be a JSON list, or texts with commas between them; from COMPACT_REDACTION_KEYS"
    ]
    nested = gather(environment={"COMPACT_MODEL": "m", "COMPACT_REDACTION_KEYS": "[[1]]"})
    assert [str(problem) for problem in nested.problems()] == [
        "redaction.keys.0: must be a list of texts; from COMPACT_REDACTION_KEYS"
    ]


def test_an_empty_variable_empties_what_is_empty_by_default_and_is_not_set_elsewhere() -> None:
    Path("compact.yaml").write_text(
        "model: m\nmax_context_tokens: 5000\npolicy: {trigger_pct: 0.7}\ntracing: {ariadne: there, console: true}\n"
    )
    names = ("MODEL", "MAX_CONTEXT_TOKENS", "TRIGGER_PCT", "TRACING_ARIADNE", "TRACING_CONSOLE", "STORAGE_PATH")
    config = gather(environment={f"COMPACT_{name}": "" for name in names}).config()
    assert (config.model, config.policy.trigger_pct, config.storage.path) == ("m", 0.7, ".compact")
    assert config.tracing.console
    assert (config.max_context_tokens, config.tracing.ariadne) == (None, "")


def test_two_names_of_a_setting_must_agree() -> None:
    both = {"COMPACT_MODEL": "m", "COMPACT_TRIGGER_PCT": "0.7", "COMPACT_POLICY_TRIGGER_PCT": "0.7"}
    assert gather(environment=both).config().policy.trigger_pct == 0.7
    (problem,) = gather(environment=both | {"COMPACT_TRIGGER_PCT": "0.8"}).problems()
    assert problem.path == "policy.trigger_pct"
    assert problem.text == "COMPACT_TRIGGER_PCT and COMPACT_POLICY_TRIGGER_PCT both are set, and differ"


def test_all_problems_are_told_with_their_origins() -> None:
    Path("compact.yaml").write_text(
        "model: m\ntrigger_pct: 0.9\npolicy: {triger_pct: 0.9, target_pct: 0.95}\nstorage: here\nnothing_like_it: 1\n"
    )
    gathered = gather(environment={"COMPACT_STORAGE_ADAPTER": "ftp"}, overrides={"background": "perhaps"})
    rising = "target_pct (0.95) must lie below trigger_pct (0.85), or every request would compact again"
    assert [str(problem) for problem in gathered.problems()] == [
        "trigger_pct: is no setting, policy.trigger_pct is; from compact.yaml",
        "policy.triger_pct: is no setting, policy.trigger_pct is; from compact.yaml",
        "storage: must be an object with settings; from compact.yaml",
        "nothing_like_it: is no setting; from compact.yaml",
        f"policy: {rising}; from compact.yaml",
        "storage.adapter: must be fs, s3 or none; from COMPACT_STORAGE_ADAPTER",
        "background: must be true or false or null; from the keyword background",
    ]
    with pytest.raises(InvalidConfiguration) as raised:
        gathered.config()
    assert raised.value.field == "trigger_pct"
    assert ". Also storage.adapter: must be fs, s3 or none; from COMPACT_STORAGE_ADAPTER" in str(raised.value)


def test_a_problem_of_several_settings_names_where_each_was_given() -> None:
    gathered = gather(overrides={"model": "m", "originals": "none"}, environment={"COMPACT_ALLOW_LOSS": "false"})
    (problem,) = gathered.problems()
    assert problem.path == ""
    assert str(problem).endswith("; from the keyword originals and COMPACT_ALLOW_LOSS")


def test_without_a_model_the_error_says_where_to_name_it() -> None:
    with pytest.raises(InvalidConfiguration, match=r"model: is needed\. Name the model in compact.yaml"):
        CompactConfig.load()
    assert gather(environment={}).lacks_model
    assert gather(environment={}).problems() == ()


def test_a_variable_that_is_no_setting_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = {"COMPACT_TRIGER_PCT": "0.9", "COMPACT_HOME": "h", "COMPACT_API_KEY": "k", "COMPACT_ZZZ": "", "PATH": "p"}
    assert gather(environment=strange).warnings == (
        "COMPACT_TRIGER_PCT is no setting, COMPACT_TRIGGER_PCT is",
        "COMPACT_ZZZ is no setting",
    )
    monkeypatch.setenv("COMPACT_ZZZ", "1")
    assert CompactConfig.load(model="m").model == "m"


def test_files_are_found_by_their_names_and_one_at_a_time(workplace: Path) -> None:
    assert find_file() is None
    for name in ("compact.json", "compact.yml", "compact.yaml"):
        path = workplace / name
        path.write_text('{"$schema": "compact.schema.json", "model": "m", "profile": "%s"}' % name)  # noqa: UP031
        assert CompactConfig.load().profile == name
        path.unlink()
    (workplace / "compact.yaml").touch()
    assert CompactConfig.load(model="m") == CompactConfig(model="m")
    (workplace / "compact.json").write_text("{}")
    with pytest.raises(InvalidConfiguration, match=r"compact.yaml and compact.json both exist"):
        CompactConfig.load(model="m")
    assert CompactConfig.load(workplace / "compact.json", model="m").model == "m"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- model\n", "must be an object with settings"),
        ("model: &a [*a]\n", "holds an alias"),
        ("model: !!python/object/apply:os.getcwd []\n", "tag or a key that is not allowed"),
        ("model: {\n", "is not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(text: str, told: str) -> None:
    Path("mine.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration, match=told) as raised:
        CompactConfig.load("mine.yaml")
    assert raised.value.field == "mine.yaml"
    with pytest.raises(InvalidConfiguration, match="cannot be read"):
        CompactConfig.load("missing.yaml")


def test_headings_without_settings_are_no_mistake() -> None:
    Path("compact.yaml").write_text("model: m\npolicy:\n  # trigger_pct: 0.9\nstorage:\n")
    assert CompactConfig.load() == CompactConfig(model="m")


def test_the_schema_describes_every_setting_and_requires_none() -> None:
    schema = schema_of(CompactConfig)
    assert "required" not in schema
    assert schema["additionalProperties"] is False
    assert {"$schema", *CompactConfig.model_fields} - {"seal_key"} == schema["properties"].keys()  # no secret in files
    assert schema["$defs"]["Policy"]["properties"]["trigger_pct"]["anyOf"][0]["maximum"] == 1
    assert [setting.path for setting in settings_of(CompactConfig) if not setting.meaning] == []


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "mine.yaml",
            "model: gpt-4o\npolicy:\n  preset: v2\n  preset: v3\n",
            "mine.yaml: has 'preset' twice at line 4",
        ),
        ("mine.json", '{"model": "gpt-4o", "model": "gpt-5"}', "mine.json: has 'model' twice"),
    ],
)
def test_a_setting_that_is_given_twice_is_refused(name: str, text: str, told: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(InvalidConfiguration, match=f"^{told}"):
        CompactConfig.load(name)


@pytest.mark.parametrize("model", ["", "  "])
def test_a_model_has_a_name(model: str) -> None:
    with pytest.raises(InvalidConfiguration, match=r"^model: must name a model"):
        CompactConfig(model=model)


def test_what_has_precedence_under_one_name_of_the_recipe_has_it_over_the_others(tmp_path: Path) -> None:
    file = tmp_path / "compact.yaml"
    file.write_text("model: m\npolicy: {preset: v2}\n")
    environment = {"COMPACT_RECIPE": "balanced"}
    assert gather(file, environment={}).config().policy.chosen == "v2"
    assert gather(file, environment=environment).config().policy.chosen == "balanced"
    named = gather(file, environment=environment, overrides={"provider": "native"}).config().policy
    assert (named.chosen, named.recipe, named.preset) == ("native", "", "")
    with pytest.raises(InvalidConfiguration, match="names for one thing"):
        gather(overrides={"model": "m", "provider": "native", "preset": "v2"}, environment={}).config()
