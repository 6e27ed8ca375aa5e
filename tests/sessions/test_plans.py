"""How the databases go about it: what a request waits for is found by indexes, whatever the history's length."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, text

from compact.sessions.cursors import cursor_of
from compact.sessions.jobs import Jobs
from compact.sessions.store import DatabaseStore
from tests.sessions.test_store import new, said, summary

SCAN = re.compile(r'(?:Seq Scan on|^SCAN) "?(\w+)', re.MULTILINE)


@pytest.fixture
def full(store: DatabaseStore) -> DatabaseStore:
    """Enough messages that PostgreSQL would rather not read them all."""
    for name in ("s", "t"):
        new(store, name)
    every = store.append("s", [said(f"word{number}") for number in range(1_500)])
    store.append("t", [said("other") for _ in range(1_500)])
    store.pin("s", [every[5].id], pinned=True)
    basis = None
    for cutoff in range(200, 1_490, 40):
        made = store.put_snapshot(summary("s", every[cutoff].id), basis)
        basis = made.id if made else None
    with store.database.writing() as connection:
        connection.execute(text("ANALYZE"))
    return store


def _plans(store: DatabaseStore, work: Callable[[], object]) -> str:
    """The plans of all statements that the work executes."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        if statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE")):
            seen.append((statement, values))

    event.listen(store.database.engine, "before_cursor_execute", note)
    work()
    event.remove(store.database.engine, "before_cursor_execute", note)
    assert seen
    explain = "EXPLAIN " if store.database.is_postgresql else "EXPLAIN QUERY PLAN "
    with store.database.writing() as connection:
        return "\n".join(
            str(row[-1]) for one, values in seen for row in connection.exec_driver_sql(explain + one, values)
        )


def test_what_is_active_is_found_by_indexes_only(full: DatabaseStore) -> None:
    plans = _plans(full, lambda: full.active("s"))
    tables = SCAN.findall(plans)
    assert "chatMessages" not in tables, plans
    assert "sessionSnapshots" not in tables, plans
    by_position = "uq_chatMessages_sessionId_position" if full.database.is_postgresql else "autoindex_chatMessages_1"
    for index in (by_position, "ix_chatMessages_pinned", "ix_sessionSnapshots_sessionId_kind_id"):
        assert index in plans, plans


def test_a_session_that_holds_nearly_all_messages_is_not_read_whole(store: DatabaseStore) -> None:
    new(store, "s")
    every = store.append("s", [said(f"word{number}") for number in range(2_000)])
    store.pin("s", [every[5].id], pinned=True)
    store.put_snapshot(summary("s", every[-30].id), None)
    with store.database.writing() as connection:
        connection.execute(text("ANALYZE"))
    plans = _plans(store, lambda: store.active("s"))
    assert "chatMessages" not in SCAN.findall(plans), plans
    assert [one.position for one in store.active("s").recent] == list(range(1_971, 2_000))


def test_nothing_else_reads_all_messages_either(full: DatabaseStore) -> None:
    message = full.history("s")[0].id
    for work in (
        lambda: full.history("s", after=700, limit=10),
        lambda: full.messages("s", [message]),
        lambda: full.pin("s", [message], pinned=False),
        lambda: full.search("word7 ", session="s"),
    ):
        plans = _plans(full, work)
        tables = SCAN.findall(plans)
        # The index of words is read by its own rules, which SQLite calls a scan.
        assert [name for name in tables if name in ("chatMessages", "m")] == [], plans
        if full.database.is_postgresql:
            assert "chatMessageWords" not in tables, plans


def test_sessions_are_listed_by_an_index(store: DatabaseStore) -> None:
    with store.database.writing() as connection:
        numbers = (
            "generate_series(1, 3000) AS n"
            if store.database.is_postgresql
            else "(WITH RECURSIVE c(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM c WHERE n < 3000) SELECT n FROM c)"
        )
        connection.execute(
            text(
                "INSERT INTO sessions SELECT 's' || n, 'w' || (n % 10), '', '', '', NULL, NULL, '', false, 0, 1, 'x',"
                f" '2030-01-01T' || n, NULL FROM {numbers}"
            )
        )
        connection.execute(text("ANALYZE"))
    assert len(store.sessions("w1", limit=5)) == 5
    last = store.sessions(limit=5)[-1]
    plans = _plans(store, lambda: [store.sessions(limit=5), store.sessions("w1", limit=5, after="s2991")])
    plans += _plans(store, lambda: store.sessions(limit=5, after=cursor_of(last)))
    within = _plans(store, lambda: store.sessions("w1", limit=5, after=cursor_of(last)))
    assert "ix_sessions_updatedAt_id" in plans
    assert "ix_sessions_workspace_updatedAt_id" in plans
    assert "ix_sessions_workspace_updatedAt_id" in within
    assert "Seq Scan" not in plans + within
    assert "TEMP B-TREE" not in plans + within
    if not store.database.is_postgresql:
        assert "(updatedAt,id)<(?,?)" in plans
        assert "(workspace=? AND (updatedAt,id)<(?,?))" in within


def test_jobs_are_claimed_by_an_index(store: DatabaseStore) -> None:
    jobs = Jobs(store)
    jobs.add("b", {f"{number:05}": number for number in range(3_000)})
    with store.database.writing() as connection:
        connection.execute(text("UPDATE jobs SET state = 'done' WHERE id % 100 > 0"))
        connection.execute(text("ANALYZE"))
    plans = _plans(store, lambda: jobs.claim("w", 5))
    assert "ix_jobs_queued" in plans, plans
    assert "Seq Scan" not in plans
    held = jobs.claim("w", 5)
    assert "jobs" not in SCAN.findall(_plans(store, lambda: jobs.touch(held)))
