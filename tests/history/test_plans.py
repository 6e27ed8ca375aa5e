"""The list of tasks as it stands at the end."""

from __future__ import annotations

from compact.history.plans import tasks_of
from compact.history.reading import read
from compact.messages import Message
from tests.summaries.talks import Wire, anthropic, assistant, used, user


def planned(*messages: Wire) -> str:
    found = read(_either(messages)).plan
    return found.tell() if found else ""


def _either(messages: tuple[Wire, ...]) -> tuple[Message, ...]:
    return anthropic(user("Go."), *messages)


def test_a_plan_is_told_by_its_newest_state() -> None:
    before = [{"content": "Read", "status": "in_progress"}, {"content": "Write", "status": "pending"}]
    after = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]
    done = "Todos have been modified successfully."
    wires = [*used("TodoWrite", {"todos": before}, done, id="a"), *used("TodoWrite", {"todos": after}, done, id="b")]
    assert planned(*wires) == "in progress: Write. done: Read"
    assert [action.superseded for action in read(_either(tuple(wires))).actions] == [True, False]


def test_plans_are_kept_in_many_ways() -> None:
    steps = [
        {"step": "Look", "status": "completed"},
        {"step": "Fix", "status": "cancelled"},
        {"step": "Test", "status": "pending"},
    ]
    assert planned(*used("update_plan", {"plan": steps}, "Plan updated")) == "open: Test. done: Look"
    merged = [{"id": "1", "content": "Look", "status": "pending"}, {"id": "2", "content": "Fix", "status": "pending"}]
    wires = used("todo_write", {"todos": merged, "merge": False}, "ok", id="a")
    wires += used("todo_write", {"todos": [{"id": "1", "status": "completed"}], "merge": True}, "ok", id="b")
    assert planned(*wires) == "open: Fix. done: Look"
    tasks = used("TaskCreate", {"subject": "Look"}, "Task #1 created successfully: Look", id="a")
    tasks += used("TaskCreate", {"subject": "Fix"}, "Task #2 created successfully: Fix", id="b")
    tasks += used("TaskUpdate", {"taskId": "2", "status": "completed"}, "Updated task #2 status", id="c")
    assert planned(*tasks) == "open: Look. done: Fix"
    tasks += used("TaskList", {}, "#1 [completed] Look\n#2 [completed] Fix", id="d")
    assert planned(*tasks) == "done: Look; Fix"


def test_a_call_that_keeps_one_task_names_it_by_number() -> None:
    wires = used("TaskCreate", {"subject": "Look"}, "Task #1 created successfully: Look", id="a")
    wires += used("TaskCreate", {"subject": "Fix"}, "Task #2 created successfully: Fix", id="b")
    changed = {"taskId": "2", "status": "completed", "description": "Fixed in two places."}
    wires += used("TaskUpdate", changed, "Updated task #2 description, status", id="c")
    wires += used("TaskUpdate", {"taskId": "9", "status": "completed"}, "Updated task #9 status", id="d")
    wires += used("TodoWrite", {"todos": [{"content": "All", "status": "pending"}]}, "ok", id="e")
    told = [(action.call.id, plan.tell()) for action, plan in tasks_of(read(_either(tuple(wires))).actions)]
    assert told == [("a", "open: #1 Look"), ("b", "open: #2 Fix"), ("c", "done: #2 Fix")]


def test_a_check_list_in_a_message_is_a_plan() -> None:
    assert planned(assistant("My plan:\n- [x] look\n- [ ] fix\n- [ ] test")) == "open: fix; test. done: look"
    assert planned(user("- [ ] one\n- [ ] two")) == ""
    assert planned(assistant("Only - [ ] one")) == ""
