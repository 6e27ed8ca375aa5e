"""A session that is played again costs what its requests cost, and no more is cached than could have been."""

from __future__ import annotations

from decimal import Decimal

import pytest

from compact.app.counting import count
from compact.app.recipes import list_recipes, resolve_recipe
from compact.formats import parse
from compact.lab.replaying import NAIVE, NOTHING, Played, Terms, replay
from compact.messages import Conversation, Json
from compact.models import Usage, cost, find_model

SONNET, GPT = find_model("claude-sonnet-4-5"), find_model("gpt-4o")


def session(turns: int) -> Conversation:
    messages: list[Json] = []
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        listing = "\n".join(f"{line}: value_{number}_{line} = {line * number}" for line in range(60))
        messages += [
            {"role": "user", "content": f"Look at file {number}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": listing},
            {"role": "assistant", "content": f"File {number} is fine."},
        ]
    return parse(messages)


def test_without_compaction_every_request_is_the_history_up_to_then() -> None:
    whole = session(3)
    played = replay(whole, NOTHING, Terms(GPT, 128_000))
    assert [one.position for one in played.sent] == [1, 3, 5, 7, 9, 11]
    for one in played.sent:
        assert one.tokens == count(whole.with_messages(whole.messages[: one.position]), model="gpt-4o").total
    assert (played.compactions, played.overflows) == (0, 0)
    assert played.dollars == sum((one.cost or Decimal(0) for one in played.sent), Decimal(0))


def test_the_cache_has_the_request_before_from_its_shortest_prefix_on() -> None:
    played = replay(session(8), NOTHING, Terms(SONNET, 200_000))
    assert SONNET.cache is not None
    before = 0
    for one in played.sent:
        expected = before if before >= SONNET.cache.minimum else 0
        assert one.usage.cache_read == pytest.approx(expected, abs=8)  # the frame of the reply is no part of a prefix
        assert one.usage.total_input == one.tokens
        before = one.tokens
    assert played.hit_rate > 0.5


def test_a_vendor_that_caches_by_itself_does_so_in_pieces_and_charges_no_writing() -> None:
    for one in replay(session(8), NOTHING, Terms(GPT, 128_000)).sent:
        assert one.usage.cache_read % 128 == 0
        assert one.usage.cache_write == 0


def test_after_a_long_pause_nothing_is_cached() -> None:
    played = replay(session(8), NOTHING, Terms(SONNET, 200_000, gap=7200))
    assert played.hit_rate == 0


@pytest.mark.laws
@pytest.mark.parametrize("name", [name for name, _ in list_recipes()])
def test_every_recipe_keeps_every_request_below_the_window(name: str) -> None:
    whole = session(25)
    terms = Terms(SONNET, 8000, summarizer=find_model("claude-haiku-4-5"))
    nothing, played = replay(whole, NOTHING, terms), replay(whole, resolve_recipe(name), terms)
    assert nothing.overflows > 0
    assert played.overflows == 0
    assert played.peak <= 8000
    assert played.compactions > 0
    assert played.tokens < nothing.tokens
    assert len(played.sent) == len(nothing.sent)


def test_naive_truncation_fits_and_spoils_the_cache() -> None:
    whole, terms = session(25), Terms(SONNET, 8000)
    naive, ours = replay(whole, NAIVE, terms), replay(whole, resolve_recipe("v2"), terms)
    assert naive.overflows == 0
    assert naive.hit_rate < ours.hit_rate
    nothing = replay(whole, NOTHING, terms)
    assert nothing.dollars is not None
    assert naive.dollars is not None
    assert naive.dollars > nothing.dollars


def test_summaries_are_charged_at_the_summarizers_price() -> None:
    whole = session(25)
    free = replay(whole, resolve_recipe("cost"), Terms(SONNET, 8000))
    paid = replay(whole, resolve_recipe("cost"), Terms(SONNET, 8000, summarizer=find_model("claude-haiku-4-5")))
    assert free.condensing == 0
    assert paid.condensing is not None
    assert paid.condensing > 0
    assert paid.dollars is not None
    assert free.dollars is not None
    assert paid.dollars == free.dollars + paid.condensing


def test_auto_is_played_without_a_model_and_nothing_is_charged_for_its_account() -> None:
    played = replay(session(25), resolve_recipe("auto"), Terms(SONNET, 8000, summarizer=find_model("claude-haiku-4-5")))
    assert played.compactions > 0
    assert played.condensing == 0
    assert played.condensed_tokens == 0


def test_a_model_without_prices_has_no_dollars() -> None:
    played = replay(session(2), NOTHING, Terms(find_model("nobody-knows-it"), 128_000))
    assert played.dollars is None
    assert played.tokens > 0


def test_a_session_without_answers_has_no_requests() -> None:
    played = replay(parse([{"role": "user", "content": "Hi"}]), NOTHING, Terms(GPT, 128_000))
    assert played == Played(NOTHING, ())
    assert (played.hit_rate, played.peak, played.tokens) == (0.0, 0, 0)
    assert cost(Usage(), GPT.prices) == 0


def test_a_request_of_which_nothing_is_left_is_refused() -> None:
    naive = replay(session(3), NAIVE, Terms(GPT, 700))
    assert [one.overflows for one in naive.sent] == [False, True] * 3
