"""The Lossless provider: what its settings switch on, one pass for each kind of thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from compact.messages import Conversation, Pass, Replace
from compact.ports import Measure
from compact.providers.lossless.formatting import find_layout
from compact.providers.lossless.repeats import find_repeats
from compact.providers.lossless.settings import LosslessSettings
from compact.providers.lossless.superseded import Manner, find_consolidated, find_superseded
from compact.providers.provider import Applied, Capabilities, Steps, Task, propose

_Find: TypeAlias = Callable[[Conversation, Callable[[str], int]], tuple[Replace, ...]]
_ROUNDS = 4
_REPEATS = "Repeated text"
_Found = TypeVar("_Found")


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
            verdict = yield from propose(Pass(name, edits, _notes(edits)))
            now = verdict if isinstance(verdict, Applied) else now
        for attempt in range(_ROUNDS if settings.deduplicates else 0):
            if task.reached(now.tokens):
                if not attempt:
                    yield from propose(replace(task, tokens=now.tokens).skip(_REPEATS))
                return
            found = _kept(find_repeats, now.conversation, task.measure)
            if not found.edits:
                if not attempt:
                    yield from propose(Pass(_REPEATS, (), _notes(())))
                return
            before = now.conversation
            # What is verbatim restores from the messages alone, so no reasoning may go for its sake.
            verdict = yield from propose(Pass(_REPEATS, found.edits, alone=settings.is_verbatim))
            if not isinstance(verdict, Applied):
                return
            now = verdict
            if found.final and _changed(before, now.conversation) == {edit.where.message for edit in found.edits}:
                return


def _finds(settings: LosslessSettings) -> Iterator[tuple[str, _Find]]:
    """What is obsolete goes first, then layout: both change texts that references point to, so these come last.

    A reference may take away a source that hid a better one, so they are sought until no more are found: condensing
    again finds none.
    """
    manner = Manner(settings.handles, pointed=settings.deduplicates)
    if settings.removes_obsolete:
        yield "Superseded answers", _Finding(find_superseded, manner)
    if settings.consolidates:
        yield "Consolidated results", _Finding(find_consolidated, manner)
    if settings.simplifies:
        yield "Layout", find_layout


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


def _kept(
    find: Callable[[Conversation, Callable[[str], int]], _Found], conversation: Conversation, measure: Measure
) -> _Found:
    """What is found, kept with the conversation: several presets begin alike."""
    key = find, id(measure)
    if key not in conversation.memo:
        # The measure is kept as well, so that its id cannot come to mean another one.
        conversation.memo[key] = find(conversation, measure.text), measure
    found: _Found = conversation.memo[key][0]
    return found


def _changed(before: Conversation, after: Conversation) -> set[str]:
    """The ids of the messages that differ."""
    kept = set(map(id, before.messages))
    return {message.id for message in after.messages if id(message) not in kept}
