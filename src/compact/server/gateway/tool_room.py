"""Room in a compacted request for the tools by which the model looks up what was removed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compact.app.counting import counter_for
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.formats import FORMATS
from compact.policies.room import read_answer_room

if TYPE_CHECKING:
    from compact import CompactManager
    from compact.app.preflight import Preflight
    from compact.server.gateway.compacting import Asked


def fit_tools(
    manager: CompactManager, session: str, asked: Asked, offering: Asked, done: Preflight
) -> Preflight | None:
    """Return the request with room for our tools; None if there is no way to make it."""
    format, counter = FORMATS[asked.format], counter_for(asked.catalogue_name)
    own, all_ = (counter.tools(format.read_tools(one.body.get(format.tools_key) or [])) for one in (asked, offering))
    used, answer = done.tokens_after + all_ - own, read_answer_room(format, asked.body)
    if done.max_tokens is None and used <= manager.compactor.judge(used, answer).budget:
        return replace(done, tokens_after=used)
    try:
        fitted = manager.fit(session, offering.request(offering.messages))
    except (InsufficientBudget, CompactionBlocked):
        return None
    return replace(
        fitted,
        compacted=done.compacted or fitted.compacted,
        tokens_before=done.tokens_before,
        reach=max(done.reach, fitted.reach),
        report=fitted.report or done.report,
        compaction=fitted.compaction or done.compaction,
        events=(*done.events, *fitted.events),
        break_cause=fitted.break_cause or done.break_cause,
    )
