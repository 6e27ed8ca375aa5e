"""Compressing a stored session: what goes into the summary, what the summary says, and whether it is enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compact.engine.driver import AskModel
from compact.engine.gauge import Gauge
from compact.engine.stored.context import Assembled, assemble, whole_exchanges
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.formats import violations
from compact.messages import Conversation, Json, Message, Text, count_of, current_step, is_summary, seal
from compact.policies.stored import StoredSettings
from compact.ports import Active, Event, Observe, Snapshot, StoredMessage
from compact.summaries import summarize_offline
from compact.summaries.neutral import neutralise
from compact.summaries.quoting import quote, users_own
from compact.summaries.strategy import Strategy, Style, custom_strategy, find_strategy
from compact.summaries.summarize import NoSummary, Request, Summary, summarize
from compact.tokens import Counter

_LEAST_SUMMARY = 64
_LONGEST_TASK = 1000
_TASK = "## First request (the user's words)"


@dataclass(frozen=True, slots=True)
class Job:
    """One compression: of what, by which settings, for a model that reads `window` tokens at most.

    The result is to take less than `enough` tokens. `focus` says what matters, in a person's words.
    """

    assembled: Assembled
    settings: StoredSettings
    window: int
    enough: int
    counter: Counter
    retention: int
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What goes into the summary and what stays from before it; `cutoff` is the last message that is covered."""

    folded: tuple[Message, ...]
    kept: tuple[StoredMessage, ...]
    cutoff: StoredMessage


@dataclass(frozen=True, slots=True)
class Compressed:
    """A summary that is not stored yet, and what came of it."""

    snapshot: Snapshot
    assembled: Assembled
    messages: int
    warnings: tuple[str, ...]


def choose(job: Job, retention: int) -> Choice | None:
    """What goes when the last messages that fit into so many tokens stay; None where nothing may go.

    What is pinned stays, and so do an unanswered question of the user and the step the model is in.
    """
    stored = job.assembled.messages
    messages = [message for message in job.assembled.conversation.messages if message.id in stored]
    fixed = _unfinished(job.assembled.conversation)
    recent = _recent(messages, stored, retention)
    older = [message for message in messages if message.id not in recent]
    while older and older[-1].id in fixed:
        older.pop()
    folded = tuple(message for message in older if message.id not in fixed and not message.protected)
    summary = job.assembled.active.summary
    covered = (summary.cutoff if summary else None) or 0
    if not any(stored[message.id].id > covered for message in folded):
        return None
    cutoff = stored[older[-1].id]
    kept = tuple(stored[one.id] for one in older if one.id in fixed and not one.protected)
    return Choice(folded, kept, cutoff)


def _recent(messages: Sequence[Message], stored: Mapping[str, StoredMessage], room: int) -> set[str]:
    """The ids of the last messages that fit, in whole exchanges."""
    recent: set[str] = set()
    for group in reversed(list(whole_exchanges(messages))):
        room -= sum(stored[message.id].tokens for message in group)
        if room < 0:
            break
        recent |= {message.id for message in group}
    return recent


def compress(job: Job, ask: AskModel | None, observe: Observe) -> Compressed:
    """Summarize what is old; where that is not enough, keep less and write shorter.

    CompactionBlocked where nothing is old, or where no summary could be had and none may be done without;
    InsufficientBudget where what must stay does not fit.
    """
    warnings: list[str] = []
    best: Compressed | None = None
    for retention, budget in _attempts(job):
        choice = choose(job, retention)
        if choice is None:
            if job.assembled.tokens < job.enough:
                break  # nothing forces anybody to keep less than was asked for
            continue
        done = _summarized(job, choice, budget, ask, observe)
        if best is None or done.assembled.tokens < best.assembled.tokens:
            best = done
        if best.assembled.tokens < job.enough:
            if retention < job.retention:
                warnings.append(f"only {retention:,} tokens of recent messages were kept, not {job.retention:,}")
            break
    if best is None:
        raise CompactionBlocked("everything is pinned or recent. Unpin messages, or keep fewer tokens of recent ones.")
    if best.assembled.tokens > job.window:
        raise InsufficientBudget(
            f"{best.assembled.tokens:,} tokens are left where the model reads {job.window:,}. Unpin messages, shorten "
            "the input, the system prompt or the tools, or use a model with a larger context window.",
            needed=best.assembled.tokens,
            budget=job.window,
        )
    if best.assembled.tokens >= job.assembled.tokens:
        raise CompactionBlocked(
            f"{job.assembled.tokens:,} tokens would have become {best.assembled.tokens:,}. Nothing was changed. "
            "Keep fewer of the last messages (`retention`), or unpin some."
        )
    if best.assembled.tokens >= job.enough:
        warnings.append(f"the context is nearly full: {best.assembled.tokens:,} of {job.window:,} tokens")
    return replace(best, warnings=tuple(warnings))


def strategy_of(settings: StoredSettings) -> Strategy:
    strategy = find_strategy(settings.strategy)
    return custom_strategy(settings.prompt, strategy) if settings.prompt else strategy


def _attempts(job: Job) -> Iterator[tuple[int, int]]:
    """How much is kept and how long the summary may be: as the settings say, then less and less."""
    budget = max(1, min(job.settings.summary_tokens, job.window // 4))
    yield job.retention, budget
    if job.retention:
        yield job.retention // 2, max(_LEAST_SUMMARY, budget // 2)
    yield 0, max(_LEAST_SUMMARY, budget // 4)


def _unfinished(conversation: Conversation) -> set[str]:
    """The step the model is in, and the question it is to answer, if that is still open."""
    messages = [message for message in conversation.messages if not is_summary(message)]
    groups = list(whole_exchanges(messages))
    if not groups or not (groups[-1][0].from_user or any(message.calls for message in groups[-1])):
        return set()
    question = next((message.id for message in reversed(messages) if message.from_user), "")
    return {question, *(messages[index].id for index in current_step(tuple(messages)))}


def _summarized(job: Job, choice: Choice, budget: int, ask: AskModel | None, observe: Observe) -> Compressed:
    gauge = Gauge(job.counter, job.assembled.tools)
    earlier = _earlier(job.assembled.active)
    request = Request(
        messages=(*earlier, *choice.folded),
        strategy=strategy_of(job.settings),
        style=Style(job.settings.detail, focus=job.focus),
        budget=budget,
        reads=job.window - budget,
        on_failure=job.settings.on_summary_failure,
    )
    summary = _driven(request, gauge, ask, observe) if ask else _offline(request, gauge)
    if isinstance(summary, NoSummary) and not summary.prune:
        raise CompactionBlocked(
            f"no summary: {summary.reason}. Try again, acknowledge the risk, or set on_summary_failure to offline."
        )
    text = summary.text if isinstance(summary, Summary) else "Older messages were removed without a summary."
    return _stored(job, choice, text, len(choice.folded) + sum(map(count_of, earlier)))


def _earlier(active: Active) -> tuple[Message, ...]:
    """The summary that stands, as the summarizer wrote it."""
    if active.summary is None:
        return ()
    content = active.summary.content
    words, count = str(content.get("words") or content.get("summaryText")), content.get("messages")
    text = seal(words, count if isinstance(count, int) else 0)
    return (Message("summary", "assistant", (Text(text, ()),), None),)


def _offline(request: Request, gauge: Gauge) -> Summary | NoSummary:
    text = summarize_offline(request.messages, budget=request.budget, count=gauge.text)
    return Summary(text) if text else NoSummary("empty", "there is nothing to summarize", prune=False)


def _driven(request: Request, gauge: Gauge, ask: AskModel, observe: Observe) -> Summary | NoSummary:
    steps = summarize(request, gauge)
    try:
        step = next(steps)
        while True:
            if isinstance(step, Event):
                observe(step)
                step = steps.send(None)
            else:
                step = steps.send(ask(step))
    except StopIteration as end:
        result: Summary | NoSummary = end.value
        return result


def _stored(job: Job, choice: Choice, words: str, count: int) -> Compressed:
    """The snapshot, and the context as it would be with it, without what its vendor would reject."""
    before = job.assembled
    earlier = before.active.summary.content if before.active.summary else {}
    span = earlier.get("messageRange")
    first = span.get("first") if isinstance(span, dict) else None
    task = str(earlier.get("task") or "") or _task(choice.folded)
    version = earlier.get("version")
    version = 1 + (version if isinstance(version, int) else 0)
    text = seal(f'{_TASK}\n- "{task}"\n\n{words}' if task else words, count, version)
    content: dict[str, Json] = {
        "summaryText": text,
        "messageRange": {"first": first or before.messages[choice.folded[0].id].id, "last": choice.cutoff.id},
        "words": words,
        "task": task,
        "version": version,
        "messages": count,
        "kept": [one.id for one in choice.kept],
        "role": job.settings.summary_role,
        "tokensBefore": before.tokens,
        "strategy": job.settings.strategy,
        "retention": job.retention,
    }
    snapshot = Snapshot(before.active.session.id, "summary", content, choice.cutoff.id, job.counter.text(text))
    after = _with(job, snapshot, choice)
    if _adds_violations(before.conversation, after.conversation):
        # Some vendors bind what was thought to everything before it.
        content["thoughtless"] = max(map(int, after.messages), default=0)
        after = _with(job, snapshot, choice)
        if _adds_violations(before.conversation, after.conversation):
            raise CompactionBlocked(
                "the vendor would reject the compressed request. Nothing was changed. Retain another part."
            )
    content["tokensAfter"] = after.tokens
    return Compressed(snapshot, after, len(choice.folded), ())


def _task(messages: Sequence[Message]) -> str:
    """What the user asked for first, in the user's own words."""
    first = next((message for message in messages if message.from_user), None)
    return neutralise(quote(users_own(first.text), _LONGEST_TASK)) if first else ""


def _with(job: Job, snapshot: Snapshot, choice: Choice) -> Assembled:
    active = job.assembled.active
    everything = job.assembled.messages.values()
    cutoff = choice.cutoff.position
    pinned = tuple(one for one in everything if one.pinned and one.position <= cutoff)
    recent = tuple(one for one in everything if one.position > cutoff)
    standing = Active(active.session, snapshot, pinned, recent)
    return assemble(standing, job.counter, choice.kept, job.assembled.input)


def _adds_violations(before: Conversation, after: Conversation) -> bool:
    known = {violation.rule for violation in violations(before)}
    return any(violation.rule not in known for violation in violations(after, origin=before))
