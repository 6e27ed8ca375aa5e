"""The one door for validity: what a pass may not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from compact.messages.apply import apply
from compact.messages.blocks import Json, Reasoning, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message, once
from compact.messages.edits import Drop, EditKind, Pass, Where
from compact.messages.exchanges import same_shape, untouchable
from compact.messages.pairing import pairs
from compact.messages.resolve import unresolved
from compact.messages.seals import is_summary


@dataclass(frozen=True, slots=True)
class Violation:
    """Something a vendor's API would reject: by which rule, where, in the vendor's words, and the remedy.

    `index` is the position of the message it is about, if it is about one.
    """

    rule: str
    index: int | None
    text: str
    remedy: str
    param: str | None = None
    code: str | None = None
    status: int = 400


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a pass is rejected; `message` is the id of the one at fault, where that is known."""

    kind: str
    text: str
    message: str = ""


Rules: TypeAlias = Callable[[Conversation, Conversation, Collection[str] | None], Iterable[Violation]]
"""The violations of the second conversation, given the first it was made from; of some rules only, or of all."""


def check(
    before: Conversation,
    after: Conversation,
    *,
    rules: Rules,
    count: Callable[[Conversation], int],
    thoughtless: Collection[str] = (),
) -> tuple[Problem, ...]:
    """What is wrong with `after` as a condensation of `before`; empty when it may stand.

    A violation that `before` had already is no problem of the pass: real transcripts are often invalid somewhere.
    `thoughtless` are the ids of messages that may lose what the model thought in them although they must stay.
    """
    alike = same_shape(before.messages, after.messages)
    return (
        *_touched(before, after, alike=alike, thoughtless=thoughtless),
        *(() if alike else _reordered(before, after)),
        *(() if alike else _orphaned(before, after)),
        *_altered_reasoning(before, after),
        *_dangling(before, after),
        *_added_violations(before, after, rules),
        *_grown(count(before), count(after)),
    )


def _touched(
    before: Conversation, after: Conversation, *, alike: bool, thoughtless: Collection[str]
) -> Iterable[Problem]:
    now: Iterable[Message | None] = after.messages
    if not alike:
        named = {message.id: message for message in after.messages}
        now = (named.get(message.id) for message in before.messages)
    fixed = untouchable(before)
    for message, kept in zip(before.messages, now, strict=True):
        if kept is message:
            continue
        if message.id in fixed:
            wire = _thoughtless(before, message) if message.id in thoughtless else message.wire
            if kept is None or kept.wire not in (wire, message.wire):
                yield Problem("protected", f"message {message.id!r} must stay as it is", message.id)
        elif kept is not None and is_summary(message) and not is_summary(kept):
            yield Problem("summary", f"message {message.id!r} would no longer be known as a summary", message.id)
    if before.system != after.system or before.tools != after.tools:
        yield Problem("protected", "the system prompt and the tools must stay as they are")


def _thoughtless(conversation: Conversation, message: Message) -> Json:
    """The message as it is sent without its reasoning."""
    thoughts = (at for at, block in enumerate(message.blocks) if isinstance(block, Reasoning))
    drops = tuple(Drop(Where(message.id, at), EditKind.BOUND_TO_CHANGED) for at in thoughts)
    after, _ = apply(conversation.with_messages([message]), Pass("", drops))
    return after.messages[0].wire if after.messages else message.wire


def _reordered(before: Conversation, after: Conversation) -> Iterable[Problem]:
    position = {message.id: index for index, message in enumerate(before.messages)}
    kept = [position[message.id] for message in after.messages if message.id in position]
    if kept != sorted(set(kept)):
        yield Problem("order", "messages changed their order or were repeated")


def _orphaned(before: Conversation, after: Conversation) -> Iterable[Problem]:
    # What is broken now is mostly nothing: only otherwise does it matter what was broken before.
    if broken := _broken(after):
        for what in broken - _broken(before):
            yield Problem("pair", f"{what} lost its other half")


@once
def _broken(conversation: Conversation) -> Counter[str]:
    answered = pairs(conversation.messages)
    called = set(answered.values())
    lost: Counter[str] = Counter()
    for index, message in enumerate(conversation.messages):
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall) and (index, position) not in called:
                lost[f"the call {block.id!r} of message {message.id!r}"] += 1
            elif isinstance(block, ToolResult) and (index, position) not in answered:
                lost[f"the result of {block.call_id!r} in message {message.id!r}"] += 1
    return lost


def _altered_reasoning(before: Conversation, after: Conversation) -> Iterable[Problem]:
    kept = set(map(id, before.messages))
    if changed := _seals(message for message in after.messages if id(message) not in kept):
        ids = {name for name, _, _ in changed}
        for name, _, _ in changed - _seals(message for message in before.messages if message.id in ids):
            yield Problem(
                "reasoning",
                f"what is sealed or signed in message {name!r} was altered: keep it identical or drop it whole",
                name,
            )


def _seals(messages: Iterable[Message]) -> Counter[tuple[str, str, str]]:
    """What is only valid as it was written: reasoning, and what the vendor signed."""
    found: Counter[tuple[str, str, str]] = Counter()
    for message in messages:
        for block in message.blocks:
            if isinstance(block, Reasoning):
                found[message.id, block.text, block.sealed] += 1
            elif isinstance(block, Text | ToolCall) and block.signed:
                said = block.text if isinstance(block, Text) else repr((block.id, block.name, block.raw))
                found[message.id, said, type(block).__name__] += 1
    return found


def _dangling(before: Conversation, after: Conversation) -> Iterable[Problem]:
    if lost := unresolved(after):
        for line in lost - unresolved(before):
            yield Problem("reference", f"nothing is left of what {line} stands for")


def _added_violations(before: Conversation, after: Conversation, rules: Rules) -> Iterable[Problem]:
    def keyed(
        conversation: Conversation, only: Collection[str] | None = None
    ) -> dict[tuple[str, str | None, int], Violation]:
        seen: Counter[tuple[str, str | None]] = Counter()
        found = {}
        for violation in rules(before, conversation, only):
            owner = None if violation.index is None else conversation.messages[violation.index].id
            seen[violation.rule, owner] += 1
            found[violation.rule, owner, seen[violation.rule, owner]] = violation
        return found

    if now := keyed(after):
        known = keyed(before, {violation.rule for violation in now.values()})
        for key, violation in now.items():
            if key not in known:
                yield Problem("invalid", f"{violation.rule}: {violation.text}", key[1] or "")


def _grown(before: int, after: int) -> Iterable[Problem]:
    if after >= before:
        yield Problem("grew", f"{before:,} tokens became {after:,}")
