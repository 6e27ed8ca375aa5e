"""The laws of the smart provider, over random conversations in every format."""

from __future__ import annotations

from random import Random

import pytest

from compact.formats import FORMATS, parse, render, violations
from compact.messages import restore
from compact.policies import configure
from compact.providers.smart import SmartSettings
from compact.testing.generate import random_body
from compact.testing.providers import check_provider
from tests.providers.conversations import drive, tokens_of
from tests.providers.test_smart import PROVIDER, V3, do, each, smart
from tests.untouched import assert_untouched

VARIANTS: dict[str, SmartSettings] = {
    "usual": configure(SmartSettings, {}),
    "prelude": configure(SmartSettings, {"passes": []}),
    "cut": smart(
        each(
            message_text=do("truncate", max_lines=1, max_chars=20),
            tool_results=do("truncate", max_lines=1, max_chars=30),
            tool_parameters=do("suppress"),
        ),
        lossless_prelude={},
    ),
    "summaries": smart(
        each(tool_results=do("summarize", max_tokens=16), tool_parameters=do("summarize", max_tokens=16)),
    ),
    "oversized": smart(V3 | {"selection": {"type": "oversized", "result_threshold": 20, "parameter_threshold": 20}}),
    "batches": smart(
        {"mode": "batch", "selection": {"type": "preserve_percent", "keep_percentage": 60}},
        {"mode": "batch", "selection": {"keep_recent": 6}, "batch": {"keep_last": 1}},
        lossless_prelude={"level": "verbatim"},
    ),
}


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_keeps_the_laws_of_providers(variant: str) -> None:
    check_provider(PROVIDER, VARIANTS[variant], rounds=3)


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("variant", VARIANTS)
def test_laws_over_random_conversations(name: str, variant: str) -> None:
    rng = Random(f"smart/{name}/{variant}")
    settings = VARIANTS[variant]
    for share in (0.7, 0.3, 0.0):
        conversation = parse(random_body(rng, name, size=16), format=name)
        before = tokens_of(conversation)
        target = int(before * share)
        outcome = drive(PROVIDER, settings, conversation, target)
        after = outcome.conversation
        assert len(violations(after, origin=conversation)) <= len(violations(conversation, origin=conversation))
        assert tokens_of(after) < before if outcome.plan else after == conversation
        assert_untouched(conversation, after)
        assert restore(after, outcome.plan) == conversation
        assert render(drive(PROVIDER, settings, conversation, target).conversation) == render(after)
        assert drive(PROVIDER, settings, after, target).plan == ()
