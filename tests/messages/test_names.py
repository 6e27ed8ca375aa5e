"""What texts are called: in words, and so that each name leads to one of them."""

from __future__ import annotations

from typing import Any

import pytest

from compact.formats import parse
from compact.messages import Conversation, Names, Where, message_texts, names_of, texts
from tests.providers.conversations import step, user


def names_at_end(conversation: Conversation) -> Names:
    """The names when all texts were shown."""
    names = Names(conversation)
    for message in conversation.messages:
        names.add(message)
        for where, _ in message_texts(message):
            names.show(where)
    return names


def named(*calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The names of the results of these calls, at the end."""
    messages = [user("Please.")]
    for index, (tool, arguments) in enumerate(calls):
        messages += step(f"c{index}", tool, arguments, "an answer")
    conversation = parse(messages)
    names = names_at_end(conversation)
    return [names.of(Where(message.id, 0, (0,))) for message in conversation.messages if message.results]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("noop", {})], ["noop"]),
        ([("Read", {"file_path": "a.py"})], ["a.py"]),
        ([("Read", {"path": "/home/me/src/a.py"})], ["a.py"]),
        ([("Read", {"path": f"src/{part}/a.py"}) for part in "xy"], ["x/a.py", "y/a.py"]),
        ([("Read", {"path": "a.py"}), ("Read", {"path": "src/a.py"})], ["a.py", "src/a.py"]),
        ([("Read", {"path": "src/a.py"}), ("Edit", {"path": "src/a.py"})], ["Read a.py", "Edit a.py"]),
        ([("ls", {"path": path}) for path in ("src/", "lib/")], ["src/", "lib/"]),
        ([("Read", {"path": "src/a.py"})] * 2, ["first Read a.py", "a.py"]),
        ([("Read", {"path": "a.py"}), ("Read", {"path": "a.py", "offset": 40})], ["first Read a.py", "a.py"]),
        ([("Bash", {"command": "make -j 4 test"}), ("Bash", {"command": "make test"})], ["make 4", "make test"]),
        ([("Bash", {"command": "make test"})] * 2, ["first make test", "make test"]),
        ([("get", {"url": "http://localhost:8080"})], ["localhost 8080"]),
        ([("say", {"text": "⟨=lines 1-2⟩\nmore"})], ["say"]),
    ],
)
def test_a_name_tells_as_much_as_tells_it_apart(calls: list[tuple[str, dict[str, Any]]], expected: list[str]) -> None:
    assert named(*calls) == expected


def test_a_name_changes_only_where_another_of_that_name_was_shown_between() -> None:
    messages = [user("Please.")]
    for index in range(4):
        messages += step(f"c{index}", "Read", {"path": f"{index % 2}/a.py"}, "an answer")
    conversation = parse(messages)
    results = [Where(message.id, 0, (0,)) for message in conversation.messages if message.results]
    names, before, found = Names(conversation), [], []
    for message in conversation.messages:
        names.add(message)
        if message.results:
            before.append(names.of(results[0]))
            names.show(Where(message.id, 0, (0,)))
            found.append(names.of(results[0]))
    # The call of the third reading does not make the first one another; its answer does.
    assert before == ["a.py", "0/a.py", "0/a.py", "first Read 0/a.py"]
    assert found == ["a.py", "0/a.py", "first Read 0/a.py", "first Read 0/a.py"]


def test_every_text_has_a_name_of_its_own() -> None:
    call = {"path": "a.py", "old": "x", "new": "y"}
    messages = [user("Please."), *step("a", "edit", call, "done"), user("Please."), *step("b", "edit", call, "done")]
    conversation = parse([{"role": "system", "content": "Be brief."}, *messages])
    names = names_at_end(conversation)
    found = [names.of(where) for where, _ in texts(conversation)]
    assert len(set(found)) == len(found)
    assert {"first user message “Please.”", "edit a.py new", "a.py", "first edit a.py old"} <= set(found)


def test_calls_of_one_name_are_counted_in_words() -> None:
    found = named(*[("Read", {"path": "a.py"})] * 23)
    assert [found[at - 1].split()[0] for at in (1, 2, 3, 10, 11, 12, 13, 14, 20, 21, 22)] == [
        *("first", "second", "third", "tenth", "11th", "12th", "13th", "14th", "20th", "21st", "22nd"),
    ]
    assert found[22] == "a.py"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        *(({key: "a b"}, "a b") for key in ("file_path", "path", "filePath", "filename", "file", "command", "cmd")),
        *(({key: "a b"}, "a b") for key in ("pattern", "query", "url")),
        ({"url": "u", "path": "p"}, "p"),
        ({"path": 5, "query": "q"}, "q"),
        ({"path": "x" * 32}, "x" * 32),
        ({"path": "y" + "x" * 32}, "…" + "x" * 31),
        ({"path": "a\n b\x00⟨c⟩"}, "a b c"),
        ({"command": ["ls", "-l", 5, None]}, "ls 5"),
        ({"command": "cd /src/app && cd lib; git diff"}, "git diff"),
        ({"command": "CI=1 npm run test:unit -- --watch"}, "npm run test:unit"),
        ({"command": "cd /src"}, "cd src"),
        ({"command": "python3 -m pytest tests/test_a.py -q"}, "python3 pytest test_a.py output"),
        ({"command": "git commit -m 'Release it'"}, "git commit"),
        ({"command": "sed -n 1,40p ./src/app/page.tsx | tail -5"}, "sed page.tsx output"),
        ({"command": "cat > notes.md <<'EOF'\none\nEOF"}, "cat notes.md output"),
        ({"command": "ls " + "x" * 32}, "ls " + "x" * 28 + "…"),
    ],
)
def test_a_call_is_named_by_the_argument_that_tells_most(arguments: dict[str, Any], name: str) -> None:
    assert named(("run", arguments)) == [name]


def test_what_was_said_is_named_by_its_first_words() -> None:
    said = ["Please.", "\n  Do   it \nnow", "[same as x:1-2 above #481207]\nDo it", "x" * 17, " "]
    conversation = parse([user(text) for text in said])
    names = names_at_end(conversation)
    assert [names.of(Where(message.id, 0)) for message in conversation.messages] == [
        "user message “Please.”",
        "first user message “Do it”",
        "user message “Do it”",
        f"user message “…{'x' * 15}”",
        "user message",
    ]


def test_a_call_further_down_is_the_last_one() -> None:
    messages = [user("Please."), *(wire for number in range(3) for wire in step(f"c{number}", "noop", {}, "done"))]
    conversation = parse(messages)
    names = names_of(conversation)
    results = [Where(message.id, 0, (0,)) for message in conversation.messages if message.results]
    assert [names.later(where, "result") for where in results] == [
        *("the first result of noop", "the second result of noop", "the last result of noop"),
    ]
    assert names.later(results[2], "call") == "the last call noop"
