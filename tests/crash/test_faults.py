"""Whatever fails, at whichever call: what was acknowledged is there whole, nothing half is, and work goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from compact.originals import FileOriginals
from tests.crash.exhaustion import exhaust
from tests.crash.faults import Fault, FaultyDisk, Way
from tests.crash.workloads import WORKLOADS, Workload, message, record


@pytest.mark.parametrize("way", Way, ids=lambda way: way.name.lower())
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_nothing_is_lost(workload: Workload, way: Way, tmp_path: Path) -> None:
    assert exhaust(workload, way, tmp_path) > 4


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
