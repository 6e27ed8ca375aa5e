"""Bulk work: every job is done once, by whoever is there to do it."""

from __future__ import annotations

from collections import Counter

import pytest

from compact.errors import InvalidInput
from compact.sessions.jobs import Job, Jobs, Outcome, Progress
from compact.sessions.store import DatabaseStore
from tests.sessions.processes import finished, spawn

ODD = "nul \0 half \udc80"


def test_a_job_is_added_claimed_and_finished_once(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    assert jobs.add("b", {"one": {"path": ODD}, "two": None}) == 2
    assert jobs.add("b", {"two": "another", "three": 3}) == 1
    assert jobs.add("other", {"one": 1}) == 1
    assert jobs.add("b", {}) == 0
    (first,) = jobs.claim("w", batch="b")
    assert first == Job(first.id, "b", "one", {"path": ODD}, "w", 1)
    assert [job.key for job in jobs.claim("w", 9)] == ["two", "three", "one"]
    assert jobs.claim("w", 9) == []
    assert jobs.progress("b") == Progress(running=3)
    assert jobs.finish(first, {"saved": ODD})
    assert not jobs.finish(first, "again")
    assert jobs.progress("b") == Progress(running=2, done=1)
    assert not jobs.progress("b").finished
    assert list(jobs.results("b")) == [Outcome("one", "done", {"saved": ODD}, "", 1)]
    assert jobs.add("b", {"one": 1}) == 0
    assert jobs.progress("nowhere") == Progress()


def test_a_job_that_fails_is_tried_again_and_at_last_given_up(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    jobs.add("b", {"bad": 1})
    for attempt in (1, 2, 3):
        (job,) = jobs.claim("w")
        assert job.attempt == attempt
        assert jobs.fail(job, f"reason {attempt}", attempts=3)
        assert not jobs.fail(job, "again")
    assert jobs.claim("w") == []
    assert jobs.progress("b") == Progress(failed=1)
    assert jobs.progress("b").finished
    assert list(jobs.results("b")) == [Outcome("bad", "failed", None, "reason 3", 3)]


def test_the_jobs_of_a_silent_worker_go_to_others(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    jobs.add("b", {"one": 1, "two": 2})
    (lost,), (kept,) = jobs.claim("silent"), jobs.claim("alive")
    assert jobs.release(60) == 0
    with store.database.writing() as connection:
        connection.exec_driver_sql("""UPDATE jobs SET "claimedAt" = '2020-01-01T00:00:00.000000Z'""")
    assert jobs.touch([kept]) == 1
    assert jobs.release(60) == 1
    (again,) = jobs.claim("other", 2)
    assert (again.key, again.attempt) == ("one", 2)
    assert not jobs.finish(lost, "too late")
    assert not jobs.fail(lost, "too late")
    assert jobs.finish(again, "in time")
    assert next(jobs.results("b")).result == "in time"
    assert jobs.finish(kept)


def test_a_claim_that_nobody_heard_of_is_not_kept_alive_by_its_worker(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    jobs.add("b", {"unheard": 1, "held": 2})
    jobs.claim("w")  # its answer is lost, and the worker asks again
    (held,) = jobs.claim("w")
    with store.database.writing() as connection:
        connection.exec_driver_sql("""UPDATE jobs SET "claimedAt" = '2020-01-01T00:00:00.000000Z'""")
    assert jobs.touch([]) == 0
    assert jobs.touch([held]) == 1
    assert jobs.release(60) == 1
    (again,) = jobs.claim("w", 2)
    assert (again.key, again.attempt) == ("unheard", 2)
    assert jobs.finish(held)
    assert jobs.touch([held]) == 0


def test_a_job_that_silences_its_workers_is_given_up(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    jobs.add("b", {"deadly": 1})
    for _ in range(2):
        assert len(jobs.claim("w")) == 1
        assert jobs.release(-1, attempts=2) == 1
    assert jobs.claim("w") == []
    assert list(jobs.results("b")) == [Outcome("deadly", "failed", None, "its worker fell silent", 2)]


def test_results_are_read_page_by_page(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    keys = [f"{number:05}" for number in range(2_000)]
    jobs.add("b", dict.fromkeys(keys, 0))
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE jobs SET state = 'done'")
    assert [one.key for one in jobs.results("b")] == keys


def test_names_that_cannot_be_kept_are_refused(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    with pytest.raises(InvalidInput, match="batch"):
        jobs.add("\0", {"a": 1})
    with pytest.raises(InvalidInput, match="key"):
        jobs.add("b", {"\udc80": 1})


def test_four_processes_do_each_job_once(store: DatabaseStore, url: str) -> None:
    jobs = Jobs(store)
    keys = [f"{number:03}" for number in range(200)]
    jobs.add("b", dict.fromkeys(keys, 0))
    workers = [spawn("work_off", url, f"w{number}", "b") for number in range(4)]
    done = Counter(line for worker in workers for line in finished(worker))
    assert done == Counter(f"{key} True" for key in keys)
    assert jobs.progress("b") == Progress(done=200)
    assert [(one.key, one.attempts) for one in jobs.results("b")] == [(key, 1) for key in keys]
