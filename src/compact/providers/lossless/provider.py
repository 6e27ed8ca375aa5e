"""The Lossless provider: three levels, each including the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, TypeVar

from pydantic import Field

from compact.messages import Conversation, Pass, Replace
from compact.policies import Configuration
from compact.ports import Measure
from compact.providers.lossless.formatting import find_layout
from compact.providers.lossless.repeats import find_repeats
from compact.providers.lossless.superseded import find_superseded
from compact.providers.provider import Applied, Capabilities, Steps, Task, propose

Find: TypeAlias = Callable[[Conversation, Callable[[str], int]], tuple[Replace, ...]]

# What is obsolete goes first, then layout: both change texts that references point to, so these come last. A reference
# may take away a source that hid a better one, so they are sought until no more are found: condensing again finds none.
_LEVELS: dict[str, tuple[tuple[str, Find], ...]] = {
    "verbatim": (),
    "formatting": (("Layout", find_layout),),
    "superseded": (("Superseded answers", find_superseded), ("Layout", find_layout)),
}
_ROUNDS = 4
_Found = TypeVar("_Found")


class LosslessSettings(Configuration):
    """How far to go."""

    level: Literal["verbatim", "formatting", "superseded"] = Field(default="superseded")
    """verbatim: repeated text only, restorable from the messages alone. formatting: also plainer layout.
    superseded: also answers that a later one replaced. The latter two restore with the plan."""
    handles: bool = False
    """Whether what stands for a superseded answer says by which handle that can be recalled."""


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
                return
            edits = _kept(find, now.conversation, task.measure)
            verdict = yield from propose(Pass(name, edits, () if edits else ("nothing found",)))
            now = verdict if isinstance(verdict, Applied) else now
        for _ in range(_ROUNDS):
            if task.reached(now.tokens):
                return
            found = _kept(find_repeats, now.conversation, task.measure)
            if not found.edits:
                return
            before = now.conversation
            # What is verbatim restores from the messages alone, so no reasoning may go for its sake.
            verdict = yield from propose(Pass("Repeated text", found.edits, alone=settings.level == "verbatim"))
            if not isinstance(verdict, Applied):
                return
            now = verdict
            if found.final and _changed(before, now.conversation) == {edit.where.message for edit in found.edits}:
                return


def _finds(settings: LosslessSettings) -> Iterator[tuple[str, Find]]:
    for name, find in _LEVELS[settings.level]:
        marked = settings.handles and find is find_superseded
        yield name, _find_marked if marked else find


def _find_marked(conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
    return find_superseded(conversation, count, handles=True)


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
