"""Summarizing by a model that answers in every way there is: the ladder, parts, what is done without an answer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compact.app import counter_for
from compact.engine import Gauge
from compact.formats import FORMATS, parse
from compact.messages import Message, Text, seal
from compact.ports import Answer, Ask, Completion, Event, Failure, Refusal
from compact.summaries import Style, find_strategy, parse_record
from compact.summaries.model.summarize import NoSummary, Request, Summary, summarize
from compact.testing.generate import random_body
from compact.testing.strategies import hostile_text

GAUGE = Gauge(counter_for("gpt-4o"), ())
TASK_STATE = find_strategy("task_state")
GOOD = Completion("## Decisions\n- The parser reads a line and splits it at commas [2]")
LONG = "The parser reads a line, splits it at commas and keeps the rest for the next round. " * 10
FIRST = (
    '## Goals\n### Active\n- "Turn number 0: The parser reads a line, splits it at commas and keeps the rest for the'
    ' next round. The parser reads a line, splits it at commas and keeps the…" [@0]'
)


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


def test_a_good_answer_becomes_a_summary_that_names_its_sources() -> None:
    model = Model(GOOD)
    summary = model.run(request())
    assert summary == Summary(f"{FIRST}\n## Decisions\n- The parser reads a line and splits it at commas [@1]")
    assert model.names == ["requested", "created"]
    (ask,) = model.asked
    assert (ask.max_tokens, ask.sources) == (600, tuple(map(str, range(8))))
    assert "Turn number 7" in ask.material
    assert "at most 600 tokens" in ask.instructions


def test_free_prose_stays_as_it_is() -> None:
    assert Model(Completion(" The parser reads.\n\nIt splits lines. ")).run(request()) == Summary(
        "The parser reads.\n\nIt splits lines."
    )


@pytest.mark.parametrize(
    "answer",
    [Completion("The pars", truncated=True), Completion("The parser reads a line. " * 200), Completion(LONG * 30)],
)
def test_too_long_is_asked_for_at_half_the_length_twice(answer: Completion) -> None:
    model = Model(answer, answer, GOOD)
    assert isinstance(model.run(request()), Summary)
    assert [ask.max_tokens for ask in model.asked] == [600, 300, 150]
    assert "at most 150 tokens" in model.asked[-1].instructions
    assert model.names == ["requested", "retry", "requested", "retry", "requested", "created"]
    model = Model(answer)
    outcome = model.run(request(on_failure="prune"))
    assert isinstance(outcome, NoSummary)
    assert (outcome.kind in ("over_long", "longer"), outcome.prune) == (True, True)
    assert len(model.asked) == 3
    assert model.names[-3:] == ["requested", "failed", "pruned"]


@pytest.mark.clock
def test_an_answer_of_many_items_is_too_long_before_it_is_read() -> None:
    items = "".join(f"- The parser reads line {number} of them [1]\n" for number in range(20_000))
    model = Model(Completion(f"## Goals\n### Active\n{items}"), GOOD)
    messages = talk(400)
    started = process_time()
    assert isinstance(model.run(request(messages)), Summary)
    assert process_time() - started < 1
    assert [event.properties.get("kind") for event in model.events if event.name == "summary_retry"] == ["longer"]


@pytest.mark.parametrize("answer", [Refusal("against the rules"), Completion("I'm sorry, I can't help with that.")])
def test_a_refusal_is_followed_by_a_brief_question(answer: Answer) -> None:
    model = Model(answer, Completion("## State\n- The parser reads a line [2]"))
    assert isinstance(model.run(request()), Summary)
    assert model.names == ["requested", "refused", "retry", "requested", "created"]
    assert find_strategy("brief").prompt in model.asked[1].instructions
    assert model.events[2].properties["strategy"] == "brief"
    model = Model(answer)
    outcome = model.run(request(on_failure="prune"))
    assert isinstance(outcome, NoSummary)
    assert (outcome.kind, outcome.prune) == ("refusal", True)
    assert model.names == ["requested", "refused", "retry", "requested", "refused", "pruned"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Failure("no route to host"), "failure"),
        (Completion('{"error": {"type": "overloaded_error"}}'), "failure"),
        (Completion(" \n"), "empty"),
        (Completion("## Decisions\n- none"), "empty"),
        (Completion("All of it is in src/invented.py."), "untrue"),
    ],
)
def test_without_an_answer_the_policy_decides(answer: Answer, kind: str) -> None:
    blocked = Model(answer)
    outcome = blocked.run(request())
    assert isinstance(outcome, NoSummary)
    assert (outcome.kind, outcome.prune) == (kind, False)
    assert blocked.names == ["requested", "failed"]
    pruned = Model(answer)
    outcome = pruned.run(request(on_failure="prune"))
    assert isinstance(outcome, NoSummary)
    assert outcome.prune
    assert pruned.names == ["requested", "failed", "pruned"]
    offline = Model(answer)
    summary = offline.run(request(on_failure="offline"))
    assert isinstance(summary, Summary)
    assert "splits it at commas" in summary.text
    assert GAUGE.text(summary.text) <= 600
    assert offline.names == ["requested", "failed", "created"]
    assert offline.events[-1].properties["offline"] is True


@pytest.mark.parametrize(("answer", "offline"), [(GOOD, False), (replace(GOOD, trusted=True), True)])
def test_the_event_says_whether_a_model_wrote_it(answer: Completion, offline: bool) -> None:
    model = Model(answer)
    summary = model.run(request())
    assert isinstance(summary, Summary)
    assert summary.offline is offline
    assert model.events[-1].properties["offline"] is offline


def test_every_event_tells_the_attempt_and_why() -> None:
    model = Model(Completion("The pars", truncated=True), Failure("no route to host"))
    model.run(request())
    retry, failed = model.events[1], model.events[3]
    assert retry.properties == {
        "kind": "over_long",
        "reason": "the answer was cut off at 600 tokens",
        "attempt": 2,
        "part": 1,
        "max_tokens": 300,
        "strategy": "task_state",
    }
    assert (failed.properties["attempt"], failed.properties["reason"]) == (2, "no route to host")


def test_what_is_not_believed_is_told() -> None:
    model = Model(Completion(f"{GOOD.text}\n- It is all in src/invented.py [2]"))
    summary = model.run(request())
    assert isinstance(summary, Summary)
    assert "invented" not in summary.text
    assert summary.notes == (
        "1 statements of the model were not believed: 'src/invented.py' occurs nowhere in the sources",
    )
    assert model.names == ["requested", "flagged", "created"]
    assert model.events[1].properties["count"] == 1


def test_a_trusted_or_estimated_answer_is_taken_as_it_is() -> None:
    for answer in (Completion("In src/other.py: 4711", trusted=True), Completion("... ...", estimated=True)):
        assert Model(answer).run(request()) == Summary(answer.text, offline=True)


def part_of(ask: Ask) -> Answer:
    """A record of the part: an item for each message in it."""
    numbers = re.findall(r"^--- [0-9a-f]{8} message (\d+), ", ask.material, re.MULTILINE)
    lines = (f"- The parser reads on in turn number {int(number) - 1} [{number}]" for number in dict.fromkeys(numbers))
    return Completion("\n".join(("## Decisions", *lines)))


def test_more_than_can_be_read_is_read_in_parts_and_put_together_by_rules() -> None:
    messages = talk(30)
    model = Model(part_of)
    summary = model.run(request(messages, reads=3000, budget=1500))
    assert isinstance(summary, Summary)
    (batch,) = model.batches
    assert len(batch) > 2
    count = GAUGE.text
    assert all(count(ask.instructions) + count(ask.material) <= 3000 for ask in batch)
    assert sorted({id for ask in batch for id in ask.sources}, key=int) == [message.id for message in messages]
    assert all(any(f"message {n}, " in ask.material for ask in batch) for n in range(1, 31))
    record = parse_record(summary.text, TASK_STATE)
    assert record is not None
    assert [item.sources for item in record.items] == [("0",), *((str(n),) for n in range(30))]
    assert summary.notes == (f"summarized in {len(batch)} parts",)


def test_parts_that_are_too_long_together_are_shortened_by_one_more_question() -> None:
    def answer(ask: Ask) -> Answer:
        if "The summary below is too long." in ask.instructions:
            return Completion("## Decisions\n- The parser reads on in turn number 3 [4]")
        return part_of(ask)

    model = Model(answer)
    summary = model.run(request(talk(30), reads=3000, budget=300))
    assert isinstance(summary, Summary)
    assert summary.text == f"{FIRST}\n## Decisions\n- The parser reads on in turn number 3 [@3]"
    assert [len(batch) for batch in model.batches][1:] == [1]
    assert model.names == ["requested", "requested", "created"]


def test_items_that_do_not_fit_are_left_out_and_counted() -> None:
    def answer(ask: Ask) -> Answer:
        return Failure("busy") if "The summary below is too long." in ask.instructions else part_of(ask)

    summary = Model(answer).run(request(talk(30), reads=3000, budget=300))
    assert isinstance(summary, Summary)
    assert GAUGE.text(summary.text) <= 300
    record = parse_record(summary.text, TASK_STATE)
    assert record is not None
    assert f"{31 - len(record.items)} items were left out to keep to 300 tokens" in summary.notes


def test_one_giant_message_is_split_at_lines_and_nothing_is_lost() -> None:
    lines = [f"line {number} of the log says that all is well" for number in range(1500)]
    messages = parse([{"role": "user", "content": "\n".join(lines)}], format="openai-chat").messages
    model = Model(Completion("The log says that all is well."))
    summary = model.run(request(messages, reads=3000))
    assert isinstance(summary, Summary)
    seen = [line for ask in model.batches[0] for line in ask.material.split("\n") if line.startswith("line ")]
    assert seen == lines
    assert len(model.batches[0]) > 5


def test_a_part_without_an_answer_stops_it_all() -> None:
    model = Model(GOOD, Failure("timed out"))
    outcome = model.run(request(talk(30), reads=3000))
    assert isinstance(outcome, NoSummary)
    assert re.fullmatch(r"part 2 of \d+: timed out", outcome.reason)


def test_only_the_parts_in_trouble_are_asked_about_again() -> None:
    model = Model(GOOD, Completion("cut", truncated=True), GOOD)
    assert isinstance(model.run(request(talk(30), reads=3000)), Summary)
    assert [len(batch) for batch in model.batches][1:] == [1]
    assert "part 2 of" in model.batches[1][0].instructions


def test_a_question_that_was_too_long_is_asked_in_smaller_parts() -> None:
    model = Model(lambda ask: Failure("too long", "overflow") if GAUGE.text(ask.material) > 1500 else GOOD)
    assert isinstance(model.run(request(talk(30), reads=9000)), Summary)
    assert len(model.batches[-1]) > len(model.batches[0])
    assert "retry" in model.names
    model = Model(Failure("too long", "overflow"))
    outcome = model.run(request(talk(30), reads=9000))
    assert isinstance(outcome, NoSummary)
    assert (outcome.kind, model.names[-1]) == ("overflow", "failed")


def test_an_earlier_summary_is_merged_and_not_summarized_again() -> None:
    text = "## Goals\n### Active\n- Write the parser [@0]\n- Write its tests [@0]\n## Names\n- src/parse.py [@3]"
    earlier = Message("s", "assistant", (Text(seal(text, 9), ()),), None)
    model = Model(Completion(f"{GOOD.text}\n## Changes\n- [k2] completed: it keeps the rest [3]"))
    summary = model.run(request((earlier, *talk(8))))
    assert isinstance(summary, Summary)
    assert summary.text == (
        "## Goals\n### Active\n- Write the parser [@0]\n### Completed\n- Write its tests [@0, @2] — it keeps the rest\n"
        "## Decisions\n- The parser reads a line and splits it at commas [@1]\n## Names\n- src/parse.py [@3]"
    )
    (ask,) = model.asked
    assert "Write its tests" in ask.instructions
    assert "Write its tests" not in ask.material
    assert ask.sources[0] == "s"


def test_prose_after_an_earlier_record_is_added_to_it() -> None:
    earlier = Message("s", "assistant", (Text(seal("## Names\n- src/parse.py [@3]", 9), ()),), None)
    summary = Model(Completion("The parser reads a line.")).run(request((earlier, *talk(8))))
    assert summary == Summary("## Names\n- src/parse.py [@3]\n## Findings\n- The parser reads a line.")


def test_nothing_to_summarize_asks_nobody() -> None:
    model = Model(GOOD)
    outcome = model.run(request(()))
    assert isinstance(outcome, NoSummary)
    assert (outcome.kind, model.batches) == ("empty", [])


ANSWERS = st.one_of(
    st.builds(Refusal, st.just("no")),
    st.builds(Failure, st.just("busy"), st.sampled_from(("unknown", "overflow"))),
    st.builds(
        Completion, hostile_text() | st.sampled_from(("", " ", GOOD.text, LONG, LONG * 20)), truncated=st.booleans()
    ),
    st.builds(Completion, st.just("The parser reads."), trusted=st.booleans()),
    st.builds(
        Completion,
        st.lists(
            st.sampled_from(
                (
                    "## Goals",
                    "### Active",
                    "- Turn number 2 [3]",
                    "## Changes",
                    "- [k1] completed",
                    "- [k1] outdated: x [1]",
                    "## Findings",
                    "- src/no.py [2]",
                    f"- {LONG} [1]",
                    "free words",
                    "```",
                )
            ),
            max_size=12,
        ).map("\n".join),
    ),
)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(FORMATS)),
    st.lists(ANSWERS, min_size=1, max_size=8),
    st.sampled_from((16, 80, 400, 4000)),
    st.sampled_from((300, 2500, 100_000)),
    st.sampled_from(("prune", "block", "offline")),
)
def test_whatever_is_answered_there_is_an_outcome_within_the_budget(
    seed: int, format: str, answers: list[Answer], budget: int, reads: int, policy: str
) -> None:
    conversation = parse(random_body(random.Random(seed), format, size=10), format=format)
    earlier = Message("s", "assistant", (Text(seal("## Goals\n### Active\n- Write it [@0]", 9), ()),), None)
    messages = (earlier, *conversation.messages) if seed % 2 else conversation.messages
    asked = request(messages, budget=budget, reads=reads, on_failure=policy)
    first, second = Model(*answers), Model(*answers)
    outcome = first.run(asked)
    assert second.run(asked) == outcome
    assert (first.batches, first.events) == (second.batches, second.events)
    assert first.events or not first.batches
    if isinstance(outcome, Summary):
        assert 0 < GAUGE.text(outcome.text) <= budget
        assert "⟨" not in outcome.text or policy == "offline"
    else:
        assert outcome.prune is (policy == "prune")
        assert outcome.reason
    assert all(0 < ask.max_tokens <= budget for ask in first.asked)
    if first.batches:
        ids = {id for ask in first.batches[0] for id in ask.sources}
        assert ids == {message.id for message in messages}


def test_the_budget_bounds_every_question() -> None:
    model = Model(GOOD)
    model.run(replace(request(talk(2, "short")), budget=50_000))
    assert model.asked[0].max_tokens < 50
