"""A session whose originals are damaged goes on, says so, and leaves the others alone."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.app.recall_tools import handle_tool_call
from compact.errors import DamagedOriginals, InvalidInput, NotFound
from compact.originals import FileOriginals
from compact.originals.survey import segment_name
from compact.policies import StorageSettings
from compact.ports import Event
from tests.app.test_manager import talk
from tests.originals.test_damage import DAMAGES, Damage


class Desk:
    """Managers of one folder, with the events of all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[Event] = []

    def manager(self) -> CompactManager:
        storage = StorageSettings(path=str(self.folder), adapter="none")
        config = CompactConfig(model="gpt-4o", max_context_tokens=6_000, storage=storage)
        return CompactManager(config, observe=self.seen.append)

    @property
    def errors(self) -> list[Event]:
        return [event for event in self.seen if event.name == "compact.error"]

    def file(self, session: str) -> Path:
        return self.folder / "originals" / segment_name(session, 0)

    def flip(self, session: str) -> bytes:
        data = bytearray(self.file(session).read_bytes())
        data[len(data) // 3] ^= 1
        self.file(session).write_bytes(data)
        return bytes(data)


HISTORIES = {"alpha": talk(20), "beta": talk(20, 40)}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions that were compacted."""
    desk = Desk(tmp_path_factory.mktemp("kept"))
    with desk.manager() as manager:
        for session, history in HISTORIES.items():
            for end in (len(history) - 10, len(history)):
                manager.manual_compact(session, history[:end])
    return desk.folder


@pytest.fixture
def desk(kept: Path, tmp_path: Path) -> Desk:
    shutil.copytree(kept, tmp_path / "storage")
    return Desk(tmp_path / "storage")


def test_undo_of_a_damaged_session_says_what_is_damaged_and_what_is_left(desk: Desk) -> None:
    desk.flip("alpha")
    with desk.manager() as manager:
        with pytest.raises(DamagedOriginals, match="session alpha are damaged"):
            manager.undo("alpha")
        with pytest.raises(DamagedOriginals, match="session alpha are damaged") as raised:
            manager.undo("alpha")
        assert len(manager.undo("beta")) > 0
    assert raised.value.path == str(desk.file("alpha"))
    assert raised.value.line > 1
    assert "can still be read" in raised.value.whole
    assert raised.value.remedy == f"Run: compact originals repair alpha --storage {desk.folder}"
    assert [event.properties["error_type"] for event in desk.errors] == ["DamagedOriginals"]  # once


def test_preflight_repairs_a_damaged_session_and_goes_on(desk: Desk) -> None:
    data = desk.flip("alpha")
    with desk.manager() as manager:
        sent = manager.preflight("alpha", HISTORIES["alpha"])
        assert sent[-1] == HISTORIES["alpha"][-1]
        assert manager.preflight("alpha", sent) == sent
    (error,) = desk.errors
    assert error.properties["error_type"] == "DamagedOriginals"
    assert str(error.properties["fallback"]).startswith("repaired: ")
    aside = desk.file("alpha").with_name(f"{desk.file('alpha').name}.damaged-1")
    assert aside.read_bytes() == data
    assert str(aside) in str(error.properties["fallback"])
    assert FileOriginals(desk.folder / "originals").verify("alpha") == ()


def test_undo_after_a_repair_does_not_say_that_nothing_is_known(desk: Desk) -> None:
    path = desk.file("alpha")
    path.write_bytes(path.read_bytes()[:200] + b"?" * 50 + b"\n")
    with desk.manager() as manager:
        manager.preflight("alpha", talk(1))
        with pytest.raises(DamagedOriginals, match="it was damaged, and was set aside when the session was repaired"):
            manager.undo("alpha")
    with desk.manager() as manager:
        with pytest.raises(DamagedOriginals, match=r"\.damaged-1: it was damaged, and was set aside"):
            manager.undo("alpha")
        with pytest.raises(NotFound, match="no compaction of gamma stands"):
            manager.undo("gamma")


def test_search_goes_on_with_the_other_sessions_and_names_the_damaged_one(desk: Desk) -> None:
    desk.flip("alpha")
    with desk.manager() as manager:
        for _ in range(2):
            hits = manager.search("part_7.py")
            assert {hit.session for hit in hits} == {"beta"}
            (error,) = hits.unread
            assert isinstance(error, DamagedOriginals)
            assert error.session == "alpha"
        with pytest.raises(DamagedOriginals):
            manager.search("part_7.py", "alpha")
        with pytest.raises(DamagedOriginals):
            manager.search("no such words anywhere")
        with pytest.raises(DamagedOriginals):
            manager.recall("cut-00000000")
        assert handle_tool_call(manager, "alpha", "compact_search", {"text": "part_7.py"}).startswith(
            "Error: what was removed cannot be read. the originals of session alpha are damaged"
        )
    assert len(desk.errors) == 1


def test_a_file_that_does_not_say_whose_it_is_is_named(desk: Desk) -> None:
    desk.file("alpha").write_bytes(b"\xff\n")
    with desk.manager() as manager:
        hits = manager.search("part_7.py")
    (error,) = hits.unread
    assert str(error).startswith(f"the originals of a session are damaged: {desk.file('alpha')}, line 1")
    assert {hit.session for hit in hits} == {"beta"}


def test_damage_while_a_session_is_at_work_stops_neither_compaction_nor_undo(desk: Desk) -> None:
    history = [*HISTORIES["alpha"], *talk(2, 90)]
    with desk.manager() as manager:
        manager.preflight("alpha", history)
        path = desk.file("alpha")
        path.write_bytes(path.read_bytes() + b"?\n")
        manager.manual_compact("alpha", history)
        path.write_bytes(path.read_bytes() + b"?\n")
        assert manager.undo("alpha")
    assert len(desk.errors) == 2
    assert len(FileOriginals(desk.folder / "originals").set_aside("alpha")) == 2


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_whatever_the_damage_there_is_a_typed_error_or_the_right_messages(
    damage: Damage, desk: Desk, kept: Path
) -> None:
    whole = desk.file("alpha").read_bytes().splitlines(keepends=True)
    history = HISTORIES["alpha"]
    given = {str(message) for message in history}

    def undone(manager: CompactManager) -> None:
        assert {str(message) for message in manager.undo("alpha") if "COMPACT-SUMMARY" not in str(message)} <= given

    acts: tuple[Callable[[CompactManager], object], ...] = (
        undone,
        lambda manager: manager.search("part_7.py", "alpha"),
        lambda manager: manager.recall("msg-1", "alpha"),
    )
    for seed in range(6):
        desk.file("alpha").write_bytes(b"".join(damage(random.Random(f"{damage.__name__} {seed}"), whole)))
        for act in acts:
            with desk.manager() as manager:
                with contextlib.suppress(DamagedOriginals, NotFound, InvalidInput):
                    act(manager)
                assert {hit.session for hit in manager.search("part_7.py")} >= {"beta"}
            if act is undone:  # it is another file now where it was right
                desk.file("alpha").write_bytes(b"".join(damage(random.Random(f"{damage.__name__} {seed}"), whole)))
        with desk.manager() as manager:
            assert manager.preflight("alpha", history)[-1] == history[-1]
        assert FileOriginals(desk.folder / "originals").verify("alpha") == ()
