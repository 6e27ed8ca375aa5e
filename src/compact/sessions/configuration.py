"""Settings and model configurations, which all who use the database share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from compact.messages import Json
from compact.ports.sessions import ModelConfig
from compact.sessions.database import now
from compact.sessions.rows import MODEL, key, missing, model_of, model_row, read, written
from compact.sessions.tables import models, settings
from compact.sessions.words import storable

# Built once: every request asks these.
_SETTINGS = (
    select(settings.c.key, settings.c.valueJson).where(settings.c.scope == bindparam("of")).order_by(settings.c.key)
)
_MODELS = select(*MODEL).order_by(models.c.id)


def read_settings(connection: Connection, scope: str) -> dict[str, Json]:
    return {row.key: read(row.valueJson) for row in connection.execute(_SETTINGS, {"of": scope})}


def write_settings(connection: Connection, scope: str, values: Mapping[str, Json]) -> None:
    key(scope, "scope")
    # In order, so that two who set the same ones never wait for each other in a circle.
    for name in sorted(values):
        if values[name] is None:
            connection.execute(delete(settings).where(settings.c.scope == scope, settings.c.key == name))
            continue
        row = {"scope": scope, "key": key(name, "key"), "valueJson": written(values[name], name), "updatedAt": now()}
        upsert(connection, settings, row, keep=())


def read_models(connection: Connection) -> list[ModelConfig]:
    return [model_of(row) for row in connection.execute(_MODELS)]


def write_model(connection: Connection, config: ModelConfig) -> ModelConfig:
    upsert(connection, models, model_row(config, now()), keep=("createdAt",))
    return model_of(connection.execute(select(*MODEL).where(models.c.id == config.id)).one())


def remove_model(connection: Connection, id: str) -> None:
    if storable(id) != id or not connection.execute(delete(models).where(models.c.id == id)).rowcount:
        raise missing("model", id)


def upsert(connection: Connection, table: Table, row: Mapping[str, Any], keep: tuple[str, ...]) -> None:
    """Insert the row, or change the one that is there, except for what is to be kept."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in (*keys, *keep)}
    connection.execute(insert(table).values(row).on_conflict_do_update(index_elements=keys, set_=changed))
