"""Counting tokens of plain messages, fast when most of them were counted before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from threading import Lock
from typing import Final, Literal, TypeAlias

from compact import formats, models, settings
from compact.errors import InvalidConversation, InvalidInput
from compact.messages import Conversation, Json, common_prefix, dump_objects, freeze
from compact.tokens import Count, CountCache, Counter, Meter, load_encoding

ModelSource: TypeAlias = Literal["option", "request", "default"]

DEFAULT_MODEL = "gpt-4o"
_USUAL: Final[Mapping[str, str]] = {"anthropic-messages": "claude-sonnet-4-5", "google-gemini": "gemini-2.5-pro"}
"""The model to count for where none is named, by the format of the conversation."""
_REMEMBERED = 16
_MOST_CHARS = 32_000_000


def choose_model(given: str | None, conversation: Conversation) -> tuple[str, ModelSource]:
    """The model to count for, and where it is named: by an `option`, in the `request` itself, or as the `default`.

    The default is a model of the vendor whose format the conversation has.
    """
    if given:
        return given, "option"
    stated = conversation.options.get("model")
    if isinstance(stated, str) and stated:
        return stated, "request"
    return _USUAL.get(conversation.format, DEFAULT_MODEL), "default"


def meter_for(model: str) -> Meter:
    """How the model's tokens are counted: its own tokenizer, a learned factor, or an assumed one."""
    facts = models.find_model(model)
    if facts.exact:
        return Meter(facts.id, facts.vendor, facts.encoding)
    learned = settings.load_calibrations().get(facts.id)
    if learned is not None and learned.settled:
        return Meter(facts.id, facts.vendor, facts.encoding, learned.factor, "calibrated")
    return Meter(facts.id, facts.vendor, facts.encoding, facts.prior, "estimate")


def counter_for(model: str) -> Counter:
    """A counter for the model; counters of one encoding share their cache."""
    return _counter(meter_for(model))


def count(conversation: Conversation, *, model: str = DEFAULT_MODEL) -> Count:
    """The tokens of a conversation, broken down."""
    return counter_for(model).conversation(conversation, formats.tools_of(conversation))


def count_tokens(
    messages: Sequence[Json] | Mapping[str, Json],
    *,
    model: str = DEFAULT_MODEL,
    system: Json = None,
    tools: Sequence[Json] | None = None,
) -> int:
    """How many input tokens the messages, or a whole request, take with this model.

    Counting the same list again after something was appended looks only at what is new; messages changed in place
    are noticed.
    """
    if isinstance(messages, Mapping):
        if system is not None or tools is not None:
            raise InvalidInput(
                "cannot be given beside a whole request", field="system or tools", remedy="The request holds its own."
            )
        return count(formats.parse(messages), model=model).total
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        return count(formats.parse(messages), model=model).total  # says what is wrong with it
    return _recent.count(counter_for(model), *map(dump_objects, (list(messages), system, tools)))


@lru_cache(maxsize=64)
def _counter(meter: Meter) -> Counter:
    return Counter(meter, _cache(meter.encoding).count)


@lru_cache(maxsize=8)
def _cache(encoding: str) -> CountCache:
    return CountCache(load_encoding(encoding).count)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A list counted before: a private copy of it, and the running total before and after each message."""

    meter: Meter
    beside: list[Json]
    format: formats.Format
    messages: list[Json]
    totals: list[int]
    chars: int


class _Recent:
    """The last few lists that were counted: at most `_REMEMBERED`, and `_MOST_CHARS` characters together."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lists: tuple[_Counted, ...] = ()

    def count(
        self, counter: Counter, messages: list[Json], system: Json = None, tools: Sequence[Json] | None = None
    ) -> int:
        """The tokens of the messages, counting only those that follow a list counted before."""
        beside = [system, tools]
        found, shared = self._longest(counter.meter, beside, messages)
        format = _format(found, shared, messages, beside)
        if found is None or found.format is not format:
            found, shared = None, 0
        parsed = _parse(messages, shared, format, beside)
        if any(message.forgets for message in parsed.messages):  # then what came before counts no more
            whole = _parse(messages, 0, format, beside)
            return counter.conversation(whole, formats.tools_of(whole)).total
        start = found.totals[shared] if found else counter.frame(parsed, formats.tools_of(parsed))
        totals = list(accumulate(map(counter.message, parsed.messages), initial=start))
        with suppress(RecursionError):  # what is nested too deeply to copy is counted, but not remembered
            fresh = freeze(messages[shared:])
            known = found or _Counted(counter.meter, freeze(beside), format, [], [], 0)
            self._remember(found, _longer(known, shared, fresh, totals))
        return totals[-1]

    def _longest(self, meter: Meter, beside: list[Json], messages: list[Json]) -> tuple[_Counted | None, int]:
        best, most = None, 0
        with suppress(RecursionError):
            for counted in self._lists:
                if counted.meter == meter and counted.beside == beside:
                    shared = common_prefix(counted.messages, messages)
                    if shared > most:
                        best, most = counted, shared
        return best, most

    def _remember(self, grown: _Counted | None, counted: _Counted) -> None:
        """Put the list first; what it grew out of, and what no longer has room, is forgotten."""
        outgrown = grown if grown and len(grown.messages) <= len(counted.messages) else None
        with self._lock:
            lists, chars = [counted] if counted.messages else [], counted.chars
            for other in self._lists:
                chars += other.chars
                if other is not outgrown and len(lists) < _REMEMBERED and chars <= _MOST_CHARS:
                    lists.append(other)
            self._lists = tuple(lists)


def _format(found: _Counted | None, shared: int, messages: list[Json], beside: list[Json]) -> formats.Format:
    """The format of the messages: that of the list they continue, unless what is new looks like another one."""
    system, tools = beside
    if found is not None and shared == len(found.messages):
        if formats.detect(messages[shared:], system=system, tools=tools) is found.format:
            return found.format
    return formats.detect(messages, system=system, tools=tools)


def _parse(messages: list[Json], shared: int, format: formats.Format, beside: list[Json]) -> Conversation:
    system, tools = beside
    try:
        return formats.parse(messages[shared:], format=format.name, system=system, tools=tools)
    except InvalidConversation:
        return formats.parse(messages, format=format.name, system=system, tools=tools)  # names the right message


def _longer(known: _Counted, shared: int, fresh: list[Json], totals: list[int]) -> _Counted:
    return replace(
        known,
        messages=[*known.messages[:shared], *fresh],
        totals=[*known.totals[:shared], *totals],
        chars=(known.chars if shared else 0) + sum(map(_chars, fresh)),
    )


def _chars(value: Json) -> int:
    """About how many characters a value keeps alive."""
    if isinstance(value, dict):
        return sum(map(_chars, value.values()), 64)
    if isinstance(value, list):
        return sum(map(_chars, value), 64)
    return len(value) if isinstance(value, str) else 8


_recent = _Recent()
