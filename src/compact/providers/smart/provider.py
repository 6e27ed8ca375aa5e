"""The smart provider: runs the passes of its settings until the target is met."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from compact.messages import Pass
from compact.policies import Configuration
from compact.ports import Answer, Ask
from compact.providers.lossless import LosslessProvider
from compact.providers.provider import Applied, Capabilities, Step, Steps, Task, follow, propose, quietly
from compact.providers.smart.batch import fold_batch
from compact.providers.smart.individual import rewrite_each
from compact.providers.smart.selecting import Positions, selected
from compact.providers.smart.settings import PassSettings, Prelude, SmartSettings

# Every accepted pass leaves fewer tokens, so the rounds end by themselves; the bound is for time.
_ROUNDS = 8


class SmartProvider:
    """Removes what can go without loss, then runs passes composed of selection, mode, operations and condition."""

    id = "smart"
    name = "Smart"
    description = (
        "A lossless prelude, then passes of your own: keep, suppress, truncate or summarize, together or singly."
    )
    version = "1.0.0"
    capabilities = Capabilities(batch=True, individual=True, multi_pass=True, summarizes=True, speed="medium")
    settings: type[Configuration] = SmartSettings

    def condense(self, task: Task, settings: SmartSettings, /) -> Steps:
        """Run the prelude and the passes in order, each on what the one before left.

        They end at the target, and each one that is not needed is reported. Where they miss it, they run again as long
        as they find something: a cut may leave lines that now repeat each other. So condensing the result again changes
        nothing. A model is asked in the first round only.
        """
        now = Applied(task.conversation, task.tokens)
        if task.target is None and settings.target_reduction is not None:
            task = replace(task, target=int(task.tokens * (1 - settings.target_reduction)))
        stages: tuple[Prelude | PassSettings, ...] = (settings.lossless_prelude, *settings.adjusted_passes())
        known: dict[Ask, Answer] = {}
        for attempt in range(_ROUNDS):
            before = now
            for step in stages:
                current = replace(task, conversation=now.conversation, tokens=now.tokens)
                steps = _run(current, step, task, settings, may_ask=not (attempt and task.asks))
                now = yield from follow(quietly(steps, current) if attempt else steps, now, _sparing(known))
            if now is before or task.reached(now.tokens):
                return


def _run(task: Task, settings: Prelude | PassSettings, original: Task, whole: SmartSettings, *, may_ask: bool) -> Steps:
    """The steps of the prelude or of one pass."""
    if isinstance(settings, Prelude):
        yield from _remove_losslessly(task, settings)
        return
    if task.reached(task.tokens):
        yield from propose(task.skip(settings.title))
        return
    threshold = settings.execution.threshold(task.window)
    if threshold is not None and task.tokens <= threshold:
        reason = f"{task.tokens:,} tokens do not exceed its threshold of {threshold:,}"
        yield from propose(Pass(settings.title, (), (reason,)))
        return
    messages = original.conversation.messages
    named = [each.selection.indices for each in whole.passes if each.mode == "batch"]
    chosen = selected(task.conversation.messages, settings.selection, messages, named)
    if settings.mode == "batch":
        if may_ask:
            yield from fold_batch(task, settings, chosen)
        return
    positions = Positions(messages)
    owners = ((positions.id_at(index), own) for index, own in settings.individual.overrides.items())
    overrides = {id: own for id, own in owners if id is not None}
    yield from rewrite_each(task, settings, chosen, overrides, whole.max_parallel if may_ask else 0)


def _remove_losslessly(task: Task, settings: Prelude) -> Steps:
    if settings.enabled:
        yield from LosslessProvider().condense(task, settings)


def _sparing(known: dict[Ask, Answer]) -> Callable[[Step], Generator[Step, Any, Any]]:
    """Replies to steps so that no question is asked twice."""

    def reply(step: Step) -> Generator[Step, Any, Any]:
        if not isinstance(step, tuple):
            return (yield step)
        fresh = tuple(question for question in dict.fromkeys(step) if question not in known)
        if fresh:
            known.update(zip(fresh, (yield fresh), strict=True))
        return tuple(known[question] for question in step)

    return reply
