"""Text that is shown again and again: how much of it goes, what stands there instead, and that it comes back."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compact
from compact.app import counter_for
from tests.providers.conversations import step, user

count = counter_for("gpt-4o").text
REFERENCE = re.compile(r"^(?:[-+ ]|[ 0]*\d+(?:→|\t|: ?|\| ?))?(\[same (?:text )?as .* above #\d{6}\])$", re.MULTILINE)


def source(lines: int, seed: int) -> list[str]:
    """A file of short functions."""
    rng = random.Random(seed)
    words = ("row", "total", "page", "price", "order", "label")
    return [
        line
        for number in range(lines // 4)
        for line in (
            f"def {rng.choice(words)}_{number}({rng.choice(words)}):",
            f"    {rng.choice(words)} = {rng.randrange(900)}",
            f"    return {rng.choice(words)}_{rng.randrange(90)}(other)",
            "",
        )
    ]


def numbered(lines: list[str], start: int = 1) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start))


def read_again() -> list[dict[str, Any]]:
    """A file is read in parts, edited at every tenth line, and read once more after each edit."""
    lines, messages = source(120, 1), [user("Please rename the labels.")]
    for number in range(8):
        start = number * 12
        messages += step(f"r{number}", "Read", {"path": "src/app.py"}, numbered(lines[start : start + 40], start + 1))
        lines = [f"{line}  # renamed" if at % 10 == number else line for at, line in enumerate(lines)]
        messages += step(f"s{number}", "Read", {"path": "src/app.py"}, numbered(lines[start : start + 40], start + 1))
    return [*messages, user("Go on."), *step("last", "noop", {}, "done"), user("And now?")]


def run_again() -> list[dict[str, Any]]:
    """A build prints the same steps each time, but for two that take another time."""
    messages = [user("Please make it build.")]
    for number in range(10):
        said = [f"[{at}/30] compiling module_{at}.cpp with -O2 -Wall" for at in range(30)]
        said[number] = said[number] + f" took {number}.{number}s"
        said[29 - number] += f" took {number * 7}s"
        messages += step(f"b{number}", "bash", {"command": "make all", "try": number}, "\n".join(said))
    return [*messages, user("Go on."), *step("last", "noop", {}, "done"), user("And now?")]


def paste_again() -> list[dict[str, Any]]:
    """A person pastes the log of a server, each time from where it began."""
    log = [
        f"10:{at // 60:02}:{at % 60:02} worker {at % 4} stored order {at * 37} for customer {at * 91}"
        for at in range(200)
    ]
    messages = [user("Please look after my server.")]
    for number in range(1, 9):
        shown = [line for at, line in enumerate(log[: 20 * number]) if at % (5 + number)]
        messages += [user("Here is the log:\n" + "\n".join(shown)), {"role": "assistant", "content": "I see."}]
    return [*messages, user("And now?")]


@pytest.mark.parametrize(("make", "share"), [(read_again, 0.44), (run_again, 0.63), (paste_again, 0.47)])
def test_most_of_what_repeats_goes_though_it_differs_a_little(
    make: Callable[[], list[dict[str, Any]]], share: float
) -> None:
    messages = make()
    result = compact.condense(messages, recipe="lossless:verbatim")
    assert result.report.tokens_after < result.report.tokens_before * (1 - share)
    assert compact.restore(result.messages) == messages


@pytest.mark.parametrize("frame", ["{}", "<file>\n{}\n</file>"])
@pytest.mark.parametrize("level", ["verbatim", "formatting"])
@pytest.mark.parametrize("printed", [True, False])
def test_a_reference_names_lines_of_a_file_only_by_numbers_that_were_shown(
    printed: bool, level: str, frame: str
) -> None:
    lines, messages = source(120, 5), [user("Please look.")]
    for number, (start, end) in enumerate([(40, 80), (50, 70), (45, 90), (0, 120)]):
        part = lines[start:end]
        text = frame.format(numbered(part, start + 1) if printed else "\n".join(part))
        messages += step(f"r{number}", "read", {"path": "src/app.py", "offset": start + 1}, text)
    messages += [*step("s", "bash", {"command": "tail -30 app.py"}, "\n".join(lines[-30:])), user("And now?")]
    after = compact.condense(messages, recipe="lossless", config={"level": level}).messages
    shown = "\n".join(str(message.get("content")) for message in after)
    places = re.findall(r"app\.py( result)?:(\d+-\d+) above #", shown)
    assert places
    if printed and level == "verbatim":
        assert places[0] == ("", "51-70")
    else:
        assert {place for place, _ in places} == {" result"}


@pytest.mark.parametrize("make", [read_again, run_again])
def test_a_reference_takes_ten_to_fourteen_tokens_where_names_are_short(
    make: Callable[[], list[dict[str, Any]]],
) -> None:
    shown = "\n".join(
        str(message.get("content")) for message in compact.condense(make(), recipe="lossless:verbatim").messages
    )
    sizes = sorted(count(reference) for reference in REFERENCE.findall(shown))
    assert len(sizes) > 10
    assert sizes[0] >= 10
    assert sizes[len(sizes) // 2] <= 14


def test_of_a_failure_only_what_was_shown_without_it_is_pointed_at() -> None:
    lines = source(40, 3)
    failed = "\n".join([*lines, *(f"FAILED tests/test_app.py::test_{number} - AssertionError" for number in range(9))])
    messages = [user("Why does it fail?"), *step("a", "Read", {"path": "app.py"}, "\n".join(lines))]
    for number in range(3):
        messages += step(f"t{number}", "bash", {"command": "make test", "try": number}, f"{failed}\n9 failed in 0.1s")
    messages += [user("Go on."), *step("last", "noop", {}, "done"), user("And now?")]
    shown = [
        message["content"] for message in compact.condense(messages, recipe="lossless").messages if "content" in message
    ]
    results = [text for text in shown if text and "9 failed" in text]
    assert [text.count("FAILED") for text in results] == [9, 9, 9]
    assert [len(REFERENCE.findall(text)) for text in results] == [1, 1, 1]


lines = st.sampled_from(["", "}", "    return total", *source(40, 2), "1: a row", "@@ -1 +1 @@", "+added", "-gone"])
before: list[Callable[[int], str]] = [
    lambda _: "",
    lambda at: f"{at + 1:6}→",
    lambda at: f"{at + 8}: ",
    lambda at: f"{at + 98:04}|",
    lambda _: "+",
    lambda _: " ",
]


@given(st.data())
def test_what_repeats_comes_back_byte_for_byte(data: st.DataObject) -> None:
    blocks = data.draw(st.lists(st.lists(lines, min_size=1, max_size=12), min_size=1, max_size=4))
    messages = [user("Please.")]
    for number in range(data.draw(st.integers(1, 8))):
        parts = data.draw(st.lists(st.tuples(st.sampled_from(blocks), st.sampled_from(before)), min_size=1, max_size=4))
        text = "\n".join(put(at) + line for block, put in parts for at, line in enumerate(block))
        path = data.draw(st.sampled_from(["a.py", "src/a.py", "b.py"]))
        tool = data.draw(st.sampled_from(["Read", "Write", "say"]))
        if tool == "say":
            messages += [user(text), {"role": "assistant", "content": "Yes."}]
        else:
            arguments = {"path": path, "content": text} if tool == "Write" else {"path": path}
            messages += step(f"c{number}", tool, arguments, "ok" if tool == "Write" else text)
    messages.append(user("And now?"))
    given_, small = json.dumps(messages), compact.condense(messages, recipe="lossless:verbatim").messages
    assert json.dumps(compact.restore(json.loads(json.dumps(small)))) == given_
    # The calls that stay are as they were made.
    assert [message.get("tool_calls") for message in small] == [message.get("tool_calls") for message in messages]
