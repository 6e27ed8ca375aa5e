"""Who answers the questions of a manager, and within which limits."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from compact.app.costing import Metered
from compact.app.profiles import open_access
from compact.app.strategies import tailor
from compact.app.summarizers import Summarizers, choose_summarizers
from compact.engine import Asker, AskModel, NoModel
from compact.engine.callback import require_callback
from compact.engine.question_limits import LIMITED, LimitedQuestions
from compact.errors import InvalidConfiguration
from compact.models.spending import Charge, Spending
from compact.policies import CompactConfig, model_of
from compact.ports import Answer, Ask, Observe
from compact.ports.closeable import Closeable
from compact.providers import Recipe
from compact.settings.spending import add_spending, load_spending

_log = logging.getLogger("compact")
_UNKNOWN = Charge(cost=None)


class Questions(Closeable):
    """Answers a manager's questions: by the application's callback, or by the models of profiles, or not at all.

    `recipe` is the one given, with what the profile that is asked first says about summaries. A model of the
    conversation's own vendor that no profile names is announced by a warning of the logger "compact".
    """

    def __init__(self, config: CompactConfig, recipe: Recipe, ask: AskModel | None) -> None:
        require_callback(ask)
        self._config = config
        self._ask = ask
        chosen = Summarizers() if ask else choose_summarizers(config.profile, model=config.model, recipe=recipe)
        self._chosen = chosen
        self.recipe = tailor(recipe, chosen.profiles[0] if chosen else None) if ask or chosen else recipe
        self._access = open_access(chosen.profiles) if chosen else None
        if chosen.own and recipe.provider.capabilities.summarizes:
            (profile,) = chosen.profiles
            _log.warning(
                "summaries of conversations with %s are written by %s, as the key for %s is set; "
                "profile: offline, or COMPACT_OFFLINE=1, has them written without a model",
                config.model,
                profile.model,
                profile.vendor,
            )

    @property
    def can_ask(self) -> bool:
        """Whether a model or a callback answers."""
        return self._ask is not None or self._access is not None

    @property
    def reads(self) -> int | None:
        """How many tokens each of the models takes at once; None where that is not known."""
        known = [model_of(profile) for profile in self._chosen.profiles]
        if not known or any(model.source == "default" for model in known):
            return None
        return min(model.max_input for model in known)

    def asker(self, observe: Observe) -> Asker:
        """What answers the questions of one compaction; `observe` gets the events of asking."""
        ask = self._ask
        if ask is None:
            if self._access is None:
                return NoModel(self._chosen.reason)
            most = self._config.max_cost
            if most is not None and (spent := _spent_today()) >= most:
                return NoModel(f"${spent:.4f} were spent on summaries today, and max_cost is ${most}")
            ask = _Recorded(self._access.asking(observe), self.recipe.name, self._chosen.profiles[0].name)
        limited = self.recipe.provider.id in LIMITED
        return LimitedQuestions(ask, self._config.max_asks) if limited else ask

    def close(self) -> None:
        """Let go of connections to models."""
        if self._access is not None:
            self._access.close()


class _Recorded:
    """Passes questions on, and records what the answers cost."""

    def __init__(self, ask: AskModel, recipe: str, profile: str) -> None:
        self._ask = ask
        self._recipe = recipe
        self._profile = profile

    @property
    def vendors(self) -> frozenset[str]:
        return Metered(self._ask).vendors

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        metered = Metered(self._ask)
        answers = metered(asks)
        charge = metered.charge
        if charge.questions:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            spent = Spending(now, self._recipe, self._profile, metered.model, _UNKNOWN, charge, metered.limit, 0, 0)
            try:
                add_spending(spent)
            except InvalidConfiguration as error:
                _log.warning("what a summary cost cannot be recorded: %s", error)
        return answers


def _spent_today() -> Decimal:
    today = datetime.now(UTC).date().isoformat()
    costs = (record.actual.cost for record in load_spending() if record.at.startswith(today))
    return sum((cost for cost in costs if cost is not None), Decimal(0))
