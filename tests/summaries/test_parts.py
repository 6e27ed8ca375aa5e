"""What a model cannot read at once it reads in parts, which are put together by rules."""

from __future__ import annotations

import re

from compact.formats import parse
from compact.ports import Answer, Ask, Completion, Failure
from compact.summaries.model.summarize import NoSummary, Summary
from tests.summaries.asking import GAUGE, GOOD, Model, lines_of, request, talk


def part_of(ask: Ask) -> Answer:
    """A summary of the part: a statement for each message in it."""
    numbers = re.findall(r"^--- [0-9a-f]{8} message (\d+), ", ask.material, re.MULTILINE)
    lines = (f"- The parser reads on in turn number {int(number) - 1}" for number in dict.fromkeys(numbers))
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
    assert lines_of(summary) == [f"The parser reads on in turn number {number}" for number in range(30)]
    assert summary.notes == (f"summarized in {len(batch)} parts",)


def test_statements_of_many_parts_that_do_not_fit_are_left_out_and_counted() -> None:
    model = Model(part_of)
    summary = model.run(request(talk(30), reads=3000, budget=300))
    assert isinstance(summary, Summary)
    assert GAUGE.text(summary.text) <= 300
    told = lines_of(summary)
    assert f"{30 - len(told)} statements were left out to keep to 300 tokens" in summary.notes
    assert told[-1] == "The parser reads on in turn number 29"
    assert {ask.max_tokens for ask in model.asked} == {256}
    assert model.names == ["requested", "created"]


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
    assert isinstance(model.run(request(talk(30), reads=3000, budget=3000)), Summary)
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
