"""Changes the code in small ways, one at a time, and sees whether a test notices.

Mutants are drawn by a seed. Each is tried, in a copy of the tree, on the tests that run its line: which those are is
recorded once, with coverage contexts, and kept in build/mutants for as long as no file changes. Tests that take least
come first, the first failure ends it, and a mutant that takes far too long counts as noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from scripts.mutations import Mutant, find_mutants

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
SUBJECTS = (
    *(f"src/compact/{name}" for name in ("messages", "engine", "originals", "sessions", "redaction")),
    "src/compact/server/security.py",
)
_RECORDED = "MUTANTS_RECORDED"  # where the plugin below writes how long each test took
_MARKS = "not clock and not laws and not soak"  # these hold against the clock, or take minutes
_LEFT_OUT = (
    "tests/page",
    "tests/lab",
    "tests/clients",
    "tests/crash",
    "tests/bench",
    "tests/test_docs.py",
    "tests/test_examples.py",
    "tests/test_golden.py",
    "tests/test_mutants.py",
    "tests/server/test_schema.py",
)
_PLUGINS = [f"-pno:{name}" for name in ("cacheprovider", "xdist", "pytest_cov", "langsmith_plugin", "schemathesis")]
_SLOWER = 10  # times that a test may take longer than when it was recorded
_BUDGET = 60  # seconds of tests, as recorded, that one mutant is tried on

Outcome: TypeAlias = Literal["killed", "timeout", "survived", "uncovered", "equivalent"]


@dataclass(frozen=True, slots=True)
class Recording:
    """Which tests run which lines, and how long they took."""

    seconds: Mapping[str, float]
    lines: Mapping[str, Mapping[int, Sequence[str]]]
    starting: float = 60  # seconds that pytest may take before its first test, on a busy machine

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests of the line, file by file, those that take least first, within the budget.

        What runs on import, such as a constant, is tried on all tests of its module, or else of its package.
        """
        lines = self.lines.get(mutant.file, {})
        found = {test for line in mutant.lines for test in lines.get(line, ())}
        if not found and any(line in lines for line in mutant.lines):
            package = mutant.file.rpartition("/")[0] + "/"
            beside = [each for name, each in self.lines.items() if name.startswith(package)]
            found = _all_tests([lines]) or _all_tests(beside)
        chosen: dict[str, list[str]] = {}
        left = float(_BUDGET)
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            left -= self.seconds[test]
            if left < 0 and chosen:
                break
            chosen.setdefault(test.partition("::")[0], []).append(test)
        files = sorted(chosen.values(), key=lambda tests: sum(self.seconds[test] for test in tests))
        return [test for tests in files for test in tests]

    def limit(self, tests: Sequence[str]) -> float:
        return self.starting + _SLOWER * sum(self.seconds[test] for test in tests)


def _all_tests(modules: Sequence[Mapping[int, Sequence[str]]]) -> set[str]:
    return {test for lines in modules for tests in lines.values() for test in tests}


@dataclass(slots=True)
class Results:
    """What came of the mutants so far."""

    outcomes: list[tuple[Mutant, Outcome, Sequence[str]]] = field(default_factory=list)

    def report(self, drawn: int, reasons: Mapping[Mutant, str]) -> str:
        """The survivors, what was left out and why, and the score."""
        counts = Counter(outcome for _, outcome, _ in self.outcomes)
        tried = len(self.outcomes) - counts["equivalent"]
        killed = counts["killed"] + counts["timeout"]
        ordered = sorted(self.outcomes, key=lambda each: (each[0].file, each[0].start))
        lines = [_survivor(mutant, tests) for mutant, outcome, tests in ordered if outcome in ("survived", "uncovered")]
        for mutant, outcome, _ in ordered:
            if outcome == "equivalent":
                lines.append(f"{mutant.file}:{mutant.line}: equivalent: {mutant.change}\n    {reasons[mutant]}")
        lines.append(
            f"{len(self.outcomes)} of {drawn} mutants were run: {killed} killed ({counts['timeout']} of them by time), "
            f"{counts['survived']} survived, {counts['uncovered']} that no test runs, "
            f"{counts['equivalent']} equivalent and left out"
        )
        lines.append(f"score: {killed} of {tried}, {killed / tried:.1%}" if tried else "score: none, nothing was run")
        return "\n".join(lines)


def _survivor(mutant: Mutant, tests: Sequence[str]) -> str:
    ran = f"{len(tests)} tests ran: {', '.join(tests[:3])}{', …' * (len(tests) > 3)}" if tests else "no test runs it"
    where = f"{mutant.file}:{mutant.line}: {mutant.kind} in {mutant.inside or 'the module'}"
    return f"{where}\n    {mutant.change}\n    {ran}"


class Copy:
    """A copy of the tree in which one mutant at a time is tried."""

    _times = count(1_000_000_000)  # a file's time is new with each change: Python compares it with the compiled one's

    def __init__(self, root: Path, place: Path) -> None:
        self.place = place
        for name in tracked(root):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place / name)

    def run(self, tests: Sequence[str], limit: float, stop: threading.Event, *options: str) -> int | None:
        """The status of pytest, None where it took too long, or was stopped."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
            listed.write("\n".join(tests))
            listed.flush()
            return self._call(["-x", "-q", "--no-header", *_PLUGINS, *options, f"@{listed.name}"], limit, stop)

    def _call(self, arguments: Sequence[str], limit: float, stop: threading.Event) -> int | None:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=self.place, env=environment(self.place), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + limit
        try:
            while process.poll() is None and time.monotonic() < until and not stop.is_set():
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
            return process.returncode
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with everything the tests started
                process.wait()

    def try_mutant(
        self, mutant: Mutant, recording: Recording, stop: threading.Event
    ) -> tuple[Outcome, list[str]] | None:
        """What becomes of the mutant, and the tests it was tried on; None where it was stopped."""
        tests = recording.tests(mutant)
        if not tests:
            return "uncovered", []
        path = self.place / mutant.file
        source = path.read_bytes()
        try:
            self._write(path, mutant.apply(source))
            status = self.run(tests, recording.limit(tests), stop)
        finally:
            self._write(path, source)
        if stop.is_set():
            return None
        return ("timeout" if status is None else "killed" if status else "survived"), tests

    def _write(self, path: Path, source: bytes) -> None:
        path.write_bytes(source)
        stamp = next(self._times)
        os.utime(path, (stamp, stamp))


def environment(place: Path) -> dict[str, str]:
    """The copy's own modules, ahead of those that are installed."""
    # Tests of this script may run under xdist themselves; the run here is no worker of theirs.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    return {**own, "PYTHONPATH": str(place / "src"), "COVERAGE_CORE": "ctrace", "PYTHONHASHSEED": "0"}


def tracked(root: Path) -> list[str]:
    """The files of the project: those git knows, and new ones that it does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    return sorted(name for name in listed.decode().split("\0") if name and (root / name).is_file())


def record(root: Path, tests: Sequence[str], workers: int, until: float) -> Recording:
    """Run the tests once with a context each, or read what that gave when the tree was the same.

    TimeoutExpired where the time is over before that is done.
    """
    digest = sha256(json.dumps(list(tests)).encode())
    for name in tracked(root):
        digest.update(name.encode() + b"\0" + sha256((root / name).read_bytes()).digest())
    kept = root / "build" / "mutants" / f"{digest.hexdigest()[:32]}.json"
    if not kept.exists():
        print(f"recording which tests run which lines: {' '.join(tests)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="mutants-") as place:
            found = _record(Copy(root, Path(place)), tests, workers, until)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".tmp").write_text(json.dumps(found), encoding="utf-8")
        kept.with_suffix(".tmp").replace(kept)
    data = json.loads(kept.read_text(encoding="utf-8"))
    names = list(data["seconds"])
    lines = {
        file: {int(line): [names[test] for test in tests] for line, tests in lines.items()}
        for file, lines in data["lines"].items()
    }
    return Recording(data["seconds"], lines)


def _record(copy: Copy, tests: Sequence[str], workers: int, until: float) -> dict[str, object]:
    from coverage import CoverageData

    configured = copy.place / "mutants.coveragerc"
    configured.write_text("[run]\nsource = src\nrelative_files = true\n", encoding="utf-8")
    times = copy.place / "mutants.times"
    ignored = [f"--ignore={name}" for name in _LEFT_OUT]
    command = [sys.executable, "-m", "pytest", "-q", "-m", _MARKS, "-p", "scripts.mutants", *ignored, *tests]
    command += ["-n", str(workers), "--cov", f"--cov-config={configured}", "--cov-context=test", "--cov-report="]
    variables = {**environment(copy.place), _RECORDED: str(times)}
    variables["PYTHONPATH"] += f"{os.pathsep}{ROOT}"  # for the plugin
    subprocess.run(command, cwd=copy.place, env=variables, check=False, timeout=max(0.0, until - time.monotonic()))
    seconds = dict(json.loads(line) for line in times.read_text(encoding="utf-8").splitlines())
    data = CoverageData(str(copy.place / ".coverage"))
    data.read()
    numbers = {name: number for number, name in enumerate(seconds)}
    lines: dict[str, dict[int, list[int]]] = {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        known = {
            line: sorted({numbers[name] for each in contexts if (name := each.rpartition("|")[0]) in numbers})
            for line, contexts in by_line.items()
        }
        lines[file.replace(os.sep, "/")] = known
    return {"seconds": seconds, "lines": lines}


@pytest.hookimpl
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """As a plugin of the recording: write down how long each test took that passed."""
    place = os.environ.get(_RECORDED)
    if place and report.when == "call" and report.passed and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, round(report.duration, 4)]) + "\n")


def mutants_of(root: Path, subjects: Sequence[str]) -> list[Mutant]:
    """Every mutant of the subjects, which are files or folders."""
    files = [
        name for name in tracked(root) for subject in subjects if name == subject or name.startswith(f"{subject}/")
    ]
    return [
        mutant for name in files if name.endswith(".py") for mutant in find_mutants(name, (root / name).read_bytes())
    ]


def argued(mutants: Sequence[Mutant], listed: Path) -> dict[Mutant, str]:
    """The mutants that are listed as equivalent, with the reasons; ValueError names an entry that fits none."""
    entries = tomllib.loads(listed.read_text(encoding="utf-8")).get("mutant", [])
    reasons = {(entry["file"], entry["inside"], entry["change"]): entry["reason"] for entry in entries}
    found = {each: reasons[key] for each in mutants if (key := (each.file, each.inside, each.change)) in reasons}
    stale = set(reasons) - {(each.file, each.inside, each.change) for each in found}
    if stale:
        raise ValueError(f"{listed.name} has entries that fit no mutant: {sorted(stale)}")
    return found


@dataclass(frozen=True, slots=True)
class Trial:
    """How mutants are tried: on which tests, which of them not at all and why, and until when."""

    recording: Recording
    reasons: Mapping[Mutant, str]
    until: float
    workers: int = 2


def run(root: Path, drawn: Sequence[Mutant], trial: Trial) -> Results:
    """Try the mutants, until all are tried or the time is over."""
    results, stop, lock = Results(), threading.Event(), threading.Lock()
    waiting: Iterator[Mutant] = iter(drawn)

    def work(copy: Copy) -> None:
        while not stop.is_set():
            with lock:
                mutant = next(waiting, None)
            if mutant is None:
                return
            found: tuple[Outcome, list[str]] | None = ("equivalent", [])
            if mutant not in trial.reasons:
                found = copy.try_mutant(mutant, trial.recording, stop)
            if found is not None:
                with lock:
                    results.outcomes.append((mutant, *found))
                    print(f"{len(results.outcomes)}/{len(drawn)} {found[0]}: {mutant.file}:{mutant.line}", flush=True)

    timer = threading.Timer(max(0.0, trial.until - time.monotonic()), stop.set)
    timer.daemon = True
    timer.start()
    with (
        tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as place,
        ThreadPoolExecutor(trial.workers) as pool,
    ):
        copies = [Copy(root, Path(place, str(number))) for number in range(trial.workers)]
        try:
            _prove_sound(copies[0], drawn, trial.recording, stop)
            for done in [pool.submit(work, copy) for copy in copies]:
                done.result()
        finally:
            stop.set()
    timer.cancel()
    return results


def _prove_sound(copy: Copy, drawn: Sequence[Mutant], recording: Recording, stop: threading.Event) -> None:
    """Without a mutant all tests can be collected and those of the first pass: else each would seem to be noticed."""
    needed = sorted({test for mutant in drawn for test in recording.tests(mutant)})
    if needed and copy.run(needed, float("inf"), stop, "--collect-only") != 0 and not stop.is_set():
        raise RuntimeError(f"tests cannot be collected in a copy without any mutant, with {' '.join(_PLUGINS)}")
    tests = next(filter(None, map(recording.tests, drawn)), None)
    if tests and copy.run(tests, float("inf"), stop) != 0 and not stop.is_set():
        raise RuntimeError(f"tests fail in a copy without any mutant: {' '.join(tests[:5])}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=None, help="draws the mutants; by default another one each time")
    parser.add_argument("--count", type=int, default=400, help="how many are drawn")
    parser.add_argument("--minutes", type=float, default=60, help="when to stop, with what was found until then")
    parser.add_argument("--workers", type=int, default=2, help="how many are tried at a time")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="the tests to record and to run")
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, help="the files and folders to change")
    given = parser.parse_args(arguments)
    until = time.monotonic() + 60 * given.minutes
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    mutants = mutants_of(ROOT, given.subjects)
    reasons = argued(mutants_of(ROOT, SUBJECTS), EQUIVALENT)
    drawn = random.Random(seed).sample(mutants, min(given.count, len(mutants)))
    print(f"seed {seed}: {len(drawn)} of {len(mutants)} mutants, {given.minutes:g} minutes at most", flush=True)
    try:
        recording = record(ROOT, given.tests, given.workers, until)
    except subprocess.TimeoutExpired:
        print("the time was over before the tests had been run once: give --minutes, or fewer --tests", file=sys.stderr)
        return 1
    results = run(ROOT, drawn, Trial(recording, reasons, until, given.workers))
    print(results.report(len(drawn), reasons) + f"\nagain: make mutants SEED={seed} COUNT={given.count}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
