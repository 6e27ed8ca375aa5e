"""Compressing stored sessions, and their summaries: made, rewritten, edited, taken over, undone."""

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from compact.engine.stored.service import Wish
from compact.policies.session_ids import LONGEST_ID
from compact.server.routes.sessions import SessionView, view_of
from compact.server.showing import CompressionDone, SessionId, Sizes, SummaryView, compression_of, money, summary_of
from compact.server.stored import Sessions

router = APIRouter(prefix="/sessions/{id}", tags=["summaries"], generate_unique_id_function=lambda route: route.name)


class CompressionWish(BaseModel):
    """How to compress, where not as the settings say; `retention` 0 keeps nothing but what is pinned."""

    retention: int | None = Field(default=None, ge=0, le=100_000_000)
    note: str = Field(default="", max_length=2_000)
    strategy: str = Field(default="", max_length=64)
    offline: bool = Field(default=False, description="Call no model.")


_AS_USUAL = CompressionWish()
Wished = Annotated[CompressionWish, Body()]


class CompressionPreview(Sizes):
    """What a compression would do, and about what it would cost; None where the price is unknown."""

    messages: int
    questions: int = Field(description="How often a model would be asked.")
    reads: int = Field(description="The tokens of these questions together.")
    cost: str | None
    priced_by: str = Field(description="Whose price it is; offline where no model is called.")
    warnings: list[str]


@router.post("/preview")
def preview_compression(id: SessionId, sessions: Sessions, wish: Wished = _AS_USUAL) -> CompressionPreview:
    """What a compression would do and cost; no model is called, and nothing is changed."""
    preview = sessions.preview(id, _wish(wish))
    return CompressionPreview(
        messages=preview.messages,
        tokens_before=preview.tokens_before,
        tokens_after=preview.tokens_after,
        questions=preview.charge.questions,
        reads=preview.charge.input,
        cost=money(preview.charge.cost),
        priced_by=preview.priced_by or "offline",
        warnings=list(preview.warnings),
    )


@router.post("/compress")
def compress_session(id: SessionId, sessions: Sessions, wish: Wished = _AS_USUAL) -> CompressionDone:
    """Compress now; `/api/events` tells how it goes."""
    return compression_of(sessions.compress(id, _wish(wish)))


@router.post("/retry")
def retry_compression(id: SessionId, sessions: Sessions, wish: Wished = _AS_USUAL) -> CompressionDone:
    """Try a compression again that has failed; where it succeeds, the session may go on."""
    return compression_of(sessions.compress(id, _wish(wish)))


@router.post("/acknowledge")
def acknowledge_risk(id: SessionId, sessions: Sessions) -> SessionView:
    """Take the risk of going on without the compression that has failed."""
    sessions.acknowledge(id)
    return view_of(sessions, id)


@router.get("/summaries")
def list_summaries(id: SessionId, sessions: Sessions, *, retired: bool = True) -> list[SummaryView]:
    """The summaries of a session, in order, those included that were replaced or undone."""
    return [summary_of(one) for one in sessions.summaries.standing(id, retired=retired)]


@router.post("/summary/regenerate")
def regenerate_summary(id: SessionId, sessions: Sessions, wish: Wished = _AS_USUAL) -> CompressionDone:
    """Write the summary that stands anew, of the same messages."""
    return compression_of(sessions.summaries.regenerate(id, _wish(wish)))


@router.put("/summary")
def edit_summary(
    id: SessionId, text: Annotated[str, Body(embed=True, min_length=1, max_length=200_000)], sessions: Sessions
) -> SummaryView:
    """Put a person's own words in the place of the summary that stands."""
    return summary_of(sessions.summaries.edit(id, text))


@router.post("/summary/import")
def import_summary(
    id: SessionId, source: Annotated[str, Body(embed=True, min_length=1, max_length=LONGEST_ID)], sessions: Sessions
) -> SummaryView:
    """Give the session what the summary of another one says."""
    return summary_of(sessions.summaries.take_over(id, source))


@router.delete("/summary")
def undo_summary(id: SessionId, sessions: Sessions) -> SessionView:
    """Take the last summary back; what stood before it stands again: the words it replaced, or the messages."""
    sessions.summaries.undo(id)
    return view_of(sessions, id)


def _wish(wish: CompressionWish) -> Wish:
    return Wish(wish.retention, wish.note, wish.strategy, wish.offline)
