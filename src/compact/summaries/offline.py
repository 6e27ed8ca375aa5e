"""A summary made of the conversation's own words, without a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from compact.facts import Kind, Source
from compact.messages import Message, is_summary
from compact.summaries.carrying import ROOT, carry
from compact.summaries.decisions import answer_items, decision_items
from compact.summaries.filling import FEW, Basket, Count, fit, take_directives, take_shares
from compact.summaries.items import Item, Section
from compact.summaries.ledger import Ledger, keep_ledger
from compact.summaries.marks import unmarked
from compact.summaries.naming import merge, name_items
from compact.summaries.plans import follow, plans
from compact.summaries.reading import Reading, read
from compact.summaries.steps import step_items
from compact.summaries.tallies import Tallies, common_root, finding_items, state_items
from compact.summaries.turns import answer, user_items

# No line has fewer tokens than this, which bounds how many can be chosen.
_SHORTEST_LINE = 6
# How the ids of messages begin that a fold made, until they are sent and read again.
_FOLD = "fold-"


def summarize_offline(
    messages: Sequence[Message],
    *,
    budget: int,
    count: Count,
    previous: str | None = None,
    kept: Collection[str] = (),
) -> str:
    """The messages in at most `budget` tokens, as `count` counts them; the same input gives the same text.

    `previous` is an earlier summary of what came before these messages; it is merged in. Without it, a summary that
    stands among the messages is. `kept` are the ids of messages that go on standing beside it: of those only the first
    words are said, and what became of them. Nothing that a tool said stands among the user's directives, and every line
    names the messages it comes from.
    """
    messages, previous = _without_earlier(messages, previous)
    tallies, ledger = Tallies(), Ledger()
    carried, reading = carry(previous, tallies, ledger), read(messages)
    keep_ledger(messages, reading, ledger)
    paths = ((entry.text, entry.mentions) for entry in ledger.entries.values() if entry.kind is Kind.PATH)
    root = carried.root or common_root(paths)
    follow(carried.plan, reading.actions)
    for action in reading.actions:
        if not plans(action):
            tallies.count(action, root)
    items = _distinct(
        [
            *(map(answer, carried.items) if _answers_first(reading) else carried.items),
            *carried.plan.items(),
            *_spoken_items(reading, budget // _SHORTEST_LINE + 1, kept),
            *state_items(tallies.of.values(), reading.length),
            *finding_items(tallies.of.values(), reading.length),
            *step_items(reading, root),
        ]
    )
    basket = Basket(budget, count)
    take_directives(items, basket)
    if not basket.items and any(item.tier for item in items):
        return _least(items, budget, count)
    if root:
        basket.take(Item(Section.STATE, f"{ROOT}{root}", (), float("-inf"), 100), basket.left / 4)
    take_shares(items, basket)
    if basket.left > FEW:
        names = merge(ledger.entries.values(), root)
        for item in name_items(names, reading.length, basket):
            basket.take(item, basket.left)
    basket.take_best(items, basket.left)
    return fit(basket.items, budget, count) or _least(items, budget, count)


def _spoken_items(reading: Reading, most: int, kept: Collection[str]) -> Iterator[Item]:
    """What was said, at most so many lines of each kind; an answer of the user stands with its question."""
    answers = list(answer_items(reading))
    yield from user_items(reading, most, kept, {int(item.order) for item in answers})
    yield from answers
    yield from decision_items(reading, most)


def _without_earlier(messages: Sequence[Message], previous: str | None) -> tuple[Sequence[Message], str]:
    """The messages that are no summaries, and what the summaries say where nothing else is given."""
    folds = [message for message in messages if _is_earlier(message)]
    rest = [message for message in messages if not _is_earlier(message)] if folds else messages
    return rest, unmarked("\n".join(message.text for message in folds) if previous is None else previous)


def _answers_first(reading: Reading) -> bool:
    """Whether the assistant answers, before the user speaks again, what had been asked before these messages."""
    for spoken in reading.utterances:
        if spoken.source is Source.USER or spoken.closing:
            return spoken.source is not Source.USER
    return False


def _distinct(items: Sequence[Item]) -> list[Item]:
    """The items without those that say the same in the same section; the ids of all of them are kept."""
    merged: dict[tuple[Section, str], Item] = {}
    for item in items:
        same = merged.get(key := (item.section, item.text.casefold()))
        if same is None:
            merged[key] = item
        elif item.section is not Section.STEPS:
            merged[key] = _joined(same, item)
    return list(merged.values())


def _joined(one: Item, other: Item) -> Item:
    first, last = sorted((one, other), key=lambda item: item.order)
    ids = tuple(dict.fromkeys(first.ids + last.ids))
    return replace(last, ids=ids, value=max(one.value, other.value) + 0.5, tier=max(one.tier, other.tier))


def _least(items: Sequence[Item], budget: int, count: Count) -> str:
    """The most valuable line, or the beginning of it, where not even a heading fits."""
    for item in sorted(items, key=lambda item: (-item.tier, -item.value))[:3]:
        shorter = (replace(item.shortened(longest), ids=()).line for longest in (120, 60, 30))
        for line in (item.line, *shorter):
            if 0 < count(line) <= budget:
                return line
    return ""


def _is_earlier(message: Message) -> bool:
    """Whether the message stands for others: a summary of ours, or a mark of what was pruned."""
    return message.id.startswith(_FOLD) or is_summary(message)
