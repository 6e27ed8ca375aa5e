"""Who is protected, and what a message says of itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS, parse, render, request_body
from compact.messages import Conversation, Json, protect
from compact.testing.strategies import conversations, hostile_json, hostile_messages


def chat(*messages: Json) -> Conversation:
    return parse(list(messages), format="openai-chat")


def protected(conversation: Conversation) -> list[int]:
    return [index for index, message in enumerate(conversation.messages) if message.protected]


TALK = chat(*({"role": role, "content": role} for role in ("user", "assistant", "user", "assistant")))


@pytest.mark.parametrize(
    ("positions", "expected"),
    [([0], [0]), ([-1], [3]), ([1, -2], [1, 2]), ([-4], [0]), ([4], []), ([-5], []), ([], []), ((2, 2), [2])],
)
def test_protection_by_position(positions: list[int], expected: list[int]) -> None:
    assert protected(protect(TALK, positions)) == expected


def test_protection_by_predicate_and_by_role() -> None:
    assert protected(protect(TALK, lambda message: message.text == "user")) == [0, 2]
    assert protected(protect(TALK, None, ["assistant"])) == [1, 3]
    assert protected(protect(TALK, [0], {"assistant"})) == [0, 1, 3]
    assert protected(protect(TALK, None)) == []


def test_protection_is_never_taken_away() -> None:
    assert protected(protect(protect(TALK, [1]), [2])) == [1, 2]
    assert protected(protect(protect(TALK, [1]), lambda _: False)) == [1]


@given(st.sampled_from(sorted(FORMATS)).flatmap(conversations), st.sets(st.integers(-20, 20)))
def test_protection_changes_nothing_else(conversation: Conversation, positions: set[int]) -> None:
    after = protect(conversation, positions)
    assert [message.wire for message in after.messages] == [message.wire for message in conversation.messages]
    size = len(conversation)
    wanted = {index % size for index in positions if -size <= index < size}
    assert set(protected(after)) == wanted | set(protected(conversation))
    for index, message in enumerate(conversation.messages):
        if index not in wanted or message.protected:
            assert after.messages[index] is message


def test_system_and_developer_messages_are_protected_from_the_start() -> None:
    roles = ("system", "developer", "user", "assistant")
    assert protected(chat(*({"role": role, "content": "x"} for role in roles))) == [0, 1]


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"])
def test_a_message_may_ask_for_protection_itself(format: str) -> None:
    content: Json = {"parts": [{"text": "x"}]} if format == "google-gemini" else {"content": "x"}
    plain = {"role": "user", **content}
    marked = {"role": "user", "meta": {"protected": True, "note": 1}, **content}
    conversation = parse(
        [plain, marked, {**plain, "meta": {"protected": False}}, {**plain, "meta": {"note": 1}}], format=format
    )
    assert protected(conversation) == [1]
    assert render(conversation) == [plain, plain, plain, {**plain, "meta": {"note": 1}}]
    assert "meta" in marked


@given(hostile_json())
def test_a_meta_key_is_taken_off_only_if_it_is_ours(meta: Json) -> None:
    wire = {"role": "user", "meta": meta, "content": "x"}
    (sent,) = render(chat(wire))
    ours = isinstance(meta, dict) and "protected" in meta
    assert sent == ({"role": "user", "content": "x"} if ours else wire)
    assert ours or sent is wire


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_a_message_from_a_user_holds_more_than_results(format: str, data: st.DataObject) -> None:
    for message in parse(data.draw(hostile_messages(format)), format=format).messages:
        assert message.from_user == (message.role == "user" and len(message.blocks) > len(message.results))


def test_the_body_is_what_was_read() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 0.5, "tools": []}
    conversation = parse(body)
    assert list(request_body(conversation).items()) == list(body.items())
    assert (conversation.format, len(conversation)) == ("openai-chat", 1)
