"""Turns for servers that want user and assistant to alternate."""

from __future__ import annotations

import pytest

from compact.formats import parse, render, violations
from compact.messages import (
    Conversation,
    EditKind,
    Fold,
    Json,
    Pass,
    apply,
    assuming,
    frame_account,
    parted,
    protect,
    restore,
    wires_of,
    without_meta,
)

TURN = "[message removed here]"
ACCOUNT = frame_account("- The parser was mended.", 2)


def said(*contents: Json, format: str = "openai-chat", variant: str = "vllm") -> Conversation:
    """User and assistant in turn; what is no text is the message itself."""
    roles = ("user", "assistant") * len(contents)
    wires = [
        content if isinstance(content, dict) else {"role": role, "content": content}
        for role, content in zip(roles, contents, strict=False)
    ]
    return assuming(parse(wires, format=format), {"variant": variant})


def without(conversation: Conversation, *positions: int, into: str = ACCOUNT, role: str = "assistant") -> Json:
    """What is sent once messages went; it can be taken back, and follows the server's rules."""
    fold = Fold(tuple(map(str, positions)), into, EditKind.SUMMARIZED, role)
    after, done = apply(conversation, Pass("fold", (fold,)))
    assert wires_of(restore(after, (done,))) == wires_of(conversation)
    assert restore(after, (done,)) == conversation
    assert violations(after) == []
    return render(after)


def texts(*contents: str) -> list[Json]:
    return [{"type": "text", "text": content} for content in contents]


def test_messages_of_one_role_that_come_together_are_sent_as_one_turn() -> None:
    sent = without(said("a", "b", "c", "d", "e", "f", "g"), 1, 3, 5)
    assert sent == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": ACCOUNT},
        {"role": "user", "content": texts("c", "e", "g")},
    ]


def test_an_account_joins_the_turn_beside_it() -> None:
    sent = without(said("a", "b", "c", "d", "e"), 1, 2)
    assert sent == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": texts(ACCOUNT, "d")},
        {"role": "user", "content": "e"},
    ]
    sent = without(said("a", "b", "c", "d", "e", variant="bedrock", format="anthropic-messages"), 1, 2, role="user")
    assert [one["role"] for one in sent] == ["user", "assistant", "user"]
    assert texts("a", ACCOUNT) in [one["content"] for one in sent]


def test_parts_stay_what_they_are() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    sent = without(said("a", "b", {"role": "user", "content": [*texts("c"), picture]}, "d", "e"), 1, 3)
    assert sent[-1] == {"role": "user", "content": [*texts("c"), picture, *texts("e")]}


CALL = {"id": "call00001", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLS: list[Json] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call00001", "content": "done"},
    {"role": "assistant", "content": "f"},
]
USES: list[Json] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]},
]


@pytest.mark.parametrize(
    ("conversation", "gone"),
    [
        (said("a", "b", {"role": "user", "name": "ann", "content": "c"}, "d", "e"), (1, 3)),
        (said("a", "b", {"role": "user", "content": "c", "cached": 1}, "d", "e"), (1, 3)),
        (said("a", "b", {"role": "user", "content": "c", "meta": {"protected": True}}, "d", "e"), (1, 3)),
        (protect(said("a", "b", "c", "d", "e"), [4]), (1, 3)),
        (said("a", "b", "c", {"role": "assistant", "content": "d", "reasoning": "hm"}, "e", "f", "g"), (2, 4)),
        (said("a", "b", "c", "d", "e", *CALLS, variant="perplexity"), (1, 4)),
        (said("a", "b", "c", *USES, "d", "e", format="anthropic-messages", variant="strict"), (1, 5)),
    ],
    ids=["another name", "other fields", "protected by the application", "protected", "reasoning", "calls", "results"],
)
def test_what_must_be_sent_by_itself_is_kept_apart_by_a_short_turn(
    conversation: Conversation, gone: tuple[int, ...]
) -> None:
    sent = without(conversation, *gone)
    assert TURN in [one["content"] for one in sent]
    assert all(without_meta(message.wire) in sent for message in conversation.messages if int(message.id) not in gone)


def test_turns_that_were_together_in_the_input_stay_as_they_are() -> None:
    twice = said("a", "b", "c", {"role": "user", "content": "d"}, {"role": "assistant", "content": "e"}, "f", "g")
    fold = Fold(("1",), ACCOUNT, EditKind.SUMMARIZED)
    after, _ = apply(twice, Pass("fold", (fold,)))
    assert render(after)[2:] == [message.wire for message in twice.messages[2:]]


def test_a_later_pass_finds_the_messages_themselves() -> None:
    before = said("a", "b", "c", "d", "e", "f", "g")
    after, first = apply(before, Pass("fold", (Fold(("1", "3"), ACCOUNT, EditKind.SUMMARIZED),)))
    assert render(after)[2] == {"role": "user", "content": texts("c", "e")}
    again, second = apply(after, Pass("fold", (Fold(("2",), ACCOUNT, EditKind.SUMMARIZED, "user"),)))
    assert violations(again) == []
    assert "e" in str(render(again))
    assert restore(again, (first, second)) == before


def test_plans_of_before_keep_turns_apart() -> None:
    fold = Fold(("1", "3"), ACCOUNT, EditKind.SUMMARIZED)
    after, done = apply(said("a", "b", "c", "d", "e"), Pass("fold", (fold,), merges=False))
    assert {"role": "assistant", "content": TURN} in render(after)
    assert not done.merges


def test_a_turn_with_an_account_in_it_is_taken_apart_and_sent_as_it_was() -> None:
    turn = {"role": "assistant", "content": texts("Before.", "And more.", ACCOUNT, "After."), "meta": {"mine": 1}}
    before = said("a", turn, "c")
    found = parted(before)
    assert [message.text for message in found.messages] == ["a", "Before.\nAnd more.", ACCOUNT, "After.", "c"]
    assert wires_of(found) == wires_of(before)
    assert parted(found) == found
    assert parted(said("a", texts("b", "c"))) == said("a", texts("b", "c"))
