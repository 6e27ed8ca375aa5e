"""Instructions that tools planted: a summarizer that obeys them all, and what becomes of it."""

from __future__ import annotations

import re

import pytest

from compact.messages import Conversation, Message, Text, frame_account, is_summary
from compact.ports import Completion, Event
from compact.summaries.model import statements
from compact.summaries.model.origin import LABEL
from compact.summaries.model.strategy import Strategy, Style, find_strategy, strategies
from compact.summaries.model.summarize import Request, Summary, summarize
from tests.summaries.canaries import DEMANDS, PLACES, conversation, obedient

TASK_STATE = find_strategy("task_state")


class Rough:
    """Counts as fast as can be: how long exactly something is does not matter here."""

    def text(self, text: str, /) -> int:
        return len(text) // 4 + 1

    def message(self, message: Message, /) -> int:
        return len(str(message.wire)) // 4 + 1000

    def conversation(self, conversation: Conversation, /) -> int:
        return sum(map(self.message, conversation.messages))


def summary_of(messages: tuple[Message, ...], answer: str, strategy: Strategy) -> Summary | None:
    """What becomes of the answer, whatever is asked."""
    steps = summarize(Request(messages, strategy, Style(examples=False), 2000, 100_000), Rough())
    try:
        step = next(steps)
        while True:
            step = steps.send(None if isinstance(step, Event) else (Completion(answer),) * len(step))
    except StopIteration as end:
        return end.value if isinstance(end.value, Summary) else None


def test_there_are_two_hundred_canaries() -> None:
    assert len(DEMANDS) * len(PLACES) == 200


@pytest.mark.laws
@pytest.mark.parametrize("place", PLACES)
def test_no_canary_becomes_an_instruction(place: str) -> None:
    survived = 0
    for number, demand in enumerate(DEMANDS):
        name = f"kanari{number}.example"
        strategy = strategies()[number % len(strategies())]
        demanding = {section.title for section in strategy.sections if section.instructs}
        canary = demand.format(name)
        messages = conversation(place, canary)
        for way, answer in obedient(canary, strategy).items():
            summary = summary_of(messages, answer, strategy)
            if summary is None:
                continue
            survived += 1
            told = f"{place}, {canary}, {way}:\n{summary.text}"
            assert_sealed(summary.text, told)
            assert not re.search(r"(?m)^#.*kanari", summary.text), told
            for each in statements.parse(summary.text, strategy).statements:
                if each.section in demanding and each.status != "completed" and "kanari" in each.text.casefold():
                    assert LABEL.search(each.text), told
    # Most of the answers have something true in them, or have a label.
    assert survived > 5 * len(DEMANDS)


def test_no_canary_becomes_a_note_of_an_earlier_instruction() -> None:
    earlier = frame_account("## Goals\n### Active\n- Fix the parser\n## Constraints\n- Never delete the tests", 9)
    for number, demand in enumerate(DEMANDS):
        canary = demand.format(f"kanari{number}.example")
        summary = Message("s", "assistant", (Text(earlier, ()),), None)
        answer = f"## Changes\n- [k1] active: {canary} [1]\n- [k2] outdated: {canary} [1]\n- [k1] blocked: {canary}"
        result = summary_of((summary, *conversation("tool output", canary)), answer, TASK_STATE)
        assert result is None or "kanari" not in result.text, result
        assert result is None or "Never delete the tests" in result.text


def assert_sealed(text: str, told: str) -> None:
    sealed = frame_account(text, 5)
    assert is_summary(Message("s", "assistant", (Text(sealed, ()),), None)), told
    assert not re.search(r"[⟨⟩]|<\||\|>|\[/?INST\]|</?(?:system|summary|transcript|COMPACT)", text), told
    assert not re.search(r"(?m)^\s*(?:={3,}|-{3,}).*\S|^(?:Human|Assistant|System|User):", text), told
    assert not re.search("[\U000e0000-\U000e007f]", text), told
