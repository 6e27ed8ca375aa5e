"""The smart provider: passes, fed by hand and driven; what it does with every kind of answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import process_time
from typing import Any

import pytest

from compact.errors import InvalidConfiguration
from compact.formats import parse
from compact.messages import Conversation, EditKind, Pass, Replace, fingerprint, restore, texts
from compact.policies import configure
from compact.ports import Answer, Ask, Completion, Event, Failure, Refusal
from compact.providers import Applied, Rejected
from compact.providers.provider import Step, Steps
from compact.providers.smart import SmartProvider, SmartSettings
from compact.providers.truncation.cutting import is_condensed
from tests.providers.conversations import (
    LONG,
    assistant,
    bundled,
    changed,
    contents,
    drive,
    in_short,
    step,
    task_for,
    tokens_of,
    user,
)

PROVIDER = SmartProvider()
NO_PRELUDE = {"lossless_prelude": {"enabled": False}}


def smart(*passes: dict[str, Any], **others: Any) -> SmartSettings:
    """Settings with these passes, each with an id of its own."""
    numbered = [{"id": f"pass {number}"} | settings for number, settings in enumerate(passes, 1)]
    return configure(SmartSettings, NO_PRELUDE | others | {"passes": numbered})


def do(operation: str, **more: Any) -> dict[str, Any]:
    return {"operation": operation, **more}


def each(**defaults: dict[str, Any]) -> dict[str, Any]:
    return {"individual": {"defaults": defaults}, "selection": {"keep_recent": 2}}


def beyond_events(steps: Steps, step: Step) -> Step:
    """The step, or the first one after it that is no event."""
    while isinstance(step, Event):
        step = steps.send(None)
    return step


def questions(steps: Steps) -> tuple[Ask, ...]:
    asks = beyond_events(steps, next(steps))
    assert isinstance(asks, tuple)
    return asks


V3 = {
    "selection": {"type": "oversized", "keep_recent": 2},
    "individual": {
        "markers": "s3",
        "defaults": {
            "tool_results": do("summarize"),
            "tool_parameters": do("summarize", max_lines=None, max_chars=100),
        },
    },
}


def session() -> Conversation:
    return parse(
        [
            user("go"),
            *step("c1", "read", {"path": "a"}, LONG),
            assistant(LONG),
            *step("c2", "write", {"content": LONG}, "ok"),
            *step("c3", "run", {}, LONG + "\nend"),
            user("thanks"),
            assistant("done"),
        ]
    )


def test_a_summary_stands_in_the_place_of_the_text() -> None:
    conversation = session()
    steps = PROVIDER.condense(task_for(conversation), smart(each(tool_results=do("summarize", max_tokens=50))))
    asks = next(steps)
    assert isinstance(asks, tuple)
    assert [(ask.max_tokens, ask.sources) for ask in asks] == [(256, ("2",)), (256, ("7",))]
    for ask, text in zip(asks, (LONG, LONG + "\nend"), strict=True):
        code = fingerprint(text)[:8]
        assert ask.material == f"=== piece {code} ===\n{text}\n=== end of piece {code} ==="
        assert f"carry the code {code}" in ask.instructions
    assert "what the tool 'read' answered" in asks[0].instructions
    assert "at most 50 tokens" in asks[0].instructions
    proposed = steps.send(
        (Completion(" The lines are numbered. It is in src/x.py. "), Completion("All of it\u200b passed."))
    )
    assert isinstance(proposed, Pass)
    texts = [edit.with_ for edit in proposed.edits if isinstance(edit, Replace)]
    assert texts == [
        f"[Summary of {len(LONG):,} characters, written by a model]\n\nThe lines are numbered. It is in src/x.py (?).",
        f"[Summary of {len(LONG) + 4:,} characters, written by a model]\n\nAll of it passed.",
    ]
    assert proposed.notes == ("2 tool results summarized", "1 statement of the model is doubted")


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Refusal("I must not"), "1 without a summary: I must not"),
        (Failure("connection lost"), "1 without a summary: connection lost"),
        (Completion(" \n"), "1 without a summary: the model answered with nothing"),
        (Completion("A fil", truncated=True), "1 without a summary: the answer was cut off"),
        (
            Completion("Error: 429 Too Many Requests"),
            "1 without a summary: the model answered with an error: Error: 429 Too Many Requests",
        ),
        (Completion(LONG * 2), "1 without a summary: it was longer than the text"),
    ],
)
def test_without_a_usable_answer_the_text_is_cut(answer: Answer, note: str) -> None:
    conversation = session()
    settings = smart(each(tool_results=do("summarize", max_lines=2, tail_lines=1)))
    outcome = drive(PROVIDER, settings, conversation, ask=lambda asks: (answer, Completion("Well.")))
    lines = LONG.split("\n")
    now = contents(outcome.conversation)
    assert now[2] == "\n".join([*lines[:2], "[… 57 lines omitted …]", lines[-1]])
    assert now[7].endswith("characters, written by a model]\n\nWell.")
    assert outcome.passes[0].notes == ("1 tool result truncated", "1 tool result summarized", note)


@pytest.mark.parametrize(
    ("lines", "note"),
    [(500, "it was far longer than asked for"), (20_000, "it was longer than the text")],
)
@pytest.mark.clock
def test_an_answer_that_is_far_too_long_is_not_read(lines: int, note: str) -> None:
    conversation = parse([user("go"), *step("c1", "read", {}, LONG * 50), user("thanks"), assistant("done")])
    answer = Completion("\n".join(f"- The lines are numbered, {number}" for number in range(lines)))
    settings = smart(each(tool_results=do("summarize", max_tokens=100, max_lines=2)))
    started = process_time()
    outcome = drive(PROVIDER, settings, conversation, ask=lambda asks: (answer,) * len(asks))
    assert process_time() - started < 1
    assert outcome.passes[0].notes == ("1 tool result truncated", f"1 without a summary: {note}")


def test_the_four_operations_work_on_the_three_kinds_of_content() -> None:
    conversation = session()
    settings = smart(
        each(
            message_text=do("truncate", max_lines=1, max_chars=None),
            tool_parameters=do("suppress"),
            tool_results=do("keep"),
        )
    )
    outcome = drive(PROVIDER, settings, conversation)
    now = contents(outcome.conversation)
    assert now[3] == LONG.split("\n")[0] + "\n[… 59 lines omitted …]"
    assert json.loads(now[4]) == {"content": f"[… all {len(LONG.splitlines())} lines omitted …]"}
    assert changed(conversation, outcome.conversation) == [3, 4]


def test_single_messages_may_be_treated_otherwise() -> None:
    conversation = session()
    settings = smart(each(tool_results=do("suppress")))
    (only,) = settings.passes
    overrides = {"2": {"tool_results": do("keep")}, "-3": {"message_text": do("suppress")}, "99": {}}
    individual = only.individual.model_dump() | {"overrides": overrides}
    outcome = drive(PROVIDER, smart({"individual": individual, "selection": {"keep_recent": 2}}), conversation)
    assert changed(conversation, outcome.conversation) == [7]


@pytest.mark.parametrize(
    ("selection", "cut"),
    [
        ({"keep_recent": 0}, [2, 7]),
        ({"keep_recent": 3}, [2]),
        ({"type": "preserve_percent", "keep_percentage": 80}, []),
        ({"type": "preserve_percent", "keep_percentage": 50}, [2]),
        ({"type": "custom", "indices": [7, 99]}, [7]),
        ({"type": "custom", "indices": [-8, 0]}, [2]),
        ({"type": "oversized", "keep_recent": 0, "result_threshold": 5_000}, []),
        ({"type": "oversized", "keep_recent": 0}, [2, 7]),
    ],
)
def test_selections(selection: dict[str, Any], cut: list[int]) -> None:
    conversation = session()
    individual = {"defaults": {"tool_results": do("suppress")}}
    outcome = drive(PROVIDER, smart({"selection": selection, "individual": individual}), conversation)
    assert changed(conversation, outcome.conversation) == cut


def test_a_batch_may_keep_everything() -> None:
    keep = smart({"mode": "batch", "batch": {"operation": "keep"}}, {"mode": "batch", "selection": {"keep_recent": 99}})
    outcome = drive(PROVIDER, keep, session(), ask=_never)
    assert outcome.plan == ()
    assert len(outcome.passes) == 2


def _never(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    raise AssertionError(f"nobody should be asked about {asks[0].sources}")


def test_custom_prompts_and_profiles_reach_the_model() -> None:
    own = {"prompt": "Say it in verse.", "profile": "cheap", "max_tokens": 64}
    settings = smart(
        each(tool_results=do("summarize", **own)), {"mode": "batch", "batch": own, "selection": {"keep_recent": 2}}
    )
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return in_short(asks)

    drive(PROVIDER, settings, session(), ask=answer)
    assert len(asked) == 3
    assert {(ask.profile, ask.max_tokens) for ask in asked} == {("cheap", 256)}
    assert all(ask.instructions.startswith("Say it in verse.\n\n") for ask in asked)


def test_questions_are_asked_some_at_a_time() -> None:
    steps = [message for n in range(12) for message in step(f"c{n}", "run", {}, f"{n}\n{LONG}")]
    conversation = parse([user("go"), *steps, user("thanks")])
    batches: list[int] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        batches.append(len(asks))
        return in_short(asks)

    drive(PROVIDER, smart(each(tool_results=do("summarize"))), conversation, ask=answer)
    assert batches == [5, 5, 1]
    batches.clear()
    drive(PROVIDER, smart(each(tool_results=do("summarize")), max_parallel=8), conversation, ask=answer)
    assert batches == [8, 3]


def test_no_more_is_asked_than_the_target_takes() -> None:
    conversation = bundled()
    before = tokens_of(conversation)
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Completion("x " * 80) for _ in asks)

    outcome = drive(PROVIDER, smart(V3), conversation, int(before * 0.6), answer)
    assert 0.5 * before < tokens_of(outcome.conversation) <= 0.6 * before
    assert 5 < len(asked) < 30
    sizes = [len(ask.material) for ask in asked]
    assert sizes[0] > 1.5 * sizes[-1]


def test_v3_falls_back_to_cutting_candidate_by_candidate() -> None:
    conversation = bundled()
    target = tokens_of(conversation) // 2

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(Failure("busy") if len(ask.material) % 2 else Completion("It is a file.") for ask in asks)

    outcome = drive(PROVIDER, smart(V3), conversation, target, answer)
    assert tokens_of(outcome.conversation) <= target
    edits = [edit for done in outcome.plan for edit in done.edits if isinstance(edit, Replace)]
    assert {edit.kind for edit in edits} == {EditKind.TRUNCATED, EditKind.SUMMARIZED}
    sizes = {where: len(text) for where, text in texts(conversation)}
    frame = len("=== piece 01234567 ===\n\n=== end of piece 01234567 ===")
    assert {(sizes[edit.where] + frame) % 2 for edit in edits if edit.kind is EditKind.TRUNCATED} == {1}
    assert all(is_condensed(edit.with_) for edit in edits)


def test_passes_run_in_order_and_stop_at_the_target() -> None:
    conversation = session()
    before = tokens_of(conversation)
    settings = smart(each(tool_results=do("suppress")), each(message_text=do("suppress")), each())

    def done(target: int) -> list[bool]:
        """Which of the passes ran; those that did not say that the target is met."""
        outcome = drive(PROVIDER, settings, conversation, target)
        assert [report.name for report in outcome.passes] == ["pass 1", "pass 2", "pass 3"]
        why = f"{tokens_of(outcome.conversation):,} tokens are within the target of {target:,}"
        assert {report.skipped for report in outcome.passes} == {"", why} or target == before
        return [not report.skipped for report in outcome.passes]

    assert done(before - 100) == [True, False, False]
    assert done(before - tokens_of(parse([user(LONG), user(LONG)])) - 100) == [True, True, False]
    assert done(before) == [False, False, False]


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (do("truncate", max_lines=20, tail_lines=0), do("suppress"), "[… all 100 lines omitted …]"),
        (do("truncate", max_lines=20, tail_lines=0), do("truncate", max_lines=2, tail_lines=0), "1: words\n2: words\n"),
        (do("truncate", max_lines=20, tail_lines=0), do("summarize", max_tokens=50), "It held what was asked for."),
    ],
)
def test_a_later_pass_works_on_what_an_earlier_one_left(
    first: dict[str, Any], second: dict[str, Any], left: str
) -> None:
    answer = "\n".join(f"{number}: words" for number in range(1, 101))
    conversation = parse([user("go"), *step("a", "run", {}, answer), *step("b", "run", {}, "ok"), user("so?")])
    outcome = drive(PROVIDER, smart(each(tool_results=first), each(tool_results=second)), conversation)
    assert len(outcome.plan) == 2
    now = contents(outcome.conversation)[2]
    assert left in now
    assert "19: words" not in now
    assert restore(outcome.conversation, outcome.plan) == conversation


def test_conditional_passes_run_only_above_their_threshold() -> None:
    conversation = session()
    before = tokens_of(conversation)
    suppress = each(tool_results=do("suppress"))

    def skipped(**condition: Any) -> list[str]:
        step = suppress | {"execution": {"type": "conditional", **condition}}
        return [report.skipped for report in drive(PROVIDER, smart(step), conversation).passes]

    assert skipped(token_threshold=before - 1) == [""]
    assert skipped(token_threshold=before) == [f"{before:,} tokens do not exceed its threshold of {before:,}"]
    assert skipped(window_share=0.001) == [""]
    assert skipped(window_share=0.9) == [f"{before:,} tokens do not exceed its threshold of 115,200"]


def test_the_prelude_comes_first_and_loses_nothing() -> None:
    again = parse(
        [user("go"), *step("c1", "read", {"path": "a"}, LONG), *step("c2", "read", {"path": "a"}, LONG), user("so?")]
    )
    alone = drive(PROVIDER, smart(lossless_prelude={"level": "verbatim"}), again)
    assert tokens_of(alone.conversation) < tokens_of(again) * 0.6
    assert restore(alone.conversation, alone.plan) == again
    settings = smart(each(tool_results=do("suppress")), lossless_prelude={"level": "verbatim"})
    early = drive(PROVIDER, settings, again, int(tokens_of(again) * 0.7))
    assert early.plan == alone.plan
    assert "pass 1" in [report.name for report in drive(PROVIDER, settings, again, 10).passes]


def test_a_rejected_pass_leaves_the_next_one_its_turn() -> None:
    conversation = session()
    task = task_for(conversation)
    steps = PROVIDER.condense(task, smart(each(tool_results=do("suppress")), each(message_text=do("suppress"))))
    first = next(steps)
    second = steps.send(Rejected("not today"))
    assert isinstance(first, Pass)
    assert isinstance(second, Pass)
    assert (first.name, second.name) == ("pass 1", "pass 2")
    with pytest.raises(StopIteration):
        steps.send(Rejected("nor tomorrow"))
    assert task.conversation == conversation


def test_no_question_is_asked_twice() -> None:
    conversation = session()
    settings = smart(each(message_text=do("suppress")), {"mode": "batch", "selection": {"keep_recent": 2}})
    steps = PROVIDER.condense(task_for(conversation), settings)
    first = next(steps)
    assert isinstance(first, Pass)
    # What the first pass leaves is not changed by it here, so that the second round would ask the same again.
    assert isinstance(beyond_events(steps, steps.send(Applied(conversation, 1_000))), tuple)
    declined = beyond_events(steps, steps.send((Failure("busy"),)))
    assert isinstance(declined, Pass)
    again = beyond_events(steps, steps.send(Rejected(declined.notes[0])))
    assert isinstance(again, Pass)
    with pytest.raises(StopIteration):
        beyond_events(steps, steps.send(Rejected("enough")))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"passes": [{"id": "a"}, {"id": "a"}]}, "same id"),
        ({"passes": [{"id": "a", "execution": {"type": "conditional"}}]}, "token_threshold or window_share"),
        ({"passes": [{"id": "a", "individual": {"defaults": {"tool_results": {"operation": "shrink"}}}}]}, "operation"),
        ({"passes": [{"id": "a", "selection": {"keep_percentage": 120}}]}, "keep_percentage"),
        ({"max_parallel": 0}, "max_parallel"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidConfiguration, match=field):
        configure(SmartSettings, settings)
