"""What is done where a way of condensing ends above its target: what it spared gives way.

First the newest tool output is cut, the largest first and no more of it than it takes, and then what was said at great
length; then the oldest messages go into a summary, what people said last of all; where that is not enough, everything
goes into one summary, or without any. Where the vendor's rules allow no summary, old tool output goes as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any

from compact.messages import Pass
from compact.providers.layers import LayersProvider, LayersSettings
from compact.providers.native import slide
from compact.providers.provider import Applied, Step, Steps, Task, follow, quietly
from compact.providers.smart.batch import fold_batch
from compact.providers.smart.settings import BatchSettings, PassSettings
from compact.providers.truncation import TruncationProvider, TruncationSettings
from compact.providers.truncation.places import older

_RECENT = 4
_CUTS = TruncationSettings(preserve_recent=0, max_result_lines=10, tail_lines=10, suppress_rest=False)
_REST = TruncationSettings(preserve_recent=0, max_result_lines=10, tail_lines=10)
_LONG = 8_000
"""Characters that stay of what somebody said where it is cut: half at its head, half at its tail."""
_SPEECHES = TruncationSettings(
    preserve_recent=0,
    tool_results="keep",
    tool_parameters="keep",
    message_text="truncate",
    max_result_lines=_LONG,
    max_result_chars=_LONG,
    tail_lines=_LONG,
    suppress_rest=False,
)
_FOLDS = PassSettings(
    id="summarize", name="Summarize", mode="batch", batch=BatchSettings(max_tokens=1000, on_failure="prune")
)


def give_way(task: Task, *, handles: bool = False) -> Steps:
    """Bring the conversation down to its target, if what nobody may touch leaves room for that."""
    ways: tuple[Callable[[Task], Steps], ...] = (
        *(partial(_cut, settings=settings.model_copy(update={"handles": handles})) for settings in (_CUTS, _SPEECHES)),
        lambda now: fold_batch(now, _FOLDS, older(now.conversation.messages, _RECENT)),
        lambda now: fold_batch(now, _FOLDS, older(now.conversation.messages, 0)),
        lambda now: LayersProvider().condense(now, LayersSettings()),
        slide,
        partial(_cut, settings=_REST.model_copy(update={"handles": handles})),
    )
    step = 0
    while step < len(ways) and not (task.target is None or task.reached(task.tokens)):
        steps = quietly(ways[step](task), task)
        now = yield from follow(steps, Applied(task.conversation, task.tokens), _announced)
        # What went may have been all that kept another text from being cut.
        step = 0 if now.tokens < task.tokens else step + 1
        task = replace(task, conversation=now.conversation, tokens=now.tokens)


def _cut(task: Task, settings: TruncationSettings) -> Steps:
    return TruncationProvider().condense(task, settings)


def _announced(step: Step) -> Generator[Step, Any, Any]:
    """The reply to a step, whose pass says what it is part of."""
    return (yield replace(step, name=f"Giving way: {step.name}") if isinstance(step, Pass) else step)
