"""Putting facts back into context that a condensation took out of it.

What the future is most likely to need is said again, briefly: in the summary, if there is one, else where a text was
cut, behind its marker. The laws stay: the result is valid, within its target, and can be restored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from compact.engine.mentioning import Missing, behind_markers
from compact.facts import Kind
from compact.messages import (
    Conversation,
    EditKind,
    Message,
    Pass,
    Replace,
    Where,
    apply,
    body_of,
    count_of,
    is_summary,
    message_texts,
    seal,
    untouchable,
    version_of,
)
from compact.policies import Configuration
from compact.ports import Measure
from compact.summaries.carrying import ROOT
from compact.summaries.filling import Basket
from compact.summaries.items import Item, Section, heading
from compact.summaries.naming import merge, name_items
from compact.summaries.quoting import quote
from compact.summaries.tallies import common_root

PASS = "Facts put back"  # noqa: S105 - a pass of a plan
# What was said takes at most these shares of the room; names and numbers get the rest.
_PHRASES = {
    Kind.DIRECTIVE: (Section.DIRECTIVES, 0.4, '"{}"'),
    Kind.ERROR: (Section.FINDINGS, 0.15, '"{}"'),
    Kind.COMMAND: (Section.STATE, 0.15, "ran `{}`"),
}
_LONGEST_PHRASE = 240
_ATTEMPTS = 4


class RetainFacts(Configuration):
    """How much room is given to facts that would be missing."""

    share: float = Field(default=0.1, gt=0, le=0.5)
    """The share of the target that is kept free for them."""
    max_tokens: int = Field(default=1000, ge=1)
    """How many tokens they take at most."""

    def room(self, tokens: int) -> int:
        """The tokens they may take in a conversation of so many."""
        return min(int(tokens * self.share), self.max_tokens)


def restate(before: Conversation, after: Conversation, room: int, limit: int, measure: Measure) -> Pass:
    """The pass over `after` that says again what is most needed of `before`, in at most `room` tokens.

    The whole comes to no more than `limit` tokens. Where nothing is missing or nothing fits, the pass has no edits.
    """
    missing = Missing(before, after)
    fixed = untouchable(after)
    summaries = [message for message in after.messages if is_summary(message) and message.id not in fixed]
    found = next(((one, where) for one in reversed(summaries) if (where := _place(one))), None)
    for _ in range(_ATTEMPTS):
        if found is not None:
            edits = tuple(_in_summary(*found, Basket(room, measure.text), missing))
        else:
            edits = tuple(behind_markers(before, after, missing, room, measure.text))
        if not edits:
            break
        # Texts were counted one by one, which does not add up to the whole exactly.
        excess = measure.conversation(apply(after, Pass(PASS, edits))[0]) - limit
        if excess <= 0:
            return Pass(PASS, edits, (f"what is most likely to be needed, in at most {room:,} tokens",))
        room -= excess + 8
    return Pass(PASS, (), ("nothing that is missing fits into the room there is",))


def _place(summary: Message) -> Where | None:
    """Where in its message a summary stands; None where it stands in pieces."""
    return next((where for where, text in message_texts(summary) if text == summary.text), None)


def _in_summary(summary: Message, at: Where, basket: Basket, missing: Missing) -> Iterator[Replace]:
    body, room = body_of(summary), basket.left
    for kind, (section, share, form) in _PHRASES.items():
        limit = share * room
        for fact in missing.said(kind):
            if said := quote(fact.text.replace("`", "'").strip('"'), _LONGEST_PHRASE):
                limit -= basket.take(Item(section, form.format(said), (fact.message_id,), 0, 0), limit)
    entries = missing.entries()
    root = _root(body)
    if not root and (found := common_root((one.text, one.mentions) for one in entries if one.kind is Kind.PATH)):
        # Paths are told below a folder only where that folder is told.
        root = found if basket.take(Item(Section.STATE, f"{ROOT}{found}", (), 0, 0), basket.left / 4) else ""
    for item in name_items(merge(entries, root), missing.length, basket):
        basket.take(item, basket.left)
    if basket.items:
        said = seal(_with_items(body, list(basket.items)), count_of(summary), version_of(summary) or None)
        yield Replace(at, said, EditKind.FACTS_NAMED)


def _root(body: str) -> str:
    start = f"- {ROOT}"
    return next((line for line in body.split("\n") if line.startswith(start)), start).removeprefix(start)


def _with_items(body: str, items: Sequence[Item]) -> str:
    """The summary with the items at the end of their sections; a section it does not have comes last."""
    lines = body.split("\n")
    for section in Section:
        more = [item.line for item in items if item.section is section]
        if more and heading(section) in lines:
            start = lines.index(heading(section)) + 1
            end = next((at for at in range(start, len(lines)) if lines[at].startswith("#")), len(lines))
            lines[end:end] = more
        elif more:
            lines += [heading(section), *more]
    return "\n".join(lines)
