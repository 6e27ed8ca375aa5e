"""What several routes show of stored sessions: how full they are, their summaries, whether they may go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from fastapi import Path, Query, Response
from pydantic import AfterValidator, BaseModel, Field

from compact.app.inspecting import showable
from compact.app.stored import StoredSessions
from compact.engine.stored.context import Assembled
from compact.engine.stored.preferences import Effective
from compact.engine.stored.service import Compression, Context
from compact.engine.stored.snapshots import describe_summary
from compact.formats import parse
from compact.messages import ROLES_NEVER_PRUNED, Conversation
from compact.policies.session_ids import LONGEST_ID
from compact.ports import CompactionFacts, Snapshot, StoredSession
from compact.tokens import Counter

FormatName: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"]
SessionId: TypeAlias = Annotated[str, Path(max_length=3 * LONGEST_ID), AfterValidator(unquote)]
"""A session's id in an address, in which `SessionPaths` leaves slashes and per cent signs escaped."""
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500)]
T = TypeVar("T")
C = TypeVar("C")
_HIGH, _FULL = 0.8, 0.95


class Sizes(BaseModel):
    """The tokens of a conversation before a compaction and after it."""

    tokens_before: int
    tokens_after: int


class ContextUsage(BaseModel):
    """How full the model is: tokens in use of those it reads, where compression begins, and what takes them."""

    used: int
    window: int
    percent: float
    trigger: int
    level: Literal["calm", "high", "full"] = Field(description="high from 80 percent on, full from 95.")
    by_kind: dict[str, int]
    reason: str


class Blocked(BaseModel):
    """Why no request may be made, if so; who acknowledges takes the risk."""

    blocked: bool
    reason: str
    acknowledged: bool


class SummaryView(BaseModel):
    """A summary: its words, and the badge that says what it stands for."""

    id: int
    text: str
    version: int
    messages: int
    tokens: int
    tokens_before: int | None
    tokens_after: int | None
    trigger: str = Field(description="automatic, manual, regenerated, edited or imported")
    strategy: str
    source: str = Field(description="The session it was imported from.")
    written_by: list[str] = Field(description="The models that wrote it.")
    why_offline: str = Field(description="Why no model wrote it, where an account was written.")
    cost: str | None = Field(description="Dollars, where the price is known.")
    cutoff: int | None
    created: str
    retired: bool


class CompressionDone(Sizes):
    """What a compression did."""

    summary: SummaryView
    messages: int
    seconds: float
    warnings: list[str]


def usage_now(service: StoredSessions, id: str) -> ContextUsage:
    """How full the model is with what would be sent now."""
    return usage_of(service, *service.reader.now(id))


def usage_of(service: StoredSessions, assembled: Assembled, effective: Effective) -> ContextUsage:
    """How full the model is with what was read."""
    decision = effective.decide(assembled.tokens)
    counter = service.reader.counter_for(assembled.active.session.model)
    share = decision.usage
    return ContextUsage(
        used=decision.used,
        window=decision.window,
        percent=round(100 * share, 2),
        trigger=decision.trigger_at,
        level="full" if share >= _FULL else "high" if share >= _HIGH else "calm",
        by_kind=_kinds(counter, assembled),
        reason=decision.reason,
    )


def blocked_of(session: StoredSession) -> Blocked:
    """Whether a session may go on."""
    return Blocked(
        blocked=bool(session.blocked) and not session.acknowledged,
        reason=showable(session.blocked),
        acknowledged=session.acknowledged,
    )


def summary_of(snapshot: Snapshot) -> SummaryView:
    """A summary with its badge; the marks around its words are left out."""
    summary = describe_summary(snapshot)
    facts = summary.facts or CompactionFacts()
    return SummaryView(
        id=snapshot.id,
        text=showable(summary.words.strip()),
        version=summary.number or 1,
        messages=summary.messages,
        tokens=snapshot.tokens,
        tokens_before=facts.tokens_before or None,
        tokens_after=facts.tokens_after or None,
        trigger=summary.trigger,
        strategy=facts.strategy,
        source=showable(summary.source),
        written_by=[showable(name) for name in facts.written_by],
        why_offline=showable(facts.why_offline),
        cost=money(facts.cost),
        cutoff=snapshot.cutoff,
        created=snapshot.created,
        retired=snapshot.retired,
    )


def compression_of(done: Compression) -> CompressionDone:
    """What a compression did."""
    return CompressionDone(
        summary=summary_of(done.snapshot),
        messages=done.messages,
        tokens_before=done.tokens_before,
        tokens_after=done.tokens_after,
        seconds=round(done.seconds, 4),
        warnings=list(done.warnings),
    )


def conversation_of(context: Context) -> Conversation:
    """What a session's next request contains."""
    session = context.session
    return parse(context.messages, format=session.format, system=session.system, tools=session.tools)


def money(amount: Decimal | None) -> str | None:
    """Dollars as text, so that nothing is rounded."""
    return None if amount is None else format(amount, "f")


def page_of(
    found: Sequence[T], limit: int, cursor: Callable[[T], C], after: C | None = None
) -> tuple[list[T], C | None]:
    """The first of the things that were found, and the cursor of the last of them where there are more.

    With `after`, they are those that follow the one with that cursor, where it is among them.
    """
    start = next((place for place, one in enumerate(found, 1) if after and cursor(one) == after), 0)
    shown = list(found[start : start + limit])
    return shown, cursor(shown[-1]) if len(found) > start + limit else None


def download(content: bytes | str, name: str) -> Response:
    """A file to be saved under that name, whose ending says what it holds."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=f"application/{name.rpartition('.')[2]}", headers=headers)


def _kinds(counter: Counter, assembled: Assembled) -> dict[str, int]:
    """The tokens of a request by kind of content, with those of instructions and of the summary by themselves."""
    whole = assembled.conversation
    kinds = dict(counter.conversation(whole, assembled.tools).by_kind)
    bare = parse([], format=whole.format)
    around, made = counter.conversation(bare).total, assembled.made
    for message in (*([whole.system] if whole.system else ()), *whole.messages):
        name = "summary" if message.id in made else "system"
        if name == "summary" or message.role in ROLES_NEVER_PRUNED:
            alone = counter.conversation(bare.with_messages([message])).by_kind
            for kind, tokens in alone.items():
                moved = tokens - around if kind == "frame" else tokens
                kinds[kind] -= moved
                kinds[name] = kinds.get(name, 0) + moved
    return {kind: tokens for kind, tokens in kinds.items() if tokens}
