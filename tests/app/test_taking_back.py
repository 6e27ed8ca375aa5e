"""What stays true where a conversation goes back, changes its frame, or is shared with another process."""

from __future__ import annotations

import threading

import pytest

from compact.errors import InvalidConfiguration, InvalidConversation
from compact.formats import parse
from compact.messages import Json, unresolved
from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles
from tests.app.test_background import nearly, prepared
from tests.app.test_manager import ANSWER, Bench, make, summaries, talk, tokens

__all__ = ["make"]

LINES = "\n".join(f"value_{number} = compute({number * 37})" for number in range(120))
LOSSLESS = {"provider": "lossless"}
ROOMY = 100_000


def read(number: int, path: str, text: str = LINES) -> list[Json]:
    """A question that is answered by reading a file."""
    function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"Step {number}: look at {path}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        {"role": "assistant", "content": f"Done with step {number}."},
    ]


@pytest.mark.parametrize("system", ["Be kind.", None])
def test_a_message_that_cannot_be_read_is_an_error_whatever_stands_beside(make: Bench, system: str | None) -> None:
    manager = make()
    with pytest.raises(InvalidConversation, match="role"):
        manager.preflight("s", [{"role": "user", "content": "Hi"}, {"content": "nobody said this"}], system=system)
    tools = [{"name": "read", "input_schema": {"type": "object", "properties": {}}}]
    with pytest.raises(InvalidConversation):
        manager.preflight("t", [{"role": "user", "content": "Hi"}, {"content": 1}], tools=tools)


def test_parts_of_another_vendor_do_not_make_the_format_waver(make: Bench) -> None:
    thought = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."}],
    }
    history = [*read(1, "a.py"), {"role": "user", "content": "And?"}]
    manager = make()
    assert manager.preflight("s", history) == history
    assert manager.preflight("s", [*history, thought, {"role": "user", "content": "So?"}])


def test_who_goes_back_before_what_supersedes_an_answer_has_the_answer(make: Bench) -> None:
    manager, history = make(ROOMY, policy=LOSSLESS), [*read(1, "a.py"), *read(2, "a.py", LINES.upper()), *talk(1)]
    sent = manager.manual_compact("s", history)
    assert "[Outdated: see " in str(sent[2])
    assert manager.preflight("s", history[:4]) == history[:4]
    assert manager.preflight("s", history) == history


def test_references_do_not_outlive_the_instructions_they_lead_to(make: Bench) -> None:
    manager, history = make(ROOMY, policy=LOSSLESS), [*read(1, "a.py"), *talk(1)]
    sent = manager.manual_compact("s", history, system=f"The file is:\n{LINES}")
    assert LINES not in str(sent)
    assert manager.preflight("s", history, system=f"The file is:\n{LINES}") == sent
    assert manager.preflight("s", history, system="The file is gone.") == history


def test_what_is_left_after_an_undo_refers_to_nothing_that_is_gone(make: Bench) -> None:
    manager, history = make(ROOMY, policy=LOSSLESS), read(1, "a.py", LINES.replace("\n", "   \n"))
    manager.manual_compact("s", [*history, *talk(1)])
    history = [*history, *talk(1), *read(2, "b.py", LINES + "\nlast = 1"), *talk(1, 1)]
    assert manager.manual_compact("s", history) != history
    sent = manager.undo("s", 1)
    assert not unresolved(parse(sent))


def test_what_is_left_after_an_undo_in_the_middle_is_left_after_a_restart(make: Bench) -> None:
    manager, history = make(ROOMY, policy=LOSSLESS), list[Json]()
    for number, path in enumerate(("a.py", "b.py", "c.py")):
        text = LINES.replace("value", path[0] * 5)
        history = [*history, *read(2 * number, path, text), *read(2 * number + 1, path, text)]
        history = [*history, {"role": "user", "content": "And now?"}]
        manager.manual_compact("s", history)
    sent = manager.undo("s", 2)
    assert [text in str(sent) for text in ("aaaaa_7 =", "bbbbb_7 =", "ccccc_7 =")] == [True] * 3
    assert str(sent).count("[same as ") == 2
    assert make(ROOMY, policy=LOSSLESS).preflight("s", history) == sent == manager.preflight("s", history)


def test_another_process_takes_over_with_what_the_first_has_done(make: Bench) -> None:
    one, two = make(), make()
    history = talk(20)
    for manager in (one, two):
        manager.preflight("s", history[:6])
    sent = one.preflight("s", history)
    assert summaries(sent)
    grown = talk(1, 20)
    assert two.preflight("s", [*sent, *grown]) == [*sent, *grown]
    assert two.undo("s") == [*history, *grown]


def test_a_message_that_was_changed_in_place_is_noticed(make: Bench) -> None:
    manager, history = make(), talk(20)
    sent = manager.preflight("s", history)
    assert len(summaries(sent)) == 1
    history[3]["content"] = f"Another answer than before. {ANSWER}"
    again = manager.prepare("s", history)
    assert again.tokens_before == tokens(history)  # what was compacted does not belong to it
    assert manager.undo("s") == history


def test_a_history_that_another_process_has_compacted_is_not_summarized_again(make: Bench) -> None:
    one, two = make(), make()
    history = talk(20)
    for manager in (one, two):
        manager.preflight("s", history[:6])
    assert two.preflight("s", history) != history
    assert one.preflight("s", history) == two.preflight("s", history)
    assert len(make.watcher.named("condensed")) == 1


def test_a_session_that_is_forgotten_while_somebody_waits_for_it_is_one_session(make: Bench) -> None:
    sessions = make()._sessions
    found = []

    def use() -> None:
        with sessions.hold("s") as session:
            found.append(session)

    with sessions.hold("s"):
        waiting = threading.Thread(target=use)
        waiting.start()
        sessions.forget("s")
    waiting.join(20)
    assert found == [sessions.get("s")]


def test_a_manager_that_cannot_be_made_leaves_nothing_behind(make: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(make.folder))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    save_profiles(Profiles(profiles=(Profile(name="keyless", vendor="openai", model="gpt-4o-mini"),)))
    before = set(threading.enumerate())
    with pytest.raises(InvalidConfiguration):
        make(profile="keyless", tracing={"ariadne": "http://127.0.0.1:9"})
    assert set(threading.enumerate()) <= before


def test_where_no_thread_can_be_started_the_compaction_is_made_when_it_must_be(
    make: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, history = prepared(make), nearly()
    start = threading.Thread.start

    def none_left(thread: threading.Thread) -> None:
        if thread.name == "compact background":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert manager.preflight("s", history) == history
    assert summaries(manager.preflight("s", [*history, *talk(4, len(history))]))
