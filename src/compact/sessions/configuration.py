"""Settings and model configurations, which all who use the database share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from compact.messages import Json
from compact.ports.sessions import ModelConfig
from compact.sessions.database import Database, now
from compact.sessions.rows import MODEL, key, missing, model_row, read, written
from compact.sessions.tables import models, settings
from compact.sessions.words import storable

# Built once: every request asks these.
_SETTINGS = (
    select(settings.c.key, settings.c.valueJson).where(settings.c.scope == bindparam("of")).order_by(settings.c.key)
)
_MODELS = select(*MODEL).order_by(models.c.id)


class ConfigurationStore:
    """The part of a store that all sessions share."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def setting(self, scope: str) -> Mapping[str, Json]:
        with self.database.asking() as connection:
            return {row.key: read(row.valueJson) for row in connection.execute(_SETTINGS, {"of": storable(scope)})}

    def set(self, scope: str, values: Mapping[str, Json]) -> None:
        key(scope, "scope")
        with self.database.writing() as connection:
            # In order, so that two who set the same ones never wait for each other in a circle.
            for name in sorted(values):
                if values[name] is None:
                    connection.execute(delete(settings).where(settings.c.scope == scope, settings.c.key == name))
                    continue
                value = written(values[name], name)
                row = {"scope": scope, "key": key(name, "key"), "valueJson": value, "updatedAt": now()}
                _upsert(connection, settings, row, keep=())

    def models(self) -> list[ModelConfig]:
        with self.database.asking() as connection:
            return [ModelConfig(*row) for row in connection.execute(_MODELS)]

    def put_model(self, config: ModelConfig) -> ModelConfig:
        row = model_row(config, now())
        with self.database.writing() as connection:
            _upsert(connection, models, row, keep=("createdAt",))
            return ModelConfig(*connection.execute(select(*MODEL).where(models.c.id == config.id)).one())

    def delete_model(self, id: str) -> None:
        with self.database.writing() as connection:
            if storable(id) != id or not connection.execute(delete(models).where(models.c.id == id)).rowcount:
                raise missing("model", id)


def _upsert(connection: Connection, table: Table, row: Mapping[str, Any], keep: tuple[str, ...]) -> None:
    """Insert the row, or change the one that is there, except for what is to be kept."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in (*keys, *keep)}
    connection.execute(insert(table).values(row).on_conflict_do_update(index_elements=keys, set_=changed))
