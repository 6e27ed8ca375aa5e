"""Whether a session is compacted automatically, where that was set for the session itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("automatic", sa.Boolean()))
