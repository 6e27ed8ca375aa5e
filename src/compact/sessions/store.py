"""Stored sessions in a database: `SessionStore`, one transaction a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies.session_ids import check_session_id
from compact.ports.closeable import Closeable
from compact.ports.sessions import (
    Active,
    Found,
    NewMessage,
    Snapshot,
    SnapshotKind,
    StoredMessage,
    StoredSession,
)
from compact.sessions.adding import add
from compact.sessions.configuration import ConfigurationStore
from compact.sessions.cursors import place_of
from compact.sessions.database import now
from compact.sessions.rows import (
    MESSAGE,
    changes_row,
    known_ids,
    message_row,
    missing,
    name,
    page,
    session_of,
    session_row,
    snapshot_of,
    snapshot_row,
)
from compact.sessions.searching import find
from compact.sessions.tables import messages, sessions, snapshots
from compact.sessions.words import storable

_MANY = 500  # ids in one statement

# Built once: making a statement takes longer than SQLite takes to answer it.
_SESSION = select(sessions).where(sessions.c.id == bindparam("session"))
_LAST = (
    select(snapshots)
    .where(snapshots.c.sessionId == bindparam("session"), snapshots.c.kind == bindparam("kind"))
    .where(snapshots.c.retiredAt.is_(None))
    .order_by(snapshots.c.id.desc())
    .limit(1)
)
_OF_SESSION = select(*MESSAGE).where(messages.c.sessionId == bindparam("session")).order_by(messages.c.position)
_CUTOFF = select(messages.c.position).where(messages.c.id == bindparam("cutoff")).scalar_subquery()
# Every position is below the end. To PostgreSQL, which does not know the cutoff when it plans, a range with one end is
# a third of all messages, worth reading the table for; one with two ends is few of them, worth the index.
_AFTER = _OF_SESSION.where(messages.c.position > _CUTOFF, messages.c.position < bindparam("end"))
_PINNED = _OF_SESSION.where(messages.c.pinned, messages.c.position <= _CUTOFF)
_PAGE = _OF_SESSION.where(messages.c.position > bindparam("after")).limit(bindparam("limit"))
_GROW = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(
        messageCount=sessions.c.messageCount + bindparam("added"),
        revision=sessions.c.revision + 1,
        updatedAt=bindparam("moment"),
    )
    .returning(sessions.c.messageCount)
)


class DatabaseStore(ConfigurationStore, Closeable):
    """Conversations in SQLite or PostgreSQL. It may be used from many threads, processes and, there, machines."""

    def create(self, session: StoredSession) -> StoredSession:
        row = session_row(session, now())
        check_session_id(session.id)
        with self.database.writing() as connection:
            try:
                return session_of(connection.execute(insert(sessions).values(row).returning(*sessions.c)).one())
            except IntegrityError:
                problem, remedy = f"{session.id!r} is taken", "Choose another id, or append to that session."
                raise InvalidInput(problem, field="id", remedy=remedy) from None

    def session(self, id: str) -> StoredSession:
        with self.database.asking() as connection:
            return session_of(_row(connection, id))

    def sessions(
        self, workspace: str | None = None, *, limit: int = 100, after: str | None = None
    ) -> list[StoredSession]:
        asked = select(sessions).order_by(sessions.c.updatedAt.desc(), sessions.c.id.desc()).limit(page(limit))
        if workspace is not None:
            asked = asked.where(sessions.c.workspace == storable(workspace))
        with self.database.reading() as connection:
            if after is not None:
                place = place_of(name(after)) or _place(_row(connection, after))
                asked = asked.where(tuple_(sessions.c.updatedAt, sessions.c.id) < place)
            return [session_of(row) for row in connection.execute(asked)]

    def change(self, id: str, changes: Mapping[str, Json]) -> StoredSession:
        row = changes_row(changes)
        with self.database.writing() as connection:
            return session_of(_changed(connection, id, **row))

    def delete(self, id: str) -> None:
        with self.database.writing() as connection:
            if not connection.execute(delete(sessions).where(sessions.c.id == name(id))).rowcount:
                raise missing("session", id)

    def append(self, session: str, messages: Sequence[NewMessage]) -> list[StoredMessage]:
        moment, count = now(), len(messages)
        with self.database.writing() as connection:
            if not messages:
                _row(connection, session)
                return []
            # This locks the session, so that nobody else is given the same positions.
            grown = {"session": name(session), "added": count, "moment": moment}
            end = connection.scalar(_GROW, grown)
            if end is None:
                raise missing("session", session)
            rows = [message_row(one, session, at, moment) for at, one in enumerate(messages, end - count)]
            ids = add(connection, rows)
        return [_stored(row, ids[row["position"]]) for row in rows]

    def active(self, session: str) -> Active:
        with self.database.reading() as connection:
            stored = session_of(_row(connection, session))
            last = connection.execute(_LAST, {"session": session, "kind": "summary"}).first()
            summary = None if last is None else snapshot_of(last)
            if summary is None or summary.cutoff is None:
                every = {"session": session, "after": -1, "limit": stored.messages}
                return Active(stored, summary, (), tuple(_read_messages(connection, _PAGE, every)))
            span = {"session": session, "cutoff": summary.cutoff, "end": stored.messages}
            pinned, recent = (tuple(_read_messages(connection, which, span)) for which in (_PINNED, _AFTER))
            return Active(stored, summary, pinned, recent)

    def history(self, session: str, *, after: int = -1, limit: int = 100) -> list[StoredMessage]:
        with self.database.reading() as connection:
            _row(connection, session)
            return list(_read_messages(connection, _PAGE, {"session": session, "after": after, "limit": page(limit)}))

    def messages(self, session: str, ids: Sequence[int]) -> list[StoredMessage]:
        """The messages of those ids, in the order of the conversation."""
        with self.database.reading() as connection:
            _row(connection, session)
            found = [
                one
                for some in _pieces(known_ids(ids, "message"))
                for one in _read_messages(connection, _OF_SESSION.where(messages.c.id.in_(some)), {"session": session})
            ]
        _require_all(ids, {one.id for one in found})
        return sorted(found, key=lambda one: one.position)

    def recount(self, counts: Mapping[int, int], counter: str) -> None:
        """Set the sizes of messages. What was said is what it was, so the sessions' revisions and times stay."""
        ids = known_ids(list(counts), "message")
        with self.database.writing() as connection:
            of: dict[int, str] = {}
            for some in _pieces(ids):
                asked = select(messages.c.id, messages.c.sessionId).where(messages.c.id.in_(some))
                of |= {row.id: row.sessionId for row in connection.execute(asked)}
            _require_all(ids, of)
            # In order, so that two who recount the same ones never wait for each other in a circle.
            for session in sorted(set(of.values())):
                _row(connection, session, lock=True)
            if ids:
                set_count = update(messages).where(messages.c.id == bindparam("message"))
                values = [{"message": id, "tokenCount": counts[id], "counter": storable(counter)} for id in ids]
                connection.execute(
                    set_count.values(tokenCount=bindparam("tokenCount"), counter=bindparam("counter")), values
                )

    def pin(self, session: str, ids: Sequence[int], *, pinned: bool) -> None:
        with self.database.writing() as connection:
            _changed(connection, session)
            done: set[int] = set()
            for some in _pieces(known_ids(ids, "message")):
                mark = update(messages).where(messages.c.sessionId == session, messages.c.id.in_(some))
                done |= set(connection.scalars(mark.values(pinned=pinned).returning(messages.c.id)))
            _require_all(ids, done)

    def snapshots(self, session: str, kind: SnapshotKind = "summary", *, retired: bool = False) -> list[Snapshot]:
        asked = select(snapshots).where(snapshots.c.sessionId == session, snapshots.c.kind == kind)
        if not retired:
            asked = asked.where(snapshots.c.retiredAt.is_(None))
        with self.database.reading() as connection:
            _row(connection, session)
            return [snapshot_of(row) for row in connection.execute(asked.order_by(snapshots.c.id))]

    def put_snapshot(self, snapshot: Snapshot, basis: int | None, *, replace: bool = False) -> Snapshot | None:
        row = snapshot_row(snapshot, now())
        with self.database.writing() as connection:
            _row(connection, snapshot.session, lock=True)
            last = connection.execute(_LAST, {"session": snapshot.session, "kind": snapshot.kind}).first()
            if (None if last is None else last.id) != basis:
                return None
            if snapshot.cutoff is not None:
                _require_message(connection, snapshot.session, snapshot.cutoff)
            if last is not None and replace:
                _retire(connection, last)
            _changed(connection, snapshot.session)
            try:
                return snapshot_of(connection.execute(insert(snapshots).values(row).returning(*snapshots.c)).one())
            except IntegrityError:
                problem = f"a {snapshot.kind} up to message {snapshot.cutoff} stands already"
                raise InvalidInput(problem, field="cutoff", remedy="Replace it, or retire it first.") from None

    def retire(self, session: str, snapshot: int) -> None:
        with self.database.writing() as connection:
            _row(connection, session, lock=True)
            (id,) = known_ids([snapshot], "snapshot")
            standing = (snapshots.c.sessionId == session, snapshots.c.retiredAt.is_(None))
            row = connection.execute(select(snapshots).where(snapshots.c.id == id, *standing)).first()
            if row is None:
                raise missing("snapshot", id)
            _retire(connection, row)
            _changed(connection, session)

    def search(
        self, text: str, *, session: str | None = None, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        with self.database.reading() as connection:
            if session is not None:
                _row(connection, session)
            place = None if workspace is None else storable(workspace)
            return find(connection, text, page(limit), session, place)

    @contextmanager
    def compacting(self, session: str, wait: float) -> Iterator[bool]:
        self.session(session)
        with self.database.locks.hold(session, wait) as held:
            yield held

    def close(self) -> None:
        self.database.close()


def _row(connection: Connection, session: str, *, lock: bool = False) -> Row[Any]:
    """The session's row; locked, so that whoever else changes the session waits."""
    row = connection.execute(_SESSION.with_for_update() if lock else _SESSION, {"session": name(session)}).first()
    if row is None:
        raise missing("session", session)
    return row


def _place(row: Row[Any]) -> tuple[str, str]:
    """Where the session stands in the list of all."""
    return row.updatedAt, row.id


def _changed(connection: Connection, session: str, **columns: Any) -> Row[Any]:
    """The session's row after a change, which everybody can tell by its revision."""
    columns |= {"revision": sessions.c.revision + 1, "updatedAt": now()}
    change = update(sessions).where(sessions.c.id == name(session)).values(columns).returning(*sessions.c)
    row = connection.execute(change).first()
    if row is None:
        raise missing("session", session)
    return row


def _retire(connection: Connection, row: Row[Any]) -> None:
    """Take back a snapshot, and those of its kind that came after it."""
    later = (snapshots.c.sessionId == row.sessionId, snapshots.c.kind == row.kind, snapshots.c.id >= row.id)
    connection.execute(update(snapshots).where(*later, snapshots.c.retiredAt.is_(None)).values(retiredAt=now()))


def _read_messages(connection: Connection, asked: Any, values: Mapping[str, Any]) -> Iterator[StoredMessage]:
    return (StoredMessage(*row) for row in connection.execute(asked, values))


def _require_message(connection: Connection, session: str, id: int) -> None:
    there = select(func.count()).where(messages.c.id.in_(known_ids([id], "message")), messages.c.sessionId == session)
    if not connection.scalar(there):
        raise missing("message", id)


def _require_all(ids: Sequence[int], found: Any) -> None:
    absent = next((id for id in ids if id not in found), None)
    if absent is not None:
        raise missing("message", absent)


def _pieces(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + _MANY] for start in range(0, len(ids), _MANY))


def _stored(row: Mapping[str, Any], id: int) -> StoredMessage:
    return StoredMessage(
        id=id,
        session=row["sessionId"],
        position=row["position"],
        raw=row["raw"],
        role=row["role"],
        tokens=row["tokenCount"],
        counter=row["counter"],
        input_tokens=row["inputTokens"],
        output_tokens=row["outputTokens"],
        created=row["createdAt"],
    )
