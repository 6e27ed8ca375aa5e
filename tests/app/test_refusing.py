"""What a manager refuses at once, and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json
from compact.ports import Completion

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
        ({"policy": {"preset": "zzz"}}, r"^recipe: 'zzz' is unknown"),
        ({"profile": "zzz"}, r"^profile: there is no profile 'zzz'"),
        ({"tracing": {"ariadne": "zzz"}}, r"^tracing\.ariadne: 'zzz' is no address"),
        ({"tracing": {"otlp": "zzz"}}, r"^tracing\.otlp: 'zzz' is no address"),
    ],
)
def test_what_could_not_be_done_later_is_refused_at_once(tmp_path: Path, config: dict[str, Json], told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=told):
        make(tmp_path, **config)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("badge(?= )", "uses a lookahead"),
        ("(?<=badge )x", "uses a lookbehind"),
        (r"(a)b\1", "uses a backreference"),
        ("(a)?b(?(1)c|d)", "uses a condition"),
        ("(?>ab)c", "uses an atomic group"),
        ("a++b", "uses a possessive quantifier"),
        ("x*", "matches where there is nothing"),
        (r"(\w+\s?)+:", "takes more than 50 ms"),
    ],
)
def test_a_pattern_that_could_stall_the_program_is_refused_at_once(tmp_path: Path, pattern: str, reason: str) -> None:
    with pytest.raises(InvalidConfiguration, match=rf"^redaction\.patterns\[1\]: .* {reason}"):
        make(tmp_path, redaction={"patterns": ["EMP-[0-9]{6}", pattern]})


async def later(asks: object) -> list[Completion]:
    raise AssertionError(asks)


@pytest.mark.parametrize("ask", [later, lambda: [Completion("done")], lambda asks, model: [], object()], ids=range(4))
def test_a_callback_that_cannot_be_called_with_questions_is_refused_at_once(tmp_path: Path, ask: Any) -> None:
    with make(tmp_path) as manager:
        config = manager.config
    with pytest.raises(InvalidInput, match=r"^ask: must "):
        CompactManager(config, ask=ask)
    with pytest.raises(InvalidInput, match=r"^ask: must "):
        compact.condense(SAID, ask=ask)


@pytest.mark.parametrize("answers", [None, "done", [], [5], {"text": "done"}], ids=str)
def test_answers_of_another_shape_are_failures_that_the_report_names(answers: Any) -> None:
    talk = [{"role": role, "content": f"{n}: {'words ' * 80}"} for n in range(9) for role in ("user", "assistant")]
    result = compact.condense(talk, recipe="native", ask=lambda asks: answers)
    assert result.messages == talk
    (skipped,) = (done.skipped for done in result.report.passes)
    assert skipped.startswith("handler invalid; ")
    assert "a Completion, a Refusal or a Failure" in skipped


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
