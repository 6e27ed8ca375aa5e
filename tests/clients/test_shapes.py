"""The requests of real clients, played: one session, nothing refused, and a prefix that breaks only for a reason."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from compact import models
from compact.models import Usage
from compact.server.gateway.upstreams import SPEAKS
from tests.clients.playing import NAMES, Played, is_marked, play_gateway, play_manager, shape_of

SIZES = (0, 1)
"""The smaller and the larger of a shape's windows."""
SERVED = [name for name in NAMES if shape_of(name).format in SPEAKS]
MORE = 1.1
"""Compactions with marks for the cache, as a multiple of those without."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_a_manager_breaks_the_prefix_of_a_client_only_to_compact(name: str, size: int, tmp_path: Path) -> None:
    shape = shape_of(name)
    played = play_manager(shape, shape.windows[size], tmp_path / "marked")
    assert played.faults == {}
    if is_marked(name):
        plain = play_manager(shape_of(name, marked=False), shape.windows[size], tmp_path / "plain")
        assert played.ledger.compactions <= plain.ledger.compactions * MORE


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SERVED)
def test_the_gateway_breaks_the_prefix_of_a_client_only_to_compact(name: str, size: int, tmp_path: Path) -> None:
    shape = shape_of(name)
    assert play_gateway(shape, shape.windows[size], tmp_path).faults == {}


def test_claude_code_costs_no_more_with_auto_than_with_layers(tmp_path: Path) -> None:
    """With several compactions: of a single one, what it costs depends on when it is due."""
    shape = shape_of("claude")
    prices = models.find_model(shape.model).prices
    bills = {}
    for recipe in ("auto", "layers"):
        folder = tmp_path / recipe
        folder.mkdir()
        usages = list(_usages(play_gateway(shape, shape.windows[0], folder, COMPACT_RECIPE=recipe)))
        bills[recipe] = sum((models.cost(usage, prices) or Decimal(0) for usage in usages), Decimal(0))
        cached = sum(usage.cache_read for usage in usages) / sum(usage.total_input for usage in usages)
        print(f"{recipe}: {bills[recipe]:.3f} dollars, {cached:.1%} of the input cached")  # noqa: T201 - part of the result
    assert bills["auto"] <= bills["layers"]


def _usages(played: Played) -> Iterator[Usage]:
    """What the vendor charged for each answer, by Anthropic's names."""
    for answer in played.answers:
        told = answer["usage"]
        yield Usage(
            told["input_tokens"],
            told["output_tokens"],
            cache_write=told["cache_creation_input_tokens"],
            cache_read=told["cache_read_input_tokens"],
        )
