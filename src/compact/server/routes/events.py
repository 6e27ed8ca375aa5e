"""What happens to stored sessions, as it happens."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel

from compact.app.inspecting import showable
from compact.messages import Json
from compact.policies.session_ids import LONGEST_ID
from compact.server.state import State
from compact.server.stored import TOPIC

router = APIRouter(tags=["events"], generate_unique_id_function=lambda route: route.name)


class Happening(BaseModel):
    """Something that happened to a session: a compression began, ended or failed, or its summary changed."""

    session: str
    name: str
    at: str
    seconds: float
    failed: bool
    properties: dict[str, Json]


@router.get("/events", response_class=EventSourceResponse)
async def watch_sessions(
    state: State,
    session: Annotated[str, Query(max_length=LONGEST_ID)] = "",
) -> AsyncIterator[Happening]:
    """Compressions that begin, end or fail, and summaries that change: of one session, or of all of them."""
    async with state.events.subscribe(TOPIC) as happenings:
        async for told in happenings:
            if not session or told["session"] == session:
                yield Happening.model_validate(showable(told))
