"""What happens to stored sessions, as it happens."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse

from compact.app.inspecting import showable
from compact.server.routes.shapes.conversations import Happening
from compact.server.state import ServerState, state_of
from compact.server.stored import TOPIC

router = APIRouter(tags=["events"], generate_unique_id_function=lambda route: route.name)


@router.get("/events", response_class=EventSourceResponse)
async def watch_sessions(
    state: Annotated[ServerState, Depends(state_of)],
    session: Annotated[str, Query(max_length=200)] = "",
) -> AsyncIterator[Happening]:
    """Compressions that begin, end or fail, and summaries that change: of one session, or of all of them."""
    async with state.events.subscribe(TOPIC) as queue:
        while True:
            told = await queue.get()
            if not session or told["session"] == session:
                yield Happening.model_validate(showable(told))
