"""Older settings, made into today's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import CompactConfig
from compact.policies.migration import migrate


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "autoCondenseContext",
                "autoCondenseContextPercent",
                "profileThresholds",
                "condensingApiConfigId",
                "customCondensingPrompt",
                "version",
                "provider",
                "v1",
                "smartConfig",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers(-5, 120) | st.floats() | st.sampled_from(["v1", "native", "x", ""]),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
            max_leaves=4,
        ),
    )
)
def test_whatever_is_migrated_is_a_valid_configuration(old: dict[str, Json]) -> None:
    try:
        migrated = migrate(old)
    except InvalidConfiguration:
        return
    config = CompactConfig.model_validate({"model": "m", **migrated.config})
    if old.get("version") in ("v1", "v2", "v3"):
        assert config.policy.preset == old["version"]
    assert all(5 <= percent <= 100 for percent in migrated.thresholds.values())


def test_an_export_of_roo_code_is_migrated() -> None:
    old = {
        "providerProfiles": {"apiConfigs": {"cheap": {"id": "a1"}, "dear": {"id": "b2"}}},
        "globalSettings": {
            "autoCondenseContext": True,
            "autoCondenseContextPercent": 40,
            "profileThresholds": {"a1": 80, "b2": -1, "c3": 3},
            "condensingApiConfigId": "a1",
            "customCondensingPrompt": " Write for a lawyer. ",
            "alwaysAllowReadOnly": True,
        },
    }
    done = migrate(old)
    assert done.config == {"profile": "cheap", "policy": {"trigger_pct": 0.4}}
    assert done.thresholds == {"cheap": 80}
    assert done.prompt == "Write for a lawyer."
    assert done.remarks == (
        "profile: cheap must be configured; `compact profiles` lists those that are",
        "profileThresholds: write `threshold: 80` below profile cheap in profiles.yaml",
        "profileThresholds: 3 of c3 is no percentage from 5 to 100; the default holds",
        "customCondensingPrompt: save it as a prompt (--prompt NAME), and name it in a profile: file:NAME",
        "apiConfigs: left out: cheap, dear; --apply makes profiles of them",
    )
    assert migrate({"roo-cline.autoCondenseContextPercent": 75}).config == {"policy": {"trigger_pct": 0.75}}


def test_versions_become_presets_and_their_details_are_told() -> None:
    done = migrate({"version": "v2", "provider": "native", "v2": {"toolResultThreshold": 900, "other": 1}})
    assert done.config == {"policy": {"preset": "v2"}}
    assert done.remarks == (
        "provider: left out, because version v2 is a preset, which has its own",
        "v2.toolResultThreshold: 900 is result_threshold in the preset v2: export it, change it, import it as your own",
        "v2.other: 1 has no counterpart",
    )


def test_older_values_that_mean_nothing_are_told() -> None:
    done = migrate(
        {
            "autoCondenseContext": "yes",
            "autoCondenseContextPercent": 101,
            "version": "v9",
            "provider": "magic",
            "condensingApiConfigId": 7,
            "profileThresholds": [60],
            "customCondensingPrompt": 1,
            "smartConfig": {},
        }
    )
    assert (done.config, done.thresholds, done.prompt) == ({}, {}, "")
    assert [remark.partition(":")[0] for remark in done.remarks] == [
        "autoCondenseContextPercent",
        "autoCondenseContext",
        "version",
        "provider",
        "condensingApiConfigId",
        "profileThresholds",
        "customCondensingPrompt",
        "smartConfig",
    ]


def test_who_compacted_by_hand_still_does() -> None:
    done = migrate({"autoCondenseContext": False, "autoCondenseContextPercent": 60})
    assert done.config == {"policy": {"trigger_pct": 0.6, "automatic": False}}
    assert done.remarks == ()


def test_what_holds_no_older_settings_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="there is nothing to migrate"):
        migrate({"theme": "dark"})
