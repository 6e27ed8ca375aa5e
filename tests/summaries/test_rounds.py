"""Condensing again what was sent and came back."""

from __future__ import annotations

from typing import Any

import pytest

import compact
from compact.messages import Json

CORRECTION = "Never touch src/legacy/billing.py, whatever happens."
FILLER = "\n".join(f"line {at} of src/app/module_{at}.py was looked at and found in order" for at in range(40))


def turns(number: int) -> list[Json]:
    return [
        {"role": "user", "content": f"Go on with step {number}."},
        {"role": "assistant", "content": f"Step {number}: {FILLER}"},
    ]


@pytest.mark.parametrize("way", [{"provider": "native"}, {"provider": "layers"}, {"preset": "balanced"}])
def test_what_the_user_said_survives_rounds_over_the_wire(way: dict[str, Any]) -> None:
    messages: list[Json] = [{"role": "user", "content": "Move the shop to the new API."}, *turns(0)]
    messages += [{"role": "user", "content": CORRECTION}, {"role": "assistant", "content": "Understood."}]
    for number in range(1, 6):
        messages += [wire for step in range(6) for wire in turns(10 * number + step)]
        messages = compact.condense(messages, target=3000, **way).messages
        assert any(CORRECTION in str(message["content"]) for message in messages), number
    assert sum("⟨ Summary of " in str(message["content"]) for message in messages) <= 2
