"""What a request of a stored session is made of: what the summary's plan leaves, what came since, and the input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeAlias

from compact.engine.stored.snapshots import SummarySnapshot
from compact.engine.variants import choose_variant
from compact.formats import parse, tools_of
from compact.messages import (
    AccountItem,
    Alternation,
    Before,
    Conversation,
    Drop,
    EditKind,
    Fold,
    Json,
    Message,
    Pass,
    Plan,
    Reasoning,
    Tool,
    Where,
    apply,
    assuming,
    exchanges,
    is_bridge,
    order_of,
    seen,
    settle,
    stand,
)
from compact.ports import Active, StoredMessage
from compact.tokens import Counter

_NEAR = 0.01
_NAME = re.compile(r"(.+)\*(\d+(?:\.\d+)?)@(.*)")

_Line: TypeAlias = Message | Fold


@dataclass(frozen=True, slots=True)
class Assembled:
    """A stored session as a conversation; `messages` are its stored messages by the ids they have in there.

    `summary` is the one that stands, its plan and its view as they are applied. `originals` are the messages as they
    were stored. `input` is what the user is about to say; it stands at the end of the conversation, and is not stored.
    `frame` are the tokens around the messages, of which `system` are the system prompt's; `roles` those of messages.
    """

    active: Active
    summary: SummarySnapshot | None
    conversation: Conversation
    messages: dict[str, StoredMessage]
    originals: dict[str, Message]
    input: tuple[Json, ...]
    frame: int
    roles: Mapping[str, int]
    system: int

    @property
    def tokens(self) -> int:
        """The size of what would be sent."""
        return self.frame + sum(self.roles.values())

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(tools_of(self.conversation))

    @property
    def plan(self) -> Plan:
        """What was done to the stored messages that stand."""
        return self.summary.plan if self.summary else ()

    @property
    def made(self) -> Mapping[str, Fold]:
        """The folds that stand in the conversation, by the ids of their messages."""
        folds = self.summary.folds if self.summary else {}
        return {
            message.id: folds[name]
            for message in self.conversation.messages
            if (name := fold_of(message)) in folds and not is_bridge(message.id)
        }

    @property
    def items(self) -> dict[str, tuple[AccountItem, ...]]:
        """What the accounts are made of, by the ids of their messages."""
        return {id: fold.items for id, fold in self.made.items() if fold.items}


def fold_of(message: Message) -> str:
    """The handle of the fold that made the message; for every other one its id."""
    return message.id.partition(".")[0]


def assemble(
    active: Active,
    summary: SummarySnapshot | None,
    counter: Counter,
    kept: Sequence[StoredMessage] = (),
    input: Sequence[Json] = (),
) -> Assembled:
    """The conversation as it would be sent, and its size.

    `kept` are the messages that the summary's view names. What the database says of a message's size is believed where
    the same tokenizer has counted it, by a factor that is not far off. EditError where the plan does not fit.
    """
    session = active.session
    tools = session.tools if isinstance(session.tools, list) else None
    frame = parse([], format=session.format, system=session.system, tools=tools)
    frame = assuming(
        frame, {"model": session.model, "variant": choose_variant(frame.format, session.model, active.variant)}
    )
    stored = sorted(
        {one.id: one for one in (*active.pinned, *kept, *active.recent)}.values(), key=attrgetter("position")
    )
    read = {str(one.position): one for one in stored}
    originals = {str(one.position): _read(frame, one) for one in stored}
    lines: list[_Line] = list(_in_order(summary, stored, originals))
    # Edits and folds are for what is stored: nothing may touch what is not.
    fresh = [replace(frame.dialect.parse_message(wire, f"input-{at}"), protected=True) for at, wire in enumerate(input)]
    merges = summary is not None and any(step.merges for step in summary.plan)
    whole = frame.with_messages(list(_standing(frame, [*lines, *fresh], merges=merges)))
    if summary is not None:
        summary = _settled(summary, lines, originals, read)
        for step in summary.plan:
            edits = tuple(edit for edit in step.edits if not isinstance(edit, Fold))
            whole = apply(whole, Pass(step.name, edits))[0] if edits else whole
    trusted = believed(stored, counter)
    roles: dict[str, int] = {}
    for message in seen(whole.messages):
        known = message is originals.get(message.id) and read[message.id].counter in trusted
        size = read[message.id].tokens if known else counter.message(message)
        roles[message.role] = roles.get(message.role, 0) + size
    system = counter.message(whole.system) if whole.system else 0
    around = counter.frame(whole, tools_of(whole))
    return Assembled(active, summary, whole, read, originals, tuple(input), around, roles, system)


def counter_name(counter: Counter) -> str:
    """What tells counts apart: the tokenizer, and what its counts are multiplied with."""
    return f"{counter.meter.encoding}*{counter.meter.factor:.6g}@{counter.meter.vendor}"


def believed(messages: Iterable[StoredMessage], counter: Counter) -> set[str]:
    """Those who counted the messages whose counts hold for this counter, by their names.

    A learned factor is an estimate and moves a little with every answer of the vendor. Counts by one that is less than
    1% off hold, or each reading would count and store all of the session again.
    """
    return {name for name in {one.counter for one in messages} if _holds(name, counter)}


def whole_exchanges(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages in the groups that stay together."""
    for group in exchanges(tuple(messages)):
        yield tuple(messages[index] for index in group)


def _in_order(
    summary: SummarySnapshot | None, stored: Sequence[StoredMessage], originals: Mapping[str, Message]
) -> Iterator[_Line]:
    """What stands, in order: the summary's view with what was pinned since, and the messages after it."""
    messages = [originals[str(one.position)] for one in stored]
    if summary is None:
        yield from messages
        return
    if not summary.placed:
        at = next((index for index, message in enumerate(messages) if not message.protected), len(messages))
        yield from messages[:at]
        yield from summary.folds.values()
        yield from messages[at:]
        return
    by_id = {one.id: message for one, message in zip(stored, messages, strict=True)}
    kept, folds = set(summary.kept), summary.folds
    since = [one.id for one in stored if one.id not in kept]
    for at, entry in enumerate(summary.view):
        # Ids grow with positions.
        end = next((one for one in summary.view[at:] if isinstance(one, int)), (summary.cutoff or 0) + 1)
        while since and since[0] < end:
            yield by_id[since.pop(0)]
        yield folds[entry] if isinstance(entry, str) else by_id[entry]
    yield from map(by_id.__getitem__, since)


def _standing(frame: Conversation, lines: Sequence[_Line], *, merges: bool) -> Iterator[Message]:
    """The lines as messages; a fold takes the role that its neighbours allow."""
    alternation = frame.dialect.alternation(frame.variant)
    if alternation is not None and not merges:
        alternation = replace(alternation, merges=False)
    found: list[Message] = []
    for at, line in enumerate(lines):
        if isinstance(line, Message):
            found.append(line)
            continue
        earlier, later = ([one for one in part if isinstance(one, Message)] for part in (lines[:at], lines[at:]))
        # In the role of the system it would be taken for an instruction that must stay.
        found += (replace(one, protected=False) for one in stand(frame.dialect, line, earlier, later, alternation))
    folds = [line for line in lines if isinstance(line, Fold)]
    if alternation is None or not folds:
        return iter(found)
    return settle(frame.dialect, alternation, found, _order(alternation, lines), folds[-1].handle)


def _order(alternation: Alternation, lines: Sequence[_Line]) -> Before:
    """Who took the turn before, as far as everything between the two still stands."""
    stored = [line for line in lines if isinstance(line, Message)]
    known = {message.id for message in stored}

    def unbroken(earlier: str, later: str) -> bool:
        if not later.isdecimal():  # it follows all that is stored
            return True
        first = int(earlier) + 1 if earlier else 0
        return all(str(position) in known for position in range(first, int(later)))

    turns = order_of(alternation, stored).turns
    return Before({id: last for id, last in turns.items() if unbroken(last, id)})


def _settled(
    summary: SummarySnapshot,
    lines: Sequence[_Line],
    originals: Mapping[str, Message],
    stored: Mapping[str, StoredMessage],
) -> SummarySnapshot:
    """The summary as it is applied: one of before version 3 with a plan and a view, as if it had been stored so."""
    if summary.placed:
        return summary
    upto = -1 if summary.thoughtless is None else summary.thoughtless
    drops = tuple(
        Drop(Where(id, index), EditKind.BOUND_TO_SUMMARIZED)
        for id, message in originals.items()
        if int(id) <= upto
        for index, block in enumerate(message.blocks)
        if isinstance(block, Reasoning)
    )
    entries = (line.handle if isinstance(line, Fold) else stored[line.id].id for line in lines)
    view = tuple(entry for entry in entries if isinstance(entry, str) or entry <= (summary.cutoff or 0))
    plan = (*summary.plan, Pass("Reasoning dropped", drops, merges=False)) if drops else summary.plan
    return replace(summary, plan=plan, view=view, placed=True, thoughtless=None)


def _read(frame: Conversation, stored: StoredMessage) -> Message:
    message = frame.dialect.parse_message(json.loads(stored.raw), str(stored.position))
    return replace(message, protected=True) if stored.pinned else message


def _holds(name: str, counter: Counter) -> bool:
    meter, read = counter.meter, _NAME.fullmatch(name)
    if meter.precision != "calibrated" or read is None:
        return name == counter_name(counter)
    encoding, factor, vendor = read.groups()
    return (encoding, vendor) == (meter.encoding, meter.vendor) and abs(float(factor) / meter.factor - 1) < _NEAR
