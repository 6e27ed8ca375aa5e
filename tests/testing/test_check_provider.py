from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from compact.engine import Outcome
from compact.errors import InvalidConfiguration
from compact.formats import parse
from compact.messages import EditKind, Fold, Message, Pass, Replace, Where, message_texts, untouchable
from compact.policies import Configuration
from compact.ports import Ask
from compact.providers import Capabilities, Provider, Steps, Task, ask, propose
from compact.providers.registry import BUILT_IN, provider
from compact.testing.providers import _Trial, breaches, check_provider


class Honest:
    """Replaces long texts by a mark; keeps every law. Each provider below breaks one."""

    id = "honest"
    name = "Honest"
    description = "Replaces long texts."
    version = "1"
    capabilities = Capabilities()
    settings: type[Configuration] = Configuration

    def condense(self, task: Task, settings: Any) -> Steps:
        yield from propose(Pass("Marks", tuple(self.edits(task))))

    def edits(self, task: Task) -> Iterator[Replace]:
        fixed = untouchable(task.conversation)
        for message in task.conversation.messages:
            if message.id not in fixed and not task.reached(task.tokens):
                yield from self.marked(message)

    def marked(self, message: Message) -> Iterator[Replace]:
        for where, text in message_texts(message):
            if len(text) > 60 and not where.path:
                yield Replace(where, "⟨ Content suppressed ⟩", EditKind.OTHER)


class Nameless(Honest):
    description = " "


class Unhelpful(Honest):
    class Settings(Configuration):
        depth: int = 1

    settings = Settings


class Careless(Honest):
    class Settings(BaseModel):
        depth: int = 1

    settings = Settings  # type: ignore[assignment]  # the mistake is the point


class Demanding(Honest):
    class Settings(Configuration):
        depth: int
        """How deep."""

    settings = Settings


class Greedy(Honest):
    """Touches what must stay."""

    def edits(self, task: Task) -> Iterator[Replace]:
        for message in task.conversation.messages:
            yield from self.marked(message)


class Lost(Honest):
    """Addresses what is not there."""

    def edits(self, task: Task) -> Iterator[Replace]:
        yield Replace(Where("nowhere", 0), "", EditKind.OTHER)


class Restless(Honest):
    """Finds something to do every time."""

    def marked(self, message: Message) -> Iterator[Replace]:
        for where, text in message_texts(message):
            if len(text) > 60 and not where.path:
                yield Replace(where, text[: len(text) * 9 // 10], EditKind.OTHER)


class Moody(Honest):
    """Says something else every time."""

    def __init__(self) -> None:
        self.times = 0

    def marked(self, message: Message) -> Iterator[Replace]:
        self.times += 1
        for edit in super().marked(message):
            yield Replace(edit.where, f"⟨ {self.times} ⟩", edit.kind)


class Meddling(Honest):
    """Changes the messages it was given."""

    def edits(self, task: Task) -> Iterator[Replace]:
        for message in task.conversation.messages:
            message.wire["touched"] = True
        yield from ()


class Trusting(Honest):
    """Takes it for granted that a model answers."""

    def condense(self, task: Task, settings: Any) -> Steps:
        answers: tuple[Any, ...] = yield from ask(Ask("Summarize.", "Nothing.", 100))
        yield from propose(Pass("Summary", (), (answers[0].text,)))


class Splitting(Honest):
    """Folds calls without their results."""

    def condense(self, task: Task, settings: Any) -> Steps:
        calls = [message.id for message in task.conversation.messages if message.calls]
        yield from propose(Pass("Fold", tuple(Fold((id,), "gone", EditKind.OTHER) for id in calls[:1])))


class Crashing(Honest):
    """Does not survive a conversation of one message."""

    def edits(self, task: Task) -> Iterator[Replace]:
        yield from self.marked(task.conversation.messages[1])


@pytest.mark.parametrize("id", BUILT_IN)
def test_every_built_in_provider_keeps_the_laws(id: str) -> None:
    check_provider(provider(id), rounds=4)


def test_an_honest_provider_passes() -> None:
    check_provider(Honest())


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (Nameless(), "metadata"),
        (Unhelpful(), "settings"),
        (Careless(), "settings"),
        (Demanding(), "settings"),
        (Greedy(), "proposes only what it may"),
        (Lost(), "proposes only what it may"),
        (Splitting(), "proposes only what it may"),
        (Restless(), "idempotent"),
        (Moody(), "deterministic"),
        (Meddling(), "pure"),
        (Trusting(), "never raises"),
        (Crashing(), "never raises"),
    ],
)
def test_a_provider_that_breaks_a_law_is_caught(broken: Provider, law: str) -> None:
    assert law in {breach.law for breach in breaches(broken)}
    with pytest.raises(AssertionError, match=f"provider '{broken.id}' breaks laws(.|\n)*{law}"):
        check_provider(broken)


def test_settings_may_be_given_as_values_or_made() -> None:
    native = provider("native")
    check_provider(native, {"max_summary_tokens": 64}, rounds=1)
    check_provider(native, native.settings(), rounds=1)
    with pytest.raises(InvalidConfiguration, match="depth"):
        check_provider(native, {"depth": 1}, rounds=1)


def test_the_same_seed_tries_the_same_conversations() -> None:
    first, again = (list(map(str, breaches(Greedy(), rounds=2, seed=3))) for _ in range(2))
    assert first == again
    assert first != list(map(str, breaches(Greedy(), rounds=2, seed=4)))
    assert "seed 3, round " in first[0]


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (lambda messages: messages[1:], "keeps what must stay"),
        (lambda messages: [*messages[:3], messages[4], messages[3], *messages[5:]], "keeps the order"),
        (lambda messages: [*messages[:2], *messages[3:]], "keeps pairs whole"),
        (lambda messages: [*messages[:2], *messages[3:]], "valid"),
        (lambda messages: [*messages, replace(messages[0], id="more")], "never larger"),
        (lambda messages: messages[:-2], "restores"),
    ],
)
def test_a_result_that_should_never_have_passed_is_caught(
    spoil: Callable[[list[Message]], list[Message]], law: str
) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    before = parse(
        [
            {"role": "user", "content": "Read it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "It."},
            {"role": "assistant", "content": "Done."},
            {"role": "assistant", "content": "Really."},
            {"role": "user", "content": "Thanks."},
        ]
    )
    trial = _Trial(Honest(), Configuration(), before)
    trial._lawful(Outcome(before, (), ()))
    assert trial.found == []
    trial._lawful(Outcome(before.with_messages(spoil(list(before.messages))), (), ()))
    assert law in {found for found, _ in trial.found}
