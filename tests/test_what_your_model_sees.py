"""The markers in docs/what-your-model-sees.md: each stands in something that Compact writes, and none is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import compact
from compact.ports import Ask, Completion
from compact.summaries.model.merging import merge
from compact.summaries.model.statements import Statement, parse, render
from compact.summaries.model.strategy import find_strategy

PAGE = (Path(__file__).parents[1] / "docs/what-your-model-sees.md").read_text(encoding="utf-8")
_CELL = re.compile(r"^\| (`.+?) \| ", re.MULTILINE)
_VARIES = re.compile(r"…|\w*\d[\w,:#-]*")
_IDS = count()
_LOG = "\n".join(f"line {number}: nothing to see" for number in range(300))
_SUMS = [f"    total += rows[{number}].price" for number in range(120)]


def markers() -> list[str]:
    return [span for cell in _CELL.findall(PAGE) for span in re.findall(r"`([^`]+)`", cell)]


def pattern(marker: str) -> re.Pattern[str]:
    """What the marker looks like with any numbers, codes and texts."""
    fixed = map(re.escape, _VARIES.split(marker))
    found = (".*?" if part == "…" else r"[\w,:#@→-]+" for part in [*_VARIES.findall(marker), "…"])
    return re.compile("".join(text for pair in zip(fixed, found, strict=True) for text in pair))


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def answer(text: str) -> list[Any]:
    return [{"role": "assistant", "content": text}]


def step(name: str, result: str, **arguments: Any) -> list[Any]:
    id = f"call_{next(_IDS)}"
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


@cache
def session() -> list[Any]:
    """A session with something of everything that an account can tell."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    rules = "\n".join(["Never edit generated files.", *(f"Module {at} belongs to team {at}." for at in range(90))])
    plan = [{"step": "search", "status": "completed"}, {"step": "feed", "status": "pending"}]
    return [
        *user("Build the site."),
        *step("read", rules, path="AGENTS.md"),
        *step("bash", _LOG, command="make site"),
        *user("Now look at the feed, please."),
        *step("bash", _LOG, command="make feed"),
        *user("No, the search first."),
        *step("bash", f"{_LOG}\nFAILED tests/test_a.py::test_b - boom\n1 failed, 3 passed in 1s", command="pytest"),
        *step("edit", "Edited.", path="search.py", old_string="a = 1", new_string="a = 2"),
        *step("read", _LOG, path="other.py"),
        *step("bash", f"{_LOG}\n4 passed in 1s", command="pytest"),
        *step("update_plan", "ok", plan=plan),
        *step("bash", "Command rejected by user. Reason: not on production", command="make deploy"),
        *answer("The search works now; the deployment was refused."),
        {"role": "user", "content": [{"type": "text", "text": "Please compare it with this."}, picture]},
        *answer("It looks as it should."),
        *user("<task-notification>\n<status>completed</status>\nmake all is done\n</task-notification>"),
        *answer("The build in the background is done."),
        *user("What is left?"),
        *answer("The feed. " * 30),
        *user("Good, go on with the feed."),
    ]


def fail(asks: tuple[Ask, ...]) -> list[Completion]:
    raise RuntimeError("no network")


def summarize(asks: tuple[Ask, ...]) -> list[Completion]:
    goals = ("Build the feed", "Never edit generated files", "The search works now; the deployment was refused")
    return [Completion("\n".join(("## Goals\n### Active", *(f"- {goal}" for goal in goals)))) for _ in asks]


def texts(messages: list[Any], **options: Any) -> Iterator[str]:
    yield from (str(message["content"]) for message in compact.condense(messages, **options).messages)


def written() -> Iterator[str]:
    """What Compact writes with every recipe that has markers of its own."""
    few = {"recent_turns": 1, "tool_pairs": 0}
    for target in (0.02, 0.03, 0.06, 0.1, 0.2):
        yield from texts(session(), target=target, config={**few, "handles": True})
    yield from texts(session(), target=0.05, config={**few, "on_failure": "prune"}, ask=fail)
    yield from texts(session(), target=0.005)
    yield from texts(session(), target=0.1)
    yield from texts(session(), target=0.2, ask=summarize)
    first = compact.condense(session(), target=0.06).messages
    later = [*answer("On it."), *step("bash", _LOG, command="make feed"), *answer("Built. " * 60), *user("And now?")]
    yield from texts([*first, *later], target=0.3)
    yield from texts([*first, *later, *answer("Nothing. " * 50), *user("Bye.")], target=0.08, config=few)
    pages = [each for at in range(8) for each in (*step("write", "ok", path=f"{at}.md", content=_LOG), *user("Next."))]
    yield from texts([*user("Write the pages."), *pages, *answer("ok"), *user("Done?")], target=0.6)
    for recipe in ("v1", "v3", "layers", "native", "balanced"):
        yield from texts(session(), recipe=recipe, target=0.2)
    yield from (str(each) for each in compact.condense(flagged(), target=0.2, config=few).messages)
    for target in (0.05, 0.1):
        yield from texts(looked_up(), target=target, config=few)
    yield from texts(looking(), recipe="lossless")
    yield from texts(looking(), recipe="lossless:verbatim")
    strategy = find_strategy("task_state")
    earlier = (Statement("Fix the totals", "Goals", "active"),)
    yield render(merge(earlier, parse("## Changes\n- [k1] completed: they are right", strategy, earlier)), strategy)


def flagged() -> dict[str, Any]:
    """A session whose program flags a call that its user refused."""
    deploy = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "make deploy"}}
    refused = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": "Command rejected by user. Reason: not on production",
    }
    talk = [each for at in range(20) for each in (*user(f"Part {at}?"), *answer(f"Part {at} is built. " * 20))]
    call: list[Any] = [{"role": "assistant", "content": [deploy]}, {"role": "user", "content": [refused]}]
    start = [*user("Build the site."), *answer("Built."), *user("Deploy it."), *call, *answer("Then not.")]
    return {"system": "You are an agent.", "messages": [*start, *talk, *user("Go on.")]}


def looked_up() -> list[Any]:
    """Records, a script, and many remarks."""
    count = {"command": "python3 - <<'PY'\nfor row in rows:\n    print(row)\nPY", "description": "Counts the orders"}
    talk = [each for at in range(30) for each in (*user(f"I saw bird {at}."), *answer(f"Bird {at}! Lovely. " * 40))]
    order = json.dumps({"order": "W1", "status": "pending", "items": [{"name": "Bag"}, {"name": "Pen"}]})
    asked = [*step("get_order", order, order="W1"), *step("bash", "orders 31", **count)]
    found = " ".join(f"Part pt_{at} of W1 lies in the hall at shelf_{at}/box_{at}." for at in range(30))
    done = [*answer(f"{found} Shall I cancel it? A refund takes days."), *user("yes"), *answer("W1 is cancelled.")]
    return [*user("Look up W1."), *asked, *done, *talk, *user("Go on.")]


def looking() -> list[Any]:
    """Files read again, changed, and a command that was run again."""
    built = "\n".join(f"built part {at}" for at in range(60))
    lines = [f"{at:6}→{line.replace('rows', 'items')}" for at, line in enumerate(_SUMS, 1)]
    reads = [_SUMS, _SUMS, ["# new", *_SUMS[:7], "    pass", *_SUMS[7:]]]
    return [
        *user("Why are the totals wrong?"),
        *(each for lines in reads for each in step("read", "\n".join(lines), path="sum.py")),
        *(each for at in range(3) for each in step("bash", f"{built}\nrun {at}", command="make")),
        *step("Read", "\n".join(lines), file_path="items.py"),
        *step("Read", "\n".join(lines[10:40]), file_path="items.py", offset=11),
        *answer("I see."),
        *step("read", "nothing", path="empty.py"),
        *user("And now?"),
    ]


@pytest.fixture(scope="module")
def corpus() -> str:
    shown = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    unwrapped = (re.sub(r"\n(?![-\[#=])", " ", text) for text in shown)
    return "\n".join([*unwrapped, *written()])


@pytest.mark.parametrize("marker", markers())
def test_each_marker_of_the_page_is_written(marker: str, corpus: str) -> None:
    assert pattern(marker).search(corpus), marker


def test_each_marker_that_is_written_is_on_the_page() -> None:
    rows = [line for line in PAGE.split("\n") if line.startswith("| `")]
    known = [pattern(marker) for row in rows for marker in re.findall(r"`([^`]+)`", row)]
    given = "\n".join(str(message["content"]) for message in [*session(), *looking()])
    lines = {line for text in written() for line in text.split("\n") if line.startswith(("[", "⟨", "<", "- ("))}
    assert [line for line in sorted(lines) if line not in given and not any(one.match(line) for one in known)] == []
