"""Providers that are watched: which questions they ask, and what they leave, before anybody answers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from compact.errors import EditError
from compact.messages import Conversation, Pass, apply
from compact.ports import Ask, Completion, Measure
from compact.providers import Applied, Provider, Steps, Task

USUAL_SHARE = 0.5
"""How much of the room for an answer a model fills, until its habits are known."""
_LARGEST_SHARE = 3
"""A summary of little is at most this part of it."""
_WORD = " ..."


class _Wrapped:
    """A provider that does as another, and something beside."""

    def __init__(self, provider: Provider) -> None:
        self.id, self.name, self.description = provider.id, provider.name, provider.description
        self.version, self.capabilities, self.settings = provider.version, provider.capabilities, provider.settings
        self._provider = provider

    def condense(self, task: Task, settings: Any, /) -> Steps:
        return self._provider.condense(task, settings)


class Reading(_Wrapped):
    """A provider for a summarizer that reads no more than it can at once."""

    def __init__(self, provider: Provider, reads: int) -> None:
        super().__init__(provider)
        self._reads = reads

    def condense(self, task: Task, settings: Any, /) -> Steps:
        return super().condense(replace(task, reads=self._reads), settings)


class Overheard(_Wrapped):
    """A provider whose questions are written down as they are asked, and answered by the size of an answer."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self.asks: list[Ask] = []
        self._now: Conversation | None = None
        self._open: Pass | None = None

    def condense(self, task: Task, settings: Any, /) -> Steps:
        steps = super().condense(task, settings)
        self._now = task.conversation
        reply: Any = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration:
                return
            if isinstance(step, tuple):
                self.asks += step
                reply = tuple(_of_usual_size(ask, task.measure) for ask in step)
                continue
            self._open = step if isinstance(step, Pass) else None
            reply = yield step
            self._open = None
            if isinstance(reply, Applied):
                self._now = reply.conversation

    def left(self) -> Conversation | None:
        """The conversation as it is left; whoever has seen enough may not have told its verdict on the last pass."""
        if self._now is not None and self._open is not None and self._open.edits:
            with suppress(EditError):
                return apply(self._now, self._open)[0]
        return self._now


def usual_size(most: int, material: float) -> int:
    return max(1, round(min(most * USUAL_SHARE, material / _LARGEST_SHARE)))


def _of_usual_size(ask: Ask, measure: Measure) -> Completion:
    words = usual_size(ask.max_tokens, measure.text(ask.material)) * 100 // measure.text(_WORD * 100)
    return Completion((_WORD * max(1, words)).strip(), estimated=True)
