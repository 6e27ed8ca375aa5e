"""What stored sessions rely on in their database, whichever of the two it is."""

from __future__ import annotations

import re
from time import monotonic

import psycopg
import pytest

from compact.app.stored import StoredSessions, Wish
from compact.errors import CompactionBlocked, StorageError
from compact.sessions import open_store
from tests.app.stored.conftest import Desk, turn, user
from tests.sessions.processes import spawn


def test_what_is_written_is_on_the_drive_before_a_call_returns(url: str) -> None:
    asked, expected = "PRAGMA synchronous", "2"  # FULL
    if url.startswith("postgresql"):
        asked, expected = "SHOW synchronous_commit", "on"
        url += ("&" if "?" in url else "?") + "options=-csynchronous_commit%3Doff"
        with psycopg.connect(url) as connection:
            assert connection.execute(asked.encode()).fetchone() == ("off",)
    with open_store(url) as store, store.database.writing() as writing:
        assert str(writing.exec_driver_sql(asked).scalar()) == expected


def test_times_are_text_of_one_length_in_utc(desk: Desk) -> None:
    desk.say(3)
    session, messages = desk.sessions.session("a"), desk.sessions.history("a")
    times = [session.created, session.updated, *(message.created for message in messages)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times)
    assert times[2:] == sorted(times[2:])


def test_readers_do_not_wait_for_a_writer(desk: Desk) -> None:
    desk.say(3)
    with open_store(desk.url) as store, store.database.writing() as writing:
        writing.exec_driver_sql(f"UPDATE sessions SET title = '{'x' * 6_000_000}'")  # more than is kept in memory
        began = monotonic()
        with StoredSessions(desk.url) as others:
            assert others.session("a").title == ""
            assert len(others.history("a")) == len(others.context("a").messages) == 6
        assert monotonic() - began < 15  # whoever waits does so for half a minute
    assert desk.sessions.session("a").title.startswith("xxx")


def test_a_reader_sees_one_moment(desk: Desk) -> None:
    desk.say(1)
    count = 'SELECT count(*) FROM "chatMessages"'
    with open_store(desk.url) as store, store.database.reading() as reading:
        assert reading.exec_driver_sql(count).scalar() == 2
        with StoredSessions(desk.url) as others:
            others.append("a", turn(1))
            assert len(others.history("a")) == 4
        assert reading.exec_driver_sql(count).scalar() == 2


def test_what_is_typed_is_words_in_any_order_and_no_operator(desk: Desk) -> None:
    desk.sessions.append("a", [user("The parser in src/parser.py fails."), user("A parser elsewhere.")])

    def found(typed: str) -> list[str]:
        return sorted(match.excerpt for match in desk.sessions.search(typed))

    assert found("fails PARSER") == found("src/parser.py") == ["The parser in src/parser.py fails."]
    assert found("parser elsewhere") == ["A parser elsewhere."]
    for typed in ("parser OR nothing", "pars*", "NOT nothing", '"parser fails" x', "parser -nothing", "role:parser"):
        assert found(typed) == []


def test_a_database_of_a_newer_version_is_refused(desk: Desk) -> None:
    with open_store(desk.url) as store:
        with store.database.writing() as writing:
            writing.exec_driver_sql("UPDATE \"compactVersion\" SET version_num = '9' || version_num")
        try:
            with pytest.raises(StorageError, match=r"knows only .* Install the newer"):
                StoredSessions(desk.url)
        finally:
            with store.database.writing() as writing:
                writing.exec_driver_sql('UPDATE "compactVersion" SET version_num = substr(version_num, 2)')


def test_who_is_killed_while_compacting_blocks_nobody(desk: Desk) -> None:
    desk.say(30)
    with spawn("hold", desk.url, "a") as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        with pytest.raises(CompactionBlocked):
            desk.sessions.compress("a", Wish(retention=0), wait=0)
        desk.say(1, 30)  # to append is not to wait for it
        holder.kill()
    assert desk.sessions.compress("a", Wish(retention=0), wait=5).messages > 0
