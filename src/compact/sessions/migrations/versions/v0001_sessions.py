"""Sessions with their messages and snapshots, settings, models, and the search."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0001"
down_revision = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _sessions()
    _messages()
    _snapshots()
    _configuration()
    if op.get_bind().dialect.name == "sqlite":
        _search_sqlite()
    else:
        _search_postgresql()


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("workspace", _KEY, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("systemJson", sa.Text()),
        sa.Column("toolsJson", sa.Text()),
        sa.Column("blocked", sa.Text(), nullable=False),
        sa.Column("acknowledged", sa.Boolean(), nullable=False),
        sa.Column("messageCount", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("createdAt", sa.Text(), nullable=False),
        sa.Column("updatedAt", _KEY, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_updatedAt_id", "sessions", ["updatedAt", "id"])
    op.create_index("ix_sessions_workspace_updatedAt_id", "sessions", ["workspace", "updatedAt", "id"])


def _messages() -> None:
    op.create_table(
        "chatMessages",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("sessionId", _KEY, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("contentText", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("tokenCount", sa.BigInteger(), nullable=False),
        sa.Column("counter", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("inputTokens", sa.BigInteger()),
        sa.Column("outputTokens", sa.BigInteger()),
        sa.Column("createdAt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_chatMessages"),
        sa.ForeignKeyConstraint(["sessionId"], ["sessions.id"], name="fk_chatMessages_sessionId", ondelete="CASCADE"),
        sa.UniqueConstraint("sessionId", "position", name="uq_chatMessages_sessionId_position"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_chatMessages_pinned",
        "chatMessages",
        ["sessionId", "position"],
        sqlite_where=sa.text("pinned = 1"),
        postgresql_where=sa.text("pinned"),
    )


def _snapshots() -> None:
    op.create_table(
        "sessionSnapshots",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("sessionId", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("contentJson", sa.Text(), nullable=False),
        sa.Column("messageCutoffId", _NUMBER),
        sa.Column("tokenCount", sa.BigInteger(), nullable=False),
        sa.Column("retiredAt", sa.Text()),
        sa.Column("createdAt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessionSnapshots"),
        sa.ForeignKeyConstraint(
            ["sessionId"], ["sessions.id"], name="fk_sessionSnapshots_sessionId", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["messageCutoffId"], ["chatMessages.id"], name="fk_sessionSnapshots_messageCutoffId", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sessionSnapshots_messageCutoffId", "sessionSnapshots", ["messageCutoffId"])
    op.create_index("ix_sessionSnapshots_sessionId_kind_id", "sessionSnapshots", ["sessionId", "kind", "id"])
    standing = sa.text('"retiredAt" IS NULL')
    op.create_index(
        "uq_sessionSnapshots_standing",
        "sessionSnapshots",
        ["sessionId", "kind", "messageCutoffId"],
        unique=True,
        sqlite_where=standing,
        postgresql_where=standing,
    )


def _configuration() -> None:
    op.create_table(
        "settings",
        sa.Column("scope", _KEY, nullable=False),
        sa.Column("key", _KEY, nullable=False),
        sa.Column("valueJson", sa.Text(), nullable=False),
        sa.Column("updatedAt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="pk_settings"),
    )
    op.create_table(
        "modelConfigs",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("maxInputTokens", sa.BigInteger(), nullable=False),
        sa.Column("maxOutputTokens", sa.BigInteger()),
        sa.Column("defaultCompressionThreshold", sa.Float()),
        sa.Column("recommendedRetentionTokens", sa.BigInteger()),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("lastUpdated", sa.Text(), nullable=False),
        sa.Column("createdAt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_modelConfigs"),
    )


def _search_sqlite() -> None:
    """An index over the text where it is, which triggers keep true whoever writes."""
    options = "content='chatMessages', content_rowid='id', tokenize='unicode61 remove_diacritics 2'"
    op.execute(f'CREATE VIRTUAL TABLE "chatMessageWords" USING fts5("contentText", {options})')
    add = 'INSERT INTO "chatMessageWords"(rowid, "contentText") VALUES (new.id, new."contentText");'
    remove = (
        'INSERT INTO "chatMessageWords"("chatMessageWords", rowid, "contentText")'
        " VALUES ('delete', old.id, old.\"contentText\");"
    )
    op.execute(f'CREATE TRIGGER "chatMessages_added" AFTER INSERT ON "chatMessages" BEGIN {add} END')
    op.execute(f'CREATE TRIGGER "chatMessages_removed" AFTER DELETE ON "chatMessages" BEGIN {remove} END')
    op.execute(
        'CREATE TRIGGER "chatMessages_changed" AFTER UPDATE OF "contentText" ON "chatMessages"'
        f" BEGIN {remove} {add} END"
    )


def _search_postgresql() -> None:
    op.create_table(
        "chatMessageWords",
        sa.Column("messageId", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("words", TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("messageId", name="pk_chatMessageWords"),
        sa.ForeignKeyConstraint(
            ["messageId"], ["chatMessages.id"], name="fk_chatMessageWords_messageId", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_chatMessageWords_words", "chatMessageWords", ["words"], postgresql_using="gin")
