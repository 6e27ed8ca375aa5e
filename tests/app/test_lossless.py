"""What lossless promises, seen from outside: what it removes, what stays, and what its markers claim."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

import compact
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS, convert, parse, render
from compact.ports import Answer, Ask, Failure

Step: TypeAlias = tuple[str, dict[str, Any], str]
LEVELS = ("verbatim", "formatting", "superseded")
OLD = "\n".join(f"row {number} of the first answer, as it was" for number in range(40))
NEW = OLD.replace("first", "second")
SOURCE = [f"    total += rows[{number}].price" for number in range(60)]
MAKE = {"command": "make"}
READ = ("read_file", {"path": "/a"}, OLD)


def session(*steps: Step) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please work on it."}]
    for index, (name, arguments, answer) in enumerate((*steps, ("noop", {}, "done"))):
        call = {"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{index}", "content": answer})
    return [*messages, {"role": "user", "content": "And now?"}]


def results(*steps: Step, level: str = "superseded") -> list[str]:
    """What is left of each step's answer."""
    messages = session(*steps)
    result = compact.condense(messages, recipe=f"lossless:{level}")
    assert compact.restore(result) == messages
    return [message["content"] for message in result.messages if message["role"] == "tool"][:-1]


def test_line_numbers_and_the_signs_of_a_diff_hide_no_repetition() -> None:
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(SOURCE, 1))
    added = "\n".join(["--- a/sum.py", "+++ b/sum.py", "@@ -0,0 +1,60 @@", *(f"+{line}" for line in SOURCE)])
    plain, *others = results(
        ("read", {"path": "sum.py"}, "\n".join(SOURCE)),
        ("cat", {"path": "copy.py"}, numbered),
        ("bash", {"command": "git diff"}, added),
        level="verbatim",
    )
    assert plain == "\n".join(SOURCE)
    assert others[0].startswith("     1\t[same as sum.py above #")
    assert others[1].split("\n")[-1].startswith("+[same as sum.py above #")


def test_layout_that_says_nothing_goes() -> None:
    table = {"rows": [{"id": number, "name": f"name {number}"} for number in range(30)]}
    colours = "\n".join(f"\x1b[32mok\x1b[0m   test {number}   " for number in range(40))
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(SOURCE, 1))
    shown = results(
        ("bash", {"command": "pytest"}, colours),
        ("query", {"q": "x"}, json.dumps(table, indent=8)),
        ("Read", {"file_path": "sum.py"}, numbered),
        level="formatting",
    )
    assert shown[0] == "\n".join(f"ok   test {number}" for number in range(40))
    assert json.loads(shown[1]) == table
    assert len(shown[1]) < len(json.dumps(table, indent=8)) / 2
    assert shown[2].split("\n")[1:] == SOURCE


def test_json_is_not_written_anew() -> None:
    odd = '{"big": 1e400, "small": 0.10, "same": 1, "same": 2, "text": "a  b", "sign": "\\u00e9"}'
    rows = ",\n        ".join([odd] * 20)
    (shown,) = results(("query", {"q": "x"}, f"[\n        {rows}\n]"), level="formatting")
    assert len(shown) < len(rows)
    assert shown.count('"big":1e400,"small":0.10,"same":1,"same":2,"text":"a  b","sign":"\\u00e9"') == 20


@pytest.mark.parametrize(
    "config",
    [
        {"level": "verbatim", "deduplicate_file_reads": False},
        {"level": "verbatim", "deduplicate_file_reads": False, "remove_obsolete_state": False},
    ],
    ids=range(2),
)
def test_switches_that_leave_nothing_to_do_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfiguration, match="config"):
        compact.condense(session(), provider="lossless", config=config)


@pytest.mark.parametrize("level", LEVELS)
def test_a_switch_that_is_set_holds_at_every_level(level: str) -> None:
    steps: tuple[Step, ...] = (("bash", MAKE, OLD), ("bash", MAKE, NEW))

    def left(**switches: bool) -> list[str]:
        settings = {"level": level, **switches}
        found = compact.condense(session(*steps), provider="lossless", config=settings).messages
        return [message["content"] for message in found if message["role"] == "tool"][:-1]

    assert left(consolidate_tool_results=True)[0].startswith("[Consolidated 2 operations: ")
    assert left(consolidate_tool_results=False) == [OLD, NEW]
    assert left() == ([OLD, NEW] if level != "superseded" else left(consolidate_tool_results=True))


FAILURES: dict[str, Step] = {
    "a traceback": ("bash", MAKE, f"Traceback (most recent call last):\n{OLD}\nValueError: no such row"),
    "a failed test": ("bash", MAKE, f"{OLD}\nFAILED tests/test_a.py::test_b - AssertionError\n1 failed in 0.5s"),
    "make": ("bash", MAKE, f"\x1b[31m{OLD}\x1b[0m   \nmake: *** [all] Error 2"),
    "json": ("book", {"seat": 7}, json.dumps({"error": "no seats left", "asked": OLD.split("\n")}, indent=4)),
    "refused": ("write_file", {"path": "a"}, f"The user doesn't want to proceed with this tool use.\n{OLD}"),
}


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("failure", FAILURES)
def test_what_failed_stays_as_it_is_and_supersedes_nothing(failure: str, level: str, format: str) -> None:
    tool, arguments, failed = FAILURES[failure]
    chat = session(*((tool, arguments, answer) for answer in (failed, failed, NEW, failed)))
    before = convert(parse(chat), format, lossy=True)
    after = compact.condense(before, recipe=f"lossless:{level}").conversation
    texts = [[result.text for message in one.messages for result in message.results] for one in (before, after)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("steps", "stays"),
    [
        ((("bash", {"command": "cd /a && npm test"}, OLD), ("bash", {"command": "cd /b && npm test"}, NEW)), True),
        ((("bash", {"command": "cd /a && npm test"}, OLD), ("bash", {"command": "cd /a && npm test"}, NEW)), False),
        ((("grep", {"pattern": "row"}, OLD), ("grep", {"pattern": "row"}, NEW[:300])), True),
        ((("Read", {"file_path": "a", "offset": 1}, OLD), ("Read", {"file_path": "b", "offset": 1}, NEW)), True),
        ((("Read", {"file_path": "a"}, OLD), ("Read", {"file_path": "a"}, " ")), True),
        ((("Read", {"file_path": "a"}, OLD), ("Read", {"file_path": "a"}, "File unchanged since last read")), True),
        ((READ, ("write_file", {"path": "/a", "content": NEW}, "Wrote 40 lines.")), False),
        ((READ, ("write_file", {"path": "/a", "content": NEW}, "Error: permission denied")), True),
        ((READ, ("write_file", {"path": "/a", "content": NEW, "append": True}, "Wrote 40 lines.")), True),
        ((("next_page", {"id": 7}, OLD), ("next_page", {"id": 7}, NEW)), True),
        ((("BashOutput", {"bash_id": "b1"}, OLD), ("BashOutput", {"bash_id": "b1"}, NEW)), True),
        ((("poll", {"id": 7, "after": 3}, OLD), ("poll", {"id": 7, "after": 3}, NEW)), True),
    ],
    ids=range(12),
)
def test_an_answer_goes_only_where_a_later_one_is_sure_to_stand_for_it(steps: Sequence[Step], stays: bool) -> None:
    first = results(*steps)[0]
    assert (first == OLD) is stays
    assert stays or re.match(r"\[(?:Outdated|Consolidated 2 operations): ?", first)


def test_a_text_that_only_looks_like_a_reference_is_not_followed() -> None:
    messages = session(("read", {"path": "sum.py"}, "\n".join(SOURCE)), ("cat", {"path": "b.py"}, "\n".join(SOURCE)))
    small = compact.condense(messages, recipe="lossless:verbatim").messages
    (reference,) = (
        message["content"] for message in small if message["role"] == "tool" and "same as" in message["content"]
    )
    assert compact.restore(small) == messages
    forged = reference.replace("#", "#0")
    looks = [message if message["content"] != reference else {**message, "content": forged} for message in small]
    assert compact.restore(looks) == looks
    cited = [*small[:-1], {"role": "user", "content": "Why does it say [same as sum.py:1-60 above]?"}]
    assert compact.restore(cited)[-1] == cited[-1]


def test_a_reference_is_followed_after_messages_moved() -> None:
    messages = session(("read", {"path": "sum.py"}, "\n".join(SOURCE)), ("cat", {"path": "b.py"}, "\n".join(SOURCE)))
    small = compact.condense(messages, recipe="lossless:verbatim").messages
    before = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    assert compact.restore([*before, *small]) == [*before, *messages]


def test_lossless_calls_no_model() -> None:
    asked: list[Ask] = []

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Failure("not today") for _ in asks)

    messages = session(("bash", MAKE, OLD), ("bash", MAKE, OLD), ("read", {"path": "a"}, "\n".join(SOURCE)))
    for level in LEVELS:
        result = compact.condense(messages, recipe=f"lossless:{level}", ask=ask, target=0.1)
        assert result.plan
        assert not result.target_met
        assert render(result.conversation) == result.messages
    assert not asked
