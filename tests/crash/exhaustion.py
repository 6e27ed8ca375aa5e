"""Runs a workload once for every call it makes and every way in which that call can fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.crash.faults import TAKES_SPACE, Fault, FaultyDisk, Killed, Way
from tests.crash.workloads import Workload

_POWER = (Way.KILL_AND_AGAIN, Way.POWER_CUT, Way.POWER_CUT_TORN)
# What was acknowledged in spite of errors is on the drive.
_POWER_TOO = (*_POWER, Way.BROKEN, Way.BROKEN_A_WHILE, Way.BROKEN_ONCE)


def exhaust(workload: Workload, way: Way, place: Path, *, every: int = 1) -> int:
    """Fail at each call in turn, or at every third one and so on, and check what is left; how many faults that were."""
    calls = FaultyDisk()
    base = place / "counting"
    base.mkdir()
    for operation in workload.operations(base, calls):
        operation()
    points = [at for at, name in enumerate(calls.made) if _matters(way, name)]
    if way in _POWER:
        points.append(len(calls.made))  # after everything
    chosen = points[len(points) % every :: every]
    for at in chosen:
        _run(workload, Fault(way, at), place)
    return len(chosen)


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
    outcomes = _attempt(workload.operations(base, disk))
    disk.bury()
    if fault.way is Way.KILL_AND_AGAIN:
        disk.revive()
        outcomes = _attempt(workload.operations(base, disk))
        assert all(outcomes), outcomes
    if fault.way in _POWER_TOO:
        disk.after_power_cut(base, left, torn=fault.way is Way.POWER_CUT_TORN)
        _check(workload, fault, left, outcomes)
    if fault.way not in _POWER:
        _check(workload, fault, base, outcomes)


def _attempt(operations: Sequence[Callable[[], object]]) -> list[bool | None]:
    outcomes: list[bool | None] = []
    for operation in operations:
        try:
            operation()
            outcomes.append(True)
        except OSError:
            outcomes.append(False)
        except Killed:
            outcomes.append(False)
            break
    return outcomes + [None] * (len(operations) - len(outcomes))


def _check(workload: Workload, fault: Fault, base: Path, outcomes: list[bool | None]) -> None:
    try:
        workload.check(base, outcomes, power_was_cut=base.name == "left")
    except (AssertionError, OSError, KeyError, ValueError) as error:
        raise AssertionError(f"{workload.name}: {fault.way.value}, call {fault.at}: {outcomes}: {error!r}") from error
