"""Older settings with their values: presets, profiles and prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compact.app.configuring import further_problems
from compact.app.migrated_settings import name_migrated, read_migrated, save_migrated
from compact.app.recipes import resolve_recipe
from compact.app.thresholds import threshold_for
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import CompactConfig
from compact.policies.migration import migrate
from compact.settings.profiles import load_profiles, load_prompt

ROO: dict[str, Json] = {
    "providerProfiles": {
        "apiConfigs": {
            "cheap": {"id": "a1", "apiProvider": "openai-native", "apiModelId": "gpt-4o-mini", "apiKey": "sk-123"},
            "dear": {"id": "b2", "apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5", "openAiBaseUrl": "x"},
            "mine": {
                "id": "c3",
                "apiProvider": "openai",
                "openAiModelId": "qwen",
                "openAiBaseUrl": "http://localhost:1/v1",
            },
            "odd": {"id": "d4", "apiProvider": "human-relay"},
        }
    },
    "globalSettings": {
        "autoCondenseContext": True,
        "autoCondenseContextPercent": 75,
        "profileThresholds": {"a1": 60, "b2": -1, "z9": 70},
        "condensingApiConfigId": "a1",
        "customCondensingPrompt": "Write for a lawyer.",
    },
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    return tmp_path


def settings_of(old: dict[str, Json]) -> Any:
    """The settings of the recipe that the migrated configuration names."""
    migration = migrate(old)
    given = read_migrated(migration)
    save_migrated(given)
    return resolve_recipe(preset=name_migrated(migration, given).config["policy"]["preset"]).settings


def test_profiles_have_their_thresholds_and_the_prompt_and_no_key() -> None:
    migration = migrate(ROO)
    given = read_migrated(migration)
    save_migrated(given)
    cheap, dear, mine = load_profiles().profiles
    assert (cheap.vendor, cheap.model, cheap.threshold) == ("openai", "gpt-4o-mini", 60)
    assert (cheap.use, cheap.prompt, cheap.key) == ("both", "file:condensing", "")
    assert (dear.vendor, dear.model, dear.threshold, dear.use) == ("anthropic", "claude-sonnet-4-5", -1, "conversation")
    assert (mine.vendor, mine.model, mine.url) == ("compatible", "qwen", "http://localhost:1/v1")
    assert load_prompt("condensing") == "Write for a lawyer."
    after = name_migrated(migration, given)
    assert after.config == {"profile": "cheap", "policy": {"trigger_pct": 0.75}}
    assert after.remarks == (
        "profileThresholds: write `threshold: 70` below profile z9 in profiles.yaml",
        "apiConfigs.odd: its provider or its model has no counterpart; left out",
    )
    with pytest.raises(InvalidConfiguration, match="profile cheap: exists, and is not replaced"):
        save_migrated(given)


EXPORT: dict[str, Json] = {
    "providerProfiles": {
        "currentApiConfigName": "default",
        "apiConfigs": {
            "default": {
                "apiProvider": "anthropic",
                "apiModelId": "claude-sonnet-4-20250514",
                "apiKey": "sk-ant-made-up",
                "rateLimitSeconds": 0,
                "diffEnabled": True,
                "fuzzyMatchThreshold": 1,
                "modelTemperature": None,
                "id": "w3g2lqhx1k",
            },
            "small (cheap!)": {
                "apiProvider": "openai-native",
                "apiModelId": "gpt-4.1-mini",
                "openAiNativeApiKey": "sk-made-up",
                "id": "9mj4zb0u2ce",
            },
        },
        "modeApiConfigs": {"code": "w3g2lqhx1k", "architect": "w3g2lqhx1k", "ask": "9mj4zb0u2ce"},
        "migrations": {"rateLimitSecondsMigrated": True, "openAiHeadersMigrated": True},
    },
    "globalSettings": {
        "lastShownAnnouncementId": "jul-26-2025",
        "customInstructions": "Answer briefly.",
        "alwaysAllowReadOnly": True,
        "allowedCommands": ["npm test", "git log"],
        "maxWorkspaceFiles": 200,
        "language": "en",
        "mode": "code",
        "customModes": [],
        "customSupportPrompts": {"ENHANCE": "Make it better.", "CONDENSE": "Keep every path."},
        "autoCondenseContext": True,
        "autoCondenseContextPercent": 80,
        "condensingApiConfigId": "9mj4zb0u2ce",
        "profileThresholds": {"9mj4zb0u2ce": 55, "w3g2lqhx1k": -1},
    },
}
"""An export as Roo Code writes it, with made-up keys."""


def test_an_export_as_roo_code_writes_it_has_an_effect() -> None:
    migration = migrate(EXPORT)
    given = read_migrated(migration)
    save_migrated(given)
    sonnet, small = load_profiles().profiles
    assert (sonnet.name, sonnet.use, small.name, small.use) == ("default", "conversation", "small -cheap--", "both")
    assert load_prompt("condensing") == "Keep every path."
    after = name_migrated(migration, given)
    assert after.remarks == ()
    config = CompactConfig.model_validate({"model": "gpt-4.1-mini", **after.config})
    assert list(further_problems(config)) == []
    own = threshold_for(config.policy, config.model)
    assert (own.share, own.origin, own.warnings) == (0.55, "profile small -cheap--", ())
    other = threshold_for(config.policy, "claude-sonnet-4-20250514")
    assert (other.share, other.source) == (0.8, "global")
    summarizers = load_profiles().for_condensation()
    assert summarizers[0] == small


def test_ids_of_profiles_in_passes_become_their_names() -> None:
    summarize = {"operation": "summarize", "params": {"summarize": {"apiProfile": "9mj4zb0u2ce", "maxTokens": 90}}}
    passes: list[Json] = [
        {"id": "one", "mode": "batch", "batchConfig": {"summarizationConfig": {"apiProfile": "w3g2lqhx1k"}}},
        {"id": "two", "mode": "individual", "individualConfig": {"defaults": {"toolResults": summarize}}},
    ]
    globals_ = {"provider": "smart", "smartConfig": {"passes": passes}, "nativeConfig": {"apiProfile": "9mj4zb0u2ce"}}
    one, two = settings_of({**EXPORT, "globalSettings": globals_}).passes
    assert one.batch.profile == "default"
    assert two.individual.defaults.tool_results.profile == "small -cheap--"
    native: Any = resolve_recipe(preset="migrated-native").settings
    assert native.profile == "small -cheap--"


def test_ids_are_known_from_the_list_of_profiles_too() -> None:
    listed = [{"id": "9mj4zb0u2ce", "name": "cheap", "apiProvider": "openai-native", "modelId": "gpt-4.1-mini"}]
    done = migrate({"listApiConfigMeta": listed, "condensingApiConfigId": "9mj4zb0u2ce", "profileThresholds": {}})
    assert done.config == {"profile": "cheap"}


def test_versions_keep_their_details() -> None:
    first = settings_of(
        {"version": "v1", "v1": {"preserveRecentCount": 3, "maxToolResultLines": 7, "maxParamLength": 50}}
    )
    assert (first.mode, first.preserve_recent, first.max_result_lines) == ("mechanical", 3, 7)
    assert first.max_parameter_chars == 50
    details = {"targetReductionPercent": 60, "toolResultThreshold": 900, "toolParamThreshold": 90}
    second = settings_of({"version": "v2", "v2": {**details, "truncationPriority": "age"}})
    assert (second.target_reduction, second.result_threshold, second.parameter_threshold) == (0.6, 900, 90)
    assert second.priority == "age"


def test_version_3_has_what_version_2_has_and_what_it_asks_a_model() -> None:
    """The specification's whole table of settings, none of which is left over."""
    old: dict[str, Json] = {
        "version": "v3",
        "v3": {
            "preserveRecentCount": 2,
            "maxToolResultLines": 3,
            "maxParamLength": 50,
            "targetReductionPercent": 60,
            "toolResultThreshold": 900,
            "toolParamThreshold": 90,
            "truncationPriority": "age",
            "useLLMSummarization": True,
            "maxParallelCalls": 2,
            "summaryMaxTokens": 80,
        },
    }
    settings = settings_of(old)
    assert name_migrated(migrate(old), read_migrated(migrate(old))).remarks == ()
    assert (settings.max_parallel, settings.target_reduction) == (2, 0.6)
    (only,) = settings.adjusted_passes()
    chosen = only.selection
    assert (chosen.keep_recent, chosen.result_threshold, chosen.parameter_threshold) == (2, 900, 90)
    assert (chosen.type, chosen.priority) == ("oversized", "age")
    results, parameters = only.individual.defaults.tool_results, only.individual.defaults.tool_parameters
    assert (results.operation, results.max_tokens, results.max_lines) == ("summarize", 80, 3)
    assert (parameters.operation, parameters.max_tokens, parameters.max_chars) == ("summarize", 80, 50)


def test_version_3_without_a_model_is_version_2() -> None:
    settings = settings_of({"version": "v3", "v3": {"useLLMSummarization": False, "toolResultThreshold": 900}})
    assert (settings.mode, settings.result_threshold) == ("targeted", 900)


def test_passes_are_read_as_they_were_written() -> None:
    operations = {"messageText": "keep", "toolParameters": "truncate", "toolResults": "suppress"}
    result = {"operation": "truncate", "params": {"truncate": {"maxChars": 300, "maxLines": 4, "addEllipsis": True}}}
    passes = [
        {
            "id": "one",
            "name": "Truncate old results",
            "selection": {"type": "preserve_recent", "keepRecentCount": 8},
            "mode": "individual",
            "individualConfig": {
                "defaults": {**operations, "toolResults": result},
                "overrides": [{"messageIndex": 2, "operations": {"toolResults": "keep"}}],
            },
            "execution": {"type": "always"},
        },
        {
            "id": "two",
            "name": "Summarize if needed",
            "selection": {"type": "preserve_percent", "keepPercentage": 30},
            "mode": "batch",
            "batchConfig": {
                "operation": "summarize",
                "summarizationConfig": {"apiProfile": "cheap", "keepFirst": 1, "keepLast": 2},
            },
            "execution": {"type": "conditional", "condition": {"tokenThreshold": 40000}},
        },
    ]
    prelude = {"enabled": True, "operations": {"deduplicateFileReads": True, "removeObsoleteState": False}}
    settings = settings_of({"provider": "smart", "smartConfig": {"losslessPrelude": prelude, "passes": passes}})
    assert settings.lossless_prelude.enabled
    assert settings.lossless_prelude.remove_obsolete_state is False
    one, two = settings.passes
    assert one.selection.keep_recent == 8
    assert (one.individual.defaults.tool_results.max_chars, one.individual.defaults.tool_results.max_lines) == (300, 4)
    assert one.individual.defaults.tool_parameters.operation == "truncate"
    assert one.individual.overrides[2].tool_results.operation == "keep"
    assert (two.batch.profile, two.batch.keep_first, two.batch.keep_last) == ("cheap", 1, 2)
    assert (two.execution.type, two.execution.token_threshold) == ("conditional", 40000)
    assert two.selection.keep_percentage == 30


def test_configurations_of_other_providers_become_presets() -> None:
    old = {"provider": "lossless", "losslessConfig": {"consolidateToolResults": False}}
    assert settings_of(old).consolidate_tool_results is False
    old = {"provider": "truncation", "truncationConfig": {"truncationMode": "suppress", "preserveRecentCount": 9}}
    settings = settings_of(old)
    assert (settings.tool_results, settings.tool_parameters, settings.preserve_recent) == ("suppress", "suppress", 9)
    assert settings.mode == "mechanical"


def test_every_provider_keeps_its_configuration_and_the_chosen_one_is_used() -> None:
    old: dict[str, Json] = {
        "provider": "lossless",
        "losslessConfig": {"removeObsoleteState": False},
        "truncationConfig": {"preserveUserMessages": True, "preserveAssistantText": False},
        "nativeConfig": {"customPrompt": "Briefly.", "colour": "red"},
        "v1": {"preserveRecentCount": 3},
    }
    assert settings_of(old).remove_obsolete_state is False
    truncation: Any = resolve_recipe(preset="migrated-truncation").settings
    native: Any = resolve_recipe(preset="migrated-native").settings
    assert (truncation.preserve_user_messages, truncation.preserve_assistant_text) == (True, False)
    assert native.prompt == "Briefly."
    assert name_migrated(migrate(old), read_migrated(migrate(old))).remarks == (
        "v1.preserveRecentCount: 3 is preserve_recent in the preset v1: export it, change it, import it as your own",
        "nativeConfig.colour: has no counterpart",
    )


def test_a_value_that_nothing_can_be_made_of_is_an_error_and_nothing_is_kept(home: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"settings\.result_threshold"):
        read_migrated(migrate({"version": "v2", "v2": {"toolResultThreshold": "many"}}))
    assert list(home.iterdir()) == []
