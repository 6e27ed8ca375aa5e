"""What Lossless says of an answer that goes is true, and what goes is held by what stands for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compact import condense
from compact.formats import FORMATS, convert, parse
from compact.messages import Conversation
from compact.providers.lossless.formatting import find_layout, simplify
from compact.providers.lossless.superseded import find_consolidated, find_superseded
from tests.providers.conversations import step, user

Step = tuple[str, dict[str, Any], str]
OLD = "\n".join(f"row {number} of the first answer, as it was" for number in range(40))
NEW = OLD.replace("first", "second")
EDITED = OLD.replace("row 20 of", "row 20, edited, of")


def session(*steps: Step) -> Conversation:
    messages = [user("Please work on it.")]
    for index, (name, arguments, answer) in enumerate((*steps, ("noop", {}, "done"))):
        messages += step(f"c{index}", name, arguments, answer)
    return parse(messages)


def gone(*steps: Step) -> list[str]:
    """What stands for the answers that went."""
    conversation = session(*steps)
    return [edit.with_ for find in (find_superseded, find_consolidated) for edit in find(conversation, len)]


def run(*commands: str) -> tuple[Step, ...]:
    return tuple(("bash", {"command": command}, OLD if at == 0 else EDITED) for at, command in enumerate(commands))


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
        ("get_policy", {"query": "x", "reason": "refund"}, {"query": "x", "reason": "exchange"}),
    ],
)
def test_a_call_for_no_less_stands_for_the_first(tool: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    assert len(gone((tool, first, OLD), (tool, second, EDITED))) == 1


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
def test_a_failure_stands_for_no_other_run(failure: str) -> None:
    command, read = ("bash", {"command": "make"}), ("bash", {"command": "cat /a.txt"})
    assert gone((*command, OLD), (*command, failure)) == []
    assert gone((*command, OLD), (*command, f"{NEW}\n{failure}")) == []
    assert len(gone((*command, OLD), (*command, f"<returncode>0</returncode>\n{failure}"))) == 1
    assert gone((*read, OLD), (*read, f"{failure}\n{NEW}")) == []


def test_a_reading_that_ended_before_it_stands_for_none() -> None:
    part = "Read", {"file_path": "/a.py", "offset": 3000, "limit": 40}
    assert gone((*part, OLD), ("Read", {"file_path": "/a.py"}, NEW)) == []


def test_what_stands_for_a_part_of_a_file_is_not_said_to_be_the_same_call() -> None:
    steps = ("bash", {"command": "sed -n '1,40p' /a.py"}, OLD), ("Read", {"file_path": "/a.py"}, EDITED)
    assert gone(*steps) == ["[Outdated: see the last result of Read a.py below, which shows these lines anew]"]


@pytest.mark.parametrize("tool", ["Read", "view"])
def test_a_part_of_a_file_stays_where_its_lines_have_moved(tool: str) -> None:
    """What stood at these lines stands further down now, and nothing shows it."""
    part = tool, {"path": "/a.py", "offset": 100, "limit": 40}
    moved = "\n".join([*NEW.split("\n")[:35], *OLD.split("\n")[:5]])
    assert gone((*part, OLD), (*part, moved)) == []
    cut = "\n".join(OLD.split("\n")[:30])
    assert gone((*part, OLD), (tool, {"path": "/a.py"}, cut)) == []


FOUND = "\n".join(f"src/part_{number}.py:{number}: total = compute(price)" for number in range(20))
MORE = f"{FOUND}\nsrc/other.py:3: total = compute(price)"
OTHER = FOUND.replace("src/part_7.py", "src/another.py")
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("Grep", {"pattern": "compute"}),
    ("web_search", {"query": "compute"}),
    ("list_files", {"path": "compute"}),
    ("bash", {"command": "ls -la compute"}),
    ("bash", {"command": "cd compute && tree"}),
    ("bash", {"command": "cd /repo && grep -rn compute src"}),
    ("bash", {"command": "rg -n compute"}),
]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_goes_only_for_one_that_found_as_much(search: tuple[str, dict[str, Any]]) -> None:
    assert gone((*search, FOUND), (*search, OTHER)) == []
    assert len(gone((*search, FOUND), (*search, MORE))) == 1
    another = search[0], {key: value.replace("compute", "compute2") for key, value in search[1].items()}
    assert gone((*search, FOUND), (*another, MORE)) == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("book_flight", {"flight": "LH 400", "seat": "window"}),
        ("send_message", {"to": "Ann", "text": "Hello"}),
        ("ask_user", {"question": "Which one?"}),
        ("budget_transfer", {"from": "a", "to": "b"}),
        ("get_or_create_ticket", {"title": "It fails"}),
        ("bash", {"command": "git commit -m more"}),
        ("bash", {"command": "curl -X POST https://example.com/orders"}),
        ("bash", {"command": "gh issue create --title x"}),
    ],
)
def test_what_was_done_twice_stands_twice(tool: str, arguments: dict[str, Any]) -> None:
    assert gone((tool, arguments, OLD), (tool, arguments, NEW)) == []


def test_what_stands_for_several_answers_says_how_many_there_were() -> None:
    runs = [("bash", {"command": "make test"}, f"{OLD}\nrun {number}") for number in range(3)]
    other = ("bash", {"command": "make test-all"}, OLD)
    marker = "[Consolidated 3 operations: the same was run again; see the last result of bash make test below]"
    assert gone(*runs, other) == [marker] * 2


def test_a_name_says_which_where_two_calls_would_have_the_same() -> None:
    long = f"python -m pytest {'tests/some/quite/long/path ' * 3}"
    first, second, third = (("bash", {"command": f"{long}{which}"}, OLD) for which in ("one", "two", "three"))
    again = "bash", first[1], NEW
    told = "[Consolidated 2 operations: the same was run again; see the {} result of bash python pytest path below]"
    assert gone(first, second, again) == [told.format("last")]
    assert gone(first, second, again, third) == [told.format("third")]


FAILED = f"{OLD}\nFAILED tests/test_a.py::test_b - AssertionError\n1 failed, 3 passed in 0.12s"
TRACEBACK = f'{OLD}\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no such thing'


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize("level", ["verbatim", "formatting", "superseded"])
@pytest.mark.parametrize(
    ("tool", "arguments", "failure"),
    [
        ("bash", {"command": "pytest -q"}, FAILED),
        ("bash", {"command": "python a.py"}, TRACEBACK),
        ("bash", {"command": "make"}, f"\x1b[31m{OLD}\x1b[0m   \nmake: *** [all] Error 2"),
        (
            "book_flight",
            {"flight": "LH 400"},
            f'{{\n  "error": "no seats left",\n  "asked": "{OLD[:400]}"\n}}'.replace("\nrow", " row"),
        ),
        ("bash", {"command": "curl -s https://x.org/orders/7"}, json.dumps({"error": "no such order", "asked": OLD})),
        ("get_order", {"order": "W1"}, f"Error: order not found\n{OLD}"),
        (
            "write_file",
            {"path": "/a.py", "content": "x"},
            f"The user doesn't want to proceed with this tool use.\n{OLD}",
        ),
    ],
)
def test_what_failed_stays_at_every_level_in_every_format(
    format: str, level: str, tool: str, arguments: dict[str, Any], failure: str
) -> None:
    fine = f"{NEW}\n4 passed in 0.12s"
    steps = [(tool, arguments, answer) for answer in (failure, failure, fine)]
    conversation = convert(session(*steps), format)
    result = condense(conversation, provider="lossless", config={"level": level}).conversation
    before, after = ([m.results[0].text for m in each.messages if m.results] for each in (conversation, result))
    assert before[:2] == after[:2]
    assert failure in before[0]


@pytest.mark.parametrize(
    "told", ["<returncode>1</returncode>\n{}", "Observation: Traceback (most recent call last):\n{}"]
)
def test_what_failed_stays_where_results_come_in_the_users_role(told: str) -> None:
    failure = told.format(OLD)
    messages = [user("Please."), {"role": "assistant", "content": "```bash\nmake\n```"}, user(failure)] * 2
    result = condense([*messages, user("Go on.")], provider="lossless")
    assert [message["content"] == failure for message in result.messages].count(True) == 2


def test_what_the_vendor_calls_an_error_stays() -> None:
    call = {"type": "tool_use", "id": "c", "name": "bash", "input": {"command": "make"}}
    failed = {"type": "tool_result", "tool_use_id": "c", "content": OLD, "is_error": True}
    turns = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [failed]}]
    again = [
        {"role": "assistant", "content": [{**call, "id": "d"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": NEW}]},
    ]
    conversation = parse([user("Please."), *turns, *again], format="anthropic-messages")
    assert find_consolidated(conversation, len) == ()


@pytest.mark.parametrize(
    ("second", "answer", "count"),
    [
        ({"content": NEW}, "Wrote 40 lines.", 1),
        ({"content": NEW}, "The user doesn't want to proceed with this tool use.", 0),
        ({"content": NEW}, "Error: permission denied", 0),
        ({"content": NEW, "append": True}, "ok", 0),
        ({"content": NEW, "mode": "a"}, "ok", 0),
        ({"content": NEW, "start_line": 90}, "ok", 0),
        ({"content": NEW, "host": "other"}, "ok", 0),
    ],
)
def test_what_was_read_gives_way_to_what_was_written_instead(second: dict[str, Any], answer: str, count: int) -> None:
    """A call stays whole: what a model sees there, it writes again."""
    first = "write_file", {"path": "/append.py", "content": OLD}, "ok"
    assert gone(first, ("write_file", {"path": "/append.py", **second}, answer)) == []
    read = "read_file", {"path": "/append.py"}, OLD
    found = gone(read, ("write_file", {"path": "/append.py", **second}, answer))
    told = "[Outdated: see the last call write_file append.py below, which writes the whole file anew]"
    assert found == [told] * count


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
    assert edit.with_.startswith("[lines numbered from 101]\nCustomer of")


@pytest.mark.parametrize("mark", ["→", "\t"])
def test_the_numbers_of_lines_go_whatever_shows_them(mark: str) -> None:
    lines = "\n".join(f"{7 + at}{mark}a line of some file" for at in range(30))
    (edit,) = find_layout(session(("bash", {"command": "show a"}, lines)), len)
    assert edit.with_.startswith("[lines numbered from 7]\na line")
