"""A model that answers in turn, and what it is asked to summarize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compact.app import counter_for
from compact.engine import Gauge
from compact.formats import parse
from compact.messages import Message
from compact.ports import Answer, Ask, Completion, Event, Failure, Refusal
from compact.summaries.model.statements import parse as parse_summary
from compact.summaries.model.strategy import Style, find_strategy
from compact.summaries.model.summarize import NoSummary, Request, Summary, summarize

GAUGE = Gauge(counter_for("gpt-4o"), ())
TASK_STATE = find_strategy("task_state")
GOOD = Completion("## Decisions\n- The parser reads a line and splits it at commas [2]")
LONG = "The parser reads a line, splits it at commas and keeps the rest for the next round. " * 10
SAID = "## Decisions\n- The parser reads a line and splits it at commas"


class Model:
    """Answers in turn, the last answer for ever; keeps what it was asked and what happened."""

    def __init__(self, *answers: Answer | Callable[[Ask], Answer]) -> None:
        self.answers = list(answers)
        self.batches: list[tuple[Ask, ...]] = []
        self.events: list[Event] = []

    @property
    def asked(self) -> list[Ask]:
        return [ask for batch in self.batches for ask in batch]

    @property
    def names(self) -> list[str]:
        return [event.name.removeprefix("summary_") for event in self.events]

    def run(self, request: Request) -> Summary | NoSummary:
        steps = summarize(request, GAUGE)
        reply: Any = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                outcome: Summary | NoSummary = end.value
                return outcome
            if isinstance(step, Event):
                self.events.append(step)
                reply = None
            else:
                self.batches.append(step)
                reply = tuple(map(self._answer, step))

    def _answer(self, ask: Ask) -> Answer:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Completion | Refusal | Failure) else answer(ask)


def talk(turns: int, text: str = LONG) -> tuple[Message, ...]:
    wire = [{"role": ("user", "assistant")[n % 2], "content": f"Turn number {n}: {text}"} for n in range(turns)]
    return parse(wire, format="openai-chat").messages


def request(messages: Sequence[Message] | None = None, **more: Any) -> Request:
    given: dict[str, Any] = {"strategy": TASK_STATE, "style": Style(examples=False), "budget": 600, "reads": 100_000}
    return Request(tuple(talk(8) if messages is None else messages), **(given | more))


def lines_of(summary: Summary | NoSummary) -> list[str]:
    assert isinstance(summary, Summary)
    return [each.text for each in parse_summary(summary.text, TASK_STATE).statements]
