"""Analytics: what compressions have saved and cost, and what would save more."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from compact.app.analysing import (
    GROUPINGS,
    Done,
    by_day,
    compare,
    grouped,
    merged,
    of_session,
    of_spans,
    of_spending,
    total,
)
from compact.app.inspecting import showable
from compact.app.stored import StoredSessions
from compact.models.spending import Spending, accuracy
from compact.server.ingest import store_of
from compact.server.routes.profiles import pick_conversation
from compact.server.showing import Sizes, money
from compact.server.state import State
from compact.server.stored import Sessions
from compact.sessions.cursors import cursor_of
from compact.settings.spending import load_spending

router = APIRouter(prefix="/analytics", tags=["analytics"], generate_unique_id_function=lambda route: route.name)

_MOST_SESSIONS = 1_000
_MOST_TRACES = 1_000
_PAGE = 200
_SHOWN = 20


class Sums(BaseModel):
    """What several compressions came to."""

    compressions: int
    failures: int
    tokens_saved: int


class Day(Sums):
    """What compressions of one day came to; money as text, in dollars."""

    day: str
    saved: str
    spent: str


class Group(Sums, Sizes):
    """The same for all compressions that have something in common, such as a strategy."""

    by: Literal["provider", "strategy", "trigger", "preset", "step", "source"]
    name: str


class EstimateRecord(BaseModel):
    """One paid condensation: what it was expected to cost, and what it did."""

    at: str
    way: str
    profile: str
    model: str
    estimated: str | None
    actual: str | None
    error: float | None


class EstimateAccuracy(BaseModel):
    """How the estimates stood up."""

    condensations: int
    within_a_fifth: int
    median_miss: float | None
    spent: str
    records: list[EstimateRecord]


class CacheEffect(Sizes):
    """What a compression did to the vendor's prompt cache: its price once, what a request saves, and when it pays."""

    session: str
    title: str
    at: str
    model: str
    rewrite: str | None
    saved_per_request: str | None
    turns: int | None


class AdviceView(BaseModel):
    """What to do for less money, and how much less that is where it is known."""

    text: str
    saves: str | None


class AnalyticsView(Sums, Sizes):
    """What compressions have come to; `empty` where there were none."""

    empty: bool
    older: int = Field(description="How many were recorded by a version that did not store all their facts.")
    days: list[Day]
    success_rate: float | None
    saved: str
    saved_unknown: int
    spent: str
    groups: list[Group]
    estimates: EstimateAccuracy
    cache: list[CacheEffect]


@router.get("")
def show_analytics(
    state: State,
    sessions: Sessions,
    days: Annotated[int, Query(ge=1, le=366)] = 30,
) -> AnalyticsView:
    """What the compressions of the last days have come to: in stored sessions, in traces, and at the command line.

    Each counts once, however many of them have its record.

    Dollars saved are what each later request costs less, with the vendor's prompt cache.
    """
    until = datetime.now(UTC).date()
    since = until - timedelta(days=days - 1)
    first = since.isoformat()
    spending = [record for record in load_spending() if record.at >= first]
    spans = [span for trace in store_of(state).last(_MOST_TRACES) for span in trace["spans"]]
    stored = _stored(sessions, first)
    done = merged(one for one in (*stored, *of_spans(spans), *of_spending(spending)) if one.at >= first)
    whole = total(done)
    changed = sorted(filter(lambda one: one.session and one.compacted, done), key=lambda one: one.at, reverse=True)
    tried = whole.compressions + whole.failures
    return AnalyticsView(
        empty=not done,
        older=whole.older,
        days=[
            Day(
                day=day.isoformat(),
                compressions=found.compressions,
                failures=found.failures,
                tokens_saved=found.saved,
                saved=str(money(found.worth)),
                spent=str(money(found.spent)),
            )
            for day, found in by_day(done, since, until)
        ],
        compressions=whole.compressions,
        failures=whole.failures,
        success_rate=whole.compressions / tried if tried else None,
        tokens_before=whole.before,
        tokens_after=whole.after,
        tokens_saved=whole.saved,
        saved=str(money(whole.worth)),
        saved_unknown=whole.unpriced,
        spent=str(money(whole.spent)),
        groups=list(_groups(done)),
        estimates=_estimates(spending),
        cache=[_cache(one) for one in changed[:_SHOWN]],
    )


@router.get("/recommendations")
def recommend_savings(
    sessions: Sessions,
    session: Annotated[str, Query(max_length=200, description="Empty for the bundled demo.")] = "",
    turns: Annotated[int, Query(ge=1, le=100_000)] = 20,
) -> list[AdviceView]:
    """What to do for less money with a session, and how much less that is over so many requests."""
    conversation, model = pick_conversation(sessions, session)
    advice = compare(conversation, model, turns=turns).advice()
    return [AdviceView(text=showable(one.text), saves=money(one.saves)) for one in advice]


def _stored(sessions: StoredSessions, first: str) -> Iterator[Done]:
    """The compressions of the sessions that were changed since then, the latest sessions first."""
    seen, after = 0, None
    while seen < _MOST_SESSIONS and (page := sessions.sessions(limit=_PAGE, after=after)):
        for session in page:
            if session.updated < first:
                return
            found = of_session(session, sessions.summaries.standing(session.id, retired=True))
            yield from (one for one in found if one.at >= first)
        seen, after = seen + len(page), cursor_of(page[-1])


def _groups(done: Sequence[Done]) -> Iterator[Group]:
    for by in GROUPINGS:
        for name, found in grouped(done, by):
            yield Group(
                by=by,
                name=showable(name),
                compressions=found.compressions,
                failures=found.failures,
                tokens_before=found.before,
                tokens_after=found.after,
                tokens_saved=found.saved,
            )


def _estimates(spending: Sequence[Spending]) -> EstimateAccuracy:
    found = accuracy(spending)
    return EstimateAccuracy(
        condensations=found.condensations,
        within_a_fifth=found.within_a_fifth,
        median_miss=found.median_miss,
        spent=str(money(found.spent)),
        records=[
            EstimateRecord(
                at=record.at,
                way=showable(record.way),
                profile=showable(record.profile),
                model=showable(record.model),
                estimated=money(record.estimated.cost),
                actual=money(record.actual.cost),
                error=record.error,
            )
            for record in spending[-_SHOWN:]
        ],
    )


def _cache(one: Done) -> CacheEffect:
    paid = one.payback()
    return CacheEffect(
        session=one.session,
        title=showable(one.title),
        at=one.at,
        model=showable(one.facts.model),
        tokens_before=one.facts.tokens_before,
        tokens_after=one.facts.tokens_after,
        rewrite=money(paid.rewrite) if paid else None,
        saved_per_request=money(paid.saved) if paid else None,
        turns=paid.turns if paid else None,
    )
