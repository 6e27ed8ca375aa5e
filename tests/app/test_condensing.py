"""Condensing in one call."""

from __future__ import annotations

import re

import pytest

import compact
from compact.engine.report import percent
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS, render
from tests.app.laws import try_laws

ROUNDS, CONVERSATIONS = 50, 100
"""In each of the four formats: 20,000 conversations in all. The soak tries a million."""


@pytest.mark.no_cover  # tracing would make it take four times as long, and other tests cover the same lines
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_laws_hold(format: str, number: int) -> None:
    try_laws(format, number, CONVERSATIONS)


def test_an_unreachable_target_gives_the_floor_and_says_so() -> None:
    messages = [{"role": "user", "content": "word " * 500}, {"role": "assistant", "content": "yes"}]
    result = compact.condense(messages, target=10)
    assert not result.target_met
    assert "cannot be condensed" in result.report.notes[0]
    assert result.messages == messages


@pytest.mark.parametrize("preset", ["speed", "quality", "v1", "v2", "v3", None])
def test_a_way_that_finds_nothing_to_cut_names_one_that_does(preset: str | None) -> None:
    said = "The release was moved to the week after next because the tests of the storage layer failed. "
    talk = [
        {"role": role, "content": f"{n}: {said * 6}"} for n in range(40) for role in ("user", "assistant")
    ]  # and no tool was ever called
    target = 3000
    result = compact.condense(talk, target=target, preset=preset, provider=None if preset else "lossless")
    assert not result.target_met
    remedy = re.search(r"try the preset (\w+) or the provider (\w+)", result.report.notes[-1])
    assert remedy is not None
    assert compact.condense(talk, preset=remedy[1], target=target).target_met
    assert compact.condense(talk, provider=remedy[2], target=target).target_met


@pytest.mark.parametrize("provider", ["smart", "layers", "native"])
def test_a_summary_without_a_model_does_not_repeat_what_stands_above_it(provider: str) -> None:
    first = "Please move the release to the week after next, because the tests of the storage layer failed again today."
    talk = [{"role": "user", "content": first}]
    for n in range(40):
        talk.append(
            {"role": "assistant", "content": f"Step {n} is done. " + "The tests of the storage layer failed. " * 9}
        )
        talk.append({"role": "user", "content": f"Please do step {n + 1} as well, and say what it changed."})
    result = compact.condense(talk, target=2000, provider=provider)
    assert result.messages[0] == talk[0]
    assert sum(first in str(message["content"]) for message in result.messages) == 1
    (summary,) = (str(message["content"]) for message in result.messages if "Summary of" in str(message["content"]))
    assert f'"{first[:60]}' in summary  # what became of it stands beside its first words


def test_wrong_configuration_is_told() -> None:
    messages = [{"role": "user", "content": "hi"}]
    with pytest.raises(InvalidConfiguration, match="cannot be given beside a preset"):
        compact.condense(messages, provider="lossless", preset="v1")
    with pytest.raises(InvalidConfiguration, match=r"config\.level"):
        compact.condense(messages, provider="lossless", config={"level": "most"})
    with pytest.raises(InvalidConfiguration, match="preset"):
        compact.condense(messages, preset="nonsense")
    for target in (0, -1, True, float("nan"), float("inf")):
        with pytest.raises(InvalidConfiguration, match="is no target"):
            compact.condense(messages, target=target)


def test_messages_alone_restore_what_is_verbatim() -> None:
    text = "\n".join(f"line {index} of something that is said twice" for index in range(40))
    messages = [
        {"role": "user", "content": "begin"},
        {"role": "assistant", "content": text},
        {"role": "assistant", "content": f"again:\n{text}"},
        {"role": "user", "content": "end"},
    ]
    result = compact.condense(messages, provider="lossless", config={"level": "verbatim"})
    assert result.report.tokens_after < result.report.tokens_before * 0.7
    assert compact.restore(result.messages) == messages
    assert render(compact.restore(result.conversation)) == messages


def test_the_report_reads_as_promised() -> None:
    text = "\n".join(f"line {index} of something that is said twice" for index in range(40))
    messages = [{"role": "user", "content": "a"}, *[{"role": "assistant", "content": text}] * 2]
    messages.append({"role": "user", "content": "b"})
    report = compact.condense(messages, provider="lossless").report
    lines = str(report).split("\n")
    assert lines[0] == "Context condensed using Lossless strategy:"
    assert lines[-1].startswith(" - Time: ")
    assert any(line.startswith(" - Repeated text: ") and line.endswith("%)") for line in lines)
    assert any(line.startswith(" - Total reduction: ") and "saved $" in line for line in lines)
    assert report.to_json()["tokens_after"] == report.tokens_after


def test_the_report_says_what_each_pass_did() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "a line\n" * 2000},
        *[{"role": "assistant", "content": "said"}, {"role": "user", "content": "more"}] * 6,
    ]
    report = compact.condense(messages, preset="v1").report
    assert report.passes[0].notes == ("1 tool result truncated",)
    assert re.search(
        r"^ - truncation: [\d,]+ → [\d,]+ tokens \(-\d+%\); 1 tool result truncated$", str(report), re.MULTILINE
    )


@pytest.mark.parametrize(
    ("preset", "told"), [("v1", True), ("speed", True), ("v3", True), ("quality", True), ("balanced", False)]
)
def test_ways_that_only_cut_tool_output_say_so(preset: str, told: bool) -> None:
    messages = [{"role": role, "content": f"{role} {turn} says"} for turn in range(9) for role in ("user", "assistant")]
    notes = compact.condense(messages, preset=preset, target=10).report.notes
    assert any("only cuts what tools" in note for note in notes) is told


@pytest.mark.parametrize(
    ("share", "plain", "signed"),
    [(0.0, "0%", "0%"), (-0.0, "0%", "0%"), (-0.004, "0%", "0%"), (0.5, "50%", "+50%"), (-0.2, "-20%", "-20%")],
)
def test_what_rounds_to_nothing_has_no_sign(share: float, plain: str, signed: str) -> None:
    assert (percent(share), percent(share, "+")) == (plain, signed)
