"""The Lossless provider: what its settings switch on, one pass for each kind of thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from compact.messages import Conversation, Pass, Replace
from compact.ports import Measure
from compact.providers.lossless.formatting import find_layout
from compact.providers.lossless.repeats import find_repeats
from compact.providers.lossless.settings import LosslessSettings
from compact.providers.lossless.superseded import Manner, find_consolidated, find_superseded
from compact.providers.provider import Applied, Capabilities, Steps, Task, propose

_Find: TypeAlias = Callable[[Conversation, Callable[[str], int]], tuple[Replace, ...]]


class LosslessProvider:
    """Removes what is said twice, says nothing, or no longer holds; all of it can be brought back."""

    id = "lossless"
    name = "Lossless"
    description = "Repeated text becomes references, layout becomes plain, superseded answers go. Nothing is lost."
    version = "1"
    capabilities = Capabilities(lossless=True, speed="fast")
    settings = LosslessSettings

    def condense(self, task: Task, settings: LosslessSettings) -> Steps:
        """One pass for each kind of thing that need not be said, as long as the target is not reached."""
        now = Applied(task.conversation, task.tokens)
        for name, find in _finds(settings):
            if task.reached(now.tokens):
                yield from propose(replace(task, tokens=now.tokens).skip(name))
                continue
            edits = _kept(find, now.conversation, task.measure)
            # What is verbatim restores from the messages alone, so no reasoning may go for its sake.
            verdict = yield from propose(Pass(name, edits, _notes(edits), alone=settings.is_verbatim))
            now = verdict if isinstance(verdict, Applied) else now


def _finds(settings: LosslessSettings) -> Iterator[tuple[str, _Find]]:
    """What is obsolete goes first, then layout: both change texts that references point to, so these come last."""
    manner = Manner(settings.handles, pointed=settings.deduplicates)
    if settings.removes_obsolete:
        yield "Superseded answers", _Finding(find_superseded, manner)
    if settings.consolidates:
        yield "Consolidated results", _Finding(find_consolidated, manner)
    if settings.simplifies:
        yield "Layout", find_layout
    if settings.deduplicates:
        yield "Repeated text", find_repeats


@dataclass(frozen=True, slots=True)
class _Finding:
    """A search for answers that may go, in one manner; equal ones find the same."""

    find: Callable[[Conversation, Callable[[str], int], Manner], tuple[Replace, ...]]
    manner: Manner

    def __call__(self, conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
        return self.find(conversation, count, self.manner)


def _notes(edits: tuple[Replace, ...]) -> tuple[str, ...]:
    """What there is to say of a pass: that it found nothing, or how many operations it consolidated into which."""
    if not edits:
        return ("nothing found",)
    groups = Counter(edit.with_.partition("; see ")[2] for edit in edits if edit.with_.startswith("[Consolidated "))
    if not groups:
        return ()
    return (f"consolidated {sum(groups.values()) + len(groups)} operations into {len(groups)}",)


def _kept(find: _Find, conversation: Conversation, measure: Measure) -> tuple[Replace, ...]:
    """What is found, kept with the conversation: several presets begin alike."""
    key = find, id(measure)
    if key not in conversation.memo:
        # The measure is kept as well, so that its id cannot come to mean another one.
        conversation.memo[key] = find(conversation, measure.text), measure
    found: tuple[Replace, ...] = conversation.memo[key][0]
    return found
