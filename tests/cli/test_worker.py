"""`compact worker`: jobs in a database, taken by whoever is there, each done once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from threading import Timer
from time import sleep
from typing import TypeAlias

import pytest

from compact.app.bulk import Job, Outcome, Place
from compact.app.bulk.queue import Terms, Worker, enqueue
from compact.errors import StorageError
from compact.sessions import open_store
from compact.sessions.jobs import Job as Claim
from compact.sessions.jobs import Jobs, Progress
from tests.app.test_batch import OPTIONS, chat, write
from tests.cli.conftest import Run
from tests.sessions.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

Start: TypeAlias = Callable[..., subprocess.Popen[str]]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (
        f"sqlite:///{tmp_path}/jobs.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    )


@pytest.fixture
def start(tmp_path: Path) -> Start:
    environment = {**os.environ, "COMPACT_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}

    def begin(url: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "compact", "worker", "--database", url, "--jobs", "1", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    return begin


class Unheard(Jobs):
    """Jobs whose first claim is stored, while its answer is lost with the connection."""

    lost = 0

    def claim(self, worker: str, count: int = 1, *, batch: str | None = None) -> list[Claim]:
        claims = super().claim(worker, count, batch=batch)
        if not self.lost:
            self.lost = len(claims)
            raise StorageError("the server closed the connection. Try again.")
        return claims


def progress(url: str) -> Progress:
    with open_store(url) as store:
        return Jobs(store).progress("march")


def test_workers_do_each_job_once_and_the_results_are_fetched(run: Run, start: Start, url: str, tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / "in" / f"{number}.json", chat(str(number), 3))
    write(tmp_path / "in" / "bad.json", "{")
    queue = ("--database", url, "--queue", "march")
    assert run("batch", tmp_path / "in", *queue, "--inline").status == 0
    with start(url, "--until-empty") as other:
        told = run("worker", "--database", url, "--batch", "march", "--jobs", "1", "--until-empty", "--json")
        lines, complaints = other.communicate(timeout=240)
    assert (other.returncode, complaints) == (0, "")
    mine = json.loads(told.out)
    done = lines.count(" tokens (-")
    assert (mine["condensed"] + done, mine["failed"] + lines.count(": failed: ")) == (6, 1)
    assert progress(url) == Progress(done=6, failed=1)
    with open_store(url) as store:
        assert [one.attempts for one in Jobs(store).results("march") if one.state == "failed"] == [1]
    fetched = run("batch", *queue, "--out", tmp_path / "out", "--json")
    assert fetched.status == 1
    totals = json.loads(fetched.out)
    assert (totals["condensed"], totals["failed"], totals["finished"]) == (6, 1, 6)
    assert [error["file"] for error in totals["errors"]] == ["bad.json"]
    for number in range(6):
        small = tmp_path / "out" / f"{number}.json"
        restored = run("restore", small, "--plan", small.with_suffix(".plan.json"))
        assert restored.out == (tmp_path / "in" / small.name).read_text(encoding="utf-8")


def test_a_worker_that_is_asked_to_leave_finishes_and_one_that_is_killed_is_replaced(
    run: Run, start: Start, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    write(tmp_path / "many.jsonl", "\n".join(json.dumps(chat(str(number), 12)) for number in range(40)))
    put = ("batch", tmp_path / "many.jsonl", "--database", url, "--queue", "march", "--out", tmp_path / "out")
    assert run(*put).status == 0
    with start(url) as polite:
        assert polite.stdout is not None
        assert polite.stdout.readline().startswith("many.jsonl/")
        polite.send_signal(signal.SIGTERM)
        _, complaints = polite.communicate(timeout=120)
    assert (polite.returncode, complaints) == (0, "")
    left = progress(url)
    assert left.running == 0
    assert 0 < left.done < 40
    with start(url) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline().startswith("many.jsonl/")
        killed.kill()
        killed.communicate(timeout=120)
    told = run("worker", "--database", url, "--batch", "march", "--jobs", "1", "--lease", "1", "--until-empty")
    assert (told.status, told.err) == (0, "")
    assert progress(url) == Progress(done=40)
    assert len(list((tmp_path / "out" / "many.jsonl").glob("*.plan.json"))) == 40


def test_what_silent_workers_had_goes_to_others_three_times_at_most(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    for number in range(2):
        write(tmp_path / "in" / f"{number}.json", chat(str(number), 2))
    assert run("batch", tmp_path / "in", "--database", url, "--queue", "march", "--inline").status == 0
    rmtree(tmp_path / "in")  # all that a worker needs is in the database
    with open_store(url) as store:
        jobs = Jobs(store)
        (fatal,) = jobs.claim("silent")
        for _ in range(2):
            jobs.release(-1)
            (fatal,) = (job for job in jobs.claim("silent", 2) if job.key == fatal.key)
        told = run("worker", "--database", url, "--queue", "march", "--jobs", "1", "--lease", "1", "--until-empty")
        assert (told.status, told.err) == (0, "")
        assert jobs.progress("march") == Progress(done=1, failed=1)
        assert not jobs.finish(fatal, "too late")
        attempts = {one.key: (one.state, one.attempts) for one in jobs.results("march")}
        assert attempts.pop(fatal.key) == ("failed", 3)
        assert [state for state, _ in attempts.values()] == ["done"]
    assert run("batch", "--database", url, "--queue", "march", "--out", tmp_path / "out").status == 1
    assert len(list((tmp_path / "out").glob("*.plan.json"))) == 1


def test_jobs_of_a_claim_whose_answer_was_lost_are_done_all_the_same(url: str, tmp_path: Path) -> None:
    places = [Place(f"{n}.json", str(write(tmp_path / f"{n}.json", chat(str(n), 2)))) for n in range(3)]
    told: list[Outcome] = []
    with open_store(url) as store:
        queue = Unheard(store)
        enqueue(queue, "march", [Job(place, OPTIONS, str(tmp_path / "out")) for place in places])
        worker = Worker(queue, Terms("march", processes=1, until_empty=True, lease=1), told.append)
        impatient = Timer(60, worker.stop)
        impatient.start()
        try:
            worker.run()
        finally:
            impatient.cancel()
            impatient.join()
        assert queue.lost == 1
        assert queue.progress("march") == Progress(done=3)
        assert sorted(one.attempts for one in queue.results("march")) == [1, 1, 2]
    assert sorted(one.name for one in told) == ["0.json", "1.json", "2.json"]


def test_who_finishes_a_job_that_was_lost_to_another_is_told(url: str) -> None:
    with open_store(url) as store:
        queue = Jobs(store)
        queue.add("march", {"one": 1, "two": 2})
        (lost,), (kept,) = queue.claim("silent"), queue.claim("alive")
        sleep(2)
        assert queue.touch([kept]) == 1
        assert queue.release(1.5) == 1
        (again,) = queue.claim("other", 2)
        assert (again.key, lost.key) == ("one", "one")
        assert not queue.finish(lost, "too late")
        assert queue.finish(again, "in time")
        assert queue.finish(kept, "in time")
        assert [outcome.result for outcome in queue.results("march")] == ["in time", "in time"]


@pytest.mark.parametrize("lease", ["0", "inf", "nan", "100000"])
def test_a_lease_is_between_a_second_and_a_day(run: Run, lease: str) -> None:
    told = run("worker", "--lease", lease)
    assert (told.status, told.err.count("\n")) == (2, 1)
    assert "--lease" in told.err
