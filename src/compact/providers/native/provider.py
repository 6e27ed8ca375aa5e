"""The native provider: everything but the first message and the last three becomes one summary.

Its behaviour is Roo Code's, constants and error cases included, with what was wrong with it put right: the messages
kept are whole exchanges, and the summarizer is never given more than it can read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field, field_validator

from compact.errors import InvalidConfiguration
from compact.messages import ROLES_NEVER_PRUNED, Message, Pass, is_pruned, is_summary, untouchable
from compact.policies import Configuration, Retention, select
from compact.providers.folding import Cause, Declined, fold, summary_budget
from compact.providers.native.sections import OWN, choose_strategy
from compact.providers.provider import Capabilities, Steps, Task, propose
from compact.summaries.model.strategy import LONGEST_PROMPT, Style
from compact.summaries.model.summarize import OnFailure, Request, Summary, summarize

MESSAGES_KEPT = 3
PASS = "Summary"  # noqa: S105 - a pass of a plan


class Reason(StrEnum):
    """Why nothing was condensed; the first words of the pass report's `skipped`."""

    NOT_ENOUGH_MESSAGES = "not enough messages"
    CONDENSED_RECENTLY = "condensed recently"
    HANDLER_INVALID = "handler invalid"
    REFUSED = "summary refused"
    EMPTY_SUMMARY = "empty summary"
    CONTEXT_GREW = "context grew"
    TOO_LONG = "summary too long"
    NOT_BELIEVED = "summary not believed"

    @classmethod
    def named_in(cls, skipped: str) -> Reason | None:
        """The reason that a report's text begins with."""
        return next((reason for reason in cls if skipped.startswith(reason)), None)


_REASONS: dict[Cause, Reason] = {
    "failure": Reason.HANDLER_INVALID,
    "overflow": Reason.HANDLER_INVALID,
    "refusal": Reason.REFUSED,
    "empty": Reason.EMPTY_SUMMARY,
    "longer": Reason.CONTEXT_GREW,
    "over_long": Reason.TOO_LONG,
    "untrue": Reason.NOT_BELIEVED,
    "grew": Reason.CONTEXT_GREW,
}


class NativeSettings(Configuration):
    """Settings of the native provider."""

    strategy: str = OWN
    """What the summary keeps, and in which sections: native, or a strategy that `compact prompt` lists."""
    prompt: str | None = Field(default=None, max_length=LONGEST_PROMPT)
    """What the summarizing model is told to write, in place of the strategy's own words."""
    detail: Literal["detailed", "concise"] = "detailed"
    """How much it is to write."""
    profile: str = ""
    """The model that summarizes; empty for the conversation's own."""
    max_summary_tokens: int = Field(default=4096, ge=64, le=64_000)
    """How long a summary may be, in tokens."""
    max_input_tokens: int | None = Field(default=None, ge=1000)
    """What the summarizing model reads at once; longer conversations are summarized in parts. Empty for the window."""
    on_failure: OnFailure = "block"
    """Without a usable summary the messages stay (block), go (prune), or are summarized without a model (offline)."""

    @field_validator("strategy")
    @classmethod
    def _is_known(cls, strategy: str) -> str:
        try:
            choose_strategy(strategy)
        except InvalidConfiguration as error:
            raise ValueError(f"{error.problem}. {error.remedy}".rstrip(". ")) from None
        return strategy

    @field_validator("prompt")
    @classmethod
    def _says_something(cls, prompt: str | None) -> str | None:
        try:
            choose_strategy(OWN, prompt)
        except InvalidConfiguration as error:
            raise ValueError(f"{error.problem}. {error.remedy}".rstrip(". ")) from None
        return prompt


@dataclass(frozen=True, slots=True)
class _Declined:
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What becomes the summary, and what the summarizer reads: that, and what stands between."""

    folded: tuple[Message, ...]
    read: tuple[Message, ...]


class NativeProvider:
    """One summary in place of all but the first message and the last three."""

    id = "native"
    name = "Native"
    description = "Summarizes everything between the first message and the last three, in one request to a model."
    version = "1.0"
    capabilities = Capabilities(batch=True, summarizes=True, speed="medium")
    settings = NativeSettings

    def condense(self, task: Task, settings: NativeSettings, /) -> Steps:
        """Ask for the summary, and fold what it stands for."""
        if task.reached(task.tokens):
            yield from propose(Pass(PASS, (), (f"{task.tokens:,} tokens are within the target",)))
            return
        chosen = _choose(task)
        if isinstance(chosen, _Chosen):
            summary = yield from summarize(_request(task, settings, chosen), task.measure)
            notes = summary.notes if isinstance(summary, Summary) else (f"no summary: {summary.reason}",)
            outcome = fold(task, chosen.folded, summary)
            if isinstance(outcome, Declined):
                yield from propose(Pass(PASS, (), (_REASONS[outcome.cause], outcome.reason)))
            else:
                yield from propose(Pass(PASS, (outcome,), notes))
        else:
            yield from propose(Pass(PASS, (), (chosen.reason, chosen.detail)))


def _choose(task: Task) -> _Chosen | _Declined:
    messages = task.conversation.messages
    size = len(messages)
    if size <= MESSAGES_KEPT + 1:
        return _Declined(Reason.NOT_ENOUGH_MESSAGES, f"there are {size}, and {MESSAGES_KEPT + 2} are needed")
    # What was removed without a summary was condensed, too.
    summaries = [index for index, message in enumerate(messages) if is_summary(message) or is_pruned(message)]
    if summaries and summaries[-1] >= size - MESSAGES_KEPT:
        return _Declined(Reason.CONDENSED_RECENTLY, f"a summary is among the last {MESSAGES_KEPT} messages")
    folded = _foldable(task, frozenset(summaries))
    if summaries and not any(index > summaries[-1] for index in folded):
        return _Declined(Reason.CONDENSED_RECENTLY, "nothing came after the last summary that may go")
    if not folded:
        return _Declined(Reason.NOT_ENOUGH_MESSAGES, "all of them must stay as they are")
    start = min(summaries[-1], folded[0]) if summaries else 0
    read = [message for message in messages[start : folded[-1] + 1] if message.role not in ROLES_NEVER_PRUNED]
    if not read[0].from_user or is_summary(read[0]):
        first = next(message for message in messages if message.role not in ROLES_NEVER_PRUNED)
        read = [first, *read] if first is not read[0] else read
    return _Chosen(tuple(messages[index] for index in folded), tuple(read))


def _foldable(task: Task, summaries: frozenset[int]) -> list[int]:
    """The positions of all messages but the first, the last three with what belongs to them, and what must stay.

    A summary may have had to take the user's role; it is still nobody's last word.
    """
    messages = task.conversation.messages
    people = [message for index, message in enumerate(messages) if index not in summaries]
    fixed = untouchable(task.conversation.with_messages(people))
    kept = Retention(first_message=True, recent_messages=MESSAGES_KEPT)
    older = select(task.conversation, kept, task.measure.message).older
    return sorted(index for group in older if not any(messages[at].id in fixed for at in group) for index in group)


def _request(task: Task, settings: NativeSettings, chosen: _Chosen) -> Request:
    window = task.read_by(settings.profile)
    budget = summary_budget(task, settings, chosen.folded)
    strategy = choose_strategy(settings.strategy, settings.prompt)
    return Request(
        messages=chosen.read,
        strategy=strategy,
        # There is an example for each of the built-in strategies.
        style=Style(settings.detail, examples=strategy.name != OWN),
        budget=budget,
        reads=settings.max_input_tokens or window - budget,
        profile=settings.profile,
        on_failure=settings.on_failure,
        kept=untouchable(task.conversation),
        beside=task.conversation.messages,
        asks=task.asks,
    )
