"""What a manager refuses at once, and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compact import CompactConfig, CompactManager
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json

SAID = [{"role": "user", "content": "hi"}]


def make(folder: Path, **config: Json) -> CompactManager:
    given = {"model": "gpt-4o", "storage": {"path": str(folder)}, "profile": "offline", **config}
    return CompactManager(CompactConfig.model_validate(given))


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"redaction": {"patterns": ["("]}}, r"^redaction\.patterns\[0\]: '\(' is no regular expression"),
        (
            {"policy": {"strategy": "zzz"}},
            r"^policy\.strategy: there is no strategy 'zzz'\. Known strategies: .*, code\. Correct it",
        ),
    ],
)
def test_what_could_not_be_done_later_is_refused_at_once(tmp_path: Path, config: dict[str, Json], told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=told):
        make(tmp_path, **config)


def test_nothing_is_pruned_without_originals_unless_the_loss_is_accepted() -> None:
    with pytest.raises(InvalidConfiguration, match='originals "none" loses what is pruned: set allow_loss'):
        CompactConfig(model="gpt-4o", originals="none")
    assert CompactConfig(model="gpt-4o", originals="none", allow_loss=True).originals == "none"


def test_wrong_arguments_are_told_as_errors_of_ours(tmp_path: Path) -> None:
    given: Any = {"model": "gpt-4o"}
    with pytest.raises(InvalidConfiguration, match="config: must be a CompactConfig, not dict"):
        CompactManager(given)
    wrong: Any = 5
    with make(tmp_path) as manager:
        with pytest.raises(InvalidInput, match="note: must be text, not int"):
            manager.manual_compact("a", SAID, note=wrong)
        with pytest.raises(InvalidInput, match="tools: must be a list of tools, not int"):
            manager.preflight("a", SAID, tools=wrong)
