"""Recognising messages seen before."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compact.messages import common_prefix, freeze

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.lists(json_values))
def test_a_copy_equals_what_it_was_made_from(messages: list[Any]) -> None:
    frozen = freeze(messages)
    assert common_prefix(frozen, messages) == len(messages)
    assert common_prefix(frozen, tuple(copy.deepcopy(messages))) == len(messages)
    assert common_prefix(frozen, [*messages, "more"]) == len(messages)


def test_a_message_changed_in_place_is_noticed() -> None:
    messages: list[Any] = [{"content": [{"text": "a", "n": 1}]} for _ in range(3)]
    frozen = freeze(messages)
    messages[1]["content"][0]["text"] = "b"
    assert common_prefix(frozen, messages) == 1


def test_numbers_that_json_tells_apart_are_told_apart() -> None:
    for old, new in ((1, True), (1, 1.0), (0, False), (0.0, -0.0)):
        assert common_prefix(freeze([{"value": old}]), [{"value": new}]) == 0
        assert common_prefix(freeze([[old]]), [[old]]) == 1
