"""Whatever fails, at whichever call: what was acknowledged is there whole, nothing half is, and work goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from compact.originals import FileOriginals
from tests.crash.exhaustion import exhaust
from tests.crash.faults import Fault, FaultyDisk, HastyDisk, Killed, Way
from tests.crash.workloads import WORKLOADS, Workload, message, record


@pytest.mark.parametrize("way", Way, ids=lambda way: way.name.lower())
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_nothing_is_lost(workload: Workload, way: Way, tmp_path: Path) -> None:
    every = 1 if way in (Way.TORN, Way.SHORT) else 4  # `make crash` leaves none out
    assert exhaust(workload, way, tmp_path, every=every) > 4


def test_the_proof_notices_a_store_that_does_not_sync(tmp_path: Path) -> None:
    class Forgetful(FaultyDisk):
        def sync(self, file: int) -> None:
            """Forgets."""

    base, left = tmp_path / "base", tmp_path / "left"
    base.mkdir()
    disk = Forgetful(Fault(Way.POWER_CUT, 10**9))
    FileOriginals(base / "originals", disk=disk).put([message("a")], record(1, "a"))
    disk.bury()
    disk.after_power_cut(base, left, torn=False)
    assert FileOriginals(left / "originals").records("one") == ()


def test_what_was_read_stays_even_if_its_writer_was_killed_before_it_was_durable(tmp_path: Path) -> None:
    seen = []
    for at in range(100):
        base, left = tmp_path / f"base-{at}", tmp_path / f"left-{at}"
        base.mkdir()
        disk = FaultyDisk(Fault(Way.KILL_BEFORE, at))
        with contextlib.suppress(Killed):
            FileOriginals(base / "originals", disk=disk).put([message("a")], record(1, "a"))
        disk.bury()
        disk.revive()
        records = FileOriginals(base / "originals", disk=disk).records("one")
        disk.after_power_cut(base, left, torn=False)
        if records:
            assert FileOriginals(left / "originals", disk=HastyDisk()).records("one") == records, at
        seen.append(len(records))
    assert set(seen) == {0, 1}


def test_what_a_killed_process_left_is_safe_although_the_drive_fails_the_next_one(tmp_path: Path) -> None:
    counting = FaultyDisk()
    (tmp_path / "counting").mkdir()
    FileOriginals(tmp_path / "counting", disk=counting).put([message("a")], record(1, "a"))
    at, outcomes = counting.made.index("sync"), []
    for second in range(at + 1, at + 60):
        base, left = tmp_path / f"base-{second}", tmp_path / f"left-{second}"
        base.mkdir()
        disk = FaultyDisk(Fault(Way.KILL_BEFORE, at))
        with pytest.raises(Killed):
            FileOriginals(base, disk=disk).put([message("a")], record(1, "a"))
        disk.bury()
        disk.revive()
        disk.fault = Fault(Way.BROKEN_ONCE, second)
        store = FileOriginals(base, disk=disk)
        try:
            store.put([message("a")], record(1, "a"))
        except OSError:
            store.put([message("a")], record(1, "a"))
        outcomes.append(len(list(base.iterdir())))
        disk.after_power_cut(base, left, torn=False)
        again = FileOriginals(left, disk=HastyDisk())
        assert again.records("one") == (record(1, "a"),), second
        assert again.get("one", record(1, "a").log) == [message("a")]
    assert set(outcomes) == {1, 2}


def test_a_failed_sync_is_not_asked_again_on_the_same_file(tmp_path: Path) -> None:
    counting = FaultyDisk()
    FileOriginals(tmp_path / "counting", disk=counting).put([message("a")], record(1, "a"))
    at = counting.made.index("sync")
    disk = FaultyDisk(Fault(Way.BROKEN_ONCE, at))
    store = FileOriginals(tmp_path / "real", disk=disk)
    store.put([message("a")], record(1, "a"))
    assert sorted(path.name[64:] for path in (tmp_path / "real").iterdir()) == ["-000.log", "-001.log"]
    store.put([message("a"), message("b")], record(2, "ab"))
    again = FileOriginals(tmp_path / "real")
    assert [each.number for each in again.records("one")] == [1, 2]
    assert again.get("one", record(2, "ab").log) == [message("a"), message("b")]
    assert again.sessions() == ("one",)
