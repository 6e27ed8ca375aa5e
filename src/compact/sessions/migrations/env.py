"""Runs the steps on a connection that is in a transaction already; Alembic loads this file by its name."""

from __future__ import annotations

from alembic import context

# Not Alembic's own name: the application may keep its tables in the same database, by Alembic, too.
context.configure(connection=context.config.attributes["connection"], version_table="compactVersion")
with context.begin_transaction():
    context.run_migrations()
