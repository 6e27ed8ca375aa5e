"""Transcripts that the page has opened: in memory, a few at a time, the least recently used go first."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from fastapi import Depends

from compact.app import Result
from compact.app.inspecting import Inspection
from compact.errors import NotFound
from compact.messages import Conversation
from compact.server.state import ServerState, state_of

MOST_BYTES = 200_000_000
_MOST = 16
_MOST_RESULTS = 4


@dataclass(frozen=True, slots=True)
class Condensed:
    """A condensation of an upload, and the model it was reckoned for."""

    id: str
    result: Result
    model: str


@dataclass(frozen=True, slots=True)
class Upload:
    """A transcript as it came, what was read from it, and the last few condensations of it."""

    id: str
    name: str
    data: bytes = field(repr=False)
    conversation: Conversation = field(repr=False)
    results: OrderedDict[str, Condensed] = field(default_factory=OrderedDict, repr=False)
    looked: dict[tuple[str, str], Inspection] = field(default_factory=dict, repr=False)
    """What was looked at, by result and model: a list asks for its rows one by one."""

    def keep(self, result: Result, model: str) -> Condensed:
        kept = Condensed(secrets.token_urlsafe(9), result, model)
        self.results[kept.id] = kept
        while len(self.results) > _MOST_RESULTS:
            self.results.popitem(last=False)
        return kept

    def inspection(self, result: str, model: str) -> Inspection:
        """The transcript by itself, or beside a condensation of it and counted for that one's model."""
        made = self.condensed(result) if result else None
        key = result, made.model if made else model
        known = self.looked.get(key)
        if known is None:
            known = Inspection(self.conversation, made.result if made else None, model=key[1])
            if len(self.looked) > _MOST_RESULTS:
                self.looked.clear()
            self.looked[key] = known
        return known

    def condensed(self, id: str) -> Condensed:
        try:
            return self.results[id]
        except KeyError:
            raise NotFound("is no longer there", field="result", remedy="Condense the transcript again.") from None


class Uploads:
    """The transcripts, by ids that nobody can guess."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._most_bytes = most_bytes
        self._lock = Lock()

    def add(self, name: str, data: bytes, conversation: Conversation) -> Upload:
        upload = Upload(secrets.token_urlsafe(9), name, data, conversation)
        with self._lock:
            self._kept[upload.id] = upload
            while len(self._kept) > 1 and (len(self._kept) > _MOST or self._bytes() > self._most_bytes):
                self._kept.popitem(last=False)
        return upload

    def find(self, id: str) -> Upload:
        with self._lock:
            try:
                self._kept.move_to_end(id)
                return self._kept[id]
            except KeyError:
                raise NotFound("is no longer open", field="transcript", remedy="Open the file again.") from None

    def forget(self, id: str) -> None:
        with self._lock:
            self._kept.pop(id, None)

    def _bytes(self) -> int:
        return sum(len(upload.data) for upload in self._kept.values())


def uploads_of(state: Annotated[ServerState, Depends(state_of)]) -> Uploads:
    """The server's uploads, made when they are first needed."""
    return state.service("uploads", lambda _: Uploads())
