"""Signatures: thinking is bound to its own text, and to the conversation it was made in."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from anthropic import Anthropic
from hypothesis import given
from hypothesis import strategies as st

from compact.testing.vendors import FakeVendors, Reply
from compact.testing.vendors.seals import DIGEST, digest, seal, unseal
from tests.testing.vendor_clients import ANTHROPIC, APIS, Response, send, words

CONTROLS = "thinking-binding-controls-2026-08-01"
TOOL: Any = {"name": "weather", "input_schema": {"type": "object"}}
Body: TypeAlias = dict[str, Any]
ELSEWHERE = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
NEEDS = f" That setting requires the `{CONTROLS}` value in the `anthropic-beta` header."


@pytest.fixture
def bound() -> Iterator[FakeVendors]:
    with FakeVendors(count=words, bind_prefix=True) as server:
        yield server


@pytest.fixture
def loose() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


def _talk(server: FakeVendors, turns: int = 1) -> Body:
    """A conversation with thinking in each of its turns, ready to be sent again."""
    body: Body = {
        **APIS["anthropic"].body("Question 0"),
        "system": "Be brief.",
        "tools": [TOOL],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    for turn in range(turns):
        server.reply(Reply(f"Answer {turn}", reasoning=f"Thought {turn}"))
        answer = _send(server, body).json
        asked = {"role": "user", "content": f"Question {turn + 1}"}
        body["messages"] = [*body["messages"], {"role": "assistant", "content": answer["content"]}, asked]
    return body


def _send(server: FakeVendors, body: Body, *, beta: bool = False) -> Response:
    return send(server, "POST", "/v1/messages", body, {**ANTHROPIC, **({"anthropic-beta": CONTROLS} if beta else {})})


def _refused(response: Response) -> str:
    assert response.status == 400
    assert response.json["error"]["type"] == "invalid_request_error"
    return str(response.json["error"]["message"])


def test_an_unchanged_conversation_is_accepted(bound: FakeVendors) -> None:
    assert _send(bound, _talk(bound, turns=3)).status == 200


def test_another_server_accepts_it_too(bound: FakeVendors) -> None:
    body = _talk(bound, turns=2)
    with FakeVendors(count=words, bind_prefix=True) as restarted:
        assert _send(restarted, body).status == 200


@pytest.mark.parametrize("field", ["thinking", "signature"])
def test_edited_thinking_is_refused_whether_bound_or_not(bound: FakeVendors, loose: FakeVendors, field: str) -> None:
    for server in (bound, loose):
        body = _talk(server)
        body["messages"][1]["content"][0][field] += " "
        assert _refused(_send(server, body)) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_signatures_cannot_be_swapped(loose: FakeVendors) -> None:
    body = _talk(loose, turns=2)
    first, second = body["messages"][1]["content"][0], body["messages"][3]["content"][0]
    first["signature"], second["signature"] = second["signature"], first["signature"]
    assert "messages.1.content.0: Invalid `signature`" in _refused(_send(loose, body))


def test_redacted_thinking_of_ones_own_making_is_refused(loose: FakeVendors) -> None:
    body = _talk(loose)
    body["messages"][1]["content"][0] = {"type": "redacted_thinking", "data": "bm90IG91cnM="}
    assert _refused(_send(loose, body)) == "messages.1.content.0: Invalid `data` in `redacted_thinking` block"


def _change_system(body: Body) -> None:
    body["system"] = "Be long."


def _add_tool(body: Body) -> None:
    body["tools"] = [TOOL, {**TOOL, "name": "news"}]


def _edit_question(body: Body) -> None:
    body["messages"][0]["content"] = "Another question"


def _drop_first_turn(body: Body) -> None:
    del body["messages"][:2]


EDITS = [
    (_change_system, " The `system` prompt differs from the one this block was created with."),
    (_add_tool, " The `tools` list differs from the one this block was created with."),
    (_edit_question, ""),
]


@pytest.mark.parametrize(("edit", "named"), EDITS)
def test_a_changed_prefix_is_refused_where_it_is_bound(
    bound: FakeVendors, loose: FakeVendors, edit: Callable[[Body], None], named: str
) -> None:
    body = _talk(bound, turns=2)
    edit(body)
    assert _refused(_send(bound, body)) == ELSEWHERE + NEEDS + named
    assert _refused(_send(bound, body, beta=True)) == ELSEWHERE + named
    assert _send(loose, body).status == 200


def test_counting_tokens_checks_the_same(bound: FakeVendors) -> None:
    body = _talk(bound)
    _change_system(body)
    assert _refused(send(bound, "POST", "/v1/messages/count_tokens", body, ANTHROPIC)).startswith(ELSEWHERE)


@pytest.mark.parametrize(("edit", "named"), EDITS)
def test_a_client_may_ask_for_bound_blocks_to_be_dropped(
    bound: FakeVendors, edit: Callable[[Body], None], named: str
) -> None:
    body = _talk(bound, turns=2)
    edit(body)
    body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    assert "block_binding: Extra inputs are not permitted" in _refused(_send(bound, body)), named
    answer = _send(bound, body, beta=True)
    assert answer.json["input_transformations"] == [
        {"type": "thinking_dropped", "path": f"messages.{at}.content.0", "reason": "prefix_binding_mismatch"}
        for at in (1, 3)
    ]
    # What is dropped is not paid for: two thoughts of two words.
    body["messages"] = [{**message, "content": _spoken(message["content"])} for message in body["messages"]]
    assert _send(bound, body, beta=True).json["usage"]["input_tokens"] == answer.json["usage"]["input_tokens"]


def _spoken(content: Any) -> Any:
    return content if isinstance(content, str) else [part for part in content if part["type"] != "thinking"]


def test_dropping_does_not_excuse_an_edited_block(bound: FakeVendors) -> None:
    body = _talk(bound)
    body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    body["messages"][1]["content"][0]["thinking"] = "Something else"
    assert _refused(_send(bound, body, beta=True)) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_setting_the_behaviour_asks_for_the_check(loose: FakeVendors) -> None:
    body = _talk(loose)
    _change_system(body)
    allowed = _send(loose, body, beta=True).json["input_transformations"]
    assert [note["type"] for note in allowed] == ["thinking_mismatch_allowed"]
    body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "error"}
    assert _refused(_send(loose, body, beta=True)).startswith(ELSEWHERE)


def test_the_list_of_what_was_changed_is_there_for_those_who_ask(bound: FakeVendors) -> None:
    body = _talk(bound)
    assert "input_transformations" not in _send(bound, body).json
    assert _send(bound, body, beta=True).json["input_transformations"] == []


def test_cache_markers_and_other_parameters_may_change(bound: FakeVendors) -> None:
    body = _talk(bound, turns=2)
    marker = {"cache_control": {"type": "ephemeral"}}
    body["system"] = [{"type": "text", "text": body["system"], **marker}]
    body["tools"] = [{**TOOL, **marker}, {**TOOL, "name": "later", "defer_loading": True}]
    body["messages"][0]["content"] = [{"type": "text", "text": "Question 0", **marker}]
    body |= {"max_tokens": 77, "metadata": {"user_id": "u"}}
    assert _send(bound, body).status == 200


@pytest.mark.parametrize(
    ("removed", "accepted"), [([0], True), ([0, 1], True), ([2], True), ([0, 1, 2], True), ([1], False)]
)
def test_thinking_may_be_removed_from_the_ends_only(bound: FakeVendors, removed: list[int], accepted: bool) -> None:
    body = _talk(bound, turns=3)
    for turn in removed:
        message = body["messages"][2 * turn + 1]
        message["content"] = _spoken(message["content"])
    assert (_send(bound, body).status == 200) is accepted


def test_what_comes_after_a_dropped_block_is_dropped_with_it(bound: FakeVendors) -> None:
    body = _talk(bound, turns=4)
    body["messages"][3]["content"] = _spoken(body["messages"][3]["content"])
    body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    notes = _send(bound, body, beta=True).json["input_transformations"]
    assert [note["path"] for note in notes] == ["messages.5.content.0", "messages.7.content.0"]


def test_dropping_whole_turns_before_bound_thinking_is_refused(bound: FakeVendors) -> None:
    body = _talk(bound, turns=2)
    _drop_first_turn(body)
    assert _refused(_send(bound, body)).startswith(ELSEWHERE)


def test_the_sdk_reports_what_was_dropped(bound: FakeVendors) -> None:
    body = copy.deepcopy(_talk(bound))
    _change_system(body)
    body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    with Anthropic(api_key="k", base_url=bound.url, max_retries=0) as client:
        whole = client.beta.messages.create(**body, betas=[CONTROLS])
        with client.beta.messages.stream(**body, betas=[CONTROLS]) as stream:
            streamed = stream.get_final_message()
    for message in (whole, streamed):
        assert message.input_transformations is not None
        assert [note.type for note in message.input_transformations] == ["thinking_dropped"]


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_what_is_sealed_is_found_again(parts: list[bytes]) -> None:
    digests = tuple(digest(part) for part in parts)
    assert unseal(seal(*digests)) == digests


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=3), st.data())
def test_a_seal_that_was_edited_is_none(parts: list[bytes], data: st.DataObject) -> None:
    text = seal(*(digest(part) for part in parts))
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("AZaz09+/= é").filter(lambda letter: letter != text[at]))
    assert unseal(text[:at] + letter + text[at + 1 :]) is None


@given(st.one_of(st.text(), st.none(), st.integers(), st.lists(st.text())))
def test_anything_else_is_no_seal(value: Any) -> None:
    assert unseal(value) is None


def test_parts_are_told_apart() -> None:
    assert len({digest(b"ab", b"c"), digest(b"a", b"bc"), digest(b"abc")}) == 3
    assert len(digest(b"")) == DIGEST
