"""The settings of Lossless: a level, switches beside it, and the doors through which both are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compact
from compact.errors import InvalidConfiguration
from compact.policies import configure
from compact.providers import Preset, dump_presets
from compact.providers.lossless import LosslessSettings
from compact.providers.smart.settings import SmartSettings
from tests.providers.conversations import step, user

SOURCE = "\n".join(f"{number:6}→    total += rows[{number}].price" for number in range(60))
CHANGED = SOURCE.replace("rows[30].price", "rows[30].net")
BUILT = "\n".join(f"built part {number} of the page, without complaint" for number in range(40))
DEDUPLICATED, OUTDATED, CONSOLIDATED = "[same as ", "[Outdated: see ", "[Consolidated "


def session() -> list[dict[str, Any]]:
    """A file that was read, shown elsewhere, and read again after it changed; and a command that was run twice."""
    return [
        user("Why are the totals wrong?"),
        *step("a", "read", {"path": "/sum.py"}, SOURCE),
        *step("b", "show", {"what": "the sum"}, SOURCE),
        *step("c", "bash", {"command": "make page"}, BUILT),
        *step("d", "read", {"path": "/sum.py"}, CHANGED),
        *step("e", "bash", {"command": "make page"}, f"{BUILT}\nbuilt the index"),
        user("And now?"),
    ]


def done(messages: list[dict[str, Any]]) -> set[str]:
    """What was done, by what stands there now."""
    written = json.dumps(messages, ensure_ascii=False)
    return {mark for mark in (DEDUPLICATED, OUTDATED, CONSOLIDATED) if mark in written}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, {DEDUPLICATED, OUTDATED, CONSOLIDATED}),
        ({"level": "verbatim"}, {DEDUPLICATED}),
        ({"level": "formatting"}, {DEDUPLICATED}),
        ({"deduplicate_file_reads": False}, {OUTDATED, CONSOLIDATED}),
        ({"consolidate_tool_results": False}, {DEDUPLICATED, OUTDATED}),
        ({"remove_obsolete_state": False}, {DEDUPLICATED, CONSOLIDATED}),
        ({"level": "verbatim", "consolidate_tool_results": True}, {DEDUPLICATED, CONSOLIDATED}),
        ({"level": "verbatim", "remove_obsolete_state": True, "deduplicate_file_reads": False}, {OUTDATED}),
        ({"level": "verbatim", "consolidate_tool_results": None}, {DEDUPLICATED}),
    ],
)
def test_a_switch_that_is_set_holds_whatever_the_level(config: dict[str, Any], expected: set[str]) -> None:
    result = compact.condense(session(), provider="lossless", config=config)
    assert done(result.messages) == expected
    assert compact.restore(result) == session()


@pytest.mark.parametrize(
    ("config", "field", "told"),
    [
        ({"level": "verbatim", "deduplicate_file_reads": False}, "config", "nothing is left to do"),
        ({"consolidate_tool_results": "perhaps"}, "config.consolidate_tool_results", "boolean"),
        ({"deduplicateFileReads": True}, "config.deduplicateFileReads", "is no setting"),
    ],
)
def test_nonsense_is_refused(config: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=told) as caught:
        compact.condense(session(), provider="lossless", config=config)
    assert caught.value.field == field


def test_the_prelude_has_the_same_settings() -> None:
    own = set(LosslessSettings.model_fields)
    prelude = configure(SmartSettings, {"passes": [], "lossless_prelude": {"consolidate_tool_results": False}})
    assert own | {"enabled"} == set(type(prelude.lossless_prelude).model_fields)
    config = {"passes": [], "lossless_prelude": {"consolidate_tool_results": False}}
    result = compact.condense(session(), provider="smart", config=config)
    assert done(result.messages) == {DEDUPLICATED, OUTDATED}


def test_presets_of_ones_own_take_the_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    mine = Preset("mine", "", "lossless", {"remove_obsolete_state": False})
    (tmp_path / "presets.json").write_text(dump_presets([mine]), encoding="utf-8")
    assert done(compact.condense(session(), preset="mine").messages) == {DEDUPLICATED, CONSOLIDATED}


def test_forms_are_told_that_a_switch_may_be_left_unset() -> None:
    described = LosslessSettings.model_json_schema()["properties"]
    for switch in ("deduplicate_file_reads", "consolidate_tool_results", "remove_obsolete_state"):
        assert [option["type"] for option in described[switch]["anyOf"]] == ["boolean", "null"]
        assert described[switch]["description"]
