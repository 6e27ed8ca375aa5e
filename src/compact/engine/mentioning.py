"""What a condensation took out of context, and saying of it behind the markers of texts that were cut."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from compact.facts import Fact, Kind, Readable, Strength, core_command, directives_in, failures_in, standings
from compact.messages import (
    Conversation,
    EditKind,
    Message,
    Replace,
    Text,
    ToolCall,
    Where,
    exchanges,
    fingerprint,
    has_mark,
    is_summary,
    message_texts,
    texts,
    untouchable,
)
from compact.messages.references import parse_reference
from compact.providers.truncation.cutting import is_condensed
from compact.summaries.ledger import Entry, Ledger, keep_ledger
from compact.summaries.naming import spelled
from compact.summaries.quoting import quote, users_own
from compact.summaries.reading import Reading, read
from compact.summaries.tallies import subject

_MOST_PHRASES = 40
_FEWEST_SPACES = 1
_DIGITS = re.compile(r"\d+")
_LONGEST_PHRASE = 160
_LEAST_ROOM = 4
_SEPARATOR = ", "
_PREFIX = 6
"""How much of its source's hash every reference gives."""


class Missing:
    """The facts of `before` that cannot be read in `after`, the likeliest to be needed first."""

    def __init__(self, before: Conversation, after: Conversation) -> None:
        self.length = len(before)
        self._messages = before.messages
        self._shown = Readable(after)
        self._reading = read(before.messages)
        wanted = {Kind.DIRECTIVE: _rules(before.messages), Kind.ERROR: _open_errors(self._reading)}
        known = standings(before.messages)
        self._said: defaultdict[Kind, list[Fact]] = defaultdict(list)
        for fact in sorted(known, key=lambda fact: (-known[fact].odds(self.length), fact.text)):
            if (fact.kind is Kind.COMMAND or fact.text in wanted.get(fact.kind, ())) and fact not in self._shown:
                self._said[fact.kind].append(fact)

    def said(self, kind: Kind) -> list[Fact]:
        """Rules of the user, errors still open, or commands: the first few dozen that say something of their own."""
        told: dict[str, Fact] = {}
        for fact in self._said[kind]:
            sense = _sense(fact)
            if sense.count(" ") >= _FEWEST_SPACES and not any(sense in other for other in told):
                told[sense] = replace(fact, text=core_command(fact.text)) if kind is Kind.COMMAND else fact
                if len(told) == _MOST_PHRASES:
                    break
        return list(told.values())

    def entries(self) -> list[Entry]:
        """Names and numbers, with what they belong to, in the order of the conversation."""
        ledger = Ledger()
        keep_ledger(self._messages, self._reading, ledger)
        return [entry for entry in ledger.entries.values() if Fact(entry.kind, entry.text, "") not in self._shown]


def _sense(fact: Fact) -> str:
    """What a phrase says, whatever it was quoted in, and whichever lines, times or places it names."""
    if fact.kind is Kind.COMMAND:
        return core_command(fact.text)
    return _DIGITS.sub("", fact.text) if fact.kind is Kind.ERROR else fact.text.strip("\"'* ")


def _rules(messages: Iterable[Message]) -> set[str]:
    """What a person demanded, in words that no program put into the message."""
    return {
        directive.text
        for message in messages
        if message.from_user and not is_summary(message)
        for block in message.blocks
        if isinstance(block, Text)
        for directive in directives_in(users_own(block.text))
        if directive.strength is Strength.RULE
    }


def _open_errors(reading: Reading) -> set[str]:
    """What tools reported the last time something was done that failed then."""
    last = {subject(action, ""): action for action in reading.actions}
    return {failure.text for action in last.values() if action.failed for failure in failures_in(action.result)}


@dataclass(slots=True)
class _Carrier:
    """A text that was cut, as it was and as it is, and what shall be said behind its marker."""

    where: Where
    original: str
    text: str
    names: list[str] = field(default_factory=list)

    @property
    def edit(self) -> Replace:
        return Replace(self.where, f"{self.text}\n{_mentions(self.names)}", EditKind.FACTS_NAMED)


def behind_markers(
    before: Conversation, after: Conversation, missing: Missing, room: int, count: Callable[[str], int]
) -> Iterator[Replace]:
    """The edits that let the markers of cut texts name what those held, in at most `room` tokens."""
    carriers = list(_carriers(before, after))
    at = _by_message(carriers, after)
    for name, text, ids in _candidates(missing) if at else ():
        carrier = next((one for id in ids for one in at[id] if name in one.original or len(at[id]) == 1), None)
        if carrier is None or quote(text, len(text)) != text:
            continue
        price = count(_SEPARATOR + text) + (0 if carrier.names else count("\n" + _mentions(())))
        if price <= room:
            room -= price
            carrier.names.append(text)
        elif room < _LEAST_ROOM:
            break
    yield from (carrier.edit for carrier in carriers if carrier.names)


def _mentions(names: Sequence[str]) -> str:
    return f"⟨ Mentions: {_SEPARATOR.join(names)} ⟩"


def _candidates(missing: Missing) -> Iterator[tuple[str, str, Sequence[str]]]:
    """What is missing, as it was spelled and as it shall be told, with the messages that had it, latest first."""
    for fact in missing.said(Kind.ERROR):
        yield fact.text, f'"{quote(fact.text, _LONGEST_PHRASE)}"', (fact.message_id,)
    entries = missing.entries()
    entries.sort(key=lambda entry: (-entry.odds(missing.length) / (len(entry.text) + 4), entry.text))
    for entry in entries:
        yield entry.text, spelled(entry), entry.ids[::-1]


def _carriers(before: Conversation, after: Conversation) -> Iterator[_Carrier]:
    """The texts that were cut since, and that no reference needs as they are."""
    old = {message.id: message for message in before.messages}
    needed = {
        reference.source[:_PREFIX]
        for _, text in texts(after)
        if has_mark(text)
        for line in text.split("\n")
        if (reference := parse_reference(line))
    }
    fixed = untouchable(after)
    for message in after.messages:
        was = old.get(message.id)
        if was is None or was is message or message.id in fixed:
            continue
        originals = dict(message_texts(was))
        for where, text in message_texts(message):
            in_call = isinstance(message.blocks[where.block], ToolCall)
            if in_call or has_mark(text) or not is_condensed(text) or text == originals.get(where):
                continue
            if fingerprint(text)[:_PREFIX] not in needed:
                yield _Carrier(where, originals.get(where, ""), text)


def _by_message(carriers: Sequence[_Carrier], after: Conversation) -> defaultdict[str, list[_Carrier]]:
    """The carriers of each message; a message without any has those of its exchange: a call has its result's."""
    own: defaultdict[str, list[_Carrier]] = defaultdict(list)
    for carrier in carriers:
        own[carrier.where.message].append(carrier)
    found = defaultdict(list, own)
    for group in exchanges(after.messages) if carriers else ():
        ids = [after.messages[index].id for index in group]
        for id in ids:
            found[id] = own[id] or [carrier for other in ids for carrier in own[other]]
    return found
