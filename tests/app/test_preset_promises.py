"""What the presets say of themselves, shown with a model that counts how it is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import compact
from compact.ports import Answer, Ask, Failure
from tests.app.test_batch import chat


class Failing:
    """A model that never answers, and keeps what it was asked, call by call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Ask, ...]] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.calls.append(tuple(asks))
        return tuple(Failure("no network") for _ in asks)


@pytest.mark.parametrize("preset", ["speed", "v1", "v2"])
def test_presets_that_say_so_call_no_model(preset: str) -> None:
    ask, asked = Failing(), Failing()
    result = compact.condense(chat(), preset=preset, target=0.2, ask=ask)
    assert result.report.tokens_after < result.report.tokens_before
    compact.condense(chat(), preset="v3", target=0.2, ask=asked)
    assert (len(ask.calls), len(asked.calls) > 0) == (0, True)


def test_v3_asks_of_each_piece_by_itself_several_at_once_and_cuts_as_v2_where_that_fails() -> None:
    ask = Failing()
    result = compact.condense(chat(), preset="v3", ask=ask)
    most = max(ask.calls, key=len)
    assert len(most) > 1
    for asked in most:
        assert sum(f"of log {piece} " in asked.material for piece in range(8)) == 1
    both = zip(chat(), compact.condense(chat(), preset="v2").messages, result.messages, strict=True)
    cut = [(by_v2, by_v3) for given, by_v2, by_v3 in both if by_v2 != given]
    assert len(cut) > 1
    assert all(by_v2 == by_v3 for by_v2, by_v3 in cut)


def test_quality_takes_out_what_is_repeated_before_a_model_is_asked() -> None:
    begin, *logs = chat(rounds=4)
    again = [*logs[:2], {"role": "assistant", "content": "Once more."}, {"role": "user", "content": "Once more."}]
    text = json.dumps(again).replace("call-0", "call-again")
    given = [begin, *logs[:-2], *json.loads(text), *chat("others")[1:]]
    ask = Failing()
    result = compact.condense(given, preset="quality", target=0.3, ask=ask)
    assert sum("line 7 of log 0 \n" in asked.material for call in ask.calls[:1] for asked in call) == 1
    assert compact.restore(result) == given
