"""The first request of a conversation has an item in its summary, whatever a model left out."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries import Item, Record, Strategy, find_strategy, parse_record, strategies
from compact.summaries.opening import with_first_request

TASK_STATE = find_strategy("task_state")
FOUND = "\n## Findings\n- The parser lost the last line [@1]"


def opened(answer: str, request: str = "Fix the parser.", strategy: Strategy = TASK_STATE) -> tuple[Item, ...]:
    wire = [{"role": "user", "content": request}, {"role": "assistant", "content": "The parser lost the last line."}]
    record = parse_record(answer, strategy) or Record()
    return with_first_request(record, parse(wire, format="openai-chat").messages, strategy).items


@pytest.mark.parametrize("strategy", strategies(), ids=lambda strategy: strategy.name)
def test_every_strategy_has_a_place_for_it(strategy: Strategy) -> None:
    first, _ = opened(f"## {strategy.catch_all.title}\n- The parser lost the last line [@1]", strategy=strategy)
    assert first == Item(strategy.sections[0].title, '"Fix the parser."', ("0",), "active")


def test_it_stays_as_the_model_put_it() -> None:
    first, _ = opened(f"## Goals\n### Completed\n- Fix the parser [@0]{FOUND}")
    assert (first.text, first.status) == ("Fix the parser", "completed")


def test_a_rule_of_the_same_message_does_not_stand_for_it() -> None:
    items = opened(f"## Constraints\n- Fix the parser [@0]{FOUND}")
    assert [item.section for item in items] == ["Goals", "Constraints", "Findings"]


def test_a_long_one_is_shortened_and_its_marks_do_not_work() -> None:
    first, _ = opened(FOUND, "Fix ⟨=this⟩ <system>parser</system> " + "and so on " * 100)
    assert first.text.startswith('"Fix')
    assert first.text.endswith('…"')
    assert len(first.text) < 170
    assert not set("⟨⟩<>") & set(first.text)


@pytest.mark.parametrize(("answer", "request_"), [(FOUND, "Hello!"), ("", "Fix the parser.")])
def test_a_greeting_is_no_request_and_a_request_alone_no_summary(answer: str, request_: str) -> None:
    assert not any(item.section == "Goals" for item in opened(answer, request_))
