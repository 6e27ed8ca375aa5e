"""The mistakes of an earlier attempt at this design, each as a test of this one."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

import compact
from compact.app import Condensation, resolve_recipe
from compact.formats import FORMATS, parse, render, violations
from compact.messages import Image, Reasoning, has_references, pairs, unfold, unresolved
from compact.models import find_model
from compact.policies import PROVIDERS, should_condense
from compact.tokens import load_encoding
from tests.complaints import (
    EVERY_FORMAT,
    EVERY_WAY,
    PICTURE,
    SUMMARIZING,
    SUPPRESSING,
    TASK,
    WAYS,
    condense,
    in_format,
    session,
    sessions,
    signed,
    source,
    step,
    stopping,
    thought,
    written,
)

WITHOUT_FOLDS = [way for way in WAYS if way not in SUMMARIZING]


@EVERY_FORMAT
@EVERY_WAY
def test_recent_messages_stay_behind_the_old_ones(way: str, format: str) -> None:
    before = in_format(session(), format)
    result = condense(before, way, target=0.2)
    position = {message.id: index for index, message in enumerate(before.messages)}
    kept = [position[message.id] for message in result.conversation.messages if message.id in position]
    assert kept == sorted(set(kept))
    assert kept[0] == 0
    assert kept[-1] == len(before) - 1
    made = [at for at, message in enumerate(result.conversation.messages) if message.id not in position]
    assert all(0 < at < len(result.conversation) - 1 for at in made)


@EVERY_FORMAT
def test_suppressing_orphans_no_call_and_no_result(format: str) -> None:
    before = in_format(session(), format)
    result = compact.condense(before, **SUPPRESSING)
    after = result.conversation
    assert " omitted …]" in written(result.messages)
    assert result.report.tokens_after < result.report.tokens_before / 2
    assert len(after) == len(before)
    assert pairs(after.messages) == pairs(before.messages)
    assert violations(after, origin=before) == []


@pytest.mark.parametrize("way", WITHOUT_FOLDS)
def test_pictures_and_reasoning_come_through(way: str) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    shown = {"role": "user", "content": [{"type": "text", "text": TASK}, picture]}
    talks = {
        "anthropic-messages": [shown, *(item for number in range(6) for item in signed(number))],
        "openai-responses": [{"role": "user", "content": TASK}, *(item for at in range(6) for item in thought(at))],
    }
    for format, talk in talks.items():
        before = parse(talk, format=format)
        after = Condensation(before, "gpt-4o", 0.4).run(stopping(way)).conversation
        for kind in (Image, Reasoning):
            blocks = [
                [block for message in conversation.messages for block in message.blocks if isinstance(block, kind)]
                for conversation in (before, after)
            ]
            assert blocks[0] == blocks[1]


@EVERY_FORMAT
def test_lossless_discards_nothing(format: str) -> None:
    again = [item for number in range(4) for item in step(number, mark="again")]
    before = in_format([*session(4, current=False), *again, {"role": "user", "content": "So?"}], format)
    result = condense(before, "lossless verbatim")
    assert result.report.tokens_after < result.report.tokens_before * 0.8
    sent = parse(json.loads(json.dumps(result.messages)), format=format)
    assert render(compact.restore(sent)) == render(before)


def test_references_hold_when_messages_move() -> None:
    before = [*session(4, current=False), *step(2, mark="again"), {"role": "user", "content": "So?"}]
    result = condense(before, "lossless verbatim")
    assert has_references(result.conversation)
    moved = parse([{"role": "user", "content": "Something before."}, *result.messages[:1], *result.messages[4:]])
    assert not unresolved(moved)
    assert render(unfold(moved))[2:] == before[4:]


@EVERY_WAY
def test_no_reference_goes_stale_when_its_source_is_cut(way: str) -> None:
    messages = [{"role": "user", "content": TASK}, *(item for number in range(1, 9) for item in step(number))]
    for copy in (5, 8, 23):  # the last of them stays, and stands for what goes
        messages[copy]["content"] = source(1)
    messages.append({"role": "user", "content": "So?"})
    shorter = compact.condense(messages, provider="lossless", config={"level": "verbatim"}).conversation
    assert "[same as " in written(shorter.messages[23].wire)
    after = compact.condense(shorter, target=0.3, **WAYS[way]).conversation
    assert after != shorter or way.startswith("lossless")
    assert not unresolved(after)


@pytest.mark.parametrize("text", ["解析器" * 300, " " * 4000, "a" * 4000, "🦀" * 500, TASK * 40])
def test_tokens_are_not_a_quarter_of_the_characters(text: str) -> None:
    empty = compact.count_tokens([{"role": "user", "content": ""}])
    counted = compact.count_tokens([{"role": "user", "content": text}]) - empty
    assert counted == load_encoding("o200k_base").count(text)
    assert abs(counted / (len(text) / 4) - 1) > 0.1 or text.startswith("Port")


def test_prices_come_from_the_catalogue() -> None:
    models = ("gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-pro")
    prices = {model: find_model(model).prices for model in models}
    for model, price in prices.items():
        assert price is not None
        assert price.input is not None
        report = compact.condense(session(), preset="v1", model=model).report
        # Both requests are read from the vendor's cache, by and by.
        each = price.input if price.cache_read is None else price.cache_read
        assert report.saved == each * (report.tokens_before - report.tokens_after) / 1_000_000
    costs = {compact.estimate(session(), provider="native", model=model).cost for model in models}
    assert len(costs) == len(models)
    assert all(isinstance(cost, Decimal) and cost > 0 for cost in costs)


def test_thresholds_follow_the_window() -> None:
    assert should_condense(9000, 8192, PROVIDERS).triggered
    assert not should_condense(9000, 128_000, PROVIDERS).triggered
    step = {"id": "cut", "execution": {"type": "conditional", "window_share": 0.5}}
    step["individual"] = {"defaults": {"tool_results": {"operation": "truncate"}}}
    recipe = resolve_recipe("smart", config={"lossless_prelude": {"enabled": False}, "passes": [step]})
    small, large = (Condensation(parse(session()), model, None).run(recipe) for model in ("gpt-4", "gpt-4o"))
    assert small.plan
    assert large.plan == ()
    assert "do not exceed its threshold of 64,000" in large.report.passes[0].skipped


def test_every_format_is_tried() -> None:
    assert {conversation.format for conversation in sessions(session(2))} == set(FORMATS)
