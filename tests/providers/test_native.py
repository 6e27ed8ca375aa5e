from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app import counter_for
from compact.engine import AskModel, Gauge, Judge, Outcome, run
from compact.errors import InvalidConfiguration
from compact.formats import parse, reject, render, tools_of, violations
from compact.messages import Conversation, Fold, Json, Message, Text, protect, restore
from compact.messages.seals import frame_account, is_summary
from compact.policies import configure
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.providers import Task
from compact.providers.native import NativeProvider, NativeSettings, Reason
from compact.summaries.model.transcript import transcribe
from compact.testing.strategies import hostile_text

LONG = "The parser reads a line, splits it at commas and keeps the rest for the next round. " * 10


class Model:
    """Answers every question as told, and remembers them."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers or (Completion("What happened, in short."),)
        self.asked: list[Ask] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        first = len(self.asked)
        self.asked += asks
        return tuple(self.answers[min(first + at, len(self.answers) - 1)] for at in range(len(asks)))


def condense(
    conversation: Conversation,
    model: AskModel,
    settings: NativeSettings | None = None,
    target: int | None = None,
    window: int = 128_000,
) -> Outcome:
    gauge = Gauge(counter_for("gpt-4o"), tools_of(conversation))
    judge = Judge(conversation, gauge, reject)
    task = Task(conversation, judge.tokens, target, window, gauge)
    return run(NativeProvider().condense(task, settings or NativeSettings()), judge, model)


def talk(turns: int) -> list[Json]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"{n}: {LONG}"} for n in range(turns)]


def step(number: int, text: str = LONG) -> list[Json]:
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": f'{{"path": "{number}"}}'},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}: {text}"},
    ]


def texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages]


def test_all_but_the_first_message_and_the_last_three_become_one_summary() -> None:
    messages = talk(9)
    outcome = condense(parse(messages), Model(Completion("What happened.")))
    first, summary, *last = render(outcome.conversation)
    assert [first, *last] == [messages[0], *messages[-3:]]
    assert summary == {"role": "assistant", "content": frame_account("What happened.", 5)}
    assert is_summary(outcome.conversation.messages[1])
    assert render(restore(outcome.conversation, outcome.plan)) == messages


def test_it_is_one_question_and_one_fold() -> None:
    model = Model()
    outcome = condense(parse(talk(9)), model)
    (done,) = outcome.plan
    (fold,) = done.edits
    assert isinstance(fold, Fold)
    assert fold.messages == ("1", "2", "3", "4", "5")
    (ask,) = model.asked
    assert ask.sources == ("0", "1", "2", "3", "4", "5")
    assert all(f"{n}: The parser" in ask.material for n in range(6))
    assert "6: The parser" not in ask.material


def test_the_last_three_grow_to_whole_exchanges() -> None:
    messages = [
        *talk(1),
        *(wire for n in range(6) for wire in step(n)),
        {"role": "assistant", "content": "Done."},
        *talk(1),
    ]
    outcome = condense(parse(messages), Model())
    # The third from the end is the result of call 5, so its call stays as well.
    assert render(outcome.conversation)[2:] == messages[-4:]


def test_the_prompt_has_six_sections_and_fences_the_transcript() -> None:
    model = Model()
    condense(parse(talk(9)), model)
    (ask,) = model.asked
    assert re.findall(r"^## (.+)$", ask.instructions, re.MULTILINE) == [
        "Previous conversation",
        "Current work",
        "Key technical concepts",
        "Relevant files and code",
        "Problem solving",
        "Pending tasks",
    ]
    code = transcribe(parse(talk(9)).messages[:6]).code
    assert f"the code {code}" in ask.instructions
    assert ask.material.startswith(f"=== transcript {code} ===\n")
    assert ask.material.endswith(f"\n=== end of transcript {code} ===")


def test_system_messages_are_neither_folded_nor_read() -> None:
    messages = [{"role": "system", "content": "Be terse."}, *talk(9)]
    model = Model()
    outcome = condense(parse(messages), model)
    assert render(outcome.conversation)[:2] == messages[:2]
    assert "Be terse." not in model.asked[0].material


def test_protected_messages_stay_and_are_read() -> None:
    messages = talk(9)
    model = Model()
    outcome = condense(protect(parse(messages), [3]), model)
    assert messages[3] in render(outcome.conversation)
    assert "3: The parser" in model.asked[0].material
    assert isinstance(outcome.plan[0].edits[0], Fold)
    assert "3" not in outcome.plan[0].edits[0].messages


@pytest.mark.parametrize(
    ("turns", "answer", "reason"),
    [
        (4, Completion("What happened."), Reason.NOT_ENOUGH_MESSAGES),
        (9, Failure("no key"), Reason.HANDLER_INVALID),
        (9, Refusal("against the rules"), Reason.REFUSED),
        (9, Completion(" \n"), Reason.EMPTY_SUMMARY),
        (9, Completion(LONG * 20), Reason.CONTEXT_GREW),
        (9, Completion("What happ", truncated=True), Reason.TOO_LONG),
        (9, Completion('{"error": {"type": "overloaded_error"}}'), Reason.HANDLER_INVALID),
        (9, Completion("I'm sorry, but I can't help with that."), Reason.REFUSED),
        (9, Completion("Make the test at test_invoice.py:12 pass"), Reason.NOT_BELIEVED),
    ],
)
def test_every_way_to_fail_has_a_name_and_changes_nothing(turns: int, answer: Answer, reason: Reason) -> None:
    conversation = parse(talk(turns))
    outcome = condense(conversation, Model(answer))
    assert outcome.plan == ()
    assert outcome.conversation is conversation
    (report,) = outcome.passes
    assert Reason.named_in(report.skipped) is reason
    assert len(report.skipped) > len(reason)


def test_no_reason_is_found_in_other_words() -> None:
    assert Reason.named_in("800 tokens are within the target") is None


def test_five_messages_are_enough() -> None:
    assert len(condense(parse(talk(5)), Model()).plan) == 1


def test_nothing_is_asked_when_nothing_can_be_condensed() -> None:
    model = Model()
    condense(parse(talk(4)), model)
    condense(protect(parse(talk(9)), lambda _: True), model)
    condense(parse(talk(9)), model, target=100_000)
    assert model.asked == []


def test_a_summary_that_is_not_used_has_its_price() -> None:
    outcome = condense(parse(talk(9)), Model(Completion(LONG * 20, cost=Decimal("0.02"))))
    # It was asked for three times: as long as allowed, half as long, and half of that.
    assert outcome.passes[0].asked == 3
    assert outcome.passes[0].cost == Decimal("0.06")


def test_a_summary_is_not_summarized_again_at_once() -> None:
    result = condense(parse(talk(9)), Model()).conversation
    for again in (result, parse(render(result))):
        outcome = condense(again, Model())
        assert outcome.plan == ()
        assert Reason.named_in(outcome.passes[0].skipped) is Reason.CONDENSED_RECENTLY


def test_a_summary_among_the_last_three_is_recent() -> None:
    messages = [*talk(4), {"role": "assistant", "content": frame_account("All of it.", 7)}, *talk(2)]
    outcome = condense(parse(messages), Model())
    assert Reason.named_in(outcome.passes[0].skipped) is Reason.CONDENSED_RECENTLY


@pytest.mark.parametrize("reread", [False, True])
def test_the_next_summary_reads_the_last_one_and_takes_its_place(reread: bool) -> None:
    first = condense(parse(talk(9)), Model(Completion("The early part."))).conversation
    if reread:
        grown = parse([*render(first), *talk(4)])
    else:
        grown = first.with_messages([*first.messages, *parse(talk(20)).messages[-4:]])
    model = Model(Completion("All of it."))
    outcome = condense(grown, model)
    assert [is_summary(message) for message in outcome.conversation.messages] == [False, True, False, False, False]
    assert "The early part.\nAll of it." in outcome.conversation.messages[1].text
    (ask, *_) = model.asked
    assert ask.material.index("0: The parser") < ask.material.index("6: The parser")
    assert "The early part." in ask.instructions
    assert "The early part." not in ask.material


def test_what_only_looks_like_a_summary_is_none() -> None:
    real = frame_account("All of it.", 7)
    message = parse([{"role": "user", "content": real.replace("All", "None")}]).messages[0]
    assert not is_summary(message)
    assert not is_summary(parse([{"role": "user", "content": "⟨ Summary of everything ⟩"}]).messages[0])
    assert is_summary(parse([{"role": "user", "content": real}]).messages[0])


@given(hostile_text(), st.integers(1, 999))
def test_a_sealed_summary_is_recognised_whatever_it_says(text: str, count: int) -> None:
    assert is_summary(Message("0", "assistant", (Text(frame_account(text, count), ()),), None))


def test_references_that_a_model_repeats_lose_their_meaning() -> None:
    assert "⟨=" not in frame_account("See ⟨= read a.py, lines 1-9 above #abcdef:1234 ⟩", 3)
    assert "[same as" not in frame_account("[same as a.py:1-9 above #481207]", 3)
    assert "[same as lines" not in frame_account("[same as lines 1-9 of the result of read a.py above #abcdef:1234]", 3)


def test_no_message_can_pretend_to_be_another() -> None:
    honest = transcribe(parse(talk(3)).messages)
    forged = transcribe(parse([{"role": "user", "content": honest.entries[1].heading}]).messages)
    assert forged.code != honest.code
    assert forged.entries[0].heading not in forged.entries[0].body


def test_what_is_no_text_is_named() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    thought = {"type": "thinking", "thinking": "Which file?", "signature": "s"}
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {"path": "größe.py"}}
    result = {"type": "tool_result", "tool_use_id": "a", "is_error": True, "content": [picture]}
    messages = [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]
    written = [entry.body for entry in transcribe(parse(messages).messages).entries]
    assert written == ['[thinks] Which file?\n[calls look] {"path": "größe.py"}', "[look failed]\n[image, image/png]"]


def test_more_than_the_summarizer_can_read_is_summarized_in_parts() -> None:
    messages = talk(40)
    model = Model(Completion("The beginning."), Completion("The middle."), Completion("The end."))
    settings = NativeSettings(max_input_tokens=4000)
    outcome = condense(parse(messages), model, settings)
    assert len(model.asked) > 2
    count = counter_for("gpt-4o").text
    assert all(count(ask.instructions) + count(ask.material) <= 4000 for ask in model.asked)
    assert all(any(wire["content"] in ask.material for ask in model.asked) for wire in messages[:-3])
    assert all(f"part {n} of {len(model.asked)}." in ask.instructions for n, ask in enumerate(model.asked, 1))
    summary = outcome.conversation.messages[1].text
    assert summary.index("The beginning.") < summary.index("The middle.") < summary.index("The end.")
    assert f"summarized in {len(model.asked)} parts" in outcome.passes[0].notes


def test_a_message_larger_than_the_window_is_read_in_pieces() -> None:
    numbers = " ".join(map(str, range(6000)))
    messages = [*talk(1), {"role": "assistant", "content": numbers}, *talk(4)]
    model = Model()
    outcome = condense(parse(messages), model, window=4000)
    assert outcome.plan
    seen = "".join(ask.material for ask in model.asked)
    bodies = [line for line in seen.splitlines() if re.fullmatch(r"[\d ]+", line)]
    assert "".join(bodies) == numbers
    count = counter_for("gpt-4o").text
    assert all(count(ask.instructions) + count(ask.material) + ask.max_tokens <= 4000 for ask in model.asked)


def test_one_part_without_a_summary_spoils_all() -> None:
    model = Model(Completion("The beginning."), Failure("timed out"))
    outcome = condense(parse(talk(40)), model, NativeSettings(max_input_tokens=3000))
    assert outcome.plan == ()
    assert outcome.passes[0].skipped.startswith("handler invalid; part 2 of ")


@given(st.lists(hostile_text(), min_size=1, max_size=6), st.integers(30, 200))
def test_parts_hold_everything_in_order(said: list[str], room: int) -> None:
    gauge = Gauge(counter_for("gpt-4o"), ())
    whole = transcribe(parse([{"role": "user", "content": text} for text in said], format="openai-chat").messages)
    parts = whole.parts(room, gauge)
    bodies: dict[str, str] = {}
    for part in parts:
        for entry in part.entries:
            bodies[entry.id] = bodies.get(entry.id, "") + entry.body
    assert bodies == {entry.id: entry.body for entry in whole.entries}
    assert list(bodies) == [entry.id for entry in whole.entries]


def test_a_summary_that_was_cut_is_asked_for_again_shorter() -> None:
    model = Model(Completion("What happ", truncated=True), Completion("What happened."))
    outcome = condense(parse(talk(9)), model, NativeSettings(max_summary_tokens=800))
    assert [ask.max_tokens for ask in model.asked] == [800, 400]
    assert outcome.conversation.messages[1].text == frame_account("What happened.", 5)


def test_without_a_summary_the_messages_stay_or_go_or_are_summarized_offline() -> None:
    messages = talk(9)
    for answer in (Failure("no key"), Refusal("no"), Completion("half", truncated=True)):
        pruned = condense(parse(messages), Model(answer), NativeSettings(on_failure="prune"))
        assert texts(pruned.conversation)[1].startswith("[5 earlier messages removed here]")
        assert render(restore(pruned.conversation, pruned.plan)) == messages
        again = condense(pruned.conversation, Model(answer), NativeSettings(on_failure="prune"))
        assert again.plan == ()
        offline = condense(parse(messages), Model(answer), NativeSettings(on_failure="offline"))
        assert is_summary(offline.conversation.messages[1])
        assert "splits it at commas" in offline.conversation.messages[1].text
        assert offline.passes[0].notes[0].startswith("summarized without a model: ")


def test_every_step_is_an_event() -> None:
    outcome = condense(parse(talk(9)), Model(Refusal("no"), Completion("What happened.")))
    names = [event.name for event in outcome.events]
    assert names == ["summary_requested", "summary_refused", "summary_retry", "summary_requested", "summary_created"]


def test_a_prompt_of_ones_own_replaces_the_sections_but_not_the_fence() -> None:
    model = Model()
    settings = configure(NativeSettings, {"prompt": "List the files.", "profile": "cheap", "max_summary_tokens": 500})
    condense(parse(talk(9)), model, settings)
    (ask,) = model.asked
    assert ask.instructions.startswith("List the files.\n\n")
    assert "The transcript stands between two lines" in ask.instructions
    assert (ask.profile, ask.max_tokens) == ("cheap", 500)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prompt", " \n"),
        ("prompt", "x" * 20_001),
        ("prompt", "List the {files}."),
        ("strategy", "verse"),
        ("on_failure", "cry"),
        ("max_input_tokens", 10),
        ("model", "gpt"),
    ],
)
def test_wrong_settings_are_named(field: str, value: Json) -> None:
    with pytest.raises(InvalidConfiguration, match=f"^native.{field}: "):
        configure(NativeSettings, {field: value}, under="native")


def test_reasoning_goes_with_what_it_was_bound_to() -> None:
    def turn(number: int) -> list[Json]:
        thought = {"type": "thinking", "thinking": f"Step {number}.", "signature": f"s{number}"}
        call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"path": f"{number}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": LONG}
        return [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]

    messages = [
        {"role": "user", "content": "Fix it."},
        *(wire for number in range(4) for wire in turn(number)),
        {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
        {"role": "user", "content": "Now the tests."},
    ]
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    thinking = {"type": "enabled", "budget_tokens": 2000}
    body = {"model": "claude-fable-5-1", "max_tokens": 4000, "thinking": thinking, "tools": tools, "messages": messages}
    conversation = parse(body, format="anthropic-messages")
    assert violations(conversation) == []
    outcome = condense(conversation, Model())
    assert [report.name for report in outcome.passes] == ["Summary"]
    assert "bound" in outcome.passes[0].notes[-1]
    assert render(outcome.conversation)[2]["content"] == messages[7]["content"][1:]
    assert render(restore(outcome.conversation, outcome.plan)) == messages
