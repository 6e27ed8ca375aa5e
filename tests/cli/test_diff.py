"""Two conversations side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

Messages = list[dict[str, Any]]


def turns(count: int) -> Messages:
    return [{"role": ("user", "assistant")[index % 2], "content": f"turn {index}"} for index in range(count)]


def calling(id: str, result: str, **arguments: Any) -> Messages:
    function = {"name": "read", "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


@pytest.fixture
def compare(run: Run, tmp_path: Path) -> Any:
    def call(before: Any, after: Any, *options: str) -> Any:
        for name, value in (("a.json", before), ("b.json", after)):
            (tmp_path / name).write_text(json.dumps(value))
        shown = run("diff", tmp_path / "a.json", tmp_path / "b.json", *options)
        assert shown.status == 0, shown.err
        return json.loads(shown.out) if "--json" in options else shown.out

    return call


def changes(told: Any) -> list[tuple[str, int | None, int | None]]:
    return [(each["change"], each["before"], each["after"]) for each in told["changes"]]


def test_equal_conversations_are_one_line(compare: Any) -> None:
    shown = compare(turns(12), turns(12))
    assert "… 12 unchanged messages …" in shown
    assert "12 same, 0 changed, 0 removed, 0 added" in shown
    assert compare(turns(3), turns(3), "--json") == {
        "equal": True,
        "same": 3,
        "changed": 0,
        "removed": 0,
        "added": 0,
        "changes": [],
    }


def test_a_changed_result_stands_beside_what_it_was(compare: Any) -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    cut = "\n".join([*text.split("\n")[:5], "⟨ cut ⟩", *text.split("\n")[-3:]])
    before, after = ([*turns(4), *calling("c1", result), *turns(4)] for result in (text, cut))
    shown = compare(before, after)
    assert "… 5 unchanged messages …" in shown
    assert "… 4 unchanged messages …" in shown
    row = next(line for line in shown.splitlines() if "⟨ cut ⟩" in line)
    assert row.startswith("- line 5 ")
    assert "+ ⟨ cut ⟩" in row
    assert "more lines" in shown
    told = compare(before, after, "--json")
    assert changes(told) == [("changed", 5, 5)]
    assert told["changes"][0]["hunks"] == [
        {"removed": [f"line {number}" for number in range(5, 37)], "added": ["⟨ cut ⟩"]}
    ]


def test_messages_that_went_stand_beside_the_one_that_came(compare: Any) -> None:
    before = turns(10)
    after = [*before[:2], {"role": "user", "content": "In short: six turns."}, *before[8:]]
    told = compare(before, after, "--json")
    assert changes(told) == [*(("removed", index, None) for index in range(2, 8)), ("added", None, 2)]
    shown = compare(before, after)
    assert next(line for line in shown.splitlines() if "+ In short: six turns." in line).startswith("- turn 2")


def test_arguments_and_what_is_no_text_are_compared(compare: Any) -> None:
    told = compare(calling("c", "r", path="a", n=1), calling("c", "r", path="b", n=1), "--json")
    assert told["changes"][0]["hunks"] == [{"removed": ["  path: a"], "added": ["  path: b"]}]
    named = [{**message, "name": "ann"} for message in turns(1)]
    told = compare(turns(1), named, "--json")
    assert changes(told) == [("changed", 0, 0)]
    assert '  "name": "ann"' in told["changes"][0]["hunks"][0]["added"]


def test_every_kind_of_content_has_lines(compare: Any) -> None:
    content: list[dict[str, Any]] = [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "bbbb"}},
        {"type": "novelty", "value": 1},
    ]
    reply = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "yes"}]
    before = [{"role": "user", "content": content}, {"role": "assistant", "content": reply}]
    told = compare(before, turns(1), "--json")
    lines = [line for each in told["changes"] for hunk in each["hunks"] for line in hunk["removed"]]
    assert lines[0] == "look"
    assert [line.split("]")[0] for line in lines[1:4]] == ["[image image/png", "[file  application/pdf", "[novelty"]
    assert lines[4:] == ["[reasoning] hm", "yes"]


def test_a_system_prompt_is_compared_too(compare: Any) -> None:
    before, after = ({"system": system, "messages": turns(2)} for system in ("Be brief.", "Be very brief."))
    assert "system prompt" in compare(before, after)
    assert compare(before, after, "--json")["changes"][0]["role"] == "system"


def test_long_lines_show_where_they_differ(compare: Any) -> None:
    before, after = ([{"role": "user", "content": "x" * 5000 + end + "y" * 5000}] for end in ("HERE", "THERE"))
    shown = compare(before, after)
    assert "HERE" in shown
    assert "THERE" in shown
    assert len(shown) < 3000


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_width_follows_the_terminal(compare: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    before, after = ([{"role": "user", "content": f"{word} " * 100}] for word in ("old", "new"))
    assert {len(line) for line in compare(before, after).splitlines()[:-1]} == {width}


def test_hostile_text_cannot_drive_the_terminal(compare: Any) -> None:
    hostile = "\x1b]0;owned\x07 [red]x[/red] :bug: \u202e \\"
    shown = compare(turns(1), [{"role": "user", "content": hostile}])
    assert "\\x1b]0;owned\\x07 [red]x[/red] :bug: \\u202e \\" in shown


def test_a_plan_shows_what_became_of_each_message(run: Run, tmp_path: Path) -> None:
    text = "\n".join(f"line {number} of a file that is read twice in full" for number in range(30))
    messages = [*turns(2), *calling("c1", text), *calling("c2", text), *turns(3)]
    file, small, plan = (tmp_path / name for name in ("chat.json", "small.json", "plan.json"))
    file.write_text(json.dumps(messages))
    run("condense", file, "--provider", "lossless", "-o", small, "--plan", plan)
    told = json.loads(run("diff", small, "--plan", plan, "--json").out)
    assert changes(told) == changes(json.loads(run("diff", file, small, "--json").out))
    assert all(each["why"] for each in told["changes"])
    shown = run("diff", small, "--plan", plan)
    assert told["changes"][0]["why"] in shown.out
    later = [*json.loads(small.read_text()), {"role": "user", "content": "more"}]
    small.write_text(json.dumps(later))
    assert json.loads(run("diff", small, "--plan", plan, "--json").out)["changes"] == told["changes"]


def test_one_other_file_or_a_plan_is_needed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(turns(2)))
    alone, both = run("diff", file), run("diff", file, file, "--plan", file)
    assert (alone.status, both.status) == (2, 2)
    assert "OTHER: is needed, or a plan file instead of it. Write compact diff FILE OTHER." in alone.err
    assert "--plan: cannot be given beside OTHER. Leave one of them out." in both.err


def test_an_agents_log_is_compared_by_its_plan(run: Run, tmp_path: Path) -> None:
    text = "\n".join(f"line {number} of a file that is read twice in full" for number in range(30))
    said: list[tuple[str, dict[str, Any]]] = [("user", {"type": "text", "text": "Read it twice."})]
    for id in ("one", "two"):
        said.append(("assistant", {"type": "tool_use", "id": id, "name": "read", "input": {}}))
        said.append(("user", {"type": "tool_result", "tool_use_id": id, "content": text}))
    said += [(role, {"type": "text", "text": "Thanks."}) for role in ("assistant", "user", "assistant", "user")]
    rows = [
        {"type": role, "sessionId": "s", "uuid": str(at), "message": {"role": role, "content": [block]}}
        for at, (role, block) in enumerate(said)
    ]
    log, small, plan = (tmp_path / name for name in ("log.jsonl", "small.json", "plan.json"))
    log.write_text("\n".join(map(json.dumps, rows)))
    run("condense", log, "--provider", "lossless", "-o", small, "--plan", plan)
    told = run("diff", small, "--plan", plan, "--json")
    assert told.status == 0, told.err
    assert changes(json.loads(told.out)) == changes(json.loads(run("diff", log, small, "--json").out))
    assert json.loads(told.out)["changed"]
