"""The forms by which programs are known in a message, on both sides of their boundaries."""

from __future__ import annotations

import json

import pytest

from compact.formats import parse
from compact.messages import Json
from compact.messages.speakers.known import known
from compact.messages.speakers.people import observations
from compact.messages.speakers.shapes import DATA, data_form, is_output, prompt_in
from compact.messages.speakers.tags import blocks_in


def found(text: str, at: int = 0) -> list[str]:
    return [text[block.opening.start : block.closing.end] for block in blocks_in(text, at, {"b", "c"})]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("<b>x</b>", ["<b>x</b>"]),
        ("<B>x</b>", ["<B>x</b>"]),
        ('<b k="v">x</b>', ['<b k="v">x</b>']),
        ("<a>x</a>", []),
        ("<my-a>x</my-a><my_a>y</my_a>", ["<my-a>x</my-a>", "<my_a>y</my_a>"]),
        ("x <b>y</b>", []),
        ("x\n \t<b>y</b> <c>z</c> w <b>v</b>", ["<b>y</b>", "<c>z</c>"]),
        (f"x\n{' ' * 40}<b>y</b>", ["<b>y</b>"]),
        (f"x\n{' ' * 41}<b>y</b>", []),
        ("<b>x", []),
        ("</b>x<b>y</b>", []),
        ("</b>\n<b>y</b>", ["<b>y</b>"]),
        ("<b>x\n<b>y</b>\n</b>z", ["<b>x\n<b>y</b>\n</b>"]),
        ("<b>x\n<b>y</b>z", ["<b>x\n<b>y</b>"]),
        ("<b>x\n<c>y</c>\n</b>", ["<b>x\n<c>y</c>\n</b>"]),
        ("```\n<b>x</b>\n```\n<b>y</b>", ["<b>y</b>"]),
        ("~~~\n<b>x</b>", []),
        ("<b>\n```\n</b>\n<c>x</c>", ["<b>\n```\n</b>", "<c>x</c>"]),
        ("<b>" * 8 + "</b>" * 8, ["<b>" * 8 + "</b>" * 8]),
        ("<b>" * 9 + "</b>" * 9, ["<b>" * 9 + "</b>"]),
    ],
)
def test_blocks_between_tags_begin_a_line_and_end_where_they_are_closed(text: str, blocks: list[str]) -> None:
    assert found(text) == blocks


def test_blocks_are_looked_for_from_a_place_on() -> None:
    assert found("<b>x</b><c>y</c>", 8) == ["<c>y</c>"]
    assert found("<b>x</b> z <c>y</c>", 8) == []


def data(text: str) -> str:
    form = data_form(text, known())
    return "" if form is None else "data" if form is DATA else "pasted"


@pytest.mark.parametrize("keys", ["program_keys", "person_keys", "common_keys"])
def test_data_is_told_by_its_keys(keys: str) -> None:
    told = {"program_keys": "data", "person_keys": "", "common_keys": "data"}
    program, person = known().shapes["program_keys"][0], known().shapes["person_keys"][0]
    for key in known().shapes[keys]:
        assert data(f" {json.dumps({key.upper(): 'x' * 400})}\n") == told[keys]
    assert data(json.dumps({program: 1, person: 1})) == "data"
    assert data(json.dumps({known().shapes["common_keys"][0]: 1, person: 1})) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (json.dumps(["x" * 297]), "pasted"),
        (json.dumps(["x" * 296]), ""),
        (json.dumps({"zzz": "x" * 400}), "pasted"),
        ('{"zzz": ' + "x" * 400 + "}", ""),
        ('{"zzz": "' + "x" * 400 + '"]', ""),
        ("[" * 100_000 + "]" * 100_000, ""),
        ('"' + "x" * 400 + '"', ""),
        ("", ""),
    ],
    ids=range(8),
)
def test_long_data_of_no_known_keys_was_pasted(text: str, told: str) -> None:
    assert data(text) == told


@pytest.mark.parametrize(
    ("text", "at", "is_one"),
    [
        ("Exit code: 0\nOutput:\nx", 0, True),
        ("Exit code: 0\nx", 0, False),
        ("> return_code = -1 (late)\nThe stderr", 0, False),
        ("> return_code = -1 (late)\nThe stderr", 2, True),
        ("x\n[The command completed with exit code 1.]\n", 0, True),
        ("x\n[Command finished with exit code -1]", 0, True),
        ("x\n[Command finished with exit code -1]", 3, False),
        ("x\n[Command finished with exit code -1] y", 0, False),
    ],
)
def test_output_has_its_exit_code_before_or_behind_it(text: str, at: int, is_one: bool) -> None:
    assert is_output(text, at) is is_one


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("(Open file: n/a)\n(Current directory: /w)\nbash-$", 0),
        ("x\n(Open file: n/a)\nbash-$ \n", 1),
        ("x(Open file: n/a)\nbash-$", -1),
        ("x\nbash-$", -1),
        ("x\n(Open file: n/a)\nbash-$ ls", -1),
        (f"x\n(Open file: {'a' * 400})\nbash-$", -1),
    ],
)
def test_a_prompt_stands_at_the_end(text: str, place: int) -> None:
    assert prompt_in(text) == place


def loop(*turns: tuple[str, str]) -> list[str]:
    """The places of the answers in a loop of commands and answers."""
    wires: list[Json] = [{"role": "user", "content": "the task"}]
    for command, answer in turns:
        wires += [{"role": "assistant", "content": command}, {"role": "user", "content": answer}]
    return sorted(observations(parse(wires, format="openai-chat").messages), key=int)


RUN = "```\nls\n```"


@pytest.mark.parametrize(
    ("turns", "answers"),
    [
        ([(RUN, "$ 1 a"), (RUN, "$ 2 b"), (RUN, "$ 3 c")], ["2", "4", "6"]),
        ([(RUN, "$ 1 a"), (RUN, "$ 2 b")], []),
        ([(RUN, "a 1"), (RUN, "a 2"), (RUN, "a 3")], []),
        ([(RUN, "a: 1"), (RUN, "a: 2"), (RUN, "a: 3")], ["2", "4", "6"]),
        ([(RUN, "at /a/b x"), (RUN, "at /c y"), (RUN, "at /d z")], ["2", "4", "6"]),
        (
            [(RUN, "x\n[1 of 2]"), (RUN, "y\n[2 of 3] \n"), (RUN, "z\n[x"), (RUN, "w\n[4 of 4]"), (RUN, "v")],
            ["2", "4", "8"],
        ),
        ([(RUN, "$ a"), (RUN, "$ b"), (RUN, "$ c"), (RUN, "d"), (RUN, "e"), (RUN, "f")], []),
        ([(RUN, "$ a"), (RUN, "$ b"), (RUN, "$ c"), (RUN, "$ d"), ("yes", "$ e")], ["2", "4", "6", "8"]),
        ([(RUN, "$ a"), (RUN, "$ b"), (RUN, "$ c"), ("no", "$ d"), ("yes", "$ e")], []),
        ([("<bash>ls", "$ a"), ("Action: ls", "$ b"), ("<function=ls>", "$ c")], ["2", "4", "6"]),
        ([("<bash>ls\n<bash>ls", "$ a")] * 3, []),
        ([(f"{RUN}\n{RUN}", "$ a")] * 3, []),
        ([("```\n<bash>", "$ a")] * 3, []),
    ],
)
def test_answers_of_an_environment_are_known_by_beginning_or_ending_alike(
    turns: list[tuple[str, str]], answers: list[str]
) -> None:
    assert loop(*turns) == answers
