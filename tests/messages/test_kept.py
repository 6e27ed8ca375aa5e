"""What is read of messages and conversations is kept with them, and several values are spliced in one go."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import EditError
from compact.formats import parse
from compact.messages import Conversation, has_references
from compact.messages.conversation import once
from compact.messages.paths import splice, splice_all
from compact.messages.resolve import resolve, unresolved
from compact.messages.texts import is_marked, message_texts


def called(arguments: str) -> Conversation:
    function = {"name": "write", "arguments": arguments}
    call = {"id": "a", "type": "function", "function": function}
    return parse([{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": [call]}])


def test_a_conversation_is_read_once_and_a_changed_one_anew() -> None:
    read: list[int] = []

    @once
    def size(conversation: Conversation) -> int:
        read.append(len(conversation))
        return len(conversation)

    conversation = called("{}")
    shorter = conversation.with_messages(conversation.messages[:1])
    assert [size(conversation), size(conversation), size(shorter)] == [2, 2, 1]
    assert read == [2, 1]
    assert conversation == conversation.with_messages(conversation.messages)


def test_the_texts_of_a_message_are_read_once() -> None:
    message = called('{"a": "x", "b": ["y"]}').messages[1]
    assert [text for _, text in message_texts(message)] == ["x", "y"]
    assert message_texts(message) is message_texts(message)


@pytest.mark.parametrize("written", ["⟨=", "\\u27e8=", "\\u27E8\\u003d"])
def test_a_sign_is_found_in_arguments_however_it_is_written(written: str) -> None:
    assert is_marked(called(f'{{"a": "so: {written}"}}').messages[1])
    assert has_references(called(f'{{"a": {{"b": ["{written}"]}}}}'))
    assert not has_references(called(f'{{"{written}": "only a key"}}'))


def test_a_reference_that_leads_nowhere_is_told_as_often_as_it_stands_there() -> None:
    line = "⟨=lines 1-2 of a file #abcdef:0123⟩"
    conversation = parse([{"role": "user", "content": f"{line}\n{line}"}])
    assert unresolved(conversation) == {line: 2}
    assert [text.meaning for _, text in resolve(conversation)] == [f"{line}\n{line}"]


@given(
    st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.lists(st.text(max_size=5), max_size=3), max_size=5),
    st.booleans(),
    st.sampled_from((None, 2)),
)
def test_values_spliced_together_are_as_if_spliced_one_by_one(
    value: dict[str, str | list[str]], ascii_only: bool, indent: int | None
) -> None:
    literal = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    paths: list[tuple[str | int, ...]] = []
    for key, item in value.items():
        paths += [(key, at) for at in range(len(item))] if isinstance(item, list) else [(key,)]
    singly = literal
    for path in paths:
        singly = splice(singly, path, f"⟨{path}⟩")
    assert splice_all(literal, {path: f"⟨{path}⟩" for path in reversed(paths)}) == singly


def test_one_value_that_cannot_be_written_again_refuses_all() -> None:
    literal = '{"a": "plain", "b": "\\u0061"}'
    assert splice_all(literal, {("a",): "new"}) == '{"a": "new", "b": "\\u0061"}'
    with pytest.raises(EditError, match="cannot be reproduced"):
        splice_all(literal, {("a",): "new", ("b",): "new"})
    with pytest.raises(EditError, match="nothing stands at c"):
        splice_all(literal, {("a",): "new", ("c",): "new"})
