"""Finding messages by their words, on both databases alike."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, cast, column, desc, func, literal_column, select, table
from sqlalchemy.dialects.postgresql import TSQUERY

from compact.ports.sessions import Found
from compact.sessions.tables import SEARCH, messages, sessions, words
from compact.sessions.words import asked, excerpt, fts5_query, tsquery

_fts5 = table(SEARCH, column("rowid"), column("rank"))


def find(connection: Connection, text: str, limit: int, session: str | None, workspace: str | None) -> list[Found]:
    """The messages that hold all the words, the best first and of equals the newest; none where there is no word."""
    wanted = asked(text)
    if not wanted:
        return []
    index, number, rank, holds = _fitting(connection, wanted)
    best = select(messages.c.id, rank.label("rank")).join_from(index, messages, messages.c.id == number).where(holds)
    if session is not None:
        best = best.where(messages.c.sessionId == session)
    if workspace is not None:
        best = best.join(sessions, sessions.c.id == messages.c.sessionId).where(sessions.c.workspace == workspace)
    # The texts are read afterwards, of those that are shown only.
    top = best.order_by(desc("rank"), messages.c.id.desc()).limit(limit).subquery()
    shown = (messages.c.id, messages.c.sessionId, messages.c.position, messages.c.role, messages.c.contentText)
    found = select(*shown).join(top, top.c.id == messages.c.id).order_by(top.c.rank.desc(), top.c.id.desc())
    return [
        Found(row.sessionId, row.id, row.position, row.role, *excerpt(row.contentText, wanted))
        for row in connection.execute(found)
    ]


def _fitting(
    connection: Connection, wanted: list[str]
) -> tuple[FromClause, ColumnElement[int], ColumnElement[Any], ColumnElement[bool]]:
    """Where to look, the number of a message there, how well it fits, and whether it does."""
    if connection.dialect.name == "postgresql":
        query = cast(tsquery(wanted), TSQUERY)
        return words, words.c.messageId, func.ts_rank(words.c.words, query, 1), words.c.words.bool_op("@@")(query)
    matches = literal_column(f'"{SEARCH}"').bool_op("MATCH")(fts5_query(wanted))
    return _fts5, _fts5.c.rowid, -_fts5.c.rank, matches
