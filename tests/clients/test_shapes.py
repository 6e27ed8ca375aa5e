"""The requests of real clients, played: one session, nothing refused, and a prefix that breaks only for a reason."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from compact import models
from compact.messages import Json
from compact.models import Usage
from compact.server.gateway.upstreams import SPEAKS
from scripts.lab.shapes import Shape
from tests.clients.playing import NAMES, Played, is_marked, play_gateway, play_in_turn, play_manager, shape_of

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


def test_two_conversations_over_the_same_documents_in_turn_are_as_each_alone(tmp_path: Path) -> None:
    """Their first requests are compacted, and no answer of the model is before what that depends on."""
    shape, random = shape_of("mini-anthropic"), Random(1)
    words = [" ".join(random.choices(string.ascii_letters, k=2_300)) for _ in range(7)]
    documents: list[Json] = [{"role": "user", "content": f"A document: {text}"} for text in words]
    both = []
    for name in ("one", "other"):
        asked: Json = {"role": "user", "content": f"This is the {name} conversation about them."}
        both.append(_with(shape, [[*documents, asked, *body["messages"]] for body in shape.bodies[:30]]))
    alone, one, other = _alone_and_in_turn(both, tmp_path)
    assert one.faults == other.faults == alone.faults
    assert one.ledger.compactions == alone.ledger.compactions
    assert not one.sessions & other.sessions


def test_two_branches_in_turn_cost_one_compaction_more(tmp_path: Path) -> None:
    """The second leaves the first at the thirtieth step, when the first is at the thirty-fifth."""
    shape = shape_of("mini-anthropic")
    other = _other(shape, len(shape.bodies[30]["messages"]))
    other = replace(other, bodies=other.bodies[35:])
    alone, one, two = _alone_and_in_turn([shape, other], tmp_path)
    assert one.ledger.compactions <= alone.ledger.compactions + 1
    assert two.ledger.compactions <= sum(entry.compacted for entry in alone.ledger.entries[35:]) + 1
    first_of_session = "request 36 breaks by compaction, and is said to by nothing"
    assert one.faults == {"sessions": 1, "breaks without the right cause": [first_of_session]}
    assert two.faults == {"compactions without a break": 1}, "its first request has none before it"


def _alone_and_in_turn(shapes: Sequence[Shape], folder: Path) -> list[Played]:
    """The first conversation alone, and all of them in turn."""
    folders = [folder / "alone", folder / "in turn"]
    for one in folders:
        one.mkdir()
    window = shapes[0].windows[0]
    return [play_gateway(shapes[0], window, folders[0]), *play_in_turn(shapes, window, folders[1])]


def _other(shape: Shape, at: int) -> Shape:
    """The same conversation with other words of the model from one message on."""

    def changed(message: Json) -> Json:
        text = {"type": "text", "text": "Another way."}
        return {**message, "content": [text, *message["content"]]} if message["role"] == "assistant" else message

    bodies = [[*body["messages"][:at], *map(changed, body["messages"][at:])] for body in shape.bodies]
    return _with(shape, bodies)


def _with(shape: Shape, conversations: Sequence[list[Json]]) -> Shape:
    bodies = ({**body, "messages": said} for body, said in zip(shape.bodies, conversations, strict=False))
    return replace(shape, bodies=tuple(bodies))


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
