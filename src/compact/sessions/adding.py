"""Adding messages, with their words: one statement for each group of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, text

from compact.sessions.tables import messages
from compact.sessions.words import indexed

if TYPE_CHECKING:
    from sqlalchemy import Connection

_INSERT = insert(messages).returning(messages.c.id, messages.c.position)
# Columns as arrays: the text of the statement stays short however many rows there are, and is parsed once.
_COLUMNS = {
    "position": "bigint",
    "role": "text",
    "contentText": "text",
    "raw": "bytea",
    "tokenCount": "bigint",
    "counter": "text",
    "inputTokens": "bigint",
    "outputTokens": "bigint",
    "createdAt": "text",
}
_NAMES = ", ".join(f'"{name}"' for name in _COLUMNS)
_ARRAYS = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in _COLUMNS.items())
_INSERT_ARRAYS = text(f"""
WITH added AS (
    INSERT INTO "chatMessages" ("sessionId", {_NAMES})
    SELECT :sessionId, * FROM unnest({_ARRAYS}) ORDER BY 2
    RETURNING id, position
), searched AS (
    INSERT INTO "chatMessageWords" ("messageId", words)
    SELECT id, array_to_tsvector(string_to_array(found, ' ')) FROM added
    JOIN unnest(CAST(:position AS bigint[]), CAST(:words AS text[])) AS given(position, found) USING (position)
)
SELECT id, position FROM added
""")  # noqa: S608 - made of the names above


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Insert the rows, all of one session; gives the ids by position."""
    if connection.dialect.name == "sqlite":  # its triggers see to the words
        added = connection.execute(_INSERT, rows)
    else:
        values = {name: [row[name] for row in rows] for name in _COLUMNS}
        values |= {"sessionId": rows[0]["sessionId"], "words": [indexed(row["contentText"]) for row in rows]}
        added = connection.execute(_INSERT_ARRAYS, values)
    return {position: id for id, position in added}
