"""The first request of a conversation in its summary, whether or not a model thought of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compact.messages import Message
from compact.summaries.evidence import by_person
from compact.summaries.neutral import neutralise
from compact.summaries.quoting import quote, users_own
from compact.summaries.record import Item, Record
from compact.summaries.strategy import Strategy, known_sections

_LONGEST = 160


def with_first_request(record: Record, messages: Sequence[Message], strategy: Strategy) -> Record:
    """The record, headed by the first request in the user's own words if no other request cites it.

    Sources are ids. A record without items stays empty: a request alone is no summary.
    """
    first = next(filter(by_person, messages), None)
    section = next((one for one in strategy.sections if one.instructs and one.standing), None)
    if first is None or section is None or not record.items:
        return record
    requests = {title for title, one in known_sections(strategy).items() if one.instructs and one.standing}
    cited = {source for item in record.items if item.section.casefold() in requests for source in item.sources}
    words = neutralise(quote(users_own(first.text), _LONGEST))
    # A single word is a greeting, or moves things on.
    if " " not in words or first.id in cited:
        return record
    return replace(record, items=(Item(section.title, f'"{words}"', (first.id,), "active"), *record.items))
