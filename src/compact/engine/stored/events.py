"""The events of stored sessions: of each request, and of a compaction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.engine.events import decision_events, estimate_event, pruned_event, result_events
from compact.engine.stored.compaction import Compacted, Job
from compact.engine.stored.context import Assembled
from compact.engine.stored.preferences import Effective
from compact.messages import ROLES_NEVER_PRUNED, Json
from compact.policies import Decision
from compact.ports import Event

_PREVIEW = 200
"""Characters of a summary that an event has."""
_MARKUP = re.compile(r"^#+ .*$|^[-*] ", re.MULTILINE)  # headings, and the marks of lists


def request_events(assembled: Assembled, effective: Effective, decision: Decision, note: str = "") -> Iterator[Event]:
    """The size of the next request, and whether a compaction begins."""
    settings, model = effective.settings, assembled.active.session.model
    policy: dict[str, Json] = {"hard_cap_buffer": decision.room.buffer, "strategy": settings.strategy}
    policy |= {"retention_tokens": settings.retention_tokens}
    yield estimate_event(model, decision, assembled.frame, assembled.system, assembled.roles)
    yield from decision_events(decision, policy, effective.threshold, note)


def compaction_events(job: Job, done: Compacted) -> Iterator[Event]:
    """Yield events for what a compaction kept, removed and wrote, and its record."""
    before, outcome, facts = job.assembled.conversation, done.outcome, done.report.facts
    undo = f"summaries.undo({job.assembled.active.session.id!r})"
    yield pruned_event(before, outcome.conversation, facts, ROLES_NEVER_PRUNED, undo)
    yield from result_events(before, outcome, facts, job.inputs.gauge)


def preview_of(words: str) -> str:
    """How a summary begins, in one line."""
    return " ".join(_MARKUP.sub("", words).split())[:_PREVIEW]
