"""What happened in a condensation, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic_core import to_jsonable_python

from compact.messages import Json
from compact.ports import Event


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
    """A whole condensation.

    `kept_prefix` is how many tokens at the front are unchanged, so that a vendor's prompt cache still has them.
    `saved` is what each later request costs less with the vendor's prompt cache, in dollars, where the price is known.
    `written_by` are the models that wrote of what was removed; `why_offline` says why none did where an account was
    written. `failure` says how the recipe's own provider failed, or that it was refused, and who did its work.
    """

    provider: str
    passes: tuple[PassReport, ...]
    tokens_before: int
    tokens_after: int
    target: int | None
    kept_prefix: int
    seconds: float
    cost: Decimal | None = None
    saved: Decimal | None = None
    notes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    recipe: str = ""
    written_by: tuple[str, ...] = ()
    why_offline: str = ""
    failure: str = ""

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
        lines.append(f" - Time: {self.seconds:.1f} seconds")
        return "\n".join(lines)

    def to_json(self) -> Json:
        """The report as plain JSON; money as text, so that nothing is rounded."""
        return to_jsonable_python(self) | {"target_met": self.target_met}


def share(before: int, after: int) -> float:
    return (after - before) / before if before else 0.0


def percent(share: float, sign: Literal["", "+"] = "") -> str:
    """The share in whole percent, with a plus where one is asked for; what rounds to nothing has no sign."""
    text = f"{share:{sign}.0%}"
    return "0%" if text.lstrip("+-") == "0%" else text
