"""What happened in a condensation, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic_core import to_jsonable_python

from compact.messages import Json
from compact.models import saved_dollars
from compact.ports import CompactionFacts, Event


@dataclass(frozen=True, slots=True)
class PassReport:
    """One proposed pass: what it did, or why it was skipped."""

    name: str
    tokens_before: int
    tokens_after: int
    edits: int
    asked: int
    cost: Decimal | None
    seconds: float
    notes: tuple[str, ...]
    skipped: str

    @property
    def change(self) -> float:
        """The share by which the tokens changed: -0.4 is 40% fewer."""
        return share(self.tokens_before, self.tokens_after)


@dataclass(frozen=True, slots=True)
class Report:
    """A whole condensation: the `facts` that are its record, and what only the one who made it can see.

    `kept_prefix` is how many tokens at the front are unchanged, so that a vendor's prompt cache still has them.
    """

    facts: CompactionFacts
    passes: tuple[PassReport, ...]
    target: int | None
    kept_prefix: int
    notes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def provider(self) -> str:
        """The provider that did the work."""
        return self.facts.provider

    @property
    def recipe(self) -> str:
        return self.facts.recipe

    @property
    def tokens_before(self) -> int:
        return self.facts.tokens_before

    @property
    def tokens_after(self) -> int:
        return self.facts.tokens_after

    @property
    def seconds(self) -> float:
        """How long making it took."""
        return self.facts.seconds

    @property
    def cost(self) -> Decimal | None:
        """The cost in dollars."""
        return self.facts.cost

    @property
    def saved(self) -> Decimal | None:
        """The dollars that each later request saves, with the vendor's prompt cache, where the price is known."""
        return saved_dollars(self.facts)

    @property
    def written_by(self) -> tuple[str, ...]:
        """The models that wrote of what was removed."""
        return self.facts.written_by

    @property
    def why_offline(self) -> str:
        """Why no model wrote of it, where an account was written."""
        return self.facts.why_offline

    @property
    def failure(self) -> str:
        """How the recipe's own provider failed, or that it was refused, and who did its work."""
        return self.facts.failure

    @property
    def target_met(self) -> bool:
        return self.target is None or self.tokens_after <= self.target

    def __str__(self) -> str:
        lines = [f"Context condensed using {self.provider} strategy:"]
        lines += [f" - {self.failure}"] if self.failure else []
        for done in self.passes:
            change = f"{done.tokens_before:,} → {done.tokens_after:,} tokens ({percent(done.change, '+')})"
            told = f"skipped, {done.skipped}" if done.skipped else "; ".join((change, *done.notes))
            lines.append(f" - {done.name}: {told}")
        total = -share(self.tokens_before, self.tokens_after)
        saved = "" if self.saved is None else f" (saved ${self.saved:.4f})"
        lines.append(f" - Total reduction: {percent(total)}{saved}")
        if self.written_by:
            price = "" if self.cost is None else f" for ${self.cost:.4f}"
            lines.append(f" - Written by {', '.join(self.written_by)}{price}")
        elif self.cost:
            lines.append(f" - Cost: ${self.cost:.4f}")
        if self.why_offline:
            lines.append(f" - Written offline: {self.why_offline}")
        lines += [f" - {note}" for note in self.notes]
        lines.append(f" - Time: {duration(self.seconds)}")
        return "\n".join(lines)

    def to_json(self) -> Json:
        """The report as plain JSON, its facts among the rest; money as text, so that nothing is rounded."""
        saved = None if self.saved is None else format(self.saved, "f")
        own = {name: value for name, value in to_jsonable_python(self).items() if name != "facts"}
        return self.facts.to_json() | own | {"saved": saved, "target_met": self.target_met}


def share(before: int, after: int) -> float:
    return (after - before) / before if before else 0.0


def duration(seconds: float) -> str:
    """The time in seconds, or below one in milliseconds."""
    return f"{seconds:.1f} seconds" if seconds >= 1 else f"{seconds * 1000:.1f} milliseconds"


def percent(share: float, sign: Literal["", "+"] = "") -> str:
    """The share in whole percent, with a plus where one is asked for; what rounds to nothing has no sign."""
    text = f"{share:{sign}.0%}"
    return "0%" if text.lstrip("+-") == "0%" else text
