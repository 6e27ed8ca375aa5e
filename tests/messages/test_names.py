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
