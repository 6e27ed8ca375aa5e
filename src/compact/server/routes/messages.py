"""The messages of stored sessions: the whole history, marked as active or not, pins, and search."""

import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from compact.app.inspecting import showable
from compact.app.stored import StoredSessions
from compact.formats import parse
from compact.messages import message_bytes, unfold
from compact.ports import Snapshot, StoredMessage, StoredSession
from compact.server.routes.shapes.conversations import (
    LARGEST_ID,
    Kept,
    Limit,
    Match,
    Matches,
    MessageId,
    MessagePage,
    MessageView,
    Pin,
    Pinned,
    SessionId,
)
from compact.server.routes.shapes.showing import messages_of, page_of
from compact.server.stored import sessions_of

router = APIRouter(tags=["messages"], generate_unique_id_function=lambda route: route.name)

Sessions = Annotated[StoredSessions, Depends(sessions_of)]


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
    views = messages_of(session, shown, _standing(sessions, id))
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
    return Kept(messages=messages_of(active.session, before, active.summary), first=first)


@router.get("/sessions/{id}/messages/{message}")
def show_message(id: SessionId, message: MessageId, sessions: Sessions, *, follow: bool = False) -> MessageView:
    """One message, whole; with what its references stand for in their place, where that is asked for."""
    session, found = sessions.session(id), sessions.store.messages(id, [message])
    if follow:
        found = [_followed(sessions, session, one) for one in found]
    (view,) = messages_of(session, found, _standing(sessions, id), cut=None)
    return view


@router.put("/sessions/{id}/messages/{message}/pin")
def pin_message(id: SessionId, message: MessageId, pin: Pin, sessions: Sessions) -> Pinned:
    """Keep a message in every request, or no longer; calls and their results stay together."""
    return Pinned(messages=sessions.pin(id, message, pinned=pin.pinned), pinned=pin.pinned)


@router.get("/search")
def search_messages(
    sessions: Sessions,
    text: Annotated[str, Query(min_length=1, max_length=1_000)],
    session: Annotated[str | None, Query(max_length=200)] = None,
    workspace: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Matches:
    """The messages that hold all the words, in one session or in all of them, with places to highlight."""
    found = sessions.search(text, session=session, workspace=workspace, limit=limit)
    return Matches(
        matches=[
            Match(
                session=one.session,
                message=one.message,
                position=one.position,
                role=showable(one.role),
                excerpt=showable(one.excerpt),
                spans=list(one.spans),
            )
            for one in found
        ]
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
