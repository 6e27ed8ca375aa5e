"""A summary claims only what the messages show."""

from __future__ import annotations

from typing import Any

import pytest

from compact.summaries import summarize_offline
from tests.summaries.talks import Wire, anthropic, assistant, chat, count, ran, section, used, user


def summary(*messages: Wire, budget: int = 2000) -> str:
    return summarize_offline(chat(*messages), budget=budget, count=count)


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "state"),
    [
        ("bash", {"command": "sed -i 's/a.b = c/d.e = f/' db/ddl.py"}, "", ["- edited db/ddl.py [1]"]),
        ("bash", {"command": "cat file.txt 2>/dev/null"}, "x", []),
        (
            "bash",
            {"command": "echo hi > /dev/null; pytest -q"},
            "3 passed",
            ["- ran `echo hi > /dev/null; pytest -q`, ok [1]"],
        ),
        ("bash", {"command": "echo 'a -> b' && make test"}, "a -> b", ["- ran `echo 'a -> b' && make test` [1]"]),
        ("bash", {"command": "echo 1 > a.txt && make"}, "done", ["- edited a.txt [1]", "- ran `make`, ok [1]"]),
        ("str_replace_editor", {"command": "view", "path": "q.py"}, "x", []),
        ("str_replace_editor", {"command": "create", "path": "q.py", "file_text": "x"}, "ok", ["- wrote q.py [1]"]),
        ("delete_file", {"path": "a.py"}, "ok", ["- deleted a.py [1]"]),
        ("move_file", {"source": "a.py", "destination": "b.py"}, "ok", ["- moved a.py to b.py [1]"]),
        ("create_directory", {"path": "src"}, "ok", ["- called create_directory(path=src), ok [1]"]),
        ("edit_file", {"path": "a.py", "new": "x"}, "No match found, file unchanged", ["- edited a.py, failed [1]"]),
        ("set_price", {"id": "7"}, '{"id": "7", "price": 3}', ["- called set_price(id=7) [1]"]),
        ("bash", {"command": "git push"}, " 12ab34c..56de78f  main -> main", ["- ran `git push`, ok [1]"]),
        ("set_price", {"id": "7"}, '{"updated": false, "created": "2026-03-04"}', ["- called set_price(id=7) [1]"]),
        ("set_price", {"id": "7"}, '{"success": true}', ["- called set_price(id=7), ok [1]"]),
        ("bash", {"command": "make"}, "0 passed, could not be completed", ["- ran `make` [1]"]),
        ("bash", {"command": "git fetch"}, "From host", ["- ran `git fetch` [1]"]),
        ("asana_create_task", {"title": "Buy milk"}, "{}", ["- called asana_create_task(title=Buy milk) [1]"]),
        (
            "update_tasks",
            {"tasks": [{"title": "Ship", "status": "shipped"}]},
            "{}",
            ["- called update_tasks(title=Ship, status=shipped) [1]"],
        ),
    ],
)
def test_the_state_is_what_was_done(tool: str, arguments: dict[str, Any], answer: str, state: list[str]) -> None:
    told = summary(user("Do it."), *ran(tool, arguments, answer))
    assert section(told, "State") == state


def test_a_rejected_push_is_open() -> None:
    told = summary(
        user("Push it."), *ran("bash", {"command": "git push"}, " ! [rejected]   main -> main (fetch first)")
    )
    assert section(told, "Findings") == ['- open: `git push`: "! [rejected] main -> main (fetch first)" [2]']


def test_a_failure_that_is_not_seen_again_is_not_called_fixed() -> None:
    command = {"command": "npm run lint"}
    failed, silent = ran("bash", command, "error: 2 problems", id="a"), ran("bash", command, "> lint", id="b")
    first = summary(*failed, *silent)
    assert section(first, "Findings") == ['- not reported again: `npm run lint`: "error: 2 problems" [1,3]']
    assert section(first, "State") == ["- ran `npm run lint` ×2 [0,2]"]
    passed = chat(*ran("bash", command, "0 errors"))
    second = summarize_offline(passed, budget=500, count=count, previous=first)
    assert section(second, "Findings")[0].startswith("- fixed, passes now: ")


def test_an_edit_beside_a_run_that_fails_is_still_made() -> None:
    command = "sed -i 's/a/b/' x.py && pytest"
    told = summary(user("Do it."), *ran("bash", {"command": command}, "1 failed in 0.1s"))
    assert section(told, "State") == ["- edited x.py [1]"]
    assert section(told, "Findings") == ['- open: `pytest`: "1 failed in 0.1s" [2]']
    failed = summary(user("Do it."), *ran("bash", {"command": command}, "sed: can't read x.py: No such file"))
    assert "- edited x.py, failed [1]" in section(failed, "State")


def test_a_list_of_statuses_is_a_plan_whatever_the_tool_is_called() -> None:
    tasks = [{"title": "One", "status": "completed"}, {"title": "Two", "status": "in_progress"}]
    assert section(summary(*ran("my_planner", {"tasks": tasks}, "ok")), "State") == [
        '- plan: 1 of 2 done; open: 2 "Two" [0]'
    ]


def test_facts_of_people_are_not_ascribed_to_tools() -> None:
    told = summary(user("What are they called?"), assistant(f"{'Well, ' * 80}`load_config`, `save_state`"))
    assert section(told, "Key facts") == ["- also mentioned: load_config, save_state [1]"]
    assert "tool-reported" not in told
    old = "## Key facts (tool-reported)\n- src/a.py: load_config [0]"
    assert "load_config" in summarize_offline(chat(user("go on")), budget=500, count=count, previous=old)


def test_images_files_and_names_of_speakers_are_told() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    text = "Here is the design, please match it exactly."
    shown = anthropic({"role": "user", "content": [{"type": "text", "text": text}, image]})
    told = summarize_offline(shown, budget=500, count=count)
    assert section(told, "Task and directives") == [f'- "{text}" (with an image, no longer shown) [0]']
    again = summarize_offline(chat(assistant("Done with it, I think.")), budget=500, count=count, previous=told)
    assert section(again, "Task and directives") == [f'- "{text}" (with an image, no longer shown), answered [0]']
    kept = summarize_offline(shown, budget=500, count=count, kept={"0"})
    assert "no longer shown" not in kept
    file = {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
    sent = summary({"role": "user", "content": [file]}, {"role": "user", "name": "Alice", "content": "Never use tabs."})
    assert section(sent, "Also said") == ["- sent plan.pdf, no longer shown [0]"]
    assert section(sent, "Task and directives") == ['- "Alice: Never use tabs." [1]']


def test_an_error_of_a_deleting_tool_is_a_failure() -> None:
    told = summarize_offline(
        anthropic(*used("delete_file", {"path": "a.py"}, "a.py was not found", error=True)), budget=500, count=count
    )
    assert section(told, "Findings") == ['- open: deleted a.py: "a.py was not found" [1]']
