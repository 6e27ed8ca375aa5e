"""Compacting a stored session by the engine: from what would be sent now to a summary that can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compact.engine.compaction import Goal, Inputs, compact
from compact.engine.driver import Asker, Outcome
from compact.engine.gauge import Gauge
from compact.engine.records import report_of
from compact.engine.report import Report
from compact.engine.stored.context import Assembled, assemble, fold_of
from compact.engine.stored.snapshots import SummarySnapshot, standing_edits, words_of
from compact.errors import CompactionBlocked, InsufficientBudget, NothingToCompact
from compact.messages import Fold, Message, Seal, exchanges, is_bridge, seen, stands_for, untouchable
from compact.models import find_model
from compact.policies import Decision, from_a_request, last_within
from compact.policies.stored import StoredSettings
from compact.ports import CompactionOrigin, Observe, StoredMessage
from compact.providers import Recipe
from compact.providers.provider import AccountStyle
from compact.tokens import Counter

_LEAST_ACCOUNT, _SHARE = 256, 4
"""An account of what goes takes this part of it, but no model is asked for fewer tokens."""
_FRAME = 100
"""Tokens that are kept free for what stands around an account."""
_NO_SUMMARY = "no summary"


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction: of what, by which recipe and settings, and what was decided about the session's size.

    `retention` is how many tokens of the last messages are to stay. `target` is the tokens to come down to; None leaves
    it to the recipe. `seal` signs the account, and `trigger` says what set the compaction off.
    """

    assembled: Assembled
    recipe: Recipe
    settings: StoredSettings
    counter: Counter
    decision: Decision
    retention: int
    target: int | None
    seal: Seal | None = None
    trigger: str = "manual"

    @property
    def inputs(self) -> Inputs:
        """The named inputs of the engine for this session."""
        assembled = self.assembled
        return Inputs(
            Gauge(self.counter, assembled.tools),
            self.decision.window,
            AccountStyle(self.settings.summary_role, seal=self.seal),
            originals=assembled.originals,
            items=assembled.items,
            vendor=find_model(assembled.active.session.model).vendor,
            origin=CompactionOrigin("chat", assembled.active.session.model, self.trigger),
        )

    @property
    def goal(self) -> Goal:
        return Goal(self.target, self.decision.budget, self.decision.trigger_at, self.decision.room.utmost)

    def recent(self) -> list[StoredMessage]:
        """Return the last whole exchanges that fit into the retention; a request at the end is not counted."""
        stored, messages = self.assembled.messages, seen(self.assembled.conversation.messages)
        gauge = self.inputs.gauge

        def size(message: Message) -> int:
            return stored[message.id].tokens if message.id in stored else gauge.message(message)

        within = last_within(messages, exchanges(messages), self.retention, size)
        if not self.exact:
            within = from_a_request(messages, within)
        ids = (messages[at].id for group in within for at in group)
        return [stored[id] for id in ids if id in stored]

    @property
    def exact(self) -> bool:
        """True if the recipe keeps messages in exact numbers, also where the first is an answer."""
        return self.recipe.provider.id == "layers"

    def scope(self) -> int:
        """About how many messages the account would stand for."""
        stored, kept = self.assembled.messages, {str(one.position) for one in self.recent()}
        return len(stored.keys() - kept - untouchable(self.assembled.conversation))


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary that is not stored yet, the session with it, and the stored messages that it took out."""

    summary: SummarySnapshot
    assembled: Assembled
    gone: tuple[StoredMessage, ...]
    outcome: Outcome
    report: Report
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a compaction comes down to, and how long the account may be so that the retention fits beside it."""

    target: int
    account: int


def aim_for(settings: StoredSettings, window: int, tokens: int, floor: int, retention: int | None) -> Aim:
    """What a session of so many tokens comes down to, of which `floor` must stay.

    By hand that is what must stay, the retention and an account of the rest; never more than what an automatic
    compaction comes down to, for which `retention` is None.
    """
    target = max(1, min(int(window * settings.target), tokens - 1))
    stays = floor + (settings.retention_tokens if retention is None else retention)
    if retention is not None and tokens > stays:
        account = min(settings.summary_tokens, max((tokens - stays) // _SHARE, _LEAST_ACCOUNT)) + 2 * _FRAME
        # What must stay may take more than an automatic compaction comes down to, and still needs an account.
        target = max(target, stays + _LEAST_ACCOUNT + 2 * _FRAME)
        target = min(target, stays + min(account, (tokens - stays) * 3 // _SHARE))
    elif retention is not None:
        target = tokens
    beside = _FRAME if retention != 0 else 0
    return Aim(target, min(settings.summary_tokens, max(target - stays - beside, _LEAST_ACCOUNT)))


def compact_session(job: Job, ask: Asker, observe: Observe | None = None) -> Compacted:
    """Compact what would be sent now.

    NothingToCompact where nothing may go, or a provider failed and nothing did its work; CompactionBlocked where no
    summary could be had and none may be done without; InsufficientBudget where what must stay does not fit.
    """
    outcome = compact(job.assembled.conversation, job.recipe, job.goal, replace(job.inputs, observe=observe), ask)
    failed = next((done.skipped for done in outcome.passes if done.skipped.startswith(_NO_SUMMARY)), "")
    if failed and job.settings.on_summary_failure == "block":
        raise CompactionBlocked(f"{failed}. Try again, or compact without a model.")
    if not outcome.plan and outcome.failure:
        raise NothingToCompact(f"{outcome.failure}. Choose another recipe, or repair the provider.")
    if not outcome.plan:
        raise NothingToCompact("everything is pinned or recent. Unpin messages, or keep fewer tokens of recent ones.")
    standing = {fold_of(message) for message in outcome.conversation.messages}
    gone = tuple(one for id, one in job.assembled.messages.items() if id not in standing)
    summary = _summary(job, outcome, standing, gone)
    after = _with(job, summary)
    if after.tokens > (most := job.decision.room.utmost):
        raise InsufficientBudget(
            f"{after.tokens:,} tokens are left where the model reads {most:,}. Unpin messages, shorten the "
            "input, the system prompt or the tools, or use a model with a larger context window.",
            needed=after.tokens,
            budget=most,
        )
    before = job.assembled
    report = report_of(job.recipe, before.conversation, outcome, job.inputs.gauge, job.target)
    report = replace(report, facts=replace(report.facts, tokens_before=before.tokens, tokens_after=after.tokens))
    summary = replace(summary, facts=report.facts)
    return Compacted(summary, after, gone, outcome, report, tuple(_warnings(job, outcome, after)))


def _summary(job: Job, outcome: Outcome, standing: set[str], gone: tuple[StoredMessage, ...]) -> SummarySnapshot:
    """What was done in all, to this day, to the messages that are stored."""
    before, stored = job.assembled, job.assembled.messages
    earlier = before.summary or SummarySnapshot()
    plan = standing_edits((*before.plan, *outcome.plan), standing)
    edited = {edit.where.message for step in plan for edit in step.edits if not isinstance(edit, Fold)}
    touched = [one.id for one in gone] + [one.id for id, one in stored.items() if id in edited]
    cutoff = max((*touched, earlier.cutoff or 0))
    entries = dict.fromkeys(
        stored[message.id].id if message.id in stored else fold_of(message)
        for message in outcome.conversation.messages
        if not message.id.startswith("input-") and not is_bridge(message.id)
    )
    made = [one for one in outcome.conversation.messages if one.id.startswith("fold-") and not is_bridge(one.id)]
    summary = SummarySnapshot(
        plan=plan,
        view=tuple(entry for entry in entries if isinstance(entry, str) or entry <= cutoff),
        cutoff=cutoff or None,
        first=earlier.first or min((one.id for one in gone), default=None),
        messages=sum(map(stands_for, made)),
        number=earlier.number + 1,
        role=job.settings.summary_role,
    )
    return replace(summary, words=words_of(summary.text))


def _with(job: Job, summary: SummarySnapshot) -> Assembled:
    """The session as it will be with the summary."""
    active, cutoff, kept = job.assembled.active, summary.cutoff or 0, set(summary.kept)
    everything = job.assembled.messages.values()
    pinned = tuple(one for one in everything if one.pinned and one.id <= cutoff)
    recent = tuple(one for one in everything if one.id > cutoff)
    standing = replace(active, summary=None, pinned=pinned, recent=recent)
    return assemble(standing, summary, job.counter, [one for one in everything if one.id in kept], job.assembled.input)


def _warnings(job: Job, outcome: Outcome, after: Assembled) -> Iterator[str]:
    if outcome.failure:
        yield outcome.failure
    whole = {id(message) for message in outcome.conversation.messages}
    before = {message.id: message for message in job.assembled.conversation.messages}
    recent = job.recent()
    kept = [one for one in recent if id(before[str(one.position)]) in whole]
    if len(kept) < len(recent):
        tokens = sum(one.tokens for one in kept)
        yield f"only {tokens:,} tokens of recent messages were kept, not {job.retention:,}"
    if after.tokens >= job.decision.trigger_at:
        yield f"the context is nearly full: {after.tokens:,} of {job.decision.window:,} tokens"
