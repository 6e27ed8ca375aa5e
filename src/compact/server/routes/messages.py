"""The messages of stored sessions: the whole history, marked as active or not, pins, and search."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel

from compact.app.inspecting import Inspection, PartKind, showable
from compact.app.stored import StoredSessions
from compact.engine.stored.snapshots import read_summary
from compact.formats import parse
from compact.messages import message_bytes, unfold
from compact.policies.session_ids import LONGEST_ID
from compact.ports import Found, Snapshot, StoredMessage, StoredSession
from compact.server.showing import Limit, SessionId, page_of
from compact.server.stored import Sessions

router = APIRouter(tags=["messages"], generate_unique_id_function=lambda route: route.name)

LARGEST_ID = 2**63 - 1
CUT = 20_000
"""Characters of a part of a message that are shown unless the whole is asked for."""
MessageId: TypeAlias = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class MessagePart(BaseModel):
    """A part of a message; `characters` is its full length, of which `text` may show less."""

    kind: PartKind
    name: str
    text: str
    truncated: bool
    characters: int


class MessageView(BaseModel):
    """A message: where it stands, whether requests contain it, and what is in it."""

    id: int
    position: int
    role: str
    state: Literal["active", "summarized", "pinned"]
    tokens: int
    input_tokens: int | None
    output_tokens: int | None
    created: str
    parts: list[MessagePart]
    truncated: bool


class MessagePage(BaseModel):
    """Messages in their order; `next` is what to pass as `after` for more, `total` how many the session has."""

    messages: list[MessageView]
    next: int | None
    total: int


class Kept(BaseModel):
    """The messages from before the summary that requests still contain; those from position `first` on all do."""

    messages: list[MessageView]
    first: int


class Pinned(BaseModel):
    """The messages that were pinned or unpinned together: calls and their results stay with each other."""

    messages: list[int]
    pinned: bool


class Matches(BaseModel):
    """What a search found, the best first; `spans` are the places of the words in an `excerpt`."""

    matches: list[Found]


@router.get("/sessions/{id}/messages")
def list_messages(
    id: SessionId,
    sessions: Sessions,
    after: Annotated[int, Query(ge=-1, le=LARGEST_ID)] = -1,
    limit: Limit = 100,
) -> MessagePage:
    """The messages after a position, whether a request still contains them or not; positions count from 0."""
    session = sessions.session(id)
    found = sessions.history(id, after=after, limit=limit + 1)
    shown, following = page_of(found, limit, lambda message: message.position)
    views = list(_messages(session, shown, _standing(sessions, id)))
    return MessagePage(messages=views, next=following, total=session.messages)


@router.get("/sessions/{id}/kept")
def list_kept(id: SessionId, sessions: Sessions) -> Kept:
    """What requests still contain from before the summary, and the position at which the messages after it begin."""
    assembled, _ = sessions.reader.now(id)
    active = assembled.active
    covered = (active.summary.cutoff if active.summary else None) or 0
    before = sorted(
        (one for one in assembled.messages.values() if one.id <= covered), key=lambda message: message.position
    )
    first = active.recent[0].position if active.recent else active.session.messages
    return Kept(messages=list(_messages(active.session, before, active.summary)), first=first)


@router.get("/sessions/{id}/messages/{message}")
def show_message(id: SessionId, message: MessageId, sessions: Sessions, *, follow: bool = False) -> MessageView:
    """One message, whole; with what its references stand for in their place, where that is asked for."""
    session, found = sessions.session(id), sessions.store.messages(id, [message])
    if follow:
        found = [_followed(sessions, session, one) for one in found]
    (view,) = _messages(session, found, _standing(sessions, id), cut=None)
    return view


@router.put("/sessions/{id}/messages/{message}/pin")
def pin_message(
    id: SessionId, message: MessageId, pinned: Annotated[bool, Body(embed=True)], sessions: Sessions
) -> Pinned:
    """Keep a message in every request, or no longer; calls and their results stay together."""
    return Pinned(messages=sessions.pin(id, message, pinned=pinned), pinned=pinned)


@router.get("/search")
def search_messages(
    sessions: Sessions,
    text: Annotated[str, Query(min_length=1, max_length=1_000)],
    session: Annotated[str | None, Query(max_length=LONGEST_ID)] = None,
    workspace: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Matches:
    """The messages that hold all the words, in one session or in all of them, with places to highlight."""
    found = sessions.search(text, session=session, workspace=workspace, limit=limit)
    return Matches(matches=[replace(one, role=showable(one.role), excerpt=showable(one.excerpt)) for one in found])


def _messages(
    session: StoredSession, stored: Sequence[StoredMessage], summary: Snapshot | None, cut: int | None = CUT
) -> Iterator[MessageView]:
    """Messages as people read them, each part cut to so many characters; `summary` is the one that stands."""
    frame = parse([], format=session.format)
    read = [frame.dialect.parse_message(json.loads(one.raw), str(one.id)) for one in stored]
    inspection = Inspection(frame.with_messages(read), model=session.model)
    covered = (summary.cutoff if summary else None) or 0
    kept = set(read_summary(summary).kept) if summary else set()
    for index, one in enumerate(stored):
        gone = one.id <= covered and one.id not in kept
        parts = [_part(part.kind, part.title, part.before or "", cut) for part in inspection.parts(index)]
        yield MessageView(
            id=one.id,
            position=one.position,
            role=showable(one.role),
            state="pinned" if one.pinned else "summarized" if gone else "active",
            tokens=one.tokens,
            input_tokens=one.input_tokens,
            output_tokens=one.output_tokens,
            created=one.created,
            parts=parts,
            truncated=any(part.truncated for part in parts),
        )


def _part(kind: str, name: str, text: str, cut: int | None) -> MessagePart:
    shown = text if cut is None else text[:cut]
    return MessagePart.model_validate(
        {"kind": kind, "name": name, "text": shown, "truncated": len(shown) < len(text), "characters": len(text)}
    )


def _standing(sessions: StoredSessions, id: str) -> Snapshot | None:
    """The summary that stands, at a cost that does not grow with the history."""
    return next(iter(sessions.summaries.standing(id)[-1:]), None)


def _followed(sessions: StoredSessions, session: StoredSession, message: StoredMessage) -> StoredMessage:
    """The message with its references followed into what was said before it."""
    frame = parse([], format=session.format, system=session.system)
    said = sessions.history(session.id, limit=message.position + 1)
    read = [frame.dialect.parse_message(json.loads(one.raw), str(one.id)) for one in said]
    return replace(message, raw=message_bytes(unfold(frame.with_messages(read)).messages[-1].wire))
