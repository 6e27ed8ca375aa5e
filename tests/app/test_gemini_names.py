"""Gemini's answers may bear other names than the calls: a turn stays whole all the same."""

from __future__ import annotations

import pytest

import compact
from compact.formats import violations
from compact.messages import Json


def steps(count: int) -> list[Json]:
    messages: list[Json] = [{"role": "user", "parts": [{"text": "start"}]}]
    for step in range(count):
        calls = [{"functionCall": {"name": name, "args": {"step": step}}} for name in ("Read", "Bash")]
        answers = [{"functionResponse": {"name": "f", "response": {"out": word * 200}}} for word in ("x ", "y ")]
        messages += [{"role": "model", "parts": calls}, {"role": "user", "parts": answers}]
    return messages


@pytest.mark.parametrize("provider", ["truncation", "layers", "native"])
def test_the_current_step_keeps_its_answers(provider: str) -> None:
    given = steps(10)
    result = compact.condense(given, provider=provider, target=0.2, model="gemini-2.5-pro")
    assert result.messages[-2:] == given[-2:]
    assert violations(result.conversation) == []
    assert result.report.tokens_after < result.report.tokens_before
