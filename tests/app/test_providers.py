"""What each provider does to a conversation, called as an application calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from time import process_time
from typing import Any

import pytest

from compact import condense, restore
from compact.messages import Json
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from tests.providers.test_registry import plugins

__all__ = ["plugins"]

RIPE = "the pears are ripe, and somebody has to pick them before the wasps do. " * 4
SOURCE = [f"    total += rows[{number}].price * rate" for number in range(60)]
RECORDED = json.loads(files("compact.cli").joinpath("transcripts/session.openai-chat.json").read_text("utf-8"))
NO_PRELUDE = {"lossless_prelude": {"enabled": False}}


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _ran(id: str, name: str, arguments: dict[str, Any], output: str) -> list[dict[str, Any]]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    asked: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [asked, {"role": "tool", "tool_call_id": id, "content": output}]


def _outputs(messages: Sequence[Json]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


def _work(steps: int) -> list[dict[str, Any]]:
    """A task, so many commands with long arguments and outputs, and a question."""
    commands = [{"command": f"make part{step} # {'why ' * 60}"} for step in range(steps)]
    outputs = ["\n".join(f"part {step} line {line}" for line in range(50)) for step in range(steps)]
    ran = [
        message
        for step, (command, output) in enumerate(zip(commands, outputs, strict=True))
        for message in _ran(f"c{step}", "bash", command, output)
    ]
    return [_said("user", "Build all parts."), *ran, _said("user", "Which one failed?")]


def test_native_leaves_the_first_message_one_summary_and_the_last_three() -> None:
    talk = [_said("user" if turn % 2 == 0 else "assistant", f"Turn {turn}: {RIPE}") for turn in range(15)]
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Completion("The pears were ripe all along.") for _ in asks)

    prompt = "Tell it as a fruit grower would."
    result = condense(talk, recipe="native", config={"prompt": prompt}, ask=answer)
    assert [result.messages[0], *result.messages[-3:]] == [talk[0], *talk[-3:]]
    (summary,) = result.messages[1:-3]
    assert "The pears were ripe all along." in summary["content"]
    (only,) = asked
    assert prompt in only.instructions
    assert restore(result) == talk


@pytest.mark.parametrize(
    ("answer", "why"),
    [(Failure("503"), "503"), (Refusal("I must not."), "I must not."), (Completion(""), "empty summary")],
)
def test_native_changes_nothing_where_the_model_gives_no_summary(answer: Answer, why: str) -> None:
    talk = [_said("user" if turn % 2 == 0 else "assistant", f"Turn {turn}: {RIPE}") for turn in range(15)]
    result = condense(talk, recipe="native", config={"on_failure": "block"}, ask=lambda asks: (answer,) * len(asks))
    assert result.messages == talk
    assert why in str(result.report)


def test_lossless_shows_a_file_once_whatever_is_read_of_it() -> None:
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(SOURCE, 1))
    messages = [
        _said("user", "Why are the totals wrong?"),
        *_ran("a", "read_file", {"path": "sum.py"}, "\n".join(SOURCE)),
        *_ran("b", "read_file", {"path": "sum.py", "numbers": True}, numbered),
        *_ran("c", "read_file", {"path": "sum.py", "from": 11, "to": 40}, "\n".join(SOURCE[10:40])),
        _said("user", "And now?"),
    ]
    result = condense(messages, recipe="lossless", config={"level": "verbatim"})
    whole, again, part = _outputs(result.messages)
    assert whole == "\n".join(SOURCE)
    assert again.startswith("1: [same as sum.py above #")
    assert part.startswith("[same as first read_file sum.py result:11-40 above #")
    assert restore(result.messages) == messages


def test_lossless_keeps_the_last_answer_of_a_command_and_every_error() -> None:
    built = "\n".join(f"built part {number} of the page" for number in range(40))
    failed = "\n".join(f"compiling part {number}" for number in range(40)) + "\nmake: *** [page] Error 2"
    runs = [failed, f"{built}\nrun 1", f"{built}\nrun 2"]
    steps = [
        message
        for id, output in zip("abc", runs, strict=True)
        for message in _ran(id, "bash", {"command": "make"}, output)
    ]
    messages = [_said("user", "Build it."), *steps, _said("user", "Well?")]
    result = condense(messages, recipe="lossless")
    first, second, third = _outputs(result.messages)
    assert (first, third) == (failed, runs[2])
    assert second.startswith("[Consolidated 2 operations: the same was run again")
    assert restore(result) == messages


@pytest.mark.parametrize(("level", "least"), [("verbatim", 0.28), ("superseded", 0.46)])
def test_lossless_saves_a_third_to_a_half_of_a_session_that_repeats_itself(level: str, least: float) -> None:
    result = condense(RECORDED["messages"], recipe="lossless", config={"level": level})
    assert 1 - result.report.tokens_after / result.report.tokens_before > least
    assert restore(result) == RECORDED["messages"]


@pytest.mark.clock
@pytest.mark.parametrize(("recipe", "seconds"), [("lossless", 1), ("v1", 0.1), ("v2", 0.1), ("speed", 0.1)])
def test_a_hundred_thousand_tokens_are_condensed_in_the_promised_time(recipe: str, seconds: float) -> None:
    def timed() -> float:
        began = process_time()
        condense(RECORDED["messages"], recipe=recipe)
        return process_time() - began

    # The least of a few: what else runs on the machine only ever adds to it, and the first one counts the texts.
    assert min(timed() for _ in range(5)) < seconds


def test_truncation_can_leave_the_lines_that_are_most_likely_to_be_needed_again() -> None:
    # Two files name fetch_page, so it matters; the first lines of neither do.
    sources = []
    for file in ("rows", "cells"):
        lines = [f"def {file}_step_{number}(rows): return rows" for number in range(80)]
        lines[40] = "from pages import fetch_page"
        sources.append("\n".join(lines))
    read = [
        message
        for file, source in zip("ab", sources, strict=True)
        for message in _ran(file, "read_file", {"path": f"{file}.py"}, source)
    ]
    talk = [_said(role, "The same.") for _ in range(4) for role in ("user", "assistant")]
    messages = [_said("user", "Why does it stop?"), *read, *talk]
    config = {"mode": "mechanical", "max_result_lines": 2}
    for stay, found in (("first", False), ("relevant", True)):
        result = condense(messages, recipe="truncation", config={**config, "lines": stay})
        assert ("fetch_page" in _outputs(result.messages)[0]) == found


@pytest.mark.parametrize(
    ("operations", "shown"),
    [
        ({"tool_results": "suppress", "tool_parameters": "keep"}, "⟨ Content suppressed ⟩"),
        ({"tool_results": "truncate", "tool_parameters": "keep"}, "⟨ ... truncated ⟩"),
        ({"tool_results": "keep", "tool_parameters": "truncate"}, "⟨ ... truncated ⟩"),
    ],
)
def test_truncation_suppresses_or_cuts_each_kind_of_content_as_it_is_told(
    operations: dict[str, str], shown: str
) -> None:
    messages = _work(6)
    config = {"mode": "mechanical", "markers": "s0", "preserve_recent": 1, **operations}
    result = condense(messages, recipe="truncation", config=config)
    called = [call["function"]["arguments"] for message in result.messages for call in message.get("tool_calls", ())]
    changed = {"tool_results": _outputs(result.messages), "tool_parameters": called}
    for kind, texts in changed.items():
        assert all((shown in text) == (operations[kind] != "keep") for text in texts[:-1])
    assert [message for message in result.messages if message["role"] == "user"] == [messages[0], messages[-1]]
    assert condense(messages, recipe="truncation", config=config).messages == result.messages


def _passing(id: str, keep: int, operation: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {
        "id": id,
        "name": id,
        "selection": {"type": "preserve_recent", "keep_recent": keep},
        "individual": {"defaults": {"tool_results": operation}},
        **more,
    }


def test_passes_refine_what_the_ones_before_them_left_and_end_at_the_target() -> None:
    passes = [
        _passing("truncate old", 3, {"operation": "truncate", "max_lines": 20}),
        _passing("suppress very old", 9, {"operation": "suppress"}),
        _passing(
            "last resort", 3, {"operation": "suppress"}, execution={"type": "conditional", "token_threshold": 100_000}
        ),
    ]
    messages = _work(10)
    result = condense(messages, recipe="smart", config={**NO_PRELUDE, "passes": passes})
    outputs = _outputs(result.messages)
    assert all("all 50 lines omitted" in output for output in outputs[:6])
    assert all(output.endswith("[… 30 lines omitted …]") for output in outputs[6:9])
    assert outputs[9] == _outputs(messages)[9]
    assert [done.name for done in result.report.passes if done.skipped] == ["last resort"]
    early = condense(messages, recipe="smart", config={**NO_PRELUDE, "passes": passes}, target=0.8)
    why = f"{early.report.tokens_after:,} tokens are within the target of {early.report.target:,}"
    assert [done.skipped for done in early.report.passes] == ["", why, why]


def test_a_batch_becomes_one_summary_between_its_first_and_last_messages() -> None:
    talk = [_said("user" if turn % 2 == 0 else "assistant", f"Turn {turn}: {RIPE}") for turn in range(20)]
    batch = {"keep_first": 2, "keep_last": 3}
    only = {"id": "b", "mode": "batch", "selection": {"type": "preserve_recent", "keep_recent": 4}, "batch": batch}
    config = {**NO_PRELUDE, "passes": [only]}
    result = condense(
        talk, recipe="smart", config=config, ask=lambda asks: (Completion("Pears, all along."),) * len(asks)
    )
    # The first message is not among the selected ones, and stays in any case.
    assert result.messages[:3] + result.messages[4:] == talk[:3] + talk[13:]
    assert "Pears, all along." in result.messages[3]["content"]


def test_single_messages_are_treated_otherwise_and_stay_in_their_order() -> None:
    messages = _work(4)
    cut = _passing("cut", 1, {"operation": "truncate", "max_lines": 1})
    cut["individual"]["overrides"] = {4: {"tool_results": {"operation": "keep"}}}
    result = condense(messages, recipe="smart", config={**NO_PRELUDE, "passes": [cut]})
    assert [message["role"] for message in result.messages] == [message["role"] for message in messages]
    assert [after == before for after, before in zip(_outputs(result.messages), _outputs(messages), strict=True)] == [
        False,
        True,
        False,
        False,
    ]


@pytest.mark.usefixtures("plugins")
def test_a_provider_of_others_is_a_recipe_like_the_built_in_ones() -> None:
    assert condense([_said("user", "Hello")], recipe="mine").report.provider == "Mine"


def test_what_auto_shows_whole_of_a_recorded_session_stays_whole_with_a_larger_target() -> None:
    shown = []
    for percent in range(9, 30):
        left = condense(RECORDED, target=percent / 100).messages
        shown.append([message for message in RECORDED["messages"] if message in left])
    rules = next(message for message in RECORDED["messages"] if "# Contributing" in str(message["content"]))
    # Where the target has become large enough for a whole file of rules, that comes before anything else.
    steps = [pair for pair in pairwise(shown) if (rules in pair[0]) == (rules in pair[1])]
    lost = [[one for one in less if one not in more] for less, more in steps]
    assert len(shown) - 1 - len(steps) <= 1
    assert lost == [[]] * len(lost)
    assert len(shown[0]) < len(shown[-1])


def test_auto_keeps_earlier_thinking_only_in_what_is_whole() -> None:
    messages: list[dict[str, Any]] = []
    for at in range(12):
        thought = {"type": "thinking", "thinking": f"I wonder about part {at}. " * 20, "signature": f"s{at}"}
        call = {"type": "tool_use", "id": f"t{at}", "name": "read_file", "input": {"path": f"a{at}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": "\n".join(SOURCE)}
        messages += [_said("user", f"Look at part {at}."), {"role": "assistant", "content": [thought, call]}]
        messages += [{"role": "user", "content": [result]}, _said("assistant", f"Part {at} is fine.")]
    del messages[-1]  # the last turn is not over
    left = condense(messages, target=0.3)
    thinking = [message for message in left.messages if '"thinking"' in json.dumps(message)]
    assert thinking[-1] == messages[-2]
    assert all(message in messages for message in thinking)
    assert len(thinking) < 6
    assert restore(left) == messages
