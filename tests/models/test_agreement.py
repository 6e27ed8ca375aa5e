"""Our arithmetic on our snapshot gives what genai-prices gives, for every model it prices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from genai_prices import calc_price
from genai_prices import types as genai
from genai_prices.data import providers

import compact.models
from compact.models import Model, Usage, cost, find_model, list_models

SNAPSHOT: dict[str, Any] = json.loads(
    (Path(compact.models.__file__).parent / "catalogue.json").read_text(encoding="utf-8")
)
PROVIDERS = {"xai": "x-ai", "vertex": "google", "bedrock": "aws"}
USAGES = [
    Usage(input=1000, output=500),
    Usage(input=1234, output=77, cache_write=4321, cache_read=98_765),
    Usage(input=10, output=3, cache_write=9000, cache_read=5, cache_write_1h=4000),
    Usage(input=150_000, output=2000, cache_read=50_000),  # at the threshold of the commonest tier
    Usage(input=150_001, output=2000, cache_read=50_000),  # and beyond it
    Usage(input=900_000, output=60_000, cache_write=30_000, cache_read=20_000),
]

pytestmark = pytest.mark.skipif(
    SNAPSHOT["sources"]["genai-prices"] != version("genai-prices"),
    reason="genai-prices has moved on since the snapshot: run scripts/update_models.py",
)


def as_reported(usage: Usage) -> genai.Usage:
    return genai.Usage(
        input_tokens=usage.total_input,
        output_tokens=usage.output,
        cache_write_tokens=usage.cache_write,
        cache_read_tokens=usage.cache_read,
        cache_write_1h_tokens=usage.cache_write_1h,
    )


def theirs(model: Model, usage: Usage) -> Decimal:
    """genai-prices' total on the day of the snapshot, at the dearest hour where the hour matters."""
    provider = next(provider for provider in providers if provider.id == PROVIDERS.get(model.vendor, model.vendor))
    found = next((info for info in provider.models if info.id == model.id), None)
    # Some of Bedrock's are served only through a region; fine-tuned models are matched with what follows the base.
    for name in (model.id, f"us.{model.id}", f"{model.id}-2024-07-18:acme::id"):
        found = found or provider.find_model(name, all_providers=providers)
    assert found is not None, model.id
    hourly = isinstance(found.prices, list) and any(
        isinstance(price.constraint, genai.TimeOfDateConstraint) for price in found.prices
    )
    day = datetime.fromisoformat(SNAPSHOT["date"]).replace(tzinfo=UTC)
    return max(
        found.calc_price(as_reported(usage), provider, genai_request_timestamp=day.replace(hour=hour)).total_price
        for hour in (range(24) if hourly else [12])
    )


PRICED = [model for model in list_models() if model.prices is not None]


def test_the_sample_is_large_and_varied() -> None:
    assert len(PRICED) * len(USAGES) > 5000
    assert {model.vendor for model in PRICED} >= {
        "openai",
        "azure",
        "anthropic",
        "google",
        "vertex",
        "bedrock",
        "openrouter",
    }
    assert sum(bool(model.prices and model.prices.tiers) for model in PRICED) > 50
    assert sum(bool(model.prices and model.prices.cache_write_1h) for model in PRICED) > 20


@pytest.mark.parametrize("vendor", sorted({model.vendor for model in PRICED}))
def test_costs_agree(vendor: str) -> None:
    for model in PRICED:
        if model.vendor != vendor or model.id.endswith(":free"):
            continue
        for usage in USAGES:
            ours = cost(usage, model.prices)
            if ours is None:  # they take an output without a price for free
                assert model.prices is not None
                assert model.prices.output is None
                assert usage.output
            else:
                assert ours == theirs(model, usage), (model.id, usage)


@pytest.mark.parametrize(
    "name", ["gpt-5", "claude-sonnet-4-5-20250929", "gemini-2.5-pro", "grok-4.3", "claude-haiku-5-5"]
)
def test_costs_agree_with_their_front_door(name: str) -> None:
    model = find_model(name)
    day = datetime.fromisoformat(SNAPSHOT["date"]).replace(tzinfo=UTC)
    for usage in USAGES:
        price = calc_price(as_reported(usage), name, genai_request_timestamp=day)
        assert cost(usage, model.prices) == price.total_price
