"""Conversations that an application keeps in a database, and what it keeps beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from compact.messages import Json

SnapshotKind: TypeAlias = Literal["title", "summary", "memory"]
ConfigSource: TypeAlias = Literal["api", "manual", "default"]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A conversation in the database, without its messages.

    `blocked` says why no request may be made, empty where one may; `acknowledged` that a person takes the risk.
    `automatic` says whether the session is compacted automatically; None for what the settings say.
    `revision` grows with every change but counting, so that a reader knows whether what it holds is still so.
    """

    id: str
    model: str
    format: str
    workspace: str = ""
    title: str = ""
    system: Json = None
    tools: Json = None
    blocked: str = ""
    acknowledged: bool = False
    automatic: bool | None = None
    messages: int = 0
    revision: int = 0
    created: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to be stored: its bytes as they were given, what can be searched of it, and its size.

    `counter` names the tokenizer that `tokens` is of. `input_tokens` and `output_tokens` are what a vendor reported;
    they are kept for people to look at, and no decision reads them.
    """

    raw: bytes
    role: str
    text: str
    tokens: int
    counter: str
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in the database; `id` grows within the database, `position` counts from 0 within its session."""

    id: int
    session: str
    position: int
    raw: bytes
    role: str
    tokens: int
    counter: str
    pinned: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    created: str = ""


SNAPSHOT_VERSION = 3
"""What snapshots are written as; 1 are those that say nothing of it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was made of a session's messages up to and including `cutoff`, the id of a message.

    `id` is 0 until it is stored. A snapshot that was replaced or undone is `retired`, never deleted. `version` tells
    how `content` is to be read.
    """

    session: str
    kind: SnapshotKind
    content: Mapping[str, Json]
    cutoff: int | None
    tokens: int
    id: int = 0
    retired: bool = False
    created: str = ""
    version: int = SNAPSHOT_VERSION


@dataclass(frozen=True, slots=True)
class Active:
    """What a request is made of: the summary that stands, the messages after it, and the pinned ones before.

    `variant` is the deployment that the settings name; a store does not know it.
    """

    session: StoredSession
    summary: Snapshot | None
    pinned: tuple[StoredMessage, ...]
    recent: tuple[StoredMessage, ...]
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A message that a search found; `spans` are the places of the words in `excerpt`, for highlighting."""

    session: str
    message: int
    position: int
    role: str
    excerpt: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What is known of a model, or set for it; `id` is vendor:model. None where the settings' own default holds."""

    provider: str
    model: str
    max_input: int
    max_output: int | None = None
    threshold: float | None = None
    retention: int | None = None
    source: ConfigSource = "default"
    updated: str = ""
    created: str = ""

    @property
    def id(self) -> str:
        return f"{self.provider}:{self.model}"


class SessionStore(Protocol):
    """A database of conversations. Every call is one transaction; when a writing one returns, it is durable.

    A session, message or snapshot that is not there is a `NotFound`.
    """

    def create(self, session: StoredSession) -> StoredSession:
        """Store a new session; an `InvalidInput` where its id is taken."""
        ...

    def session(self, id: str) -> StoredSession: ...

    def sessions(
        self, workspace: str | None = None, *, limit: int = 100, after: str | None = None
    ) -> list[StoredSession]:
        """The sessions, the one changed last first.

        `after` is where the page before ended: `cursor_of` (`compact.sessions.cursors`) its last session, which stays
        there whatever becomes of that, or its id.
        """
        ...

    def change(self, id: str, changes: Mapping[str, Json]) -> StoredSession:
        """Set title, model, system, tools, workspace, blocked, acknowledged or automatic."""
        ...

    def delete(self, id: str) -> None:
        """Delete a session with all that belongs to it."""
        ...

    def append(self, session: str, messages: Sequence[NewMessage]) -> list[StoredMessage]:
        """Store messages at the end of the session."""
        ...

    def active(self, session: str) -> Active:
        """What the next request is made of, as of one moment, at a cost that does not grow with the history."""
        ...

    def history(self, session: str, *, after: int = -1, limit: int = 100) -> list[StoredMessage]:
        """The messages whose position is after that one, pruned or not."""
        ...

    def messages(self, session: str, ids: Sequence[int]) -> list[StoredMessage]: ...

    def recount(self, counts: Mapping[int, int], counter: str) -> None:
        """Set the sizes of messages, by id, as another tokenizer has counted them; nothing else changes."""
        ...

    def pin(self, session: str, ids: Sequence[int], *, pinned: bool) -> None: ...

    def snapshots(self, session: str, kind: SnapshotKind = "summary", *, retired: bool = False) -> list[Snapshot]:
        """The snapshots that stand, in order; with `retired` the others, too."""
        ...

    def put_snapshot(self, snapshot: Snapshot, basis: int | None, *, replace: bool = False) -> Snapshot | None:
        """Store a snapshot that was made when `basis` was the id of the last one that stood (None for none).

        None, and nothing is changed, where another one stands by now. With `replace` the basis is retired.
        """
        ...

    def retire(self, session: str, snapshot: int) -> None:
        """Take back a snapshot and every later one of its kind; the one before it stands again."""
        ...

    def search(
        self, text: str, *, session: str | None = None, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        """The messages that hold all the words, the best ones first; the text may be anything a person types."""
        ...

    def compacting(self, session: str, wait: float) -> AbstractContextManager[bool]:
        """Be the only one, on any machine, who compacts the session; False if that was not to be had in time.

        It is free again when the block ends or the process dies.
        """
        ...

    def setting(self, scope: str) -> Mapping[str, Json]:
        """All settings of a scope: `global`, or a workspace."""
        ...

    def set(self, scope: str, values: Mapping[str, Json]) -> None:
        """Set some of a scope's settings; None removes one."""
        ...

    def models(self) -> list[ModelConfig]: ...

    def put_model(self, config: ModelConfig) -> ModelConfig: ...

    def delete_model(self, id: str) -> None: ...

    def close(self) -> None: ...
