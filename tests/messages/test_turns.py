"""Turns for servers that want user and assistant to alternate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compact.formats import parse, render, violations
from compact.messages import (
    Conversation,
    EditKind,
    Fold,
    Json,
    Message,
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
from compact.messages.turns import ANY_ORDER, Alternation, Before, is_bridge, order_of, settle, stand, turns_of

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


PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@pytest.mark.parametrize(
    ("earlier", "later", "together"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": "b"}, True),
        ({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": []}, True),
        ({"role": "assistant", "content": "a", "refusal": None}, {"role": "assistant", "content": "b"}, True),
        ({"role": "user", "content": "a", "meta": {"mine": 1}}, {"role": "user", "content": [PICTURE]}, True),
        ({"role": "user", "content": "a", "name": "x"}, {"role": "user", "content": "b", "name": "x"}, True),
        ({"role": "user", "content": "a", "name": "x"}, {"role": "user", "content": "b", "name": "y"}, False),
        ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, False),
        ({"role": "system", "content": "a"}, {"role": "system", "content": "b"}, False),
        ({"role": "user", "content": "a"}, {"role": "user", "content": []}, False),
        ({"role": "user", "content": "a"}, {"role": "user", "content": " "}, False),
        ({"role": "user", "content": "a", "cached": 1}, {"role": "user", "content": "b"}, False),
        ({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b", "reasoning": "hm"}, False),
        ({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": [CALL]}, False),
    ],
)
def test_which_messages_can_be_sent_as_one_turn(earlier: Json, later: Json, together: bool) -> None:
    first, second = parse([earlier, later], format="openai-chat").messages
    joined = replace(second, joined=True)
    assert turns_of([first, joined]) == ([(first, joined)] if together else [(first,), (joined,)])
    assert turns_of([first, second]) == [(first,), (second,)]
    assert turns_of([joined]) == [(joined,)]


def test_a_turn_of_several_messages_has_their_texts_and_the_meta_of_all() -> None:
    kept = {"role": "user", "content": "b", "meta": {"protected": True}}
    found = said(
        "a", "x", kept, {"role": "user", "content": [PICTURE], "meta": {"mine": 1}}, {"role": "user", "content": "c"}
    )
    first, *_, second, third, fourth = found.messages
    messages = [first, *(replace(message, joined=True) for message in (second, third, fourth))]
    assert wires_of(found.with_messages(messages)) == [
        {"role": "user", "content": [*texts("a", "b"), PICTURE, *texts("c")], "meta": {"protected": True, "mine": 1}}
    ]
    assert wires_of(found.with_messages(messages[:1]))[0] is first.wire


def test_order_of_messages_tells_who_had_the_turn_before_and_who_was_sent_together() -> None:
    messages = said({"role": "system", "content": "s"}, "a", "b", "c").messages
    joined = [replace(messages[0], joined=True), messages[1], replace(messages[2], joined=True), messages[3]]
    alternation = Alternation(lambda message: "" if message.role == "system" else message.role, {})
    assert order_of(alternation, joined) == Before({"1": "", "2": "1", "3": "2"}, {"2": "1"})
    assert order_of(ANY_ORDER, joined) == Before({"0": "", "1": "0", "2": "1", "3": "2"}, {"2": "1"})


def settled(
    conversation: Conversation, messages: list[Message], before: Before, **options: Any
) -> list[tuple[str, bool]]:
    """The ids of the messages, and whether each is sent with the one before."""
    twice = {("user", "user"): "assistant", ("assistant", "assistant"): "user", ("", "assistant"): "user"}
    alternation = Alternation(lambda message: message.role if message.role != "system" else "", twice, **options)
    return [(one.id, one.joined) for one in settle(conversation.dialect, alternation, messages, before, "h")]


def test_messages_are_settled_into_turns_that_alternate() -> None:
    found = said("a", "b", "c", {"role": "user", "content": "d"}, {"role": "assistant", "content": "e"})
    a, b, c, d, e = found.messages
    nothing = Before()
    assert settled(found, [a, b, c], nothing) == [("0", False), ("1", False), ("2", False)]
    assert settled(found, [a, c], nothing) == [("0", False), ("2", True)]
    assert settled(found, [a, c, d], nothing, merges=False) == [
        *(("0", False), ("h.turn0", False), ("2", False), ("h.turn1", False), ("3", False)),
    ]
    assert settled(found, [b], nothing) == [("h.turn0", False), ("1", False)]
    # What the server has taken before stays.
    assert settled(found, [c, d], Before({"2": "", "3": "2"})) == [("2", False), ("3", False)]
    assert settled(found, [b], Before({"1": ""})) == [("1", False)]
    together = replace(d, joined=True)
    assert settled(found, [c, together], Before({}, {"3": "2"}), merges=False) == [("2", False), ("3", True)]
    # It was sent with another, which is gone.
    assert settled(found, [a, together], Before({}, {"3": "2"}), merges=False)[1:] == [("h.turn0", False), ("3", False)]
    assert settled(found, [together, e], Before({}, {"3": "2"})) == [("3", False), ("4", False)]
    assert settled(found, [b, together], Before({"1": ""}, {"3": "2"})) == [("1", False), ("3", False)]
    # One that is protected is sent by itself.
    assert settled(found, [replace(a, protected=True), c], nothing)[1:] == [("h.turn0", False), ("2", False)]
    assert settled(found, [a, replace(c, protected=True)], nothing)[1:] == [("h.turn0", False), ("2", False)]


def test_a_bridge_is_known_by_its_id() -> None:
    assert is_bridge("h.turn0")
    assert not is_bridge("h.0")


def test_an_account_takes_the_role_that_needs_fewest_turns_and_joins_fewest() -> None:
    found = said("a", "b", "c", "d")
    a, b, c, d = found.messages
    twice = {("user", "user"): "assistant", ("assistant", "assistant"): "user"}

    def roles(role: str, earlier: list[Message], later: list[Message], *, merges: bool = True) -> list[str]:
        fold = Fold(("9",), ACCOUNT, EditKind.SUMMARIZED, role)
        alternation = Alternation(lambda message: message.role, twice, merges)
        return [one.role for one in stand(found.dialect, fold, earlier, later, alternation)]

    for merges in (True, False):
        for role in ("user", "assistant"):
            assert roles(role, [a], [c], merges=merges) == ["assistant"]
            assert roles(role, [b], [d], merges=merges) == ["user"]
            assert roles(role, [a], [d], merges=merges) == [role]
            assert roles(role, [a], [], merges=merges) == ["assistant"]
            assert roles(role, [], [b], merges=merges) == ["user"]
            assert roles(role, [], [], merges=merges) == [role]
    fold = Fold(("9",), ACCOUNT, EditKind.SUMMARIZED, "user")
    assert [one.role for one in stand(found.dialect, fold, [a], [c])] == ["user"]


def test_a_message_is_taken_apart_only_where_it_says_nothing_but_its_parts() -> None:
    for turn in (
        {"role": "assistant", "content": ACCOUNT},
        {"role": "assistant", "content": texts(ACCOUNT)},
        {"role": "assistant", "content": texts("a", "b")},
        {"role": "assistant", "content": texts("a", ACCOUNT), "cached": 1},
        {"role": "system", "content": texts("a", ACCOUNT)},
    ):
        found = said("a", turn)
        assert parted(found) is found
    found = parted(protect(said("a", {"role": "assistant", "content": texts(ACCOUNT, "a", "b", ACCOUNT)}), [1]))
    assert [(one.id, one.joined, one.protected) for one in found.messages[1:]] == [
        *(("1", False, True), ("1.1", True, True), ("1.2", True, True)),
    ]
