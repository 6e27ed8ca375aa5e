"""The truncation provider: fast, deterministic, no model asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from compact.messages import Pass, has_references
from compact.policies import Configuration
from compact.providers.provider import Capabilities, Rejected, Steps, Task, propose
from compact.providers.truncation.links import blank, follow, separate
from compact.providers.truncation.places import Shortening, all_tried, older, places
from compact.providers.truncation.relevance import Relevance
from compact.providers.truncation.settings import TruncationSettings
from compact.providers.truncation.targeting import (
    PRECISION,
    Cutter,
    by_stage,
    cut_all,
    cut_until,
    cut_wholly,
    oversized,
)

Goal: TypeAlias = tuple[int, int] | None
"""How many tokens must go, and the target; None cuts everything."""

_ROUNDS = 8
_NAMES = {"result": "tool result", "parameter": "tool parameter", "text": "message text"}


class TruncationProvider:
    """Cuts what tools answered and what they were called with, between the first message and the recent ones."""

    id = "truncation"
    name = "Truncation"
    description = "Cuts tool output and call arguments: everything old, or the largest until a target is met."
    version = "1.0.0"
    capabilities = Capabilities(individual=True, speed="fast")
    settings: type[Configuration] = TruncationSettings

    def condense(self, task: Task, settings: TruncationSettings, /) -> Steps:
        """Propose passes until the target is met or nothing is left to cut."""
        conversation, tokens = task.conversation, task.tokens
        target = None
        if settings.mode == "targeted":
            target = int(tokens * (1 - settings.target_reduction)) if task.target is None else task.target
        for attempt in range(_ROUNDS):
            if target is not None and tokens <= target:
                if not attempt:
                    yield from propose(Pass(self.id, (), (f"{tokens:,} tokens are within the target of {target:,}",)))
                return
            goal = None if target is None else (tokens - target, target)
            now = replace(task, conversation=conversation, tokens=tokens)
            proposal, last = self._round(now, goal, settings)
            if not proposal.edits and attempt:
                return
            verdict = yield from propose(proposal)
            if last or isinstance(verdict, Rejected):
                return
            conversation, tokens = verdict.conversation, verdict.tokens

    def _round(self, task: Task, goal: Goal, settings: TruncationSettings) -> tuple[Pass, bool]:
        """The next pass, and whether it is sure that none follows; how it came about is not kept while it is judged."""
        cuts, candidates, last = _cuts(task, goal, settings)
        notes = [f"{candidates} candidate{'s' * (candidates != 1)} identified"] if cuts else []
        return as_pass(self.id, cuts, notes), last


def _cuts(task: Task, goal: Goal, settings: TruncationSettings) -> tuple[list[Shortening], int, bool]:
    """Everything there is to cut, or what it takes to remove so many tokens on the way to a target.

    Also how many candidates there are, and whether it is sure that another round would find nothing more. With a target
    in view, candidates are oversized; only a target that was given lets smaller texts be cut as well.
    """
    conversation, measure = task.conversation, task.measure
    positions = older(conversation.messages, settings.preserve_recent)
    linked = has_references(conversation)
    least = settings.least(linked=linked)
    found = list(places(conversation, positions, least=least, handles=settings.handles, originals=task.originals))
    if settings.preserve_user_messages or settings.preserve_assistant_text:
        messages = conversation.messages
        found = [place for place in found if place.kind != "text" or not settings.keeps(messages[place.position])]
    cutter = Cutter(settings, measure, Relevance(conversation, found) if settings.lines == "relevant" else None)
    free, followers = separate(conversation, found) if linked else (found, [])
    if goal is None:
        cuts = cut_all(free, cutter)
        cuts += follow(cuts, followers, cutter.text, settings.markers, measure)
        return cuts, len(found), not linked and all_tried(conversation, found)
    excess, target = goal
    candidates = oversized(free, settings, measure)[0]
    if task.target is None:
        cuts = cut_wholly(candidates, excess, cutter)
        return cuts + blank(cuts, followers, settings.markers, measure), len(candidates), False
    ordered = chain(by_stage(free, settings, measure), followers)
    # What a text in the arguments of a call takes is an estimate: with a margin, one round is usually enough.
    margin = target // (2 * PRECISION) if any(place.kind == "parameter" for place in found) else 0
    cuts = cut_until(ordered, excess + margin, target // PRECISION - margin, cutter)
    return cuts + blank(cuts, followers, settings.markers, measure), len(candidates), False


def as_pass(name: str, cuts: Iterable[Shortening], notes: Iterable[str] = ()) -> Pass:
    """The cuts as a pass, in the order of the messages, with a note of how many of each kind there are."""
    ordered = sorted(cuts, key=lambda cut: (cut.place.position, cut.place.where.block))
    counts = Counter((_NAMES[cut.place.kind], cut.kind) for cut in ordered)
    said = [f"{count} {name}{'s' * (count > 1)} {kind}" for (name, kind), count in counts.items()]
    return Pass(name, tuple(cut.edit for cut in ordered), (*said, *notes) or ("nothing to cut",))
