"""Adding up tokens: what is known is not added again, and the sums are the same."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from compact.app import counter_for
from compact.engine import Gauge
from compact.formats import FORMATS, parse, tools_of
from compact.messages import seen
from compact.testing.generate import random_body


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_sums_by_role_are_those_of_the_messages_however_the_conversation_changes(format: str) -> None:
    rng = random.Random(7)
    conversation = parse(random_body(rng, format, size=40))
    gauge = Gauge(counter_for("gpt-4o"), tools_of(conversation))
    for _ in range(60):
        taken = conversation.messages[: rng.randint(0, len(conversation))]
        if rng.random() < 0.5 and taken:
            position = rng.randrange(len(taken))
            taken = (*taken[:position], *taken[position + 1 :])
        part = conversation.with_messages(taken)
        expected: Counter[str] = Counter()
        for message in seen(taken):
            expected[message.role] += gauge.message(message)
        assert gauge.roles(part) == expected
        assert gauge.frame(part) + sum(gauge.roles(part).values()) == gauge.conversation(part)
