"""What texts are called: in words, and so that each name leads to one of them."""

from __future__ import annotations

from typing import Any

import pytest

from compact.formats import parse
from compact.messages import Names, Where, texts
from tests.providers.conversations import step, user


def named(*calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The names of the results of these calls."""
    messages = [user("Please.")]
    for index, (tool, arguments) in enumerate(calls):
        messages += step(f"c{index}", tool, arguments, "an answer")
    conversation = parse(messages)
    names = Names(conversation)
    return [names.of(Where(message.id, 0, (0,))) for message in conversation.messages if message.results]


LONG = "src/a/rather/long/folder/of/several/levels/that/goes/on/and/on"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("noop", {})], ["the result of noop"]),
        ([("Read", {"file_path": "a.py"})], ["the result of Read a.py"]),
        (
            [("Read", {"file_path": "a.py"}), ("Read", {"file_path": "a.py", "offset": 40})],
            ["the result of Read a.py", "the result of Read a.py offset=40"],
        ),
        ([("Read", {"path": "a.py"})] * 2, ["the 1st result of Read a.py", "the 2nd result of Read a.py"]),
        (
            [("Read", {"path": f"{which}/{LONG}.py"}) for which in ("one", "two")],
            [f"the result of Read {which}/{LONG}.py" for which in ("one", "two")],
        ),
        ([("say", {"text": "⟨=lines 1-2⟩\nmore"})], ["the result of say"]),
    ],
)
def test_a_name_tells_as_much_as_tells_it_apart(calls: list[tuple[str, dict[str, Any]]], expected: list[str]) -> None:
    assert named(*calls) == expected


def test_every_text_has_a_name_of_its_own() -> None:
    call = {"path": "a.py", "old": "x", "new": "y"}
    messages = [user("Please."), *step("a", "edit", call, "done"), user("Please."), *step("b", "edit", call, "done")]
    conversation = parse([{"role": "system", "content": "Be brief."}, *messages])
    names = Names(conversation)
    found = [names.of(where) for where, _ in texts(conversation)]
    assert len(set(found)) == len(found)
    assert "the 2nd user message with the words “Please.”" in found
    assert "the argument new of the 2nd call edit a.py" in found


def test_calls_of_one_name_are_counted_in_words() -> None:
    found = named(*[("Read", {"path": "a.py"})] * 23)
    assert [found[at - 1].split()[1] for at in (1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23)] == [
        *("1st", "2nd", "3rd", "4th", "10th", "11th", "12th", "13th", "14th", "20th", "21st", "22nd", "23rd"),
    ]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        *(({key: "a b"}, "a b") for key in ("file_path", "path", "filePath", "filename", "file", "command", "cmd")),
        *(({key: "a b"}, "a b") for key in ("pattern", "query", "url")),
        ({"url": "u", "path": "p"}, "p"),
        ({"command": ["ls", "-l", 5, None]}, "ls -l 5 "),
        ({"path": 5, "query": "q"}, "q"),
        ({"path": "x" * 60}, "x" * 60),
        ({"path": "y" + "x" * 60}, "…" + "x" * 59),
        ({"command": "ls " + "x" * 58}, "ls " + "x" * 56 + "…"),
        ({"path": "a\n b\x00⟨c⟩"}, "a b c"),
    ],
)
def test_a_call_is_named_by_the_argument_that_tells_most(arguments: dict[str, Any], name: str) -> None:
    assert named(("run", arguments)) == [f"the result of run {name}"]


def test_others_are_told_where_they_are_short() -> None:
    base = {"path": "a", "note": "n" * 40, "long": "l" * 41, "none": None, "empty": ""}
    assert named(("run", {**base, "at": 1}), ("run", {**base, "at": 2})) == [
        f"the result of run a note={'n' * 40} at={at}" for at in (1, 2)
    ]


def test_what_was_said_is_named_by_its_first_words() -> None:
    said = ["Please.", "\n  Do   it \nnow", "[same as lines 1-2 of x\nDo it", "x" * 61, " "]
    conversation = parse([user(text) for text in said])
    names = Names(conversation)
    assert [names.of(Where(message.id, 0)) for message in conversation.messages] == [
        "the user message with the words “Please.”",
        "the user message with the words “Do it”",
        "the 2nd user message with the words “Do it”",
        f"the user message with the words “…{'x' * 59}”",
        "the user message",
    ]
    assert names.of(Where("elsewhere", 0)) == "the system prompt"


def test_a_call_further_down_is_the_last_one() -> None:
    messages = [user("Please."), *(wire for number in range(3) for wire in step(f"c{number}", "noop", {}, "done"))]
    conversation = parse(messages)
    names = Names(conversation)
    results = [Where(message.id, 0, (0,)) for message in conversation.messages if message.results]
    assert [names.later(where, "result") for where in results] == [
        *("the 1st result of noop", "the 2nd result of noop", "the last result of noop"),
    ]
    assert names.later(results[2], "call") == "the last call noop"
