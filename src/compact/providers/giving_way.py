"""What is done where a way of condensing ends above its target: what it spared gives way.

First the newest tool output is cut, the largest first and no more of it than it takes; then the oldest messages go into
a summary, what people said last of all; where that is not enough, everything goes into one summary, or without any.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from compact.messages import Pass
from compact.providers.layers import LayersProvider, LayersSettings
from compact.providers.native import slide
from compact.providers.provider import Applied, Rejected, Step, Steps, Task
from compact.providers.smart.batch import fold_batch
from compact.providers.smart.settings import BatchSettings, PassSettings
from compact.providers.truncation import TruncationProvider, TruncationSettings
from compact.providers.truncation.places import older

_RECENT = 4
_CUTS = TruncationSettings(preserve_recent=0, max_result_lines=10, tail_lines=10, suppress_rest=False)
_FOLDS = PassSettings(
    id="summarize", name="Summarize", mode="batch", batch=BatchSettings(max_tokens=1000, on_failure="prune")
)


def give_way(task: Task, *, handles: bool = False) -> Steps:
    """Bring the conversation down to its target, if what nobody may touch leaves room for that."""
    ways = (
        lambda now: TruncationProvider().condense(now, _CUTS.model_copy(update={"handles": handles})),
        lambda now: fold_batch(now, _FOLDS, older(now.conversation.messages, _RECENT)),
        lambda now: fold_batch(now, _FOLDS, older(now.conversation.messages, 0)),
        lambda now: LayersProvider().condense(now, LayersSettings()),
        slide,
    )
    step = 0
    while step < len(ways) and not (task.target is None or task.reached(task.tokens)):
        before, task = task, (yield from _followed(ways[step](task), task))
        # What went may have been all that kept another text from being cut.
        step = 0 if task.tokens < before.tokens else step + 1


def _followed(steps: Steps, task: Task) -> Generator[Step, Any, Task]:
    """Let the steps run to their end, and tell what is left; passes that find nothing are not worth a report."""
    reply: Any = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration:
            return task
        if isinstance(step, Pass):
            reply = (yield replace(step, name=f"Giving way: {step.name}")) if step.edits else Rejected("nothing to do")
            if isinstance(reply, Applied):
                task = replace(task, conversation=reply.conversation, tokens=reply.tokens)
        else:
            reply = yield step
