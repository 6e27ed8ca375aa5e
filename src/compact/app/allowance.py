"""Limits on what a question may cost: dollars a day, and a ceiling where the first choice failed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from threading import Lock

from compact.app.pricing import Pricing, Summarizer
from compact.app.recommending import dollars
from compact.policies import Profile
from compact.ports import Ask
from compact.settings.spending import load_spending

_TIMES = 3
"""A fallback costs at most this many times the estimate of the first choice, where no other ceiling is set."""


class DailyLimit:
    """The dollars that may be spent on summaries in a day; questions under way are counted with what they may take."""

    def __init__(self, most: Decimal | None) -> None:
        self.most = most
        self._under_way = Decimal(0)
        self._lock = Lock()

    def spent(self) -> str:
        """Why no model is called any more today; empty while something is left."""
        spent = _spent_today()
        over = self.most is not None and spent >= self.most
        return f"{dollars(spent)} were spent on summaries today, and max_cost is ${self.most}" if over else ""

    def reserve(self, amount: Decimal) -> str:
        """Set so much aside; the reason if there is too little left."""
        with self._lock:
            if self.most is not None:
                left = max(self.most - _spent_today() - self._under_way, Decimal(0))
                if amount > left:
                    return f"it may cost {dollars(amount)}, and {dollars(left)} of max_cost are left today"
            self._under_way += amount
            return ""

    def release(self, amount: Decimal) -> None:
        """Give back what was set aside: the bill is recorded."""
        with self._lock:
            self._under_way -= amount


class Allowance:
    """Says of each question of one compaction whether a profile may be asked; a price that is not known is no obstacle.

    `fallback` is the most that profiles other than the first may take together; None is three times what the first was
    expected to take for the same questions.
    """

    def __init__(self, recipe: str, fallback: Decimal | None = None, day: DailyLimit | None = None) -> None:
        self._recipe = recipe
        self._fallback = fallback
        self._day = day or DailyLimit(None)
        self._fallbacks = self._reserved = Decimal(0)
        self._lock = Lock()

    def objection(self, profile: Profile, ask: Ask, first: Profile) -> str:
        """Why the profile may not be asked the question, where `first` is the one to be asked; empty if it may."""
        most = Pricing(Summarizer.of(profile), self._recipe).most(ask).cost
        if most is None:
            return ""
        with self._lock:
            if profile != first and (reason := self._beyond_ceiling(most, ask, first)):
                return reason
            if reason := self._day.reserve(most):
                return reason
            self._reserved += most
            self._fallbacks += most if profile != first else 0
            return ""

    def settle(self) -> None:
        """Count what was set aside no longer: the answers are there, and their bill is recorded."""
        with self._lock:
            self._day.release(self._reserved)
            self._reserved = Decimal(0)

    def _beyond_ceiling(self, most: Decimal, ask: Ask, first: Profile) -> str:
        if self._fallback is not None:
            left, ceiling = self._fallback - self._fallbacks, f"fallback_max_cost is {dollars(self._fallback)}"
        else:
            expected = Pricing(Summarizer.of(first), self._recipe).charge(ask).cost
            if expected is None:
                return ""
            left = _TIMES * expected
            ceiling = f"{_TIMES} times the estimate for {first.name} is {dollars(left)}; fallback_max_cost allows more"
        return f"as a fallback it may cost {dollars(most)}, and {ceiling}" if most > left else ""


def _spent_today() -> Decimal:
    today = datetime.now(UTC).date().isoformat()
    costs = (record.actual.cost for record in load_spending() if record.at.startswith(today))
    return sum((cost for cost in costs if cost is not None), Decimal(0))
