"""Twenty summaries, each of the one before it: what is active in the first is in the last, in the same words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.summaries import (
    Record,
    Strategy,
    Style,
    find_strategy,
    fit,
    instructions,
    merge,
    parse_record,
    render_record,
    strategies,
    with_ids,
)
from tests.summaries.talks import count

ROUNDS = 20
BUDGET = 900
MESSAGES = 30  # of each round
_SHOWN = re.compile(r"^(k\d+) \(([^,)]+)(?:, (\w+)[^)]*)?\) (.+)$", re.MULTILINE)


@dataclass
class Scripted:
    """A summarizer that knows what happens in each round, and of earlier rounds only what its instructions show."""

    strategy: Strategy
    chance: random.Random
    open: dict[str, int] = field(default_factory=dict)
    """What is to be done, and since which round."""
    facts: list[str] = field(default_factory=list)
    round: int = 0

    def answer(self, request: str) -> str:
        self.round += 1
        # Below the example, which shows a key of its own.
        shown = {text: key for key, _, _, text in _SHOWN.findall(request.partition("=== earlier items")[2])}
        finished = self._finish()
        assert finished <= shown.keys(), "an open item is not shown any more"
        return "\n".join([*self._news(), "## Changes", *self._changes(finished, shown)])

    def _finish(self) -> set[str]:
        """About as many items are finished as begun, but every third of the first round stays open to the end."""
        may = [text for text, since in self.open.items() if since < self.round and not text.startswith("Keep ")]
        finished = set(may[: max(0, len(self.open) - 8)])
        for text in finished:
            del self.open[text]
        return finished

    def _news(self) -> Iterator[str]:
        goals, *_ = self.strategy.sections
        *_, work = self.strategy.sections
        for section, many in ((goals, 4 if self.round == 1 else 1), (work, 3)):
            yield f"## {section.title}\n### Active"
            for number in range(many):
                verb = "Keep watching" if self.round == 1 and number % 3 == 0 else "Mend"
                text = f"{verb} src/part_{self.round}_{number}/{section.title.split()[0].lower()}.py"
                self.open[text] = self.round
                yield f"- {text} [{self.chance.randint(1, MESSAGES)}]"
        yield f"## {self.strategy.catch_all.title}"
        for number in range(6):
            self.facts.append(f"Port {8000 + 10 * self.round + number} belongs to service_{self.round}_{number}")
            yield f"- {self.facts[-1]} [{self.chance.randint(1, MESSAGES)}, {self.chance.randint(1, MESSAGES)}]"

    def _changes(self, finished: set[str], shown: dict[str, str]) -> Iterator[str]:
        for text in sorted(finished):
            yield f"- [{shown[text]}] completed: done in round {self.round} [{self.chance.randint(1, MESSAGES)}]"
        waiting = [text for text in self.open if text in shown]
        if waiting:
            yield f"- [{shown[self.chance.choice(waiting)]}] blocked: waits for round {self.round + 1} [1]"


def summarize(model: Scripted, written: str) -> tuple[str, Record]:
    """One round: the summary so far is read back, the model asked, its answer merged, fitted and written."""
    strategy = model.strategy
    previous = parse_record(written, strategy) or Record()
    assert render_record(previous, strategy) == written
    request = instructions(strategy, Style(), budget=BUDGET, code="00000000", previous=previous)
    update = parse_record(model.answer(request), strategy, previous)
    assert update is not None
    assert update.unread == ()
    start = (model.round - 1) * MESSAGES
    merged = merge(previous, with_ids(update, [str(start + number) for number in range(MESSAGES)]))
    fitting, left_out = fit(merged, strategy, BUDGET, count)
    assert set(fitting.items) | set(left_out) == set(merged.items)
    assert [item for item in left_out if item.is_open] == []
    return render_record(fitting, strategy), fitting


def check_rounds(strategy: Strategy, seed: int) -> None:
    model = Scripted(strategy, random.Random(seed))
    written, record = "", Record()
    for _ in range(ROUNDS):
        written, record = summarize(model, written)
        assert count(written) <= BUDGET
        assert {item.text for item in record.items if item.is_open} == model.open.keys()
        open_items = Record(tuple(item for item in record.items if item.is_open))
        assert count(render_record(open_items, strategy)) <= BUDGET / 2, "the script is within what is promised"
        last = {item.text for item in record.items if not item.is_open}
        assert set(model.facts[-6:]) <= last, "the latest facts are there"
        assert all(item.sources for item in record.items)
    first = [text for text, since in model.open.items() if since == 1]
    assert len(first) >= 3
    assert all(f"- {text} [@" in written for text in first)
    assert len(model.facts) > len(record.items)


@pytest.mark.parametrize("strategy", strategies(), ids=lambda strategy: strategy.name)
def test_no_fact_of_the_first_round_that_is_still_active_is_lost(strategy: Strategy) -> None:
    check_rounds(strategy, 42)


@given(st.integers(0, 2**32))
def test_whatever_happens_on_the_way(seed: int) -> None:
    check_rounds(find_strategy("task_state"), seed)


def test_a_summarizer_that_never_mentions_the_past_loses_none_of_it() -> None:
    strategy = find_strategy("general")
    first = parse_record(
        "## Requests\n### Active\n- Plan the trip to Oslo [1]\n### Blocked\n- Book a room [2] — needs the dates\n"
        "## Key Points\n- Ada is allergic to nuts [3]",
        strategy,
    )
    assert first is not None
    record = first = with_ids(first, ["0", "1", "2"])
    for number in range(ROUNDS):
        record = parse_record(render_record(record, strategy), strategy) or Record()
        update = parse_record(f"## Key Points\n- It rained on day {number} [1]", strategy, record)
        assert update is not None
        record, _ = fit(merge(record, with_ids(update, [str(number + 3)])), strategy, 120, count)
    kept = set(record.items)
    assert {item for item in first.items if item.is_open} <= kept
    assert f"It rained on day {ROUNDS - 1}" in {item.text for item in kept}


def test_what_was_the_first_request_is_told_to_the_end() -> None:
    strategy = find_strategy("task_state")
    record = Record()
    for number in range(ROUNDS):
        done = [f"- [{key}] completed [1]" for key, item in record.keyed().items() if item.is_open]
        answer = [f"## Goals\n### Active\n- Do task number {number} of many [1]", "## Changes", *done]
        update = parse_record("\n".join(answer), strategy, record)
        assert update is not None
        record, _ = fit(merge(record, with_ids(update, [str(number)])), strategy, 60, count)
        record = parse_record(render_record(record, strategy), strategy) or Record()
    tasks = {item.text: item.status for item in record.items}
    assert tasks["Do task number 0 of many"] == "completed"
    assert tasks[f"Do task number {ROUNDS - 1} of many"] == "active"
    assert len(tasks) < ROUNDS
