"""What rules find in a body is kept with it; only rules that say so look at the origin."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from compact.formats import FORMATS, parse, violations
from compact.formats.format import Request
from compact.messages import Json
from compact.testing.generate import random_body


class Untouched(Mapping[str, Json]):
    """An origin that nobody may look at."""

    def __getitem__(self, key: str) -> Json:
        raise AssertionError(f"{key} of the origin was read")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the origin was read")

    def __len__(self) -> int:
        raise AssertionError("the origin was read")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_rules_that_do_not_compare_never_look_at_the_origin(name: str) -> None:
    alone = [rule for rule in FORMATS[name].rules if not rule.compares]
    assert alone
    for seed in range(20):
        body = random_body(random.Random(seed), name)
        for rule in alone:
            list(rule.find(Request(body, Untouched())))


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_judging_again_and_with_another_origin_finds_what_a_fresh_look_finds(name: str) -> None:
    for seed in range(20):
        whole = parse(random_body(random.Random(seed), name), format=name)
        cut = whole.with_messages(whole.messages[1:])
        for _ in range(2):
            for origin in (None, whole, cut):
                fresh = parse(random_body(random.Random(seed), name), format=name)
                alone = None if origin is None else origin.with_messages(origin.messages)
                expected = violations(fresh.with_messages(fresh.messages[1:]), origin=alone)
                assert violations(cut, origin=origin) == expected


def test_what_depends_on_the_body_alone_is_found_once() -> None:
    request = Request({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]})
    chat = FORMATS["openai-chat"]
    assert chat.violations(request) == chat.violations(request)
    assert request.memo["C2"] == tuple(chat.violations(request))
