"""Who answers the questions of a manager, and within which limits."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from compact.app.allowance import Allowance, DailyLimit
from compact.app.costing import Metered, price, record_spending
from compact.app.pricing import Summarizer
from compact.app.profiles import open_access
from compact.app.strategies import tailor
from compact.app.summarizers import Summarizers, choose_summarizers
from compact.engine import Asker, AskModel, NoModel
from compact.engine.callback import require_callback
from compact.engine.question_limits import LIMITED, LimitedQuestions
from compact.engine.relays import Relay
from compact.policies import CompactConfig
from compact.ports import Answer, Ask, Observe
from compact.ports.closeable import Closeable
from compact.providers import Recipe

_log = logging.getLogger("compact")


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
        self._day = DailyLimit(config.max_cost)
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

    def asker(self, observe: Observe, compaction: str) -> Asker:
        """Return what answers the questions of one compaction, by its id; `observe` gets the events of asking."""
        ask = self._ask
        if ask is None:
            if self._access is None:
                return NoModel(self._chosen.reason)
            if spent := self._day.spent():
                return NoModel(spent)
            allowance = Allowance(self.recipe.name, self._config.fallback_max_cost, self._day)
            asking = self._access.asking(observe, allowance.objection)
            ask = _Recorded(asking, self.recipe.name, self._chosen, allowance, compaction)
        limited = self.recipe.provider.id in LIMITED
        return LimitedQuestions(ask, self._config.max_asks) if limited else ask

    def close(self) -> None:
        """Let go of connections to models."""
        if self._access is not None:
            self._access.close()


class _Recorded(Relay):
    """Passes questions on, and records what the answers cost."""

    def __init__(self, ask: AskModel, recipe: str, chosen: Summarizers, allowance: Allowance, compaction: str) -> None:
        super().__init__(ask)
        self._recipe = recipe
        self._summarizers = [Summarizer.of(profile) for profile in chosen.profiles]
        self._allowance = allowance
        self._compaction = compaction

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        metered = Metered(self._ask)
        expected = price(asks, self._summarizers, self._recipe)
        try:
            answers = metered(asks)
            record_spending(self._recipe, self._summarizers, metered, expected, self._compaction)
        finally:
            self._allowance.settle()
        return answers
