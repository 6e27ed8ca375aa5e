"""The Lossless provider: its laws, and what it finds."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app import counter_for, read_transcript
from compact.engine import Gauge, Judge, Outcome, run
from compact.formats import FORMATS, parse, reject, render, tools_of, violations
from compact.messages import Conversation, frame_account, restore, texts, unfold, visible
from compact.providers import Task
from compact.providers.lossless import LosslessProvider, LosslessSettings
from compact.providers.lossless.formatting import simplify
from compact.testing.generate import random_body
from tests.untouched import assert_untouched

LEVELS = ("verbatim", "formatting", "superseded")
Level = Literal["verbatim", "formatting", "superseded"]
BLOCK = [f"    result_{index} = compute(value_{index}, other={index * 7})  # step {index}" for index in range(30)]


def condense(conversation: Conversation, level: Level, target: int | None = None) -> Outcome:
    gauge = Gauge(counter_for("gpt-4o"), tools_of(conversation))
    judge = Judge(conversation, gauge, reject)
    task = Task(visible(conversation), judge.tokens, target, 128_000, gauge)
    return run(LosslessProvider().condense(task, LosslessSettings(level=level)), judge, lambda asks: ())


def numbered(lines: list[str], start: int = 1) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start))


def added(lines: list[str]) -> str:
    return "\n".join(["@@ -0,0 +1 @@", *(f"+{line}" for line in lines)])


def session(*steps: tuple[str, dict[str, Any], str]) -> Conversation:
    """A chat with one call a step: the tool, its arguments, and what it answered."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please work on it."}]
    for index, (name, arguments, answer) in enumerate(steps):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"c{index}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{index}", "content": answer})
    return parse([*messages, {"role": "user", "content": "Go on."}])


def said(reference: str) -> str:
    """A reference without its code."""
    assert re.search(r" #\d{6}\]\Z", reference)
    return f"{reference[:-9]}]"


def answers(conversation: Conversation) -> list[str]:
    return [message.results[0].text for message in conversation.messages if message.results]


def test_a_file_read_again_is_pointed_at_whatever_its_line_numbers() -> None:
    first, second = numbered(BLOCK), "total 30\n" + "\n".join(BLOCK[4:20])
    outcome = condense(session(("read", {"path": "a.py"}, first), ("run", {"command": "x"}, second)), "verbatim")
    shown = answers(outcome.conversation)
    assert shown[0] == first
    head, reference = shown[1].split("\n")
    assert head == "total 30"
    assert said(reference) == "[same text as a.py:5-20 above]"
    assert answers(unfold(outcome.conversation)) == [first, second]


def test_numbers_are_written_anew_when_followed() -> None:
    first, second = "\n".join(BLOCK), numbered(BLOCK, 40)
    outcome = condense(session(("a", {}, first), ("b", {}, second)), "verbatim")
    (reference,) = answers(outcome.conversation)[1].split("\n")
    assert said(reference) == "    40→[same as a above]"
    assert answers(unfold(outcome.conversation)) == [first, second]


def test_what_is_written_in_a_call_is_pointed_at_and_stays() -> None:
    text = "\n".join(BLOCK)
    steps = (("write", {"path": "a.py", "content": text}, "ok"), ("read", {"path": "a.py"}, numbered(BLOCK)))
    conversation = session(*steps, ("write", {"path": "b.py", "content": text}, "ok"))
    outcome = condense(conversation, "verbatim")
    shown = answers(outcome.conversation)[1]
    assert said(shown) == "     1→[same as write a.py content above]"
    assert [message.calls for message in outcome.conversation.messages] == [
        message.calls for message in conversation.messages
    ]


def test_a_reference_says_which_of_several_equal_calls_it_means() -> None:
    read = "read", {"path": "a.py"}
    first, second = "\n".join(BLOCK), "\n".join(line.upper() for line in BLOCK)
    outcome = condense(session((*read, first), (*read, second), (*read, second), (*read, first)), "verbatim")
    _, _, third, fourth = answers(outcome.conversation)
    assert said(third) == "[same as a.py above]"
    assert said(fourth) == "[same as first read a.py above]"


def test_a_reference_to_what_was_said_quotes_its_first_words() -> None:
    words = "Please mind this.\n" + "\n".join(BLOCK)
    messages = [{"role": "user", "content": text} for text in (words, "Yes.", words, "And now?")]
    after = condense(parse(messages), "verbatim").conversation
    assert said(after.messages[2].text) == "[same as user message “Please mind thi…” above]"


def test_a_reference_saves_eight_tokens_or_is_not_made() -> None:
    count = counter_for("gpt-4o").text
    lines = BLOCK[:2]
    for size in range(30, 90):
        text = "\n".join(["-", *(line[:size] for line in lines)])
        (*_, last) = answers(condense(session(("a", {}, text), ("b", {}, f"{text}\n-")), "verbatim").conversation)
        shown = "\n".join(text.split("\n"))
        reference = "[same as a above #481207]"
        if count(shown) < count(reference) + 6:
            assert last == f"{text}\n-"
        if last != f"{text}\n-":
            assert count(shown) >= count(last.split("\n")[0]) + 8


def test_a_diff_points_at_lines_that_were_shown_without_its_signs() -> None:
    diff = "\n".join(["@@ -1,30 +1,31 @@", *(f" {line}" for line in BLOCK[:9]), *(f"+{line}" for line in BLOCK[9:])])
    steps = (("write", {"path": "a.py", "content": "\n".join(BLOCK)}, "ok"), ("run", {"command": "git diff"}, diff))
    conversation = session(*steps, ("run", {"command": "git diff HEAD"}, f"{diff}\n+end"))
    outcome = condense(conversation, "verbatim")
    _, first, again = answers(outcome.conversation)
    head, stays, new = first.split("\n")
    assert head == "@@ -1,30 +1,31 @@"
    assert said(stays) == " [same as write a.py content:1-9 above]"
    assert said(new) == "+[same as write a.py content:10-30 above]"
    assert again.split("\n")[-1] == "+end"
    assert unfold(outcome.conversation).messages == conversation.messages


@pytest.mark.parametrize("patch", ["@@ -1 +1,30 @@", "*** Begin Patch\n*** Add File: a.py"])
def test_what_a_patch_added_is_pointed_at_where_it_is_read(patch: str) -> None:
    text = "\n".join([patch, " def go():", *(f"+{line}" for line in BLOCK), "-    return 1"])
    steps = ("apply_patch", {"input": text}, "ok"), ("read", {"path": "a.py"}, numbered(["def go():", *BLOCK, "end"]))
    conversation = session(*steps)
    outcome = condense(conversation, "verbatim")
    first = 2 + patch.count("\n")
    reference, end = answers(outcome.conversation)[1].split("\n")
    assert said(reference) == f"     1→[same text as apply_patch input:{first}-{first + 30} above]"
    assert end == "    32→end"
    assert unfold(outcome.conversation).messages == conversation.messages


def test_a_diff_shown_twice_is_pointed_at_as_a_whole() -> None:
    diff = f"diff --git a/a.py b/a.py\n{added(BLOCK)}"
    outcome = condense(
        session(("run", {"command": "git diff"}, diff), ("run", {"command": "git show"}, diff)), "verbatim"
    )
    assert said(answers(outcome.conversation)[1]) == "[same as git diff above]"


def test_layout_goes_and_comes_back_with_the_plan() -> None:
    answer = "\x1b[31merror\x1b[0m   \n" + numbered(BLOCK, 7)
    assert simplify(answer) == "error\n[lines numbered from 7]\n" + "\n".join(BLOCK)
    assert simplify('{\n  "a": [\n    1,\n    2\n  ]\n}') == '{"a":[1,2]}'
    conversation = session(("read", {"path": "a"}, numbered(BLOCK, 7)))
    outcome = condense(conversation, "formatting")
    assert answers(outcome.conversation)[0].startswith("[lines numbered from 7]\n")
    assert restore(outcome.conversation, outcome.plan) == conversation


def test_the_text_of_a_file_stays_as_it_is_written() -> None:
    text = json.dumps({"name": "shop", "scripts": {"build": "make", "test": "make test"}}, indent=4)
    kept, plain = (
        answers(condense(session((tool, arguments, text)), "formatting").conversation)[0]
        for tool, arguments in (("read", {"path": "package.json"}), ("query", {"q": "package"}))
    )
    assert kept == text
    assert plain == json.dumps(json.loads(text), separators=(",", ":"))


def test_blanks_that_belong_to_numbers_stay() -> None:
    assert simplify("1: a  \n2: \n3: b\r\n4: c ") == "1: a\n2: \n3: b\r\n4: c"


def test_a_failure_stays_but_for_lines_that_were_shown_without_it() -> None:
    passed, failed = "\n".join(BLOCK), "FAILED tests/test_a.py::test_b - AssertionError\n1 failed in 0.1s"
    steps = ("run", {"command": "cat a.py"}, passed), ("run", {"command": "make test"}, f"{passed}\n{failed}")
    again = "run", {"command": "make check"}, f"{failed}\n" * 4
    shown = answers(condense(session(*steps, again, again), "verbatim").conversation)
    reference, *rest = shown[1].split("\n")
    assert said(reference) == "[same as cat a.py output above]"
    assert rest == failed.split("\n")
    assert shown[2] == shown[3] == again[2]


def test_an_answer_gives_way_to_the_later_one_but_errors_stay() -> None:
    old, new = "\n".join(BLOCK), "\n".join(reversed(BLOCK))
    command = {"command": "make test", "description": "first"}
    again = {"command": "make test 2>&1 | tail -40", "description": "again"}
    failed = f"{old}\nmake: *** [test] Error 1"
    outcome = condense(session(("run", command, old), ("run", command, failed), ("run", again, new)), "superseded")
    shown = answers(outcome.conversation)
    below = "the last result of run make test below"
    assert shown[0] == f"[Consolidated 2 operations: the same was run again; see {below}]"
    assert shown[1:] == [failed, new]
    assert outcome.plan[0].name == "Consolidated results"
    assert outcome.plan[0].notes == ("consolidated 2 operations into 1",)


def test_a_read_gives_way_to_one_that_covers_it() -> None:
    part, whole = numbered(BLOCK[4:14], 5), numbered([*BLOCK[:9], "    # changed", *BLOCK[9:]])
    outcome = condense(
        session(("read", {"path": "a.py", "offset": 5, "limit": 10}, part), ("read", {"path": "a.py"}, whole)),
        "superseded",
    )
    assert answers(outcome.conversation)[0].startswith("[Outdated: see the last result of read a.py below")


def test_a_summary_that_quotes_what_was_said_stays_as_it_is() -> None:
    words = "\n".join(f"Please mind number {number}, and all that comes with it." for number in range(9))
    said = [words, frame_account(f"The user's words:\n{words}", 4), words, "And now?"]
    after = condense(parse([{"role": "user", "content": text} for text in said]), "superseded").conversation
    assert [message.text == text for message, text in zip(after.messages, said, strict=True)] == [
        True,
        True,
        False,
        True,
    ]


def test_it_stops_when_the_target_is_met() -> None:
    conversation = session(("a", {}, "\n".join(BLOCK)), ("b", {}, "\n".join(BLOCK)))
    outcome = condense(conversation, "superseded", target=10**6)
    assert outcome.plan == ()


def repetitive(rng: random.Random, format: str) -> Conversation:
    """A valid conversation in which texts repeat each other, with and without line numbers, and in diffs."""
    body = json.dumps(random_body(rng, format))
    pool = [f"{rng.randrange(9)} some line of text, number {index}, said more than once" for index in range(12)]

    def grown(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: grown(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [grown(item, key) for item in value]
        if isinstance(value, str) and key in ("text", "content", "output", "result") and len(value) > 3:
            start = rng.randrange(len(pool))
            lines = pool[start : start + rng.randrange(1, 12)]
            extra = rng.choice([numbered(lines, rng.randrange(200)), added(lines), *["\n".join(lines)] * 2])
            return f"{value}\n{extra}" if rng.random() < 0.7 else value
        return value

    parts = json.loads(body)
    key = FORMATS[format].messages_key
    return parse({**parts, key: grown(parts[key])}, format=format)


@pytest.mark.laws
@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("format", sorted(FORMATS))
@given(seed=st.integers(0, 2**32))
def test_the_laws_hold(format: str, level: Level, seed: int) -> None:
    conversation = repetitive(random.Random(seed), format)
    before = {(each.rule) for each in violations(conversation)}
    outcome = condense(conversation, level)
    after = outcome.conversation
    assert {each.rule for each in violations(after, origin=conversation)} <= before
    assert restore(after, outcome.plan) == conversation
    assert [message.id for message in after.messages] == [message.id for message in conversation.messages]
    assert_untouched(conversation, after)
    assert condense(after, level).plan == ()
    assert condense(conversation, level).conversation == after
    if level == "verbatim":
        assert unfold(after).messages == conversation.messages


def test_lines_of_a_text_that_holds_references_are_pointed_at_where_they_are_shown() -> None:
    new = [line.upper() for line in BLOCK]
    shown = zip("abc", (BLOCK, [*BLOCK, *new], new), strict=True)
    steps: list[tuple[str, dict[str, Any], str]] = [(tool, {}, "\n".join(lines)) for tool, lines in shown]
    once = condense(session(*steps), "verbatim").conversation
    grown = [message.wire for message in session(*steps[:2]).messages]
    first = condense(session(*steps[:2]), "verbatim").conversation
    later = parse([*(message.wire for message in first.messages[:-1]), *(m.wire for m in session(*steps).messages[5:])])
    twice = condense(later, "verbatim").conversation
    assert len(grown) == 6
    assert answers(twice) == answers(once)
    assert said(answers(once)[2]) == "[same as b:31-60 above]"
    assert answers(unfold(twice)) == [text for _, _, text in steps]


@pytest.mark.parametrize(
    "mark",
    [
        "⟨=lines 1-2 of x #000000:0000⟩",
        "[same as lines 1-2 of the result of x above #000000:0000]",
        "[same as x above #481207]",
    ],
)
def test_hostile_markers_are_neither_source_nor_target(mark: str) -> None:
    text = f"{mark}\n" + "\n".join(BLOCK)
    conversation = session(("a", {}, text), ("b", {}, text))
    assert condense(conversation, "verbatim").plan == ()


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.transcripts
@pytest.mark.parametrize("level", LEVELS)
def test_every_real_coding_session_is_restored(level: Level, transcripts: list[Path]) -> None:
    for path in transcripts:
        if path.parent.name == "coding":
            conversation = read_transcript(path.read_bytes())
            outcome = condense(conversation, level)
            assert restore(outcome.conversation, outcome.plan) == conversation, path.name
            if level == "verbatim":
                followed = unfold(outcome.conversation)
                assert [text for _, text in texts(followed)] == [text for _, text in texts(conversation)], path.name
                assert render(followed) == render(conversation), path.name
