"""Twenty summaries, each of the one before it: what is active in the first is in the last, in the same words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.summaries.model.instructions import Frame, instructions
from compact.summaries.model.merging import fit, merge
from compact.summaries.model.statements import Statement, keyed, parse, render
from compact.summaries.model.strategy import Strategy, Style, find_strategy, strategies
from tests.summaries.talks import count

ROUNDS = 20
BUDGET = 900
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
        shown = {_own(text): key for key, _, _, text in _SHOWN.findall(request.partition("=== earlier items")[2])}
        finished = self._finish()
        assert finished <= shown.keys(), "something open is not shown any more"
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
                yield f"- {text}"
        yield f"## {self.strategy.sections[-2].title}"
        for number in range(6):
            self.facts.append(f"Port {8000 + 10 * self.round + number} belongs to service_{self.round}_{number}")
            yield f"- {self.facts[-1]}"

    def _changes(self, finished: set[str], shown: dict[str, str]) -> Iterator[str]:
        for text in sorted(finished):
            yield f"- [{shown[text]}] completed: done in round {self.round}"
        waiting = [text for text in self.open if text in shown]
        if waiting:
            yield f"- [{shown[self.chance.choice(waiting)]}] blocked: waits for round {self.round + 1}"


def _own(text: str) -> str:
    """What was to be done, without what became of it."""
    return text.partition(" ⇒ ")[0]


def summarize(model: Scripted, written: str) -> tuple[str, tuple[Statement, ...]]:
    """One round: the summary so far is read back, the model asked, its answer merged, fitted and written."""
    strategy = model.strategy
    earlier = parse(written, strategy).statements
    assert render(earlier, strategy) == written
    request = instructions(strategy, Style(), Frame("00000000", earlier), budget=BUDGET)
    merged = merge(earlier, parse(model.answer(request), strategy, earlier))
    fitting = fit(merged, strategy, BUDGET, count)
    assert not [each for each in merged if each.is_open and each not in fitting]
    return render(fitting, strategy), fitting


def check_rounds(strategy: Strategy, seed: int) -> None:
    model = Scripted(strategy, random.Random(seed))
    written = ""
    kept: tuple[Statement, ...] = ()
    for _ in range(ROUNDS):
        written, kept = summarize(model, written)
        assert count(written) <= BUDGET
        assert {_own(each.text) for each in kept if each.is_open} == model.open.keys()
        last = {each.text for each in kept if not each.is_open}
        assert set(model.facts[-6:]) <= last, "the latest facts are there"
    first = [text for text, since in model.open.items() if since == 1]
    assert len(first) >= 3
    assert all(f"- {text}" in written for text in first)
    assert len(model.facts) > len(kept)


@pytest.mark.parametrize("strategy", strategies(), ids=lambda strategy: strategy.name)
def test_no_fact_of_the_first_round_that_is_still_active_is_lost(strategy: Strategy) -> None:
    check_rounds(strategy, 42)


@pytest.mark.laws
@given(st.integers(0, 2**32))
def test_whatever_happens_on_the_way(seed: int) -> None:
    check_rounds(find_strategy("task_state"), seed)


def test_a_summarizer_that_never_mentions_the_past_loses_none_of_it() -> None:
    strategy = find_strategy("general")
    first = parse(
        "## Requests\n### Active\n- Plan the trip to Oslo\n### Blocked\n- Book a room — needs the dates\n"
        "## Key Points\n- Ada is allergic to nuts",
        strategy,
    ).statements
    kept = first
    for number in range(ROUNDS):
        kept = parse(render(kept, strategy), strategy).statements
        update = parse(f"## Key Points\n- It rained on day {number}", strategy, kept)
        kept = fit(merge(kept, update), strategy, 120, count)
    assert {each for each in first if each.is_open} <= set(kept)
    assert f"It rained on day {ROUNDS - 1}" in {each.text for each in kept}


def test_what_was_the_first_request_is_told_to_the_end() -> None:
    strategy = find_strategy("task_state")
    kept: tuple[Statement, ...] = ()
    for number in range(ROUNDS):
        done = [f"- [{key}] completed" for key, each in keyed(kept).items() if each.is_open]
        answer = [f"## Goals\n### Active\n- Do task number {number} of many", "## Changes", *done]
        kept = fit(merge(kept, parse("\n".join(answer), strategy, kept)), strategy, 60, count)
        kept = parse(render(kept, strategy), strategy).statements
    tasks = {each.text: each.status for each in kept}
    assert tasks["Do task number 0 of many"] == "completed"
    assert tasks[f"Do task number {ROUNDS - 1} of many"] == "active"
    # Of the others, the latest are told.
    told = [0, *range(ROUNDS + 1 - len(tasks), ROUNDS - 1)]
    assert list(tasks)[1:] == [f"Do task number {number} of many" for number in told]
    assert 3 < len(tasks) < ROUNDS
