"""The tables of the database, under the names that applications know them by."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

SEARCH = "chatMessageWords"
"""Where words are looked up: an FTS5 table on SQLite, a plain one with a tsvector on PostgreSQL."""

# Compared byte by byte, so that order is the same everywhere and no update of a locale can spoil an index.
_Key = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite counts only in a column of exactly this type.
_Number = BigInteger().with_variant(Integer(), "sqlite")

_NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
metadata = MetaData(naming_convention=_NAMES)
postgresql_metadata = MetaData(naming_convention=_NAMES)

sessions = Table(
    "sessions",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("workspace", _Key, nullable=False),
    Column("title", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("systemJson", Text),
    Column("toolsJson", Text),
    Column("blocked", Text, nullable=False),
    Column("acknowledged", Boolean, nullable=False),
    Column("messageCount", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("createdAt", Text, nullable=False),
    Column("updatedAt", _Key, nullable=False),
    Column("automatic", Boolean),
    Index(None, "updatedAt", "id"),
    Index(None, "workspace", "updatedAt", "id"),
)

messages = Table(
    "chatMessages",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("sessionId", _Key, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("role", Text, nullable=False),
    Column("contentText", Text, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("tokenCount", BigInteger, nullable=False),
    Column("counter", Text, nullable=False),
    Column("pinned", Boolean, nullable=False, server_default=false()),
    Column("inputTokens", BigInteger),
    Column("outputTokens", BigInteger),
    Column("createdAt", Text, nullable=False),
    UniqueConstraint("sessionId", "position"),
    sqlite_autoincrement=True,  # the id of a deleted message never comes back
)
Index(
    "ix_chatMessages_pinned",
    messages.c.sessionId,
    messages.c.position,
    sqlite_where=text("pinned = 1"),  # as SQLAlchemy asks for it there, or SQLite would not see that it fits
    postgresql_where=text("pinned"),
)

snapshots = Table(
    "sessionSnapshots",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("sessionId", _Key, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("kind", _Key, nullable=False),
    Column("contentJson", Text, nullable=False),
    Column("messageCutoffId", _Number, ForeignKey("chatMessages.id", ondelete="CASCADE"), index=True),
    Column("tokenCount", BigInteger, nullable=False),
    Column("retiredAt", Text),
    Column("createdAt", Text, nullable=False),
    Index(None, "sessionId", "kind", "id"),
    sqlite_autoincrement=True,
)
Index(
    "uq_sessionSnapshots_standing",
    snapshots.c.sessionId,
    snapshots.c.kind,
    snapshots.c.messageCutoffId,
    unique=True,
    sqlite_where=snapshots.c.retiredAt.is_(None),
    postgresql_where=snapshots.c.retiredAt.is_(None),
)

settings = Table(
    "settings",
    metadata,
    Column("scope", _Key, primary_key=True),
    Column("key", _Key, primary_key=True),
    Column("valueJson", Text, nullable=False),
    Column("updatedAt", Text, nullable=False),
)

models = Table(
    "modelConfigs",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("maxInputTokens", BigInteger, nullable=False),
    Column("maxOutputTokens", BigInteger),
    Column("defaultCompressionThreshold", Float),
    Column("recommendedRetentionTokens", BigInteger),
    Column("source", Text, nullable=False),
    Column("lastUpdated", Text, nullable=False),
    Column("createdAt", Text, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("batch", _Key, nullable=False),
    Column("key", _Key, nullable=False),
    Column("payloadJson", Text, nullable=False),
    Column("state", _Key, nullable=False, server_default=text("'queued'")),
    Column("attempts", BigInteger, nullable=False, server_default=text("0")),
    Column("worker", _Key),
    Column("claimedAt", _Key),
    Column("finishedAt", Text),
    Column("resultJson", Text),
    Column("error", Text),
    CheckConstraint("state in ('queued', 'running', 'done', 'failed')", name="state"),
    UniqueConstraint("batch", "key"),
    Index(None, "batch", "state", "id"),
    sqlite_autoincrement=True,
)
Index(
    "ix_jobs_queued",
    jobs.c.id,
    sqlite_where=jobs.c.state == text("'queued'"),
    postgresql_where=jobs.c.state == text("'queued'"),
)
Index(
    "ix_jobs_running",
    jobs.c.worker,
    sqlite_where=jobs.c.state == text("'running'"),
    postgresql_where=jobs.c.state == text("'running'"),
)

words = Table(
    SEARCH,
    postgresql_metadata,
    Column("messageId", BigInteger, ForeignKey(messages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("words", TSVECTOR, nullable=False),
)
Index("ix_chatMessageWords_words", words.c.words, postgresql_using="gin")
