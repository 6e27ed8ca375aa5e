"""Condensing in one call: the laws, over every provider, preset and format."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

import compact
from compact.app import Condensation, Result, choose
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS, parse, render, violations
from compact.messages import Conversation, exchanges, untouchable
from compact.providers import presets
from compact.testing.generate import random_body

WAYS: list[tuple[str | None, str | None, dict[str, Any]]] = [
    *((None, preset.name, {}) for preset in presets()),
    *(("lossless", None, {"level": level}) for level in ("verbatim", "formatting", "superseded")),
    ("native", None, {}),
]
TARGETS = (None, 0.8, 0.5, 0.2)
SOAK = bool(os.environ.get("COMPACT_SOAK"))
ROUNDS = 1000 if SOAK else 50
CONVERSATIONS = 250 if SOAK else 100
"""In each round and each of the four formats: 20,000 in all, a million in the soak."""


def condense(conversation: Conversation, way: tuple[Any, ...], target: float | None) -> Result:
    provider, settings = choose(*way)
    return Condensation(conversation, "gpt-4o", target).run(provider, settings)


def cases(format: str, number: int) -> Iterator[tuple[Conversation, tuple[Any, ...], float | None]]:
    rng = random.Random(f"{format} {number}")
    for _ in range(CONVERSATIONS):
        body = random_body(rng, format, size=rng.choice((4, 12, 30)))
        yield parse(body, format=format), rng.choice(WAYS), rng.choice(TARGETS)


@pytest.mark.no_cover  # tracing would make it take four times as long, and other tests cover the same lines
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_laws_hold(format: str, number: int) -> None:
    for before, way, target in cases(format, number):
        result = condense(before, way, target)
        after = result.conversation
        told = f"{format} {number} {way} {target}"
        assert result.report.tokens_after <= result.report.tokens_before, told
        assert {v.rule for v in violations(after, origin=before)} <= {v.rule for v in violations(before)}, told
        assert compact.restore(result) == render(before), told
        assert_order_and_pairs(before, after, told)
        again = condense(after, way, result.report.target)
        assert again.plan == (), told
        assert condense(before, way, target).messages == result.messages, told


def assert_order_and_pairs(before: Conversation, after: Conversation, told: str) -> None:
    position = {message.id: index for index, message in enumerate(before.messages)}
    now = {message.id: message for message in after.messages}
    kept = [position[message.id] for message in after.messages if message.id in position]
    assert kept == sorted(kept), told
    fixed = untouchable(before)
    for message in before.messages:
        if message.id in fixed:
            assert now[message.id].wire == message.wire, told
    for group in exchanges(before.messages):
        held = [before.messages[index] for index in group if before.messages[index].id in now]
        calls = [message for message in held if message.calls]
        assert len(held) == len(group) or not calls or all(m.id in now for m in held), told


def test_an_unreachable_target_gives_the_floor_and_says_so() -> None:
    messages = [{"role": "user", "content": "word " * 500}, {"role": "assistant", "content": "yes"}]
    result = compact.condense(messages, target=10)
    assert not result.target_met
    assert "cannot be condensed" in result.report.notes[0]
    assert result.messages == messages


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
