"""Adding up tokens: what is known is not added again, and the sums are the same."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from compact.app import counter_for
from compact.engine import Gauge
from compact.formats import FORMATS, parse, tools_of
from compact.messages import seen
from compact.testing.generate import random_body
from compact.tokens import Counter as TokenCounter


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


def test_what_was_added_up_is_not_added_up_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    whole = parse([{"role": "user", "content": name} for name in "abcd"], format="openai-chat")
    parts = [whole.with_messages(whole.messages[:end]) for end in (1, 2, 3, 4)]
    gauge = Gauge(TokenCounter(counter_for("gpt-4o").meter, count), ())
    totals = [gauge.conversation(part) for part in parts]
    assert [later - earlier for earlier, later in pairwise(totals)] == [gauge.message(whole.messages[0])] * 3
    assert [text for text in counted if text in "abcd"] == list("abcd")
    assert [gauge.conversation(part) for part in reversed(parts)] == totals[::-1]
    assert gauge.text("12345") == 5
    assert gauge.roles(parts[3]) == {"user": sum(map(gauge.message, whole.messages))}
    assert gauge.roles(parts[3]) is gauge.roles(parts[3])
    assert gauge.roles(parts[1]) == {"user": sum(map(gauge.message, whole.messages[:2]))}
    assert [text for text in counted if text in "abcd"] == list("abcd")
