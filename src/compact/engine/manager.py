"""Chooses the provider, decides when it runs, and falls back when it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from compact.engine.answering import answer_offline
from compact.engine.asking import Asking
from compact.engine.driver import AskModel, AskModelLater, Judge, run, run_async
from compact.engine.gauge import Gauge
from compact.engine.guard import Floor, LoopGuard, Progress, floor_of
from compact.engine.report import Report
from compact.engine.reporting import report_of
from compact.errors import InvalidConfiguration, TokenCountError
from compact.formats import reject, tools_of
from compact.messages import Conversation, Json, Plan
from compact.policies import (
    PROVIDERS,
    Configuration,
    Decision,
    Threshold,
    configure,
    effective_percent,
    should_condense,
)
from compact.ports import Answer, Ask
from compact.providers import Provider, Steps, Task
from compact.providers.native import slide
from compact.providers.registry import DEFAULT, Listed
from compact.providers.registry import provider as find_provider
from compact.providers.registry import providers as list_providers
from compact.tokens import Counter

TARGET_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """What a profile has of its own: a threshold in percent (-1 inherits), and settings by the ids of providers.

    The profile "" holds for all the others where they say nothing.
    """

    threshold: float = -1
    settings: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EffectiveConfig:
    """What holds for a profile in the end; `warnings` say what was wrong and is not used."""

    provider: Provider
    settings: Configuration
    threshold: Threshold
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occasion:
    """For what a conversation is condensed: the model's window, the tokens to come down to, whose settings hold.

    Without a target it is half of the window. `session` tells conversations apart, for the loop guard.
    """

    window: int
    target: int | None = None
    profile: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Condensation:
    """The conversation as it is to be sent, the plan that made it so, and why; without a report nothing was tried."""

    conversation: Conversation
    plan: Plan
    decision: Decision
    report: Report | None = None
    floor: Floor | None = None


class ProviderManager:
    """Condenses conversations with the active provider.

    Where that fails, the native provider takes over; where a request would still exceed the window, the oldest
    messages go. Every step down is a note in the report.
    """

    def __init__(
        self,
        counter: Counter,
        *,
        active: str = DEFAULT,
        threshold: Threshold = PROVIDERS,
        profiles: Mapping[str, ProfileConfig] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profiles = dict(profiles or {})
        self._counter = counter
        self._threshold = threshold
        self._guard = LoopGuard(clock)
        self._own: dict[str, Provider] = {}
        self._active = self.provider(active)

    @property
    def active(self) -> Provider:
        """The provider in use."""
        return self._active

    def register(self, provider: Provider) -> None:
        """Add a provider, in place of any other of its id."""
        self._own[provider.id] = provider
        if self._active.id == provider.id:
            self._active = provider

    def provider(self, id: str) -> Provider:
        """The provider of that id; InvalidConfiguration names the known ones."""
        try:
            return self._own.get(id) or find_provider(id)
        except InvalidConfiguration as error:
            own = f" Registered here: {', '.join(self._own)}." if self._own else ""
            raise InvalidConfiguration(error.problem, field=error.field, remedy=error.remedy + own) from None

    def providers(self) -> tuple[Listed, ...]:
        """Every provider there is, those registered here last."""
        others = tuple(listed for listed in list_providers() if listed.id not in self._own)
        return (*others, *(Listed(id, "registered", provider) for id, provider in self._own.items()))

    def switch(self, id: str) -> None:
        """Make another provider the active one, from the next condensation on."""
        self._active = self.provider(id)

    def effective(self, profile: str = "") -> EffectiveConfig:
        """What holds for the profile: its own values, else those of the profile "", else the defaults."""
        warnings: list[str] = []
        percents = {name: config.threshold for name, config in self.profiles.items()}
        percent = 100 * (self._threshold.share or 1.0)
        for name in dict.fromkeys(("", profile)):
            percent, warning = effective_percent(name, percent, percents)
            warnings += [warning] if warning else []
        threshold = self._threshold.model_copy(update={"share": percent / 100})
        provider = self._active
        values: dict[str, Json] = {}
        for name in ("", profile):
            values |= self.profiles.get(name, ProfileConfig()).settings.get(provider.id, {})
        for given, otherwise in ((values, "its defaults hold"), ({}, "the native provider is used")):
            try:
                settings = configure(provider.settings, given, under=provider.id)
            except InvalidConfiguration as error:
                warnings.append(f"settings of {provider.name}, {otherwise}: {error}")
            else:
                return EffectiveConfig(provider, settings, threshold, tuple(warnings))
        native = find_provider(DEFAULT)
        return EffectiveConfig(native, native.settings(), threshold, tuple(warnings))

    def should_condense(self, used: int, window: int, profile: str = "") -> Decision:
        """Whether a request of `used` tokens (the last message included) calls for condensing."""
        return should_condense(used, window, self.effective(profile).threshold)

    def condense_if_needed(
        self, conversation: Conversation, occasion: Occasion, ask: AskModel | None = None
    ) -> Condensation:
        """The conversation, condensed if it has reached the threshold; CondensationStalled if that keeps failing."""
        return _drive(self._attempts(conversation, occasion, automatic=True), ask)

    async def condense_if_needed_async(
        self, conversation: Conversation, occasion: Occasion, ask: AskModelLater | None = None
    ) -> Condensation:
        """The same, without blocking."""
        return await _drive_async(self._attempts(conversation, occasion, automatic=True), ask)

    def condense(self, conversation: Conversation, occasion: Occasion, ask: AskModel | None = None) -> Condensation:
        """The conversation, condensed whether it needs to be or not."""
        return _drive(self._attempts(conversation, occasion, automatic=False), ask)

    async def condense_async(
        self, conversation: Conversation, occasion: Occasion, ask: AskModelLater | None = None
    ) -> Condensation:
        """The same, without blocking."""
        return await _drive_async(self._attempts(conversation, occasion, automatic=False), ask)

    def _attempts(self, conversation: Conversation, occasion: Occasion, *, automatic: bool) -> _Attempts:
        """Yield what is to be run, until it is good enough; each is answered by the error it ended with, or None."""
        began = time.perf_counter()
        config = self.effective(occasion.profile)
        gauge = Gauge(self._counter, tools_of(conversation))
        judge = Judge(conversation, gauge, reject)
        used = judge.tokens
        decision = should_condense(used, occasion.window, config.threshold)
        if automatic and not decision.triggered:
            return Condensation(conversation, (), decision)
        if automatic:
            self._guard.admit(occasion.session)
        floor = floor_of(conversation, gauge)
        target = _target(occasion, used, decision.trigger_at)
        asking = Asking([*config.warnings, *_unreachable(floor, target)])

        def task(target: int | None) -> Task:
            return Task(judge.conversation, judge.tokens, target, occasion.window, gauge)

        error = yield _Attempt(lambda: config.provider.condense(task(target), config.settings), judge, asking)
        native = find_provider(DEFAULT)
        if error is not None and type(config.provider) is type(native):
            asking.notes.append(f"{native.name} failed ({_said(error)})")
        elif error is not None:
            asking.notes.append(f"{config.provider.name} failed ({_said(error)}), so {native.name} took over")
            error = yield _Attempt(lambda: native.condense(task(target), native.settings()), judge, asking)
            asking.notes += [f"{native.name} failed, too ({_said(error)})"] if error else []
        limit = decision.budget if decision.budget > 0 else occasion.window
        if automatic and judge.tokens > limit:
            asking.notes.append(f"{judge.tokens:,} tokens were still over {limit:,}, so the oldest messages went")
            yield _Attempt(lambda: slide(task(limit)), judge, asking)
        if automatic and target is not None:
            enough = not should_condense(judge.tokens, occasion.window, config.threshold).triggered
            self._guard.record(occasion.session, Progress(used, judge.tokens, target, floor, enough))
        report = report_of(config.provider.name, conversation, judge.outcome(), gauge, target)
        report = replace(report, seconds=time.perf_counter() - began, notes=tuple(asking.notes))
        return Condensation(judge.conversation, judge.outcome().plan, decision, report, floor)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Something to be run; it is begun by the driver, so that its first error is caught like the others."""

    begin: Callable[[], Steps]
    judge: Judge
    asking: Asking


_Attempts: TypeAlias = Generator[_Attempt, Exception | None, Condensation]


def _drive(attempts: _Attempts, ask: AskModel | None) -> Condensation:
    try:
        attempt = next(attempts)
        while True:
            attempt = attempts.send(_attempted(attempt, ask))
    except StopIteration as end:
        condensation: Condensation = end.value
        return condensation


def _attempted(attempt: _Attempt, ask: AskModel | None) -> Exception | None:
    try:
        run(attempt.begin(), attempt.judge, attempt.asking.now(ask or partial(answer_offline, attempt.judge)))
    except TokenCountError:
        raise
    except Exception as error:  # noqa: BLE001 - a provider is somebody else's code; the passes it got through stand
        return error
    return None


async def _drive_async(attempts: _Attempts, ask: AskModelLater | None) -> Condensation:
    try:
        attempt = next(attempts)
        while True:
            attempt = attempts.send(await _attempted_async(attempt, ask))
    except StopIteration as end:
        condensation: Condensation = end.value
        return condensation


async def _attempted_async(attempt: _Attempt, ask: AskModelLater | None) -> Exception | None:
    try:
        await run_async(attempt.begin(), attempt.judge, attempt.asking.later(ask or _later(attempt.judge)))
    except TokenCountError:
        raise
    except Exception as error:  # noqa: BLE001 - likewise somebody else's code
        return error
    return None


def _later(judge: Judge) -> AskModelLater:
    async def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return answer_offline(judge, asks)

    return answer


def _target(occasion: Occasion, used: int, trigger_at: int) -> int | None:
    """The tokens to come down to: as asked, else half of what triggers; None where that is reached already."""
    wanted = (occasion.target, int(min(occasion.window, trigger_at) * TARGET_SHARE))
    return next((target for target in wanted if target is not None and target < used), None)


def _unreachable(floor: Floor, target: int | None) -> list[str]:
    if target is None or floor.total <= target:
        return []
    return [f"the target of {target:,} tokens is out of reach: {floor}"]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
