"""Counting tokens of plain messages, fast when most of them were counted before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from threading import Lock

from compact import formats, models, settings
from compact.messages import Conversation, Json, common_prefix, freeze
from compact.tokens import Count, CountCache, Counter, Meter, load_encoding

DEFAULT_MODEL = "gpt-4o"
_REMEMBERED = 16


def meter_for(model: str) -> Meter:
    """How the model's tokens are counted: its own tokenizer, a learned factor, or an assumed one."""
    facts = models.find_model(model)
    learned = settings.load_calibrations().get(facts.id)
    if learned is not None:
        return Meter(facts.id, facts.vendor, facts.encoding, learned.factor, "calibrated")
    return Meter(facts.id, facts.vendor, facts.encoding, facts.prior, "exact" if facts.exact else "estimate")


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
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes):
        return _recent.count(counter_for(model), messages, system, list(tools or ()))
    return count(formats.parse(messages, system=system, tools=tools), model=model).total


@lru_cache(maxsize=64)
def _counter(meter: Meter) -> Counter:
    return Counter(meter, _cache(meter.encoding).count)


@lru_cache(maxsize=8)
def _cache(encoding: str) -> CountCache:
    return CountCache(load_encoding(encoding).count)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A list counted before: a private copy of it, and the running total before and after each message.

    `format` is None while nothing in the list told which one it is.
    """

    meter: Meter
    beside: list[Json]
    format: formats.Format | None
    messages: list[Json]
    totals: list[int]


class _Recent:
    """The last few lists that were counted."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lists: tuple[_Counted, ...] = ()

    def count(self, counter: Counter, messages: Sequence[Json], system: Json, tools: Sequence[Json]) -> int:
        """The tokens of the messages, counting only those that follow a list counted before."""
        beside = [system, tools]
        found, shared = self._longest(counter.meter, beside, messages)
        format = (found.format if found else None) or formats.recognise(messages[shared:])
        if found is None or found.format is not format:
            found, shared = None, 0
        fresh = messages[shared:]
        parsed = formats.parse(fresh, format=format.name if format else None, system=system, tools=tools)
        start = found.totals[shared] if found else counter.frame(parsed, formats.tools_of(parsed))
        totals = list(accumulate(map(counter.message, parsed.messages), initial=start))
        if fresh or found is None:
            try:
                copy = [*(found.messages[:shared] if found else ()), *freeze(fresh)]
                beside = found.beside if found else freeze(beside)
            except RecursionError:
                return totals[-1]  # nested too deeply to copy: counted all the same
            known = [*(found.totals[:shared] if found else ()), *totals]
            self._remember(_Counted(counter.meter, beside, format, copy, known), found)
        return totals[-1]

    def _longest(self, meter: Meter, beside: list[Json], messages: Sequence[Json]) -> tuple[_Counted | None, int]:
        best, most = None, 0
        for counted in self._lists:
            if counted.meter == meter and counted.beside == beside:
                shared = common_prefix(counted.messages, messages)
                if shared > most:
                    best, most = counted, shared
        return best, most

    def _remember(self, counted: _Counted, grown: _Counted | None) -> None:
        outgrown = grown is not None and len(grown.messages) <= len(counted.messages)
        with self._lock:
            kept = [other for other in self._lists if not (outgrown and other is grown)]
            self._lists = (counted, *kept[: _REMEMBERED - 1])


_recent = _Recent()
