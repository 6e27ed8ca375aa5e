"""Stored sessions: listed, made, changed, deleted, imported from a transcript and exported to one."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from compact.app import DEFAULT_MODEL, session_files, write_transcript
from compact.app.inspecting import showable
from compact.app.responding import KeyOffer, offer_keys, responder_for
from compact.app.stored import StoredSessions
from compact.engine.stored.preferences import Effective
from compact.errors import InvalidInput
from compact.formats import parse
from compact.messages import Conversation, Json
from compact.policies.session_ids import LONGEST_ID, file_name
from compact.ports import StoredSession
from compact.server.security import Uploaded
from compact.server.showing import (
    Blocked,
    ContextUsage,
    FormatName,
    Limit,
    SessionId,
    SummaryView,
    blocked_of,
    download,
    page_of,
    summary_of,
    usage_of,
)
from compact.server.stored import Sessions
from compact.sessions.cursors import cursor_of

router = APIRouter(prefix="/sessions", tags=["sessions"], generate_unique_id_function=lambda route: route.name)

Named = Annotated[str, Query(max_length=200)]
_AUTOMATIC = "Whether the session is compacted automatically; null for what the settings say."
Instructions: TypeAlias = str | dict[str, Json] | list[Json] | None


class NewSession(BaseModel):
    """A session to be made; without a model it is with the one that answers."""

    model: str = Field(default="", max_length=200)
    format: FormatName = "openai-chat"
    title: str = Field(default="", max_length=500)
    workspace: str = Field(default="", max_length=200)
    system: Instructions = None
    tools: list[Json] | None = Field(default=None, max_length=1_000)
    automatic: bool | None = Field(default=None, description=_AUTOMATIC)


class SessionChange(BaseModel):
    """What is to be changed of a session; what is not given stays."""

    model: str | None = Field(default=None, min_length=1, max_length=200)
    title: str | None = Field(default=None, max_length=500)
    workspace: str | None = Field(default=None, max_length=200)
    system: Instructions = None
    tools: list[Json] | None = Field(default=None, max_length=1_000)
    automatic: bool | None = Field(default=None, description=_AUTOMATIC)


class SessionRow(BaseModel):
    """A session in a list."""

    id: str
    title: str
    model: str
    format: str
    workspace: str
    messages: int
    blocked: bool
    created: str
    updated: str


class SessionPage(BaseModel):
    """Sessions, the one changed last first; `next` is what to pass as `after` for more."""

    sessions: list[SessionRow]
    next: str | None


class Automatic(BaseModel):
    """Whether a session is compacted automatically; `own` is null where it follows the settings, which say `usual`."""

    on: bool
    own: bool | None
    usual: bool


class Answering(BaseModel):
    """Who answers in the chat; offline means that no model does. `keys` could be used then, and are not yet."""

    offline: bool
    profile: str
    model: str
    label: str
    keys: list[KeyOffer]


class SessionView(BaseModel):
    """A session: what it is, how full, whether it may go on, and the summary that stands."""

    session: SessionRow
    revision: int
    system: Json
    tools: Json
    usage: ContextUsage
    blocked: Blocked
    automatic: Automatic
    summary: SummaryView | None
    answering: Answering
    notify: bool
    open_question: bool = Field(description="Whether the last message is a user's, and has no answer yet.")
    warnings: list[str]


@router.get("")
def list_sessions(
    sessions: Sessions,
    workspace: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[str | None, Query(max_length=LONGEST_ID + 100)] = None,
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
            automatic=new.automatic,
        )
    )
    return view_of(sessions, made.id)


@router.post(
    "/import",
    status_code=201,
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "string"}}}},
    },
)
def import_session(
    data: Uploaded,
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
    """Change a session; what is not given stays as it is.

    Null takes the system prompt or the tools away, and lets automatic compaction follow the settings.
    """
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
    wires = (
        sessions.context(id).messages
        if what == "context"
        else list(map(json.loads, session_files.stored_bytes(sessions, id)))
    )
    whole: Conversation = parse(wires, format=session.format, system=session.system, tools=session.tools)
    return download(write_transcript(whole), f"session-{file_name(session.id)[:40]}.json")


def row_of(session: StoredSession) -> SessionRow:
    """A session as a list shows it."""
    return SessionRow(
        id=session.id,
        title=showable(session.title),
        model=showable(session.model),
        format=session.format,
        workspace=showable(session.workspace),
        messages=session.messages,
        blocked=bool(session.blocked) and not session.acknowledged,
        created=session.created,
        updated=session.updated,
    )


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
        automatic=_automatic_of(sessions, session, effective),
        summary=summary_of(summary) if summary else None,
        answering=answering_of(session.model),
        notify=effective.settings.notify,
        open_question=has_open_question(sessions, session),
        warnings=list(_warnings(session, usage, effective)),
    )


def _automatic_of(sessions: StoredSessions, session: StoredSession, effective: Effective) -> Automatic:
    own, on = session.automatic, effective.settings.automatic
    usual = on if own is None else sessions.preferences.resolve(session.workspace, effective.model).settings.automatic
    return Automatic(on=on, own=own, usual=usual)


def answering_of(model: str) -> Answering:
    """Who answers in a session with the model, for people."""
    responder = responder_for(model)
    return Answering(
        offline=responder.offline,
        profile=responder.profile.name if responder.profile else "",
        model=responder.profile.model if responder.profile else "",
        label=responder.label,
        keys=list(offer_keys(model)) if responder.offline else [],
    )


def _warnings(session: StoredSession, usage: ContextUsage, effective: Effective) -> Iterator[str]:
    model = effective.model
    over = f"{usage.used:,} tokens are more than the {usage.window:,} that the model reads"
    off = f"automatic compaction is off {'for this session' if session.automatic is False else 'in the settings'}"
    if effective.settings.automatic:
        yield from [f"{over}."] if usage.used > usage.window else []
    elif usage.used > usage.window:
        yield f"{over}, and {off}: summarize by hand."
    elif usage.used >= usage.trigger:
        yield (
            f"{off.capitalize()}, and the threshold of {usage.trigger:,} tokens is reached: "
            f"summarize by hand before {usage.window:,}."
        )
    if model.source == "default" and model.provider == "unknown" and effective.window == model.max_input:
        yield f"Nobody has described {showable(model.model)}: {model.max_input:,} tokens are assumed."
    yield from map(showable, effective.threshold.warnings)


def has_open_question(sessions: StoredSessions, session: StoredSession) -> bool:
    """Whether the last message is a user's, and has no answer yet."""
    last = sessions.history(session.id, after=session.messages - 2, limit=1)
    frame = parse([], format=session.format)
    return any(frame.dialect.parse_message(json.loads(one.raw), str(one.id)).from_user for one in last)


def _usual_model() -> str:
    profile = responder_for("").profile
    return profile.catalogue_name if profile else DEFAULT_MODEL
