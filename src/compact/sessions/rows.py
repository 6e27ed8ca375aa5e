"""Rows of the tables as the values that cross the port, and back; and what must be right before it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from compact.disk import json_bytes
from compact.errors import InvalidInput, NotFound
from compact.messages import Json
from compact.policies.threshold import INHERIT, check_share
from compact.ports.sessions import (
    ConfigSource,
    ModelConfig,
    NewMessage,
    Snapshot,
    SnapshotKind,
    StoredSession,
)
from compact.sessions.tables import messages, models
from compact.sessions.words import storable

if TYPE_CHECKING:
    from sqlalchemy import Row

_KINDS = get_args(SnapshotKind)
_SOURCES = get_args(ConfigSource)
_MOST = 2**63 - 1
_TEXTS = ("title", "model", "workspace", "blocked")
_VERSION = "snapshotVersion"
_VALUES = {"system": "systemJson", "tools": "toolsJson"}
_SWITCHES = {"acknowledged": "a boolean", "automatic": "a boolean, or null to inherit"}


def session_of(row: Row[Any]) -> StoredSession:
    return StoredSession(
        id=row.id,
        model=row.model,
        format=row.format,
        workspace=row.workspace,
        title=row.title,
        system=read(row.systemJson),
        tools=read(row.toolsJson),
        blocked=row.blocked,
        acknowledged=row.acknowledged,
        automatic=row.automatic,
        messages=row.messageCount,
        revision=row.revision,
        created=row.createdAt,
        updated=row.updatedAt,
    )


def session_row(session: StoredSession, moment: str) -> dict[str, Any]:
    """A session that is new: without messages, at its first revision."""
    return {
        "id": session.id,
        "model": key(session.model, "model"),
        "format": key(session.format, "format"),
        "workspace": key(session.workspace, "workspace"),
        "title": storable(session.title),
        "systemJson": _written(session.system, "system"),
        "toolsJson": _written(session.tools, "tools"),
        "blocked": storable(session.blocked),
        "acknowledged": session.acknowledged,
        "automatic": session.automatic,
        "messageCount": 0,
        "revision": 1,
        "createdAt": moment,
        "updatedAt": moment,
    }


def changes_row(changes: Mapping[str, Json]) -> dict[str, Any]:
    """The columns to set; InvalidInput where something cannot be changed, or not to that."""
    row: dict[str, Any] = {}
    for name, value in changes.items():
        if name in _VALUES:
            row[_VALUES[name]] = _written(value, name)
        elif name in _SWITCHES and (isinstance(value, bool) or (name == "automatic" and value is None)):
            row[name] = value
        elif name in _TEXTS and isinstance(value, str):
            row[name] = key(value, name) if name in ("model", "workspace") else storable(value)
        elif name in (*_TEXTS, *_SWITCHES):
            remedy = f"Give {_SWITCHES.get(name, 'a string')}."
            raise InvalidInput(f"{type(value).__name__} is of the wrong type", field=name, remedy=remedy)
        else:
            remedy = f"What can be: {', '.join((*_TEXTS, *_VALUES, *_SWITCHES))}."
            raise InvalidInput("cannot be changed", field=name, remedy=remedy)
    return row


# In the order of StoredMessage's fields: this is the one conversion that requests wait for.
MESSAGE = (
    messages.c.id,
    messages.c.sessionId,
    messages.c.position,
    messages.c.raw,
    messages.c.role,
    messages.c.tokenCount,
    messages.c.counter,
    messages.c.pinned,
    messages.c.inputTokens,
    messages.c.outputTokens,
    messages.c.createdAt,
)


def message_row(message: NewMessage, session: str, position: int, moment: str) -> dict[str, Any]:
    return {
        "sessionId": session,
        "position": position,
        "role": storable(message.role),
        "contentText": storable(message.text),
        "raw": message.raw,
        "tokenCount": message.tokens,
        "counter": storable(message.counter),
        "inputTokens": message.input_tokens,
        "outputTokens": message.output_tokens,
        "createdAt": moment,
    }


def snapshot_of(row: Row[Any]) -> Snapshot:
    content = dict(read(row.contentJson))
    version = content.pop(_VERSION, 1)
    return Snapshot(
        session=row.sessionId,
        kind=row.kind,
        content=content,
        cutoff=row.messageCutoffId,
        tokens=row.tokenCount,
        id=row.id,
        retired=row.retiredAt is not None,
        created=row.createdAt,
        version=version,
    )


def snapshot_row(snapshot: Snapshot, moment: str) -> dict[str, Any]:
    if snapshot.kind not in _KINDS:
        raise InvalidInput(f"{snapshot.kind!r} is none", field="kind", remedy=f"One of: {', '.join(_KINDS)}.")
    return {
        "sessionId": snapshot.session,
        "kind": snapshot.kind,
        "contentJson": written({**snapshot.content, _VERSION: snapshot.version}, "content"),
        "messageCutoffId": snapshot.cutoff,
        "tokenCount": snapshot.tokens,
        "createdAt": moment,
    }


# In the order of ModelConfig's fields: a vendor may list hundreds of models, and every request looks for its own.
MODEL = (
    models.c.provider,
    models.c.model,
    models.c.maxInputTokens,
    models.c.maxOutputTokens,
    models.c.defaultCompressionThreshold,
    models.c.recommendedRetentionTokens,
    models.c.source,
    models.c.lastUpdated,
    models.c.createdAt,
)


def model_row(config: ModelConfig, moment: str) -> dict[str, Any]:
    """A model's configuration; InvalidInput where a value is out of its range."""
    if not config.provider or not config.model or ":" in config.provider:
        raise InvalidInput(f"{config.id!r} is no vendor:model", field="provider", remedy="Name both; no : in a vendor.")
    if config.source not in _SOURCES:
        raise InvalidInput(f"{config.source!r} is none", field="source", remedy=f"One of: {', '.join(_SOURCES)}.")
    try:
        check_share(INHERIT if config.threshold is None else config.threshold)
    except ValueError as error:
        raise InvalidInput(str(error), field="threshold", remedy="0.95 is the usual share.") from None
    return {
        "id": key(config.id, "model"),
        "provider": config.provider,
        "model": config.model,
        "maxInputTokens": _tokens(config.max_input, 1, "max_input"),
        "maxOutputTokens": None if config.max_output is None else _tokens(config.max_output, 1, "max_output"),
        "defaultCompressionThreshold": config.threshold,
        "recommendedRetentionTokens": None if config.retention is None else _tokens(config.retention, 0, "retention"),
        "source": config.source,
        "lastUpdated": moment,
        "createdAt": moment,
    }


def key(text: str, field: str) -> str:
    """The text itself, which must be kept exactly as it is; InvalidInput where a database cannot."""
    if storable(text) != text:
        problem = "holds NUL or half of a surrogate pair"
        raise InvalidInput(problem, field=field, remedy="Use characters that can be written as UTF-8.")
    return text


def written(value: Json, field: str) -> str:
    """The value as JSON text in ASCII, which every database keeps as it is."""
    return json_bytes(value, field).decode("ascii")


def read(text: str | None) -> Json:
    return None if text is None else json.loads(text)


def name(session: str) -> str:
    """The session's id; NotFound where no session can have it."""
    if storable(session) != session:
        raise missing("session", session)
    return session


def known_ids(ids: Sequence[int], what: str) -> list[int]:
    """The ids, each once, in order; NotFound where one cannot be an id at all."""
    for id in ids:
        if not 0 < id <= _MOST:
            raise missing(what, id)
    return sorted(set(ids))


def missing(what: str, id: object) -> NotFound:
    shown = ascii(id) if len(str(id)) <= 80 else f"{str(id)[:77]!a}..."
    return NotFound(f"there is no {what} {shown}", field=what, remedy="It may have been deleted: list what there is.")


def page(limit: int) -> int:
    """The limit; InvalidInput where it is none."""
    if not 0 < limit <= _MOST:
        raise InvalidInput(f"{limit} is too few or too many", field="limit", remedy="Ask for 1 or more.")
    return limit


def _written(value: Json, field: str) -> str | None:
    return None if value is None else written(value, field)


def _tokens(count: int, least: int, field: str) -> int:
    if not least <= count <= _MOST:
        raise InvalidInput(f"{count} is out of range", field=field, remedy=f"Give {least} or more tokens.")
    return count
