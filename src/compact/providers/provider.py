"""What a condensation provider is.

A provider is a generator. It yields a batch of questions for a model and receives the answers, or a proposed pass and
receives the verdict, or an event and goes on. It never applies an edit, counts a conversation as a whole or calls a
model itself, so it needs no `await` and no error handling, and a test feeds it by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from compact.messages import AccountItem, Conversation, Frame, Message, Pass, Seal
from compact.policies import Configuration
from compact.ports import Answer, Ask, Event, Measure


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider can do."""

    lossless: bool = False
    batch: bool = False
    individual: bool = False
    multi_pass: bool = False
    summarizes: bool = False
    speed: Literal["fast", "medium", "slow"] = "fast"


@dataclass(frozen=True, slots=True)
class AccountStyle:
    """How an account stands in the conversation: in which role, and whether it carries the tag with its version.

    With `handles` it names the tool that shows what it stands for. `seal` signs it.
    """

    role: str = "assistant"
    tag: bool = False
    handles: bool = False
    seal: Seal | None = None

    def frame(self, version: int | None = None) -> Frame:
        """The frame of an account; `version` is that of a tagged one."""
        return Frame(version, self.handles, seal=self.seal)


PLAIN, TAGGED = AccountStyle(), AccountStyle(tag=True)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be compacted, to how many tokens if there is a target, for a window of what size.

    `reads` tells how many tokens the model of a profile takes at once, the empty name being the usual one; None where
    that is the conversation's own. `asks` says whether there is a model to ask. `budget` is the most that a request may
    take, and `trigger` from how many tokens on it would be compacted again, where there are such limits; where it is
    compacted earlier, from so many.
    `originals` are the messages as they were before anything was done to them, where that is another conversation, and
    `items` what the accounts among the messages are made of, both by id.
    """

    conversation: Conversation
    tokens: int
    target: int | None
    window: int
    measure: Measure
    reads: Callable[[str], int] | None = None
    asks: bool = False
    account: AccountStyle = PLAIN
    originals: Mapping[str, Message] = field(default_factory=dict)
    items: Mapping[str, tuple[AccountItem, ...]] = field(default_factory=dict)
    budget: int | None = None
    trigger: int | None = None

    def read_by(self, profile: str) -> int:
        """How many tokens the model takes at once that is asked by the name of this profile, or by none."""
        return self.window if self.reads is None else self.reads(profile)

    @property
    def ceiling(self) -> int | None:
        """The most that may be left by what keeps messages in exact numbers: halfway from the target to the trigger.

        The next compaction is then not due at once.
        """
        return None if self.target is None else self.towards_trigger(self.target, 1 / 2)

    def towards_trigger(self, tokens: int, share: float) -> int | None:
        """Go a share of the way from so many tokens to where a compaction would be due again; None where none is."""
        if self.trigger is None:
            return None
        most = min(self.trigger, self.budget or self.trigger)
        return max(tokens, tokens + int((most - tokens) * share))

    def reached(self, tokens: int) -> bool:
        return self.target is not None and tokens <= self.target

    def skip(self, name: str) -> Pass:
        """Return a pass that does nothing, with the reason that the target is met."""
        return Pass(name, (), (f"{self.tokens:,} tokens are within the target of {self.target:,}",))


@dataclass(frozen=True, slots=True)
class Applied:
    """The pass stands: the conversation as it is now, and its tokens."""

    conversation: Conversation
    tokens: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """The pass was taken back. `messages` are the ids of those that were at fault, where that is known."""

    why: str
    messages: frozenset[str] = frozenset()


Verdict: TypeAlias = Applied | Rejected
Step: TypeAlias = tuple[Ask, ...] | Pass | Event
Steps: TypeAlias = Generator[Step, Any, None]
"""Yields steps; is sent a tuple of answers for a tuple of asks, a verdict for a pass, None for an event."""


class Provider(Protocol):
    """A way to condense conversations."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def settings(self) -> type[Configuration]:
        """The kind of its settings; their JSON Schema draws the form in which people edit them."""
        ...

    def condense(self, task: Task, settings: Any, /) -> Steps:
        """Propose passes, and ask where a model is needed."""
        ...


def propose(proposal: Pass) -> Generator[Step, Any, Verdict]:
    """Yield the pass and give back the verdict; use with `yield from`."""
    verdict: Verdict = yield proposal
    return verdict


def ask(*questions: Ask) -> Generator[Step, Any, tuple[Answer, ...]]:
    """Yield the questions together and give back their answers, in order; use with `yield from`."""
    answers: tuple[Answer, ...] = yield questions
    return answers


def quietly(steps: Steps, task: Task) -> Steps:
    """The steps without passes that find nothing: they are not worth a report once something was found before."""

    def reply(step: Step) -> Generator[Step, Any, Any]:
        return Rejected("nothing to do") if isinstance(step, Pass) and not step.edits else (yield step)

    yield from follow(steps, Applied(task.conversation, task.tokens), reply)


def follow(
    steps: Steps, now: Applied, reply: Callable[[Step], Generator[Step, Any, Any]]
) -> Generator[Step, Any, Applied]:
    """Let the steps run to their end, each replied to as told, and give back what the last accepted pass left."""
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return now
        answer = yield from reply(step)
        now = answer if isinstance(answer, Applied) else now
