"""Settings that name messages by position mean the same when a conversation is condensed again."""

from __future__ import annotations

import random
from typing import Any

import pytest

from compact.app import Condensation, resolve_recipe
from compact.formats import parse
from compact.messages import Conversation, is_summary
from compact.providers.smart.selecting import Positions


def talk(size: int = 12) -> Conversation:
    roles = ("user", "assistant")
    said = [f"{index}: " + " ".join(f"word{index}x{word}" for word in range(120)) for index in range(size)]
    messages = [{"role": roles[index % 2], "content": text} for index, text in enumerate(said)]
    return parse([*messages, {"role": "user", "content": "end"}])


def fold(conversation: Conversation, indices: list[int], **batch: int) -> tuple[Conversation, bool]:
    step: dict[str, Any] = {"id": "fold", "mode": "batch", "selection": {"type": "custom", "indices": indices}}
    step["batch"] = {"max_tokens": 64, **batch}
    recipe = resolve_recipe("smart", config={"lossless_prelude": {"enabled": False}, "passes": [step]})
    result = Condensation(conversation, "gpt-4o", None).run(recipe)
    return result.conversation, bool(result.plan)


def summaries(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages if is_summary(message)]


@pytest.mark.parametrize("batch", [{}, {"keep_first": 1}, {"keep_last": 1}])
@pytest.mark.parametrize("seed", range(8))
def test_messages_named_here_and_there_are_summarized_once(seed: int, batch: dict[str, int]) -> None:
    indices = sorted(random.Random(seed).sample(range(-5, 11), 4))
    once, changed = fold(talk(), indices, **batch)
    again, changed_again = fold(once, indices, **batch)
    assert changed
    assert not changed_again
    assert again == once
    assert len(summaries(once)) == 1


def test_new_messages_named_from_the_end_are_summarized_too() -> None:
    once, _ = fold(talk(12), [-4, -3])
    later = parse([*(message.wire for message in once.messages), *(message.wire for message in talk(12).messages)])
    twice, changed = fold(later, [-4, -3])
    assert changed
    assert len(summaries(twice)) == 2


def test_positions_before_a_summary_can_still_be_told() -> None:
    once, _ = fold(talk(), [5, 8])
    positions = Positions(once.messages)
    assert len(positions) == len(talk())
    assert list(positions.told([2, 3, 6, 99])) == ["2", "3"]
    assert list(positions.told([9, 10])) == ["9", "10"]
    assert list(positions.told([])) == []
