"""Compact's own values made into what the API gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from compact.app.inspecting import Inspection, showable
from compact.app.stored import StoredSessions
from compact.engine.stored.context import Assembled
from compact.engine.stored.preferences import Effective
from compact.engine.stored.service import Compression
from compact.engine.stored.snapshots import describe_summary, read_summary
from compact.formats import parse
from compact.messages import ROLES_NEVER_PRUNED
from compact.policies import should_condense
from compact.ports import Snapshot, StoredMessage, StoredSession
from compact.server.routes.shapes.conversations import (
    CUT,
    Blocked,
    CompressionDone,
    ContextUsage,
    MessagePart,
    MessageView,
    SessionRow,
    SummaryView,
)
from compact.tokens import Counter

T = TypeVar("T")
C = TypeVar("C")
_HIGH, _FULL = 0.8, 0.95


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


def usage_now(service: StoredSessions, id: str) -> ContextUsage:
    """How full the model is with what would be sent now."""
    return usage_of(service, *service.reader.now(id))


def usage_of(service: StoredSessions, assembled: Assembled, effective: Effective) -> ContextUsage:
    """How full the model is with what was read."""
    decision = should_condense(assembled.tokens, effective.window, effective.settings.trigger())
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
    return SummaryView(
        id=snapshot.id,
        text=showable(summary.words.strip()),
        version=summary.number or 1,
        messages=summary.messages,
        tokens=snapshot.tokens,
        tokens_before=summary.tokens_before,
        tokens_after=summary.tokens_after,
        trigger=summary.trigger,
        strategy=summary.strategy,
        source=showable(summary.source),
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


def messages_of(
    session: StoredSession, stored: Sequence[StoredMessage], summary: Snapshot | None, cut: int | None = CUT
) -> list[MessageView]:
    """Messages as people read them, each part cut to so many characters; `summary` is the one that stands."""
    frame = parse([], format=session.format)
    read = [frame.dialect.parse_message(json.loads(one.raw), str(one.id)) for one in stored]
    inspection = Inspection(frame.with_messages(read), model=session.model)
    covered = (summary.cutoff if summary else None) or 0
    kept = set(read_summary(summary).kept) if summary else set()
    found = []
    for index, one in enumerate(stored):
        gone = one.id <= covered and one.id not in kept
        parts = [_part(part.kind, part.title, part.before or "", cut) for part in inspection.parts(index)]
        found.append(
            MessageView(
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
        )
    return found


def money(amount: Decimal | None) -> str | None:
    """Dollars as text, so that nothing is rounded."""
    return None if amount is None else format(amount, "f")


def page_of(found: Sequence[T], limit: int, cursor: Callable[[T], C]) -> tuple[list[T], C | None]:
    """The first of the things that were found, and the cursor of the last of them where there are more."""
    shown = list(found[:limit])
    return shown, cursor(shown[-1]) if len(found) > limit else None


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


def _part(kind: str, name: str, text: str, cut: int | None) -> MessagePart:
    shown = text if cut is None else text[:cut]
    return MessagePart.model_validate(
        {"kind": kind, "name": name, "text": shown, "truncated": len(shown) < len(text), "characters": len(text)}
    )
