"""Finds the exchanges that count as recent, and says how firmly each stays whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from compact.messages import Exchange, Message, is_summary, persons
from compact.policies import from_a_request, last_calls, last_turns, last_within
from compact.ports import Measure
from compact.providers.auto.settings import AutoSettings

_NEAR = 3
"""A request so many exchanges before the oldest that is shown is shown with it."""


class Claim(IntEnum):
    """The reason for which an exchange is to stay whole: none, a default, or a setting of a person."""

    NONE = 0
    USUAL = 1
    SET = 2


@dataclass(frozen=True, slots=True)
class Recent:
    """The claim of an exchange, and the setting that makes it; `words` is one by which only what was said stays."""

    claim: Claim = Claim.NONE
    setting: str = ""
    words: str = ""


NOT_RECENT = Recent()


def recent_exchanges(
    messages: Sequence[Message], groups: Sequence[Exchange], settings: AutoSettings, measure: Measure
) -> Mapping[int, Recent]:
    """Return the recent exchanges by their place, each with its firmest claim."""
    place = {group: at for at, group in enumerate(groups)}
    found: dict[int, Recent] = {}
    for setting, named in _named(messages, groups, settings, measure):
        recent = Recent(Claim.SET if setting in settings.model_fields_set else Claim.USUAL, setting)
        for at in map(place.__getitem__, named):
            if recent.claim > found.get(at, NOT_RECENT).claim:
                found[at] = recent
    if settings.preserve_user_messages:
        typed = persons(messages)
        for at, group in enumerate(groups):
            if len(group) > 1 and any(messages[index].id in typed for index in group):
                found[at] = replace(found.get(at, NOT_RECENT), words="preserve_user_messages")
    return found


def _named(
    messages: Sequence[Message], groups: Sequence[Exchange], settings: AutoSettings, measure: Measure
) -> Iterator[tuple[str, Sequence[Exchange]]]:
    """Yield the exchanges that each setting names."""
    yield "recent_turns", last_turns(messages, groups, settings.recent_turns)
    yield "tool_pairs", last_calls(messages, groups, settings.tool_pairs)
    within = last_within(messages, groups, settings.recent_tokens, measure.message)
    yield "recent_tokens", from_a_request(messages, within)
    first = len(messages) - settings.preserve_recent
    yield "preserve_recent", [group for group in groups if group[-1] >= first]
    spoken = [group for group in groups if len(group) == 1 and not is_summary(messages[group[0]])]
    if settings.preserve_user_messages:
        yield "preserve_user_messages", [group for group in spoken if messages[group[0]].from_user]
    if settings.preserve_assistant_text:
        yield "preserve_assistant_text", [group for group in spoken if _is_text(messages[group[0]])]


def _is_text(message: Message) -> bool:
    return message.role == "assistant" and bool(message.text) and not message.calls


def starts_of(messages: Sequence[Message], groups: Sequence[Exchange]) -> list[int]:
    """Return where the messages that are shown begin if an exchange is the oldest one worth showing, for each.

    That is the request before it, if that is near; else an exchange with calls. An answer does not come first.
    """
    starts: list[int] = []
    request = -_NEAR
    for at, group in enumerate(groups):
        first = messages[group[0]]
        request = at if first.from_user and not is_summary(first) else request
        before = starts[-1] if starts else at
        if first.role != "assistant":
            starts.append(at)
        elif at - request <= _NEAR:
            starts.append(max(request, 0))
        else:
            called = any(messages[index].calls for index in group)
            starts.append(at if called or at - before > _NEAR + 1 else before)
    return starts
