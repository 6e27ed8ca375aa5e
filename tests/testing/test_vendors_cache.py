"""Prompt caches: what each vendor reports for a prompt that begins like an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.testing.vendors import FakeVendors
from compact.testing.vendors.cache import MINIMUM, PromptCache
from compact.testing.vendors.prompt import Piece, Prompt
from tests.testing.vendor_clients import APIS, words

LONG = "lorem ipsum " * 1000
OTHER = "dolor sit " * 1000


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


def _cached(server: FakeVendors, name: str, body: Any) -> int:
    found = APIS[name].ask(server, body).json
    if name == "chat":
        return int(found["usage"]["prompt_tokens_details"]["cached_tokens"])
    if name == "responses":
        return int(found["usage"]["input_tokens_details"]["cached_tokens"])
    return int(found["usageMetadata"].get("cachedContentTokenCount", 0))


@pytest.mark.parametrize("name", ["chat", "responses", "gemini"])
def test_a_common_beginning_is_cached_by_itself(server: FakeVendors, name: str) -> None:
    api = APIS[name]
    assert _cached(server, name, api.body(LONG)) == 0
    again = _cached(server, name, api.body(LONG))
    # 2,000 words and a frame of four tokens are shared; OpenAI counts in steps of 128.
    assert again == (2004 if name == "gemini" else 15 * 128)
    assert _cached(server, name, api.body(OTHER)) == 0
    longer = _cached(server, name, api.body(LONG + OTHER))
    assert 1900 <= longer <= 2004
    assert name == "gemini" or longer % 128 == 0


@pytest.mark.parametrize("name", ["chat", "responses", "gemini"])
def test_a_short_prompt_is_not_cached(server: FakeVendors, name: str) -> None:
    body = APIS[name].body("word " * 1000)
    assert [_cached(server, name, body) for _ in range(2)] == [0, 0]


def test_a_cached_beginning_is_forgotten_after_a_while_and_kept_by_use(server: FakeVendors) -> None:
    body = APIS["chat"].body(LONG)
    _cached(server, "chat", body)
    for _ in range(3):
        server.advance(200)
        assert _cached(server, "chat", body) > 0
    server.advance(301)
    assert _cached(server, "chat", body) == 0


def test_models_and_apis_do_not_share_a_cache(server: FakeVendors) -> None:
    _cached(server, "chat", APIS["chat"].body(LONG))
    assert _cached(server, "chat", APIS["chat"].body(LONG, model="another")) == 0
    assert _cached(server, "responses", APIS["responses"].body(LONG)) == 0


def test_an_edit_of_an_earlier_message_costs_the_cache_behind_it(server: FakeVendors) -> None:
    def body(first: str) -> Any:
        return {"model": "m", "messages": [{"role": "user", "content": text} for text in (LONG, first, OTHER)]}

    _cached(server, "chat", body("one"))
    assert _cached(server, "chat", body("one")) == 4017 // 128 * 128
    assert _cached(server, "chat", body("two")) == 2004 // 128 * 128


def _mark(text: str, ttl: str = "") -> dict[str, Any]:
    marker = {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})
    return {"type": "text", "text": text, "cache_control": marker}


def _usage(server: FakeVendors, body: Any) -> tuple[int, int, int]:
    """Input, written and read tokens; together they are the prompt."""
    usage = APIS["anthropic"].ask(server, body).json["usage"]
    return usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]


def test_anthropic_caches_up_to_a_breakpoint_and_reports_the_rest_apart(server: FakeVendors) -> None:
    body = APIS["anthropic"].body("What now?", system=[_mark(LONG)])
    # The system prompt: 2,000 words and four of frame; the message: two words and four; three for the reply.
    assert _usage(server, body) == (9, 2004, 0)
    assert _usage(server, body) == (9, 0, 2004)
    assert _usage(server, APIS["anthropic"].body("What now?", system=LONG)) == (2013, 0, 0)
    server.advance(301)
    assert _usage(server, body) == (9, 2004, 0)


def test_the_lifetimes_of_what_is_written_are_told_apart(server: FakeVendors) -> None:
    body = APIS["anthropic"].body(
        "", system=[_mark(LONG, "1h")], messages=[{"role": "user", "content": [_mark(OTHER)]}]
    )
    usage = APIS["anthropic"].ask(server, body).json["usage"]
    assert usage["cache_creation"] == {"ephemeral_1h_input_tokens": 2004, "ephemeral_5m_input_tokens": 2004}
    server.advance(301)
    assert _usage(server, body) == (3, 2004, 2004)
    server.advance(3601)
    assert _usage(server, body) == (3, 4008, 0)


def test_a_growing_conversation_reads_what_it_wrote_before(server: FakeVendors) -> None:
    turns: list[Any] = [{"role": "user", "content": [_mark(LONG)]}]
    assert _usage(server, APIS["anthropic"].body("", messages=turns)) == (3, 2004, 0)
    turns = [
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": [_mark("Go on.")]},
    ]
    assert _usage(server, APIS["anthropic"].body("", messages=turns)) == (3, 12, 2004)


def test_a_breakpoint_looks_back_twenty_blocks_only(server: FakeVendors) -> None:
    first = {"role": "user", "content": [_mark(LONG)]}
    _usage(server, APIS["anthropic"].body("", messages=[first]))
    for blocks, read in ((19, 2004), (20, 0)):
        parts = [{"type": "text", "text": LONG}, *({"type": "text", "text": f"{blocks}/{n}"} for n in range(blocks))]
        parts[-1] = _mark(parts[-1]["text"])
        assert _usage(server, APIS["anthropic"].body("", messages=[{"role": "user", "content": parts}]))[2] == read


def test_a_breakpoint_before_the_minimum_writes_nothing(server: FakeVendors) -> None:
    body = APIS["anthropic"].body("What now?", system=[_mark("word " * 1000)])
    assert [_usage(server, body) for _ in range(2)] == [(1013, 0, 0)] * 2


def test_one_marker_for_the_whole_request_caches_it(server: FakeVendors) -> None:
    body = APIS["anthropic"].body(LONG, cache_control={"type": "ephemeral"})
    assert _usage(server, body) == (3, 2004, 0)
    assert _usage(server, body) == (3, 0, 2004)


def test_tools_come_first_in_the_prompt(server: FakeVendors) -> None:
    tools = [{"name": "a", "description": LONG, "input_schema": {}, "cache_control": {"type": "ephemeral"}}]
    first, second = (APIS["anthropic"].body("Hi", tools=tools, system=system) for system in ("One.", "Two."))
    written = _usage(server, first)[1]
    assert written >= 2000
    assert _usage(server, second)[1:] == (0, written)


Pieces = st.lists(
    st.builds(lambda letter, size: Piece("said", letter * size, size), st.sampled_from("ab"), st.integers(1, 1500)),
    max_size=4,
)


@given(Pieces, Pieces, Pieces)
def test_what_two_prompts_share_is_cached_and_no_more(common: list[Piece], one: list[Piece], two: list[Piece]) -> None:
    cache = PromptCache(len)
    assert cache.automatic("", [*common, *one]) == 0
    shared = cache.automatic("", [*common, *two])
    assert sum(piece.tokens for piece in common) <= shared <= sum(piece.tokens for piece in [*common, *two])
    assert cache.automatic("", [*common, *two]) == sum(piece.tokens for piece in [*common, *two])
    assert cache.automatic("another", [*common, *two]) == 0


@given(st.lists(st.tuples(st.integers(1, 2000), st.sampled_from([0, 300, 3600])), max_size=8))
def test_what_is_written_is_read_the_next_time(sizes: list[tuple[int, int]]) -> None:
    cache = PromptCache(len)
    pieces = [Piece(str(index), "", tokens, lifetime) for index, (tokens, lifetime) in enumerate(sizes)]
    prompt = Prompt(tuple(pieces), sum(tokens for tokens, _ in sizes))
    first, second = cache.explicit("", prompt), cache.explicit("", prompt)
    marked = [sum(tokens for tokens, _ in sizes[: at + 1]) for at, (_, lifetime) in enumerate(sizes) if lifetime]
    last = max((total for total in marked if total >= MINIMUM), default=0)
    assert first.written_5m + first.written_1h == last
    assert (first.cached, second.cached, second.written_5m + second.written_1h) == (0, last, 0)
