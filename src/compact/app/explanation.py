"""Why a model no longer knows something: what became of each message that says it, and at which compaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.engine.recalling import Removed
from compact.engine.recorded import UNUSABLE, chain_of, log_of, mismatch, plan_of
from compact.engine.searching import Hit, Phrase
from compact.errors import EditError, NotFound
from compact.facts.conversation import strings_in
from compact.formats import parse
from compact.formats.logs import Log
from compact.messages import AccountItem, Conversation, Fold, Message, Plan, apply_plan, body_of
from compact.ports import Originals

Fate: TypeAlias = Literal["kept", "shortened", "summarized", "omitted"]


@dataclass(frozen=True, slots=True)
class MessageChange:
    """The fate of a message at a compaction.

    `sentence` is the line of the account that speaks of it, and `shown` says whether the model still reads the text.
    """

    compaction: int
    fate: Fate
    shown: bool
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A message that holds the text, and what became of it.

    `handle` recalls what was removed; it is empty for what is kept, and where an agent compacted by itself. `changes`
    are in order; without any the message is kept.
    """

    position: int
    role: str
    tool: str
    excerpt: str
    handle: str
    changes: tuple[MessageChange, ...]

    @property
    def last(self) -> MessageChange:
        """The latest change."""
        return self.changes[-1] if self.changes else MessageChange(0, "kept", shown=True)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every message that holds the text, in order, and how many compactions were looked at."""

    text: str
    compactions: int
    occurrences: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """A compaction of the first `upto` messages of a log: what it did to what the model saw of them by then."""

    number: int
    upto: int
    plan: Plan


def explain(text: str, log: Conversation, compactions: Sequence[AppliedPlan]) -> Explanation:
    """Say what became of each message of the log that holds the text, whatever its case and its spaces.

    InvalidInput where the text has no word; EditError where a plan is not of this log.
    """
    phrase = Phrase(text)
    hits = Removed(log.messages, (done.plan for done in compactions)).find(text)
    seen = zip(compactions, _views(log, compactions), strict=True)
    states = [(done.number, done.upto, _state_of(view, compactions)) for done, view in seen]
    return _explained(text, len(compactions), hits, lambda hit: _changes(hit, log, states, phrase))


def explain_log(text: str, log: Conversation, own: Log) -> Explanation:
    """Say the same of an agent's log, by the compactions that the agent made itself: nothing but its account stayed."""
    phrase = Phrase(text)
    hits = Removed(log.messages, ()).find(text)

    def changes(hit: Hit) -> Iterator[MessageChange]:
        for number, (upto, account) in enumerate(zip(own.boundaries, own.accounts, strict=True), 1):
            if hit.position < upto:
                sentence = _line_with(account.split("\n"), phrase)
                yield MessageChange(number, "summarized" if sentence else "omitted", bool(sentence), sentence)

    return _explained(text, len(own.boundaries), hits, changes)


def kept_compactions(originals: Originals, session: str) -> tuple[Conversation, tuple[AppliedPlan, ...]]:
    """The log of a manager's session as it was kept, with its compactions; NotFound where there are none.

    Those of the newest branch: what was undone, or left when the conversation took another way, is not among them.
    """
    records = {record.number: record for record in originals.records(session)}
    if not records:
        raise NotFound(f"nothing was kept of {session!r}", field="session", remedy="Compact keeps what it removes.")
    last = records[max(records)]
    frame = parse([], format=last.format)
    wires = log_of(last, originals)
    log = [frame.dialect.parse_message(wire, str(position)) for position, wire in enumerate(wires)]
    done = tuple(AppliedPlan(each.number, len(each.log), plan_of(each)) for each in chain_of(last, records))
    conversation = frame.with_messages(log)
    try:
        list(_views(conversation, done))
    except (EditError, *UNUSABLE) as error:
        raise mismatch(last, f"its plan is damaged ({type(error).__name__}: {error})") from None
    return conversation, done


@dataclass(frozen=True, slots=True)
class _State:
    """The model's view after a compaction: the messages by id, and the statements and lines of the accounts."""

    shown: dict[str, Message]
    items: tuple[AccountItem, ...]
    lines: tuple[str, ...]


def _explained(
    text: str, compactions: int, hits: Iterable[Hit], changes: Callable[[Hit], Iterable[MessageChange]]
) -> Explanation:
    found = tuple(
        Occurrence(hit.position, hit.role, hit.tool, hit.snippet, hit.handle, tuple(_without_repeats(changes(hit))))
        for hit in hits
    )
    return Explanation(text, compactions, found)


def _views(log: Conversation, compactions: Sequence[AppliedPlan]) -> Iterator[Conversation]:
    """Yield the model's view after each compaction."""
    view, upto = log.with_messages(()), 0
    for done in compactions:
        view = view.with_messages((*view.messages, *log.messages[upto : done.upto]))
        view, _ = apply_plan(view, done.plan)
        upto = done.upto
        yield view


def _state_of(view: Conversation, compactions: Sequence[AppliedPlan]) -> _State:
    folds = {
        edit.handle: edit for done in compactions for step in done.plan for edit in step.edits if isinstance(edit, Fold)
    }
    shown = {message.id: message for message in view.messages}
    accounts = [message for message in view.messages if message.id.partition(".")[0] in folds]
    items = tuple(item for message in accounts for item in folds[message.id.partition(".")[0]].items)
    lines = tuple(line for message in accounts for line in body_of(message).split("\n"))
    return _State(shown, items, lines)


def _changes(
    hit: Hit, log: Conversation, states: Iterable[tuple[int, int, _State]], phrase: Phrase
) -> Iterator[MessageChange]:
    message = log.messages[hit.position]
    for number, upto, state in states:
        if hit.position >= upto:
            continue
        if (now := state.shown.get(message.id)) is None:
            sentence = _sentence(message, state, phrase)
            yield MessageChange(number, "summarized" if sentence else "omitted", _has(sentence, phrase), sentence)
        elif now.wire != message.wire:
            yield MessageChange(number, "shortened", _has("\n".join(text for _, text in strings_in(now.wire)), phrase))


def _sentence(message: Message, state: _State, phrase: Phrase) -> str:
    """The statement of an account that speaks of the message, the one with the text before others."""
    about = [item.text for item in state.items if message.id in item.sources]
    return _line_with((*about, *state.lines), phrase) or next(iter(about), "")


def _line_with(lines: Iterable[str], phrase: Phrase) -> str:
    return next((line.strip() for line in lines if _has(line, phrase)), "")


def _has(text: str, phrase: Phrase) -> bool:
    return phrase.search(text) is not None


def _without_repeats(changes: Iterable[MessageChange]) -> Iterator[MessageChange]:
    """The changes, each at the first compaction after which it was so."""
    before: tuple[object, ...] = ("kept", True, "")
    for change in changes:
        now = (change.fate, change.shown, change.sentence)
        if now != before:
            yield change
        before = now
