"""What a condensation would come to, told before it is done."""

from __future__ import annotations

from decimal import Decimal
from importlib.resources import files
from time import process_time

import pytest

import compact
from compact.app import Condensation, choose, count, counter_for, read_transcript
from compact.app.estimating import Asking, estimate_way
from compact.messages import Conversation
from compact.models import Usage, cost, find_model
from compact.ports import Ask
from compact.providers import presets

WAYS = [preset.name for preset in presets()]
ASKING = ["quality", "cost", "balanced", "v3"]


@pytest.fixture(scope="module")
def session() -> Conversation:
    name = "session.anthropic-messages.json"
    return read_transcript((files("compact.cli") / "transcripts" / name).read_bytes())


@pytest.mark.parametrize("target", [None, 0.5, 0.2])
@pytest.mark.parametrize("preset", WAYS)
def test_the_estimate_is_near_what_comes_of_it(session: Conversation, preset: str, target: float | None) -> None:
    told = compact.estimate(session, preset=preset, target=target)
    model = find_model("gpt-4o")
    asking = Asking(model, counter_for("gpt-4o").text)
    report = Condensation(session, "gpt-4o", target).run(*choose(None, preset, None), asking).report
    assert told.tokens_before == report.tokens_before
    assert abs(told.tokens_after - report.tokens_after) <= 0.06 * report.tokens_before
    assert told.cost is not None
    assert asking.cost is not None
    # How much is asked follows from the tokens, so what these may be off costs something, too.
    slack = cost(Usage(int(0.06 * report.tokens_before)), model.prices) or Decimal(0)
    assert abs(told.cost - asking.cost) <= Decimal("0.2") * asking.cost + slack
    assert told.reduction == pytest.approx(1 - told.tokens_after / told.tokens_before)


@pytest.mark.clock
@pytest.mark.parametrize("preset", WAYS)
def test_an_estimate_of_a_hundred_thousand_tokens_takes_a_tenth_of_a_second(session: Conversation, preset: str) -> None:
    condensation, way = Condensation(session, "gpt-4o", None), choose(None, preset, None)
    assert condensation.tokens > 99_000

    def timed() -> float:
        began = process_time()
        estimate_way(condensation, *way)
        return process_time() - began

    # The least of a few: what else runs on the machine only ever adds to it.
    assert min(timed() for _ in range(5)) < 0.100


@pytest.mark.parametrize("preset", ASKING)
def test_what_is_asked_costs_what_the_catalogue_says(session: Conversation, preset: str) -> None:
    dear, cheap = (compact.estimate(session, preset=preset, model=model) for model in ("gpt-4o", "gpt-4o-mini"))
    assert dear.asks == cheap.asks > 0
    assert dear.cost is not None
    assert cheap.cost is not None
    assert Decimal(10) < dear.cost / cheap.cost < Decimal(20)
    assert dear.seconds > 1


@pytest.mark.parametrize("preset", ["speed", "v1", "v2"])
def test_what_asks_nobody_costs_nothing(session: Conversation, preset: str) -> None:
    told = compact.estimate(session, preset=preset, target=0.5)
    assert (told.asks, told.cost, told.seconds) == (0, Decimal(0), 0.0)
    assert told.saved is not None
    assert told.saved > 0


def test_an_unknown_price_is_not_a_price_of_zero(session: Conversation) -> None:
    told = compact.estimate(session, preset="v3", model="a-model-nobody-knows")
    assert told.asks > 0
    assert told.cost is None
    assert told.saved is None
    assert compact.estimate(session, preset="v1", model="a-model-nobody-knows").cost == 0


def test_a_target_that_is_met_already_needs_nothing(session: Conversation) -> None:
    told = compact.estimate(session, preset="v3", target=1_000_000)
    assert (told.asks, told.reduction, told.target_met) == (0, 0.0, True)
    assert not compact.estimate(session, preset="v2", target=100).target_met


def test_it_takes_what_condense_takes() -> None:
    messages = [{"role": "user", "content": "hi"}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    told = compact.estimate(messages, provider="lossless", config={"level": "verbatim"}, system="Be kind.", tools=tools)
    assert told.tokens_before == count(compact.parse(messages, system="Be kind.", tools=tools)).total
    assert told.reduction == 0.0
    with pytest.raises(compact.InvalidInput, match="cannot be given beside a preset"):
        compact.estimate(messages, provider="lossless", preset="v1")


def test_an_answer_is_as_long_as_is_to_be_expected() -> None:
    model, counter = find_model("claude-sonnet-4-5"), counter_for("claude-sonnet-4-5")
    asking = Asking(model, counter.text)
    material = "Some words to be summarized. " * 200
    long, short = asking([Ask("Summarize.", material, 100), Ask("Summarize.", material[:400], 100)])
    assert abs(counter.text(long.text) - 100) <= 3
    assert counter.text(short.text) < 30
    assert all(answer.estimated for answer in (long, short))
    usage = Usage(counter.text("Summarize.") + counter.text(material), 100)
    assert long.usage == usage
    assert long.cost == cost(usage, model.prices)
    assert asking.asks == 2


@pytest.mark.parametrize("target", [None, 0.5, 0.3])
@pytest.mark.parametrize("preset", ["speed", "v1", "v2"])
def test_where_nobody_is_asked_it_comes_to_just_that(session: Conversation, preset: str, target: float | None) -> None:
    after = compact.condense(session, preset=preset, target=target).report.tokens_after
    assert compact.estimate(session, preset=preset, target=target).tokens_after == after
