"""Stored sessions: listed, made, changed, deleted, imported from a transcript and exported to one."""

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from compact.app import DEFAULT_MODEL, session_files, write_transcript
from compact.app.inspecting import showable
from compact.app.responding import Responder, responder_for
from compact.app.stored import StoredSessions
from compact.engine.stored.preferences import Effective
from compact.errors import InvalidInput
from compact.formats import parse
from compact.messages import Conversation
from compact.ports import StoredMessage, StoredSession
from compact.server.routes.shapes.conversations import (
    Answering,
    ContextUsage,
    Limit,
    NewSession,
    SessionChange,
    SessionId,
    SessionPage,
    SessionView,
)
from compact.server.routes.shapes.showing import blocked_of, page_of, row_of, summary_of, usage_of
from compact.server.security import large_upload
from compact.server.stored import sessions_of
from compact.sessions.cursors import cursor_of

router = APIRouter(prefix="/sessions", tags=["sessions"], generate_unique_id_function=lambda route: route.name)

Sessions = Annotated[StoredSessions, Depends(sessions_of)]
Named = Annotated[str, Query(max_length=200)]
_PAGE = 1_000


@router.get("")
def list_sessions(
    sessions: Sessions,
    workspace: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
) -> SessionPage:
    """The sessions, the one changed last first."""
    found = sessions.sessions(workspace, limit=limit + 1, after=after)
    shown, following = page_of(found, limit, cursor_of)
    return SessionPage(sessions=[row_of(session) for session in shown], next=following)


@router.post("", status_code=201)
def create_session(new: NewSession, sessions: Sessions) -> SessionView:
    """Make a session."""
    made = sessions.create(
        StoredSession(
            id="",
            model=new.model or _usual_model(),
            format=new.format,
            workspace=new.workspace,
            title=new.title,
            system=new.system,
            tools=new.tools,
        )
    )
    return view_of(sessions, made.id)


async def _sent(request: Request, _: Annotated[None, Depends(large_upload)]) -> bytes:
    return await request.body()


@router.post(
    "/import",
    status_code=201,
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "string"}}}},
    },
)
def import_session(
    data: Annotated[bytes, Depends(_sent)],
    sessions: Sessions,
    name: Named = "transcript.json",
    model: Named = "",
    workspace: Named = "",
) -> SessionView:
    """Make a session of a transcript: the bytes of a file in any format that Compact reads."""
    wanted = StoredSession("", model, "", workspace, title=name)
    return view_of(sessions, session_files.import_session(sessions, data, wanted, name=showable(name)))


@router.get("/{id}")
def show_session(id: SessionId, sessions: Sessions) -> SessionView:
    """A session: how full its model is, whether it may go on, and the summary that stands."""
    return view_of(sessions, id)


@router.patch("/{id}")
def change_session(id: SessionId, change: SessionChange, sessions: Sessions) -> SessionView:
    """Change a session; what is not given stays as it is, and null takes the system prompt or the tools away."""
    given: dict[str, Any] = change.model_dump(exclude_unset=True)
    wrong = [name for name in ("model", "title", "workspace") if name in given and given[name] is None]
    if wrong:
        raise InvalidInput("must be a text", field=wrong[0], remedy="Leave it out to keep what it is.")
    session = sessions.session(id)
    changed = replace(session, **given)
    parse([], format=session.format, system=changed.system, tools=changed.tools)
    if "model" in given:
        sessions.preferences.model(changed.model)
    if given:
        sessions.store.change(id, given)
    return view_of(sessions, id)


@router.delete("/{id}", status_code=204)
def delete_session(id: SessionId, sessions: Sessions) -> None:
    """Delete a session with all that belongs to it."""
    sessions.delete(id)


@router.get("/{id}/export", response_class=Response)
def export_session(id: SessionId, sessions: Sessions, what: Literal["history", "context"] = "history") -> Response:
    """The session as a transcript: all that was ever said, or what the next request would contain."""
    session = sessions.session(id)
    wires = sessions.context(id).messages if what == "context" else [json.loads(one.raw) for one in _all(sessions, id)]
    whole: Conversation = parse(wires, format=session.format, system=session.system, tools=session.tools)
    headers = {"Content-Disposition": f'attachment; filename="session-{session.id[:40]}.json"'}
    return Response(write_transcript(whole).encode(), media_type="application/json", headers=headers)


def view_of(sessions: StoredSessions, id: str) -> SessionView:
    """A session as the page shows it."""
    assembled, effective = sessions.reader.now(id)
    session, summary = assembled.active.session, assembled.active.summary
    usage = usage_of(sessions, assembled, effective)
    return SessionView(
        session=row_of(session),
        revision=session.revision,
        system=showable(session.system),
        tools=showable(session.tools),
        usage=usage,
        blocked=blocked_of(session),
        summary=summary_of(summary) if summary else None,
        answering=answering_of(responder_for(session.model)),
        notify=effective.settings.notify,
        open_question=has_open_question(sessions, session),
        warnings=_warnings(session, usage, effective),
    )


def answering_of(responder: Responder) -> Answering:
    """Who answers, for people."""
    return Answering(
        offline=responder.offline,
        profile=responder.profile.name if responder.profile else "",
        model=responder.profile.model if responder.profile else "",
        label=responder.label,
    )


def _warnings(session: StoredSession, usage: ContextUsage, effective: Effective) -> list[str]:
    found, model = [], effective.model
    if usage.used > usage.window:
        found.append(f"{usage.used:,} tokens are more than the {usage.window:,} that the model reads.")
    elif not effective.settings.automatic and usage.used >= usage.trigger:
        found.append("Automatic compression is off, and the threshold is reached.")
    if session.acknowledged:
        found.append("The last compression failed, and the risk of going on without it was acknowledged.")
    if model.source == "default" and model.provider == "unknown":
        found.append(f"Nobody has described {showable(model.model)}: {model.max_input:,} tokens are assumed.")
    return found


def has_open_question(sessions: StoredSessions, session: StoredSession) -> bool:
    """Whether the last message is a user's, and has no answer yet."""
    last = sessions.history(session.id, after=session.messages - 2, limit=1)
    frame = parse([], format=session.format)
    return any(frame.dialect.parse_message(json.loads(one.raw), str(one.id)).from_user for one in last)


def _usual_model() -> str:
    profile = responder_for("").profile
    return profile.catalogue_name if profile else DEFAULT_MODEL


def _all(sessions: StoredSessions, id: str) -> list[StoredMessage]:
    found: list[StoredMessage] = []
    while page := sessions.history(id, after=found[-1].position if found else -1, limit=_PAGE):
        found += page
    return found
