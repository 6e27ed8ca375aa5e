"""What a manager does where somebody else fails: the disk, a listener, a model, another process, its caller."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from pathlib import Path
from socket import socket
from time import monotonic

import pytest

from compact import CompactConfig, CompactManager
from compact.errors import EditError, InvalidConfiguration, InvalidInput, NotFound, StorageError
from compact.messages import Json
from compact.policies import Policy, Profile, Profiles, StorageSettings
from compact.ports import Event, Failure
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.app.test_manager import Bench, answering, make, summaries, talk

__all__ = ["make"]

PINNED = {"role": "user", "content": "word " * 5000, "meta": {"protected": True}}


def handle(messages: list[Json]) -> str:
    found = re.search(r"recall (sum-[0-9a-f]+)", json.dumps(messages))
    assert found is not None
    return found[1]


def test_a_disk_that_takes_nothing_is_told_and_nothing_is_pruned(make: Bench) -> None:
    (make.folder / "archive").write_text("a file in the place of the folder")
    manager, history = make(), talk(20)
    with pytest.raises(StorageError, match=r"Nothing was pruned.*storage\.path") as raised:
        manager.preflight("s", history)
    assert raised.value.errno is not None
    assert make.watcher.last("error").properties["error_type"] == "StorageError"
    (make.folder / "archive").unlink()
    assert summaries(manager.preflight("s", history))


def test_originals_that_cannot_be_written_are_told_and_nothing_is_pruned(make: Bench) -> None:
    manager, history = make(), talk(20)
    manager.preflight("s", history[:2])
    (make.folder / "originals").write_text("a file in the place of the folder")
    with pytest.raises(OSError, match=r"Nothing was pruned.*storage\.path"):
        manager.preflight("s", history)
    (make.folder / "originals").unlink()
    assert summaries(manager.preflight("s", history))


def test_originals_that_cannot_be_read_are_told(make: Bench) -> None:
    (make.folder / "originals").write_text("a file in the place of the folder")
    with pytest.raises(StorageError, match=r"storage\.path"):
        make().preflight("s", talk(2))


def test_events_that_cannot_be_archived_fail_no_request(make: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    (make.folder / "archive" / "s" / "events.jsonl").mkdir(parents=True)
    manager = make()
    assert summaries(manager.preflight("s", talk(20)))
    manager.preflight("t", talk(2))
    manager.close()
    assert capsys.readouterr().err.count("cannot be archived") == 1
    assert (make.folder / "archive" / "t" / "events.jsonl").read_text()


def test_a_listener_that_fails_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def deaf(event: Event) -> None:
        raise KeyError(event.name)

    storage = StorageSettings(path=str(tmp_path))
    config = CompactConfig(model="gpt-4o", max_context_tokens=8000, storage=storage, profile="offline")
    with CompactManager(config, observe=deaf) as manager:
        assert summaries(manager.preflight("s", talk(20)))
    told = capsys.readouterr().err
    assert told.startswith("[compact] observe failed (KeyError")
    assert told.count("KeyError") == 1


def test_a_summary_made_offline_instead_is_told_as_an_error(make: Bench) -> None:
    manager = make(ask=answering(Failure("no network")), policy={"on_summary_failure": "offline"})
    assert summaries(manager.preflight("s", talk(20)))
    told = make.watcher.last("error").properties
    assert (told["fallback"], "no network" in told["message"]) == ("offline", True)


def test_a_stalled_session_is_told_as_an_error(make: Bench) -> None:
    manager, messages = make(policy={"trigger_pct": 0.5, "target_pct": 0.3}), [PINNED, *talk(1)]

    def go_on() -> None:
        for turn in range(1, 10):
            messages.extend(talk(1, turn))
            manager.preflight("s", messages)

    go_on()  # what is sent still fits, so it is sent
    told = make.watcher.last("error").properties
    assert (told["error_type"], told["fallback"]) == ("CondensationStalled", "none")


def test_two_processes_on_one_folder_lose_nothing_of_each_other(make: Bench) -> None:
    one, two = make(recall=True), make(recall=True)
    histories = [talk(20), talk(20, 100)]
    for manager, history in zip((one, two), histories, strict=True):
        manager.preflight("s", history[:3])  # each has read what was kept before the other keeps anything
    sent = [manager.preflight("s", history) for manager, history in zip((one, two), histories, strict=True)]
    later = make()
    for messages, history in zip(sent, histories, strict=True):
        for manager in (one, two, later):
            removed = manager.recall(handle(messages), "s").messages
            assert removed
            assert all(message in history for message in removed)


def test_a_handle_of_a_branch_that_was_left_still_leads_back(make: Bench) -> None:
    manager, history = make(recall=True), talk(20)
    removed = handle(manager.preflight("s", history))
    assert manager.preflight("s", history[:4]) == history[:4]
    assert manager.recall(removed, "s").messages
    with pytest.raises(InvalidInput, match="msg-3"):
        manager.recall("msg-3", "s")  # here that is a message that was never removed


def test_undo_needs_no_messages_after_a_restart(make: Bench) -> None:
    history = talk(20)
    make().preflight("s", history)
    manager = make()
    assert manager.undo("s") == history
    with pytest.raises(NotFound, match="nothing to undo"):
        manager.undo("s")
    assert manager.preflight("s", [*history[:6]]) == history[:6]


def test_undo_with_nothing_to_undo_says_so(make: Bench) -> None:
    with pytest.raises(NotFound, match="there is nothing to undo: no compaction of nobody stands"):
        make().undo("nobody")
    manager = make()
    manager.preflight("s", talk(2))
    for compaction in (None, 3):
        with pytest.raises(NotFound, match="there is nothing to undo: no compaction of s stands"):
            manager.undo("s", compaction)
    manager.preflight("s", talk(20))
    with pytest.raises(EditError, match="there is no compaction 3; there are: 1"):
        manager.undo("s", 3)
    with pytest.raises(InvalidInput, match="session id"):
        make().report("no\nbody")


def test_undo_that_cannot_be_kept_changes_nothing(make: Bench) -> None:
    manager, history = make(), talk(20)
    sent = manager.preflight("s", history)
    (make.folder / "originals").rename(make.folder / "elsewhere")
    (make.folder / "originals").write_text("a file in the place of the folder")
    with pytest.raises(StorageError):
        manager.undo("s")
    (make.folder / "originals").unlink()
    (make.folder / "elsewhere").rename(make.folder / "originals")
    assert manager.preflight("s", history) == sent
    assert manager.undo("s") == history


def test_tools_in_a_tuple_are_measured_once(make: Bench) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    manager = make(background=True, window=20_000)
    first = manager.preflight("s", talk(2), tools=(tool,))
    gauge = manager._sessions.get("s").gauge
    assert manager.preflight("s", talk(2), tools=(tool,)) == first
    assert manager._sessions.get("s").gauge is gauge


def test_a_session_that_was_forgotten_is_taken_up_again(make: Bench) -> None:
    manager, history = make(), talk(20)
    sent = manager.preflight("s", history)
    manager.forget("s")
    manager.forget("nobody")
    assert manager._sessions.projections() == {}
    assert manager.search("Question", "s")
    more = talk(1, 20)
    assert manager.preflight("s", [*history, *more]) == [*sent, *more]
    assert len(make.watcher.named("condensed")) == 1


def test_without_the_automatic_only_a_manual_compaction_compacts(make: Bench) -> None:
    manager, history = make(policy={"automatic": False}, background=True), talk(30)
    assert manager.preflight("s", history) == history
    told = make.watcher.last("trigger_decision").properties
    assert (told["triggered"], told["reason"]) == (False, "automatic condensing is off")
    assert summaries(manager.manual_compact("s", history))
    assert not make.watcher.named("background_prepared")


def test_a_wrong_setting_is_named_by_its_path() -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        CompactConfig(model="gpt-4o", policy={"trigger_pct": 3})  # type: ignore[arg-type]  # as people write it
    assert raised.value.field == "policy.trigger_pct"
    with pytest.raises(InvalidConfiguration, match="modle"):
        CompactConfig(modle="gpt-4o")  # type: ignore[call-arg]  # the mistake that is tested
    with pytest.raises(InvalidConfiguration, match="target_pct"):
        Policy(target_pct=0.9)


@pytest.mark.parametrize("name", ["preflight", "manual_compact"])
def test_an_async_twin_is_told_from_its_origin_by_its_name_alone(name: str) -> None:
    origin, twin = getattr(CompactManager, name), getattr(CompactManager, f"a{name}")
    assert inspect.iscoroutinefunction(twin)
    assert inspect.signature(twin) == inspect.signature(origin)
    assert (twin.__name__, f"`{name}`" in twin.__doc__) == (f"a{name}", True)


def test_an_async_twin_runs_what_a_subclass_has(make: Bench) -> None:
    class Loud(CompactManager):
        def preflight(self, session_id: str, messages: Json, *, system: Json = None, tools: Json = None) -> list[Json]:
            return [session_id, *super().preflight(session_id, messages, system=system, tools=tools)]

    config = make().config
    with Loud(config) as manager:
        assert asyncio.run(manager.apreflight("s", talk(1))) == ["s", *talk(1)]


def test_who_was_asked_is_told_of_the_session_that_asked(
    make: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(make.folder / "home"))
    with FakeVendors() as server:
        given = {"name": "cheap", "vendor": "compatible", "model": "gpt-4o-mini", "url": f"{server.url}/v1"}
        save_profiles(Profiles(profiles=(Profile.model_validate(given),)))
        manager = make(profile="cheap")
        manager.preflight("s", talk(20))
        manager.close()
    assert make.watcher.named("handler_selected")
    told = (make.folder / "archive" / "s" / "events.jsonl").read_text()
    assert "compact.handler_selected" in told
    assert capsys.readouterr().err == ""


@pytest.mark.clock
def test_closing_waits_for_dead_servers_no_longer_than_it_says(tmp_path: Path) -> None:
    with socket() as dead:
        dead.bind(("127.0.0.1", 0))
        dead.listen()
        url = f"http://127.0.0.1:{dead.getsockname()[1]}"
        given = {"model": "gpt-4o", "storage": {"path": str(tmp_path)}, "tracing": {"ariadne": url, "otlp": url}}
        manager = CompactManager(CompactConfig.model_validate({**given, "profile": "offline"}))
        manager.preflight("s", talk(1))
        began = monotonic()
        manager.close()
        assert monotonic() - began < 3
