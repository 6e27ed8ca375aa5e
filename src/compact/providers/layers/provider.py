"""The layers provider: what is pinned, one rolling summary, and what is recent.

Everything that is neither pinned nor recent goes into the summary, the one before it included, so there is never more
than one. Where what is recent takes too much room, it becomes less, a turn and a call at a time, down to one of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field, field_validator

from compact.errors import InvalidConfiguration
from compact.messages import (
    Conversation,
    Exchange,
    Message,
    Pass,
    exchanges,
    is_summary,
    untouchable,
    version_of,
    with_first_request,
)
from compact.policies import Configuration, last_calls, last_within
from compact.providers.folding import Declined, fold, summary_budget, summary_room
from compact.providers.provider import Capabilities, Steps, Task, propose
from compact.quantities import counted
from compact.summaries.model.strategy import LONGEST_PROMPT, Strategy, Style, custom_strategy, find_strategy
from compact.summaries.model.summarize import NoSummary, OnFailure, Request, Summary, summarize

_SPEAKERS = ("user", "assistant")
PASS = "Layers"  # noqa: S105 - a pass of a plan


class LayersSettings(Configuration):
    """Settings of the layers provider."""

    recent_turns: int = Field(default=6, ge=1)
    """Turns at the end that stay as they are: what a person said and what was answered, calls aside."""
    tool_pairs: int = Field(default=4, ge=1)
    """Calls at the end that stay as they are, with their results."""
    recent_tokens: int | None = Field(default=None, ge=0)
    """The last exchanges that fit into so many tokens stay, instead of turns and calls."""
    roles_kept: tuple[str, ...] = ("system", "developer")
    """Messages of these roles stay."""
    strategy: str = "task_state"
    """What the summary keeps, and in which sections; `compact prompt` lists the strategies."""
    prompt: str = Field(default="", max_length=LONGEST_PROMPT)
    """What the summarizing model is told to write, in place of the strategy's own words."""
    detail: Literal["detailed", "concise"] = "detailed"
    """How much it is to write."""
    focus: str = Field(default="", max_length=2000)
    """What matters most, in a person's words."""
    profile: str = ""
    """The model that summarizes; empty for the usual one."""
    max_summary_tokens: int = Field(default=2000, ge=64, le=64_000)
    """How long the summary may be, in tokens."""
    on_failure: OnFailure = "prune"
    """Without a usable summary the messages go (prune), stay (block), or are summarized without a model (offline)."""

    @field_validator("strategy")
    @classmethod
    def _is_known(cls, strategy: str) -> str:
        try:
            find_strategy(strategy)
        except InvalidConfiguration as error:
            raise ValueError(str(error)) from None
        return strategy

    @property
    def chosen_strategy(self) -> Strategy:
        strategy = find_strategy(self.strategy)
        return custom_strategy(self.prompt, strategy) if self.prompt else strategy


@dataclass(frozen=True, slots=True)
class Layers:
    """The exchanges of a conversation: what is kept as recent, in words, and which go into the summary."""

    kept: str
    folded: tuple[Message, ...]


class LayersProvider:
    """One rolling summary in place of everything that is neither pinned nor recent."""

    id = "layers"
    name = "Layers"
    description = "Keeps what is pinned and what is recent, and rolls everything else into one summary."
    version = "1.0"
    capabilities = Capabilities(batch=True, summarizes=True, speed="medium")
    settings = LayersSettings

    def condense(self, task: Task, settings: LayersSettings, /) -> Steps:
        """Fold what is old, and more of what is recent only where that would leave too much."""
        if task.reached(task.tokens):
            yield from propose(Pass(PASS, (), (f"{task.tokens:,} tokens are within the target",)))
            return
        if task.ceiling is not None:
            task = replace(task, target=task.ceiling)  # the numbers that are set hold even above the target
        layers = _choose(task, settings)
        if not _is_worth_it(task, settings, layers.folded):
            yield from propose(Pass(PASS, (), ("everything is pinned or recent",)))
            return
        summary = yield from summarize(_request(task, settings, layers), task.measure)
        yield from propose(_folded(task, layers, summary))


def _is_worth_it(task: Task, settings: LayersSettings, folded: Sequence[Message]) -> bool:
    """Whether there is anything new to fold, or the last summary is longer than one may be by now."""
    if not all(map(is_summary, folded)):
        return True
    room = summary_room(task, settings)
    return task.target is not None and any(task.measure.text(summary.text) > 2 * room for summary in folded)


def _choose(task: Task, settings: LayersSettings) -> Layers:
    """As much of what is recent as leaves room for the summary below the ceiling."""
    eligible = _eligible(task.conversation, settings)
    messages = task.conversation.messages
    if settings.recent_tokens is None:
        choices = (_layers(messages, eligible, *counts) for counts in _reductions(task, settings))
    else:
        rooms = dict.fromkeys((settings.recent_tokens, settings.recent_tokens // 2, 0))
        choices = (_layers_by_tokens(task, eligible, room) for room in rooms)
    layers = next(choices)
    if task.target is None:
        return layers
    room = task.target - summary_room(task, settings)
    while task.tokens - _size(task, layers.folded) > room and (fewer := next(choices, None)):
        layers = fewer
    return layers


def _reductions(task: Task, settings: LayersSettings) -> Iterator[tuple[int, int]]:
    """How many turns and calls are kept: as many as the settings say, then fewer and fewer, down to one of each.

    Where there is nothing but a target, in the end none.
    """
    turns, pairs = settings.recent_turns, settings.tool_pairs
    yield turns, pairs
    while turns > 1 or pairs > 1:
        if turns > 1:
            turns -= 1
            yield turns, pairs
        if pairs > 1:
            pairs -= 1
            yield turns, pairs
    if task.ceiling is None:
        yield 1, 0
        yield 0, 0


def _eligible(conversation: Conversation, settings: LayersSettings) -> list[Exchange]:
    """The exchanges that nothing pins. A summary may stand in any role; it is still no one's word."""
    messages = conversation.messages
    people = conversation.with_messages([message for message in messages if not is_summary(message)])
    fixed = untouchable(people)

    def pinned(message: Message) -> bool:
        return message.id in fixed or (message.role in settings.roles_kept and not is_summary(message))

    return [group for group in exchanges(messages) if not any(pinned(messages[index]) for index in group)]


def _layers(messages: Sequence[Message], eligible: Sequence[Exchange], turns: int, pairs: int) -> Layers:
    """What goes when so many turns and calls are kept; what is pinned counts among them."""
    groups = exchanges(messages)
    said = [group for group in reversed(groups) if _is_said(messages, group)]
    recent = {*last_calls(messages, groups, pairs), *said[: 2 * turns]}
    return Layers(f"{counted(turns, 'turn')} and {counted(pairs, 'call')}", _older(messages, eligible, recent))


def _is_said(messages: Sequence[Message], group: Exchange) -> bool:
    first = messages[group[0]]
    calls = any(messages[index].calls for index in group)
    return not calls and first.role in _SPEAKERS and not is_summary(first)


def _layers_by_tokens(task: Task, eligible: Sequence[Exchange], room: int) -> Layers:
    """What goes when the last exchanges that fit into so many tokens are kept, an open question not counted.

    What is pinned counts among them.
    """
    messages = task.conversation.messages
    recent = set(last_within(messages, exchanges(messages), room, task.measure.message))
    return Layers(f"{room:,} tokens", _older(messages, eligible, recent))


def _older(messages: Sequence[Message], eligible: Sequence[Exchange], recent: set[Exchange]) -> tuple[Message, ...]:
    return tuple(messages[index] for index in sorted(at for group in eligible if group not in recent for at in group))


def _request(task: Task, settings: LayersSettings, layers: Layers) -> Request:
    window = task.read_by(settings.profile)
    budget = summary_budget(task, settings, layers.folded)
    return Request(
        messages=with_first_request(task.conversation.messages, layers.folded),
        strategy=settings.chosen_strategy,
        style=Style(settings.detail, focus=settings.focus),
        budget=budget,
        reads=window - budget,
        profile=settings.profile,
        on_failure=settings.on_failure,
        kept=untouchable(task.conversation),
        beside=task.conversation.messages,
        asks=task.asks,
    )


def _folded(task: Task, layers: Layers, summary: Summary | NoSummary) -> Pass:
    version = 1 + max(map(version_of, task.conversation.messages), default=0)
    folded = fold(task, layers.folded, summary, version)
    if isinstance(folded, Declined):
        return Pass(PASS, (), (f"no summary: {folded.reason}",))
    told = summary.notes if isinstance(summary, Summary) else (f"no summary: {summary.reason}",)
    return Pass(PASS, (replace(folded, role=task.account.role),), (f"{layers.kept} kept", *told))


def _size(task: Task, messages: Sequence[Message]) -> int:
    return sum(map(task.measure.message, messages))
