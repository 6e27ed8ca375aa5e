"""A receipt: what of a conversation's facts can still be read after a condensation, and what else can be had back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compact.facts.conversation import facts_of, strings_in
from compact.facts.fact import Fact, Kind
from compact.facts.relevance import standings
from compact.facts.scan import core_command
from compact.messages import (
    Conversation,
    Json,
    Message,
    Plan,
    Text,
    ToolCall,
    ToolResult,
    has_references,
    restore,
    unfold,
)

_TITLES = {
    Kind.DIRECTIVE: "user directives",
    Kind.ERROR: "error lines",
    Kind.PATH: "file paths",
    Kind.COMMAND: "commands",
    Kind.IDENTIFIER: "identifiers",
    Kind.NUMBER: "numbers",
    Kind.URL: "URLs",
}
_PATHS = re.compile(r"[\w$#@.+~-]+(?:/[\w$#@.+~-]+)*")
_WORDS = re.compile(r"[\w$]+")
_EXAMPLES = 5
_LONGEST_EXAMPLE = 100


@dataclass(frozen=True, slots=True)
class Tally:
    """How many facts can be read, how many can be had back, and how many cannot."""

    retained: int = 0
    recoverable: int = 0
    lost: int = 0

    @property
    def total(self) -> int:
        return self.retained + self.recoverable + self.lost

    @property
    def share(self) -> float:
        """The share that can be read; all of nothing is all."""
        return self.retained / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of the facts of a conversation, kind by kind; `missing` has the likeliest to be needed first."""

    tallies: Mapping[Kind, Tally]
    missing: tuple[Fact, ...]

    @property
    def total(self) -> Tally:
        counts = self.tallies.values()
        return Tally(
            sum(each.retained for each in counts),
            sum(each.recoverable for each in counts),
            sum(each.lost for each in counts),
        )

    def examples(self, kind: Kind, most: int = _EXAMPLES) -> tuple[str, ...]:
        """The first of the missing facts of a kind."""
        return tuple(fact.text for fact in self.missing if fact.kind is kind)[:most]

    def to_json(self) -> Json:
        """The receipt for programs: counts by kind and in all, and examples of what is missing."""
        return {
            "facts": {kind.value: _counts(tally) for kind, tally in self.tallies.items()},
            "total": _counts(self.total),
            "missing": {kind.value: list(self.examples(kind)) for kind in self.tallies if self.examples(kind)},
        }

    def __str__(self) -> str:
        total = self.total
        lines = [f"Facts retained in context: {total.retained:,} of {total.total:,} ({total.share:.0%})"]
        for kind, tally in self.tallies.items():
            rest = f"{tally.recoverable:,} recoverable, {tally.lost:,} lost"
            lines.append(f" - {_TITLES[kind]}: {tally.retained:,} of {tally.total:,} ({tally.share:.0%}), {rest}")
        if self.missing:
            lines.append("Missing, the likeliest to be needed first:")
        for kind in self.tallies:
            if examples := self.examples(kind):
                more = len([fact for fact in self.missing if fact.kind is kind]) - len(examples)
                shown = " · ".join(_short(example) for example in examples)
                lines.append(f" - {_TITLES[kind]}: {shown}" + (f" · and {more:,} more" if more else ""))
        return "\n".join(lines)


def receipt(before: Conversation, after: Conversation, plan: Plan = ()) -> Receipt:
    """What of the facts of `before` can be read in `after`.

    What cannot is recoverable where a reference in `after` stands for it, or where the plan that led there brings it
    back; without the plan, the rest is lost. A model's reasoning is not read.
    """
    known = standings((unfold(before) if has_references(before) else before).messages)
    shown = Readable(after)
    hidden = [fact for fact in known if fact not in shown]
    back = _recoverable(before, after, plan) if hidden else None
    lost = set() if back is None else {fact for fact in hidden if fact not in back}
    counts = {kind: [0, 0, 0] for kind in _TITLES}
    missing = set(hidden)
    for fact in known:
        counts[fact.kind][(fact in missing) + (fact in lost)] += 1
    length = len(before)
    hidden.sort(key=lambda fact: (-known[fact].odds(length), fact.kind, fact.text))
    return Receipt({kind: Tally(*of) for kind, of in counts.items()}, tuple(hidden))


class Readable:
    """What can be read in a conversation: whether a fact is in it, spelled out.

    A path is there if its last two parts are, however far up it is spelled; a command, if it is, wherever it runs and
    whatever is done with its output.
    """

    def __init__(self, conversation: Conversation) -> None:
        system = [conversation.system] if conversation.system else []
        messages = [*system, *conversation.messages]
        self._facts = set(facts_of(messages))
        text = "\n".join(piece for message in messages for piece in _pieces(message))
        self._flat = _flat(text)
        self._words = set(_WORDS.findall(text))
        self._names = {word.rstrip(".-+") for word in set(_PATHS.findall(text))}
        self._tails = {tail for name in self._names for tail in (_tail(name, 1), _tail(name, 2))}

    def __contains__(self, fact: Fact) -> bool:
        if fact in self._facts:
            return True
        if fact.kind is Kind.PATH:
            return _tail(fact.text, 2) in self._tails
        if fact.kind is Kind.IDENTIFIER:
            return fact.text in self._words or fact.text in self._names
        if fact.kind is Kind.NUMBER:
            return False
        phrase = _flat(core_command(fact.text) if fact.kind is Kind.COMMAND else fact.text)
        # Most that are missing miss a word: that is found out at once.
        return self._words.issuperset(_WORDS.findall(phrase)) and phrase in self._flat


def _recoverable(before: Conversation, after: Conversation, plan: Plan) -> Readable | None:
    """What can be had back; None where that is everything."""
    if plan:
        restored = restore(after, plan)
        if restored.messages[: len(before)] == before.messages:
            return None
        return Readable(unfold(restored))
    return Readable(unfold(after))


def _pieces(message: Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield from (text for _, text in strings_in(block.raw if block.arguments is None else block.arguments))
        elif isinstance(block, Text | ToolResult):
            yield block.text


def _flat(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def _tail(path: str, parts: int) -> str:
    return "/".join(path.rstrip("/").split("/")[-parts:])


def _counts(tally: Tally) -> dict[str, int]:
    return {"retained": tally.retained, "recoverable": tally.recoverable, "lost": tally.lost}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"
