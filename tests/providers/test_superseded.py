"""What Lossless says of an answer that goes is true, and what goes is held by what stands for it."""

from __future__ import annotations

from typing import Any

import pytest

from compact.formats import parse
from compact.messages import Conversation
from compact.providers.lossless.formatting import find_layout, simplify
from compact.providers.lossless.superseded import find_superseded
from tests.providers.conversations import step, user

Step = tuple[str, dict[str, Any], str]
OLD = "\n".join(f"row {number} of the first answer, as it was" for number in range(40))
NEW = OLD.replace("first", "second")


def session(*steps: Step) -> Conversation:
    messages = [user("Please work on it.")]
    for index, (name, arguments, answer) in enumerate((*steps, ("noop", {}, "done"))):
        messages += step(f"c{index}", name, arguments, answer)
    return parse(messages)


def gone(*steps: Step) -> list[str]:
    """What stands for the answers, and for what was written, that went."""
    return [edit.with_ for edit in find_superseded(session(*steps), len)]


def run(*commands: str) -> tuple[Step, ...]:
    return tuple(("bash", {"command": command}, OLD if at == 0 else NEW) for at, command in enumerate(commands))


@pytest.mark.parametrize(
    "commands",
    [
        ("cd /repo/frontend && npm test", "cd /repo/backend && npm test"),
        ("ls -la", "cd /other", "ls -la"),
        ("ls -la", "make; cd ..; make", "ls -la"),
        ("cat a.txt", "cd sub && make", "cat a.txt"),
        ("cat log.txt | head -30", "cat log.txt | tail -30"),
        ("pytest -q | tail -40", "pytest -q | tail -1"),
        ("pytest -q", "pytest -q | tail -20"),
        ("make 2>&1 | grep -c x", "make | grep -c x"),
        ("cat -A a.txt", "cat a.txt"),
        ("", ""),
    ],
)
def test_another_command_stands_for_none(commands: tuple[str, ...]) -> None:
    assert gone(*run(*commands)) == []


@pytest.mark.parametrize(
    "commands",
    [
        ("cd /repo && npm test", "ls", "cd /repo && npm test 2>&1"),
        ("cd /repo && sed -n '1,20p' a.py", "sed -n '1,90p' /repo/a.py"),
        ("cd web && npm test", "cd web && npm run lint", "cd web && npm test"),
        ("pytest -q | tail -20", "pytest -q | tail -40"),
        ("pytest -q | head -20", "pytest -q"),
        ("pytest -q", "pytest -q | tail -60"),
        ("cat a.txt | head -30", "cat a.txt"),
    ],
)
def test_a_command_run_again_stands_for_the_first(commands: tuple[str, ...]) -> None:
    assert len(gone(*run(*commands))) == 1


def test_a_command_in_a_list_is_one() -> None:
    first, again = (["bash", "-lc", f"pytest -q{more}"] for more in ("", " 2>&1"))
    assert len(gone(("shell", {"command": first}, OLD), ("shell", {"command": again}, NEW))) == 1


@pytest.mark.parametrize(
    ("tool", "first", "second"),
    [
        ("view", {"path": "a", "view_range": [1, 30]}, {"path": "a", "view_range": [31, 60]}),
        (
            "read_file",
            {"filePath": "a", "startLine": 1, "endLine": 9},
            {"filePath": "a", "startLine": 5, "endLine": 20},
        ),
        ("read_text_file", {"path": "a", "head": 40}, {"path": "a", "tail": 40}),
        ("Read", {"file_path": "a", "pages": "1-5"}, {"file_path": "a", "pages": "6-10"}),
        ("read_file", {"path": "a", "start_line": 100, "end_line": -1}, {"path": "a", "start_line": 1, "end_line": 50}),
        ("read_file", {"path": "a", "range": "all"}, {"path": "a", "range": "some"}),
        ("read_file", {"path": "a", "ref": "main"}, {"path": "a", "ref": "dev"}),
        ("read_file", {"path": "a", "host": "one"}, {"path": "a"}),
        ("http_get", {"path": "/users", "query": "page=1"}, {"path": "/users", "query": "page=2"}),
        ("generate_image", {"description": "a cat"}, {"description": "a dog"}),
        ("lookup_policy", {"reason": "refund"}, {"reason": "exchange"}),
        ("BashOutput", {"bash_id": "b1"}, {"bash_id": "b1"}),
        ("job_log", {"jobId": "7", "wait": 5}, {"jobId": "7", "wait": 5}),
        ("next_page", {}, {}),
        ("read_next", {"path": "a"}, {"path": "a"}),
        ("bash", {"command": "", "is_input": "true"}, {"command": "", "is_input": "true"}),
        ("bash", {"command": "x", "run_in_background": True}, {"command": "x", "run_in_background": True}),
    ],
)
def test_a_call_for_something_else_stands_for_none(tool: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    assert gone((tool, first, OLD), (tool, second, NEW)) == []


@pytest.mark.parametrize(
    ("tool", "first", "second"),
    [
        ("view", {"path": "a", "view_range": [5, 30]}, {"path": "a", "view_range": [1, -1]}),
        (
            "read_file",
            {"filePath": "a", "startLine": 5, "endLine": 9},
            {"filePath": "a", "start_line": 1, "endLine": 20},
        ),
        ("read_text_file", {"path": "a", "head": 20}, {"path": "a"}),
        ("read_text_file", {"path": "a", "tail": 20}, {"path": "a", "tail": 30}),
        ("Read", {"file_path": "a", "pages": "2"}, {"file_path": "a", "pages": "1-5"}),
        ("read_file", {"path": "a", "ref": "dev", "limit": 9}, {"path": "a", "ref": "dev"}),
        ("editor", {"command": "view", "path": "a", "view_range": [3, 9]}, {"command": "view", "path": "a"}),
        ("search", {"query": "x", "reason": "refund"}, {"query": "x", "reason": "exchange"}),
    ],
)
def test_a_call_for_no_less_stands_for_the_first(tool: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    assert len(gone((tool, first, OLD), (tool, second, NEW))) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "File unchanged since last read. The content from the earlier Read is still current, refer to that instead.",
        "Error: ENOENT: no such file or directory, open 'a.py'",
        "File does not exist.",
        "[Old tool result content cleared]",
        "one line is left",
        "",
    ],
)
def test_an_answer_that_holds_nothing_stands_for_none(answer: str) -> None:
    read = "Read", {"file_path": "/a.py"}
    assert gone((*read, OLD), (*read, answer)) == []
    assert len(gone((*read, OLD), (*read, NEW), (*read, answer))) == 1


@pytest.mark.parametrize(
    "failure", ["npm error Missing script: test", " ! [rejected] main -> main (fetch first)", "No match found for it"]
)
def test_a_failure_stands_for_another_run_only_if_it_says_as_much(failure: str) -> None:
    command, read = ("bash", {"command": "make"}), ("bash", {"command": "cat /a.txt"})
    assert gone((*command, OLD), (*command, failure)) == []
    assert len(gone((*command, OLD), (*command, f"{NEW}\n{failure}"))) == 1
    assert len(gone((*command, OLD), (*command, f"<returncode>0</returncode>\n{failure}"))) == 1
    assert gone((*read, OLD), (*read, f"{failure}\n{NEW}")) == []


def test_a_reading_that_ended_before_it_stands_for_none() -> None:
    part = "Read", {"file_path": "/a.py", "offset": 3000, "limit": 40}
    assert gone((*part, OLD), ("Read", {"file_path": "/a.py"}, NEW)) == []


def test_what_stands_for_a_part_of_a_file_is_not_said_to_be_the_same_call() -> None:
    steps = ("bash", {"command": "sed -n '1,40p' /a.py"}, OLD), ("Read", {"file_path": "/a.py"}, NEW)
    assert gone(*steps) == ["⟨ Superseded: Read /a.py shows these lines anew below ⟩"]


@pytest.mark.parametrize(
    ("second", "answer", "count"),
    [
        ({"content": NEW}, "Wrote 40 lines.", 1),
        ({"content": NEW}, "Error: permission denied", 0),
        ({"content": NEW, "append": True}, "ok", 0),
        ({"content": NEW, "mode": "a"}, "ok", 0),
        ({"content": NEW, "start_line": 90}, "ok", 0),
        ({"content": NEW, "host": "other"}, "ok", 0),
    ],
)
def test_what_was_written_gives_way_to_what_was_written_instead(
    second: dict[str, Any], answer: str, count: int
) -> None:
    first = "write_file", {"path": "/append.py", "content": OLD}, "ok"
    found = gone(first, ("write_file", {"path": "/append.py", **second}, answer))
    assert found == ["⟨ Superseded: write_file /append.py writes this file anew below ⟩"] * count
    read = "read_file", {"path": "/append.py"}, OLD
    assert len(gone(read, ("write_file", {"path": "/append.py", **second}, answer))) == count


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            '{ "half": "\\ud83d",\r\n\t"e": "\\u00e9 \\" [ 1 , 2 ]  " }',
            '{"half":"\\ud83d","e":"\\u00e9 \\" [ 1 , 2 ]  "}',
        ),
        ('{\n  "twice": 1,\n  "twice": 2\n}', '{"twice":1,"twice":2}'),
        ("[ 12345678901234567.891, 1.10, 1e999, 1.0e3, -0 ]\n", "[12345678901234567.891,1.10,1e999,1.0e3,-0]"),
    ],
)
def test_json_keeps_all_but_the_blanks_between_its_tokens(text: str, plain: str) -> None:
    assert simplify(text) == plain


def test_a_blank_answer_does_not_spoil_the_others() -> None:
    conversation = session(("a", {}, " " * 400), ("b", {}, "\x1b[0m" * 40), ("c", {}, "text    \n" * 40))
    assert [edit.with_[:9] for edit in find_layout(conversation, len)] == ["text\ntext"]


@pytest.mark.parametrize("mark", ["|", "| ", ":", ": "])
def test_the_ids_of_a_table_stay(mark: str) -> None:
    rows = "\n".join(f"{101 + at}{mark}Customer of the name {at}" for at in range(30))
    conversation = session(("query_db", {"sql": "select"}, rows), ("bash", {"command": "cat customers"}, rows))
    assert find_layout(conversation, len) == ()
    (edit,) = find_layout(session(("read_file", {"path": "a"}, rows)), len)
    assert edit.with_.startswith("⟨ lines from 101 ⟩\nCustomer of")


@pytest.mark.parametrize("mark", ["→", "\t"])
def test_the_numbers_of_lines_go_whatever_shows_them(mark: str) -> None:
    lines = "\n".join(f"{7 + at}{mark}a line of some file" for at in range(30))
    (edit,) = find_layout(session(("bash", {"command": "show a"}, lines)), len)
    assert edit.with_.startswith("⟨ lines from 7 ⟩\na line")
