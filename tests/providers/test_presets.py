from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import configure
from compact.providers.presets import Preset, dump_presets, find_preset, presets, validate
from compact.providers.registry import provider
from compact.providers.smart.settings import SmartSettings
from compact.providers.truncation.settings import TruncationSettings
from compact.settings.documents import LARGEST
from compact.settings.presets import load_presets
from compact.testing.providers import check_provider

NAMES = [preset.name for preset in presets()]
MINE = Preset("mine", "Größer ist besser.", "truncation", {"mode": "mechanical", "preserve_recent": 9})


def written(folder: Path, entry: Json, name: str = "mine") -> Path:
    path = folder / "presets.json"
    path.write_text(json.dumps({"presets": {name: entry}}), encoding="utf-8")
    return path


def test_the_built_in_presets() -> None:
    assert NAMES == ["speed", "quality", "cost", "balanced", "v1", "v2", "v3"]
    assert all(preset.description for preset in presets())


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_is_valid_and_keeps_the_laws(name: str) -> None:
    preset = find_preset(name)
    check_provider(provider(preset.provider), validate(preset), rounds=2)


@pytest.mark.parametrize("name", ["speed", "v1", "v2"])
def test_presets_that_promise_so_ask_no_model(name: str) -> None:
    assert not provider(find_preset(name).provider).capabilities.summarizes


def test_v1_and_v2_are_the_seeds_defaults() -> None:
    v1, v2 = validate(find_preset("v1")), validate(find_preset("v2"))
    assert isinstance(v1, TruncationSettings)
    assert isinstance(v2, TruncationSettings)
    assert (v1.mode, v1.preserve_recent, v1.max_result_lines, v1.max_parameter_chars) == ("mechanical", 5, 5, 100)
    assert (v2.mode, v2.preserve_recent, v2.target_reduction, v2.priority) == ("targeted", 5, 0.5, "size")
    assert (v2.result_threshold, v2.parameter_threshold) == (500, 100)
    assert v1.markers == v2.markers == "s3"


def test_v3_summarizes_what_v2_would_cut() -> None:
    v3 = validate(find_preset("v3"))
    assert isinstance(v3, SmartSettings)
    (only,) = v3.passes
    assert (only.selection.type, only.selection.result_threshold, v3.max_parallel) == ("oversized", 500, 5)
    results = only.individual.defaults.tool_results
    assert (results.operation, results.max_tokens, only.individual.markers) == ("summarize", 100, "s3")
    parameters = only.individual.defaults.tool_parameters
    assert (parameters.operation, parameters.max_tokens, parameters.max_chars) == ("summarize", 100, 100)
    assert only.selection.parameter_threshold == 100
    assert not v3.lossless_prelude.enabled


@pytest.mark.parametrize("name", ["quality", "cost", "balanced"])
def test_the_smart_presets_begin_without_loss_and_leave_what_was_said(name: str) -> None:
    settings = validate(find_preset(name))
    assert isinstance(settings, SmartSettings)
    assert settings.lossless_prelude.enabled
    single = [each.individual.defaults for each in settings.passes if each.mode == "individual"]
    assert {defaults.message_text.operation for defaults in single} == {"keep"}
    batches = [each for each in settings.passes if each.mode == "batch"]
    assert [each.execution.type for each in batches] == ([] if name == "quality" else ["conditional"])


def _without_markers(settings: SmartSettings) -> list[dict[str, object]]:
    passes = [each.model_dump() for each in settings.passes]
    for each in passes:
        del each["individual"]["markers"]
    return passes


def test_smart_without_settings_is_balanced() -> None:
    balanced = validate(find_preset("balanced"))
    assert isinstance(balanced, SmartSettings)
    usual = configure(SmartSettings, {})
    plain = {each.individual.markers for each in usual.passes}
    named = {each.individual.markers for each in balanced.passes if each.mode == "individual"}
    assert (plain, named) == ({"plain"}, {"s0"})
    assert _without_markers(usual) == _without_markers(balanced)
    assert configure(SmartSettings, {"passes": []}).passes == ()


def test_the_schema_tells_the_usual_passes() -> None:
    told = SmartSettings.model_json_schema()["properties"]["passes"]["default"]
    assert configure(SmartSettings, {"passes": told}) == configure(SmartSettings, {})
    assert [each["id"] for each in told] == ["truncate-results", "truncate-more", "summarize"]


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidConfiguration, match=r"preset: 'fast' is unknown\. Known presets: mine, speed, quality"):
        find_preset("fast", [MINE])
    assert find_preset("mine", [MINE]) is MINE


def test_presets_survive_a_trip_through_json(tmp_path: Path) -> None:
    path = tmp_path / "mine.JSON"
    path.write_text(dump_presets([MINE]), encoding="utf-8")
    assert load_presets(path) == (MINE,)


def test_presets_survive_a_trip_through_yaml(tmp_path: Path) -> None:
    others = [Preset(f"my {preset.name}", preset.description, preset.provider, preset.settings) for preset in presets()]
    path = tmp_path / "mine.yml"
    path.write_text(dump_presets([MINE, *others], "yaml"), encoding="utf-8")
    assert load_presets(path) == (MINE, *others)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("presets: {a: !!python/object/apply:os.getcwd []}", "a tag or a key that is not allowed at line 1"),
        ("a: &a [x, x]\npresets: {b: *a}", "holds an alias, which is not allowed at line 2"),
        ("presets: {a: {", "is not valid YAML"),
        ("presets: 2026-99-99", "is not valid YAML"),
        ("presets: {a: 1, a: 2}", "has 'a' twice"),
        ("[" * 500_000, "is nested too deeply"),
    ],
)
def test_yaml_is_read_safely(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(InvalidConfiguration, match=problem):
        load_presets(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is nested too deeply"),
        ("[]", "must be an object of presets"),
        ('{"presets": {}, "more": 1}', "stand alone"),
        (" " * (LARGEST + 1), "more than 1,000,000 bytes"),
    ],
)
def test_what_is_no_list_of_presets_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "presets.json"
    path.write_text(text)
    with pytest.raises(InvalidConfiguration, match=problem):
        load_presets(path)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "presets.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(InvalidConfiguration, match="is not UTF-8 text"):
        load_presets(path)
    with pytest.raises(InvalidConfiguration, match=r"\.json, \.yaml or \.yml"):
        load_presets(tmp_path / "presets.toml")


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("smart", "presets.mine"),
        ({"provider": 3}, "presets.mine.provider"),
        ({"provider": "smart", "settings": []}, "presets.mine.settings"),
        ({"provider": "smart", "description": 1}, "presets.mine.description"),
        ({"provider": "smart", "config": {}}, "presets.mine.config"),
        ({"provider": "magic"}, "provider"),
        ({"provider": "truncation", "settings": {"mode": "wild"}}, "presets.mine.settings.mode"),
        ({"provider": "truncation", "settings": {"preserve_recent": -1}}, "presets.mine.settings.preserve_recent"),
    ],
)
def test_a_wrong_preset_is_refused_by_its_field(tmp_path: Path, entry: Json, field: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        load_presets(written(tmp_path, entry))
    assert caught.value.field == field
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["", " ", "x" * 65, "v2"])
def test_a_preset_needs_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidConfiguration, match="name"):
        load_presets(written(tmp_path, {"provider": "smart"}, name))
