"""Runs a workload once for every call it makes and every way in which that call can fail."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.crash.faults import TAKES_SPACE, Fault, FaultyDisk, Killed, Way
from tests.crash.workloads import Workload

_POWER = (Way.POWER_CUT, Way.POWER_CUT_TORN)


def exhaust(workload: Workload, way: Way, place: Path) -> int:
    """Fail at each call in turn and check what is left; how many faults that were."""
    calls = FaultyDisk()
    base = place / "counting"
    base.mkdir()
    for operation in workload.operations(base, calls):
        operation()
    points = [at for at, name in enumerate(calls.made) if _matters(way, name)]
    if way in _POWER:
        points.append(len(calls.made))  # after everything
    for at in points:
        _run(workload, Fault(way, at), place)
    return len(points)


def _matters(way: Way, name: str) -> bool:
    if way in (Way.TORN, Way.SHORT):
        return name == "write"
    return name in TAKES_SPACE if way in (Way.FULL_ONCE, Way.FULL) else True


def _run(workload: Workload, fault: Fault, place: Path) -> None:
    base, left = place / "base", place / "left"
    for folder in (base, left):
        shutil.rmtree(folder, ignore_errors=True)
    base.mkdir()
    disk = FaultyDisk(fault)
    outcomes: list[bool | None] = []
    operations = workload.operations(base, disk)
    for operation in operations:
        try:
            operation()
            outcomes.append(True)
        except OSError:
            outcomes.append(False)
        except Killed:
            outcomes.append(False)
            break
    disk.bury()
    outcomes += [None] * (len(operations) - len(outcomes))
    if fault.way in _POWER:
        disk.after_power_cut(base, left, torn=fault.way is Way.POWER_CUT_TORN)
        _check(workload, fault, left, outcomes)
    else:
        if fault.way in (
            Way.BROKEN,
            Way.BROKEN_ONCE,
        ):  # then the power goes, too: what was acknowledged is on the drive
            disk.after_power_cut(base, left, torn=False)
            _check(workload, fault, left, outcomes)
        _check(workload, fault, base, outcomes)


def _check(workload: Workload, fault: Fault, base: Path, outcomes: list[bool | None]) -> None:
    try:
        workload.check(base, outcomes, power_was_cut=base.name == "left")
    except (AssertionError, OSError, KeyError, ValueError) as error:
        raise AssertionError(f"{workload.name}: {fault.way.value}, call {fault.at}: {outcomes}: {error!r}") from error
