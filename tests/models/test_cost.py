"""Laws of usage and cost."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidInput
from compact.models import Prices, Tier, Usage, cost, find_model

tokens = st.integers(0, 10_000_000)
dollars = st.decimals(0, 1000, places=4)
known = st.builds(Prices, dollars, dollars, dollars, dollars, dollars)
numbers = st.none() | st.integers(-(10**9), 10**9) | st.floats() | st.text(max_size=3) | st.booleans()


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    written = draw(tokens)
    return Usage(draw(tokens), draw(tokens), written, draw(tokens), draw(st.integers(0, written)))


def formula(usage: Usage, prices: Prices) -> Fraction:
    """FR-CO-001 as it stands, with the writes that live for an hour priced apart."""
    rates = [prices.input, prices.output, prices.cache_write, prices.cache_write_1h, prices.cache_read]
    writes = [usage.cache_write - usage.cache_write_1h, usage.cache_write_1h]
    counts = [usage.input, usage.output, *writes, usage.cache_read]
    return sum(
        (Fraction(rate or 0) / 1_000_000 * count for rate, count in zip(rates, counts, strict=True)), Fraction(0)
    )


@given(usages(), known)
def test_cost_is_the_formula(usage: Usage, prices: Prices) -> None:
    total = cost(usage, prices)
    assert total is not None
    assert Fraction(total) == formula(usage, prices)


@given(usages(), usages(), known)
def test_without_tiers_cost_is_additive(one: Usage, other: Usage, prices: Prices) -> None:
    apart = [cost(one, prices), cost(other, prices)]
    assert None not in apart
    assert cost(one + other, prices) == sum(part for part in apart if part is not None)


@given(usages())
def test_cost_is_unknown_where_prices_are(usage: Usage) -> None:
    assert cost(usage, None) is None
    assert cost(usage, Prices(None, None)) == (None if usage.total_input or usage.output else 0)


@given(usages(), dollars, dollars)
def test_cached_tokens_without_a_price_of_their_own_are_input(usage: Usage, input: Decimal, output: Decimal) -> None:
    prices = Prices(input, output)
    assert cost(usage, prices) == cost(Usage(usage.total_input, usage.output), prices)


@given(usages(), known, known, st.integers(0, 20_000_000))
def test_a_tier_prices_the_whole_request(usage: Usage, base: Prices, dear: Prices, above: int) -> None:
    tiered = Prices(
        base.input, base.output, base.cache_write, base.cache_read, base.cache_write_1h, tiers=(Tier(above, dear),)
    )
    assert cost(usage, tiered) == cost(usage, dear if usage.total_input > above else base)


def test_the_highest_tier_exceeded_counts_and_its_threshold_does_not_exceed_it() -> None:
    one, two, three = (Prices.per_million(rate, 0) for rate in (1, 2, 3))
    prices = Prices.per_million(1, 0)
    prices = Prices(prices.input, prices.output, tiers=(Tier(100, two), Tier(200, three)))
    assert [prices.at(size).input for size in (0, 100, 101, 200, 201)] == [1, 1, 2, 2, 3]
    assert one.at(10**9) is one


@given(usages())
def test_inclusive_and_exclusive_counts_meet(usage: Usage) -> None:
    again = Usage.inclusive(usage.total_input, usage.output, usage.cache_write, usage.cache_read, usage.cache_write_1h)
    assert again == usage


@given(tokens, tokens, tokens)
def test_more_cached_than_sent_is_no_negative_input(input: int, written: int, read: int) -> None:
    usage = Usage.inclusive(input, 0, written, read)
    assert usage.input == max(0, input - (written + read))


@given(usages())
def test_every_dialect_reports_the_same_usage(usage: Usage) -> None:
    anthropic = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
    }
    assert Usage.from_anthropic(anthropic) == usage
    assert Usage.from_anthropic({**anthropic, "cache_creation_input_tokens": None}) == usage

    plain = Usage(usage.input, usage.output, usage.cache_write, usage.cache_read)
    details = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    chat = {"prompt_tokens": usage.total_input, "completion_tokens": usage.output, "prompt_tokens_details": details}
    responses = {"input_tokens": usage.total_input, "output_tokens": usage.output, "input_tokens_details": details}
    assert Usage.from_openai(chat) == Usage.from_openai(responses) == plain
    converse = {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "cacheWriteInputTokens": usage.cache_write,
        "cacheReadInputTokens": usage.cache_read,
    }
    assert Usage.from_bedrock(converse) == plain


def test_gemini_counts_thoughts_as_output_and_tool_prompts_as_input() -> None:
    reported = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 600,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 30,
        "toolUsePromptTokenCount": 7,
        "totalTokenCount": 1087,
    }
    snake = {"prompt_token_count": 1000, "cached_content_token_count": 600, "candidates_token_count": 80}
    assert Usage.from_gemini(reported) == Usage(input=407, output=80, cache_read=600)
    assert Usage.from_gemini(snake) == Usage(input=400, output=80, cache_read=600)


def test_deepseek_reports_its_cache_hits_beside_the_prompt() -> None:
    reported = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "prompt_cache_hit_tokens": 64,
        "prompt_cache_miss_tokens": 36,
    }
    assert Usage.from_openai(reported) == Usage(input=36, output=5, cache_read=64)


FIELDS = [
    *("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation"),
    *("ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens", "prompt_tokens", "completion_tokens"),
    *("prompt_tokens_details", "input_tokens_details", "cached_tokens", "cache_write_tokens", "promptTokenCount"),
    *("cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "inputTokens", "cacheWriteInputTokens"),
]


@given(st.recursive(numbers, lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)))
def test_no_report_is_too_strange(reported: Any) -> None:
    given_ = reported if isinstance(reported, dict) else {}
    for read in (Usage.from_anthropic, Usage.from_openai, Usage.from_gemini, Usage.from_bedrock):
        usage = read(given_)
        assert min(usage.input, usage.output, usage.cache_write, usage.cache_read, usage.cache_write_1h) >= 0


def test_nothing_reported_is_nothing_used() -> None:
    readers = (Usage.from_anthropic, Usage.from_openai, Usage.from_gemini, Usage.from_bedrock)
    assert {read({}) for read in readers} == {Usage()}
    assert Usage.from_openai({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}) == Usage()
    assert cost(Usage(), Prices.per_million(3, 15)) == 0


@pytest.mark.parametrize("field", ["input", "output", "cache_write", "cache_read", "cache_write_1h"])
def test_negative_usage_is_refused_by_name(field: str) -> None:
    with pytest.raises(InvalidInput, match=f"usage.{field}"):
        Usage(**{field: -1})


def test_more_writes_for_an_hour_than_writes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"usage\.cache_write_1h"):
        Usage(cache_write=1, cache_write_1h=2)


@pytest.mark.parametrize("price", ["-1", "NaN", "Infinity"])
def test_impossible_prices_are_refused_by_name(price: str) -> None:
    with pytest.raises(InvalidInput, match=r"prices\.cache_read"):
        Prices.per_million(1, 1, cache_read=price)


def test_prices_are_read_as_they_are_printed() -> None:
    assert Prices.per_million(0.1, "0.3").input == Decimal("0.1")


def test_the_specifications_example_of_a_saving() -> None:
    usage = Usage(input=4000, output=800)
    sonnet, mini = (cost(usage, find_model(name).prices) for name in ("claude-sonnet-4-5", "gpt-4o-mini"))
    assert sonnet == Decimal("0.024")
    assert mini == Decimal("0.00108")
