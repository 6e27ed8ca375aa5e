"""Jobs, for bulk work that any number of workers share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("batch", _KEY, nullable=False),
        sa.Column("key", _KEY, nullable=False),
        sa.Column("payloadJson", sa.Text(), nullable=False),
        sa.Column("state", _KEY, nullable=False, server_default=sa.text("'queued'")),
        sa.Column("attempts", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("worker", _KEY),
        sa.Column("claimedAt", _KEY),
        sa.Column("finishedAt", sa.Text()),
        sa.Column("resultJson", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.CheckConstraint("state in ('queued', 'running', 'done', 'failed')", name="ck_jobs_state"),
        sa.UniqueConstraint("batch", "key", name="uq_jobs_batch_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_jobs_batch_state_id", "jobs", ["batch", "state", "id"])
    for state, column in (("queued", "id"), ("running", "worker")):
        of_state = sa.text(f"state = '{state}'")
        op.create_index(f"ix_jobs_{state}", "jobs", [column], sqlite_where=of_state, postgresql_where=of_state)
