"""One profile's line to its model: a limited number of questions at once, each with a deadline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Final

from compact.errors import InvalidConfiguration
from compact.llm.failures import Trouble
from compact.llm.requesting import Requests, set_up
from compact.llm.vendors import Opened, takes_seed
from compact.policies import Profile, model_of
from compact.policies.addresses import Network
from compact.ports import Answer, Ask, Failure

if TYPE_CHECKING:
    import stamina
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

_SILENCE: Final = NullHandler()
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 8.0
# Models of these kinds reject a temperature, or reason in ways that it does not rule.
_NO_TEMPERATURE: Final = (
    "openai_supports_reasoning",
    "anthropic_disallows_sampling_settings",
    "bedrock_disallows_sampling_settings",
)


class Line:
    """Asks one profile's model; to be made and used inside one event loop."""

    def __init__(self, profile: Profile, key_of: Callable[[Profile], str], allowed: Collection[Network] = ()) -> None:
        from anyio import CapacityLimiter
        from anyio import Lock as LoopLock

        self.profile = profile
        self._key_of = key_of
        self._allowed = allowed
        self._limiter = CapacityLimiter(profile.concurrency)
        self._opening = LoopLock()
        self._opened: dict[str, Opened] = {}

    async def ask(self, ask: Ask, retried: Callable[[Trouble], None]) -> Answer:
        """The answer within the profile's time, which begins when it is the question's turn."""
        from anyio import move_on_after
        from anyio.to_thread import run_sync
        from pydantic_ai.messages import ModelRequest

        profile, troubles = self.profile, list[Trouble]()
        async with self._limiter:
            with move_on_after(profile.timeout) as scope:
                try:
                    # A keyring may ask its owner first.
                    key = await run_sync(self._key_of, profile, abandon_on_cancel=True)
                    model = (await self._open(key)).model
                    question = ModelRequest.user_text_prompt(ask.material, instructions=ask.instructions)
                    requests, settings = Requests(profile, key, model), _settings(profile, ask, model)
                    async for attempt in self._attempts(scope.deadline, troubles):
                        with attempt:
                            if troubles:
                                retried(troubles[-1])
                            return await requests.put([question], settings)
                except InvalidConfiguration as error:
                    return Failure(str(error), "unconfigured")
                except Trouble as failed:
                    return failed.answer
        before = f"; before that, {troubles[-1].reason}" if troubles else ""
        return Failure(f"no answer within {profile.timeout:g} s{before}", "timeout")

    async def close(self) -> None:
        opened, self._opened = self._opened, {}
        for each in opened.values():
            await each.close()

    async def _open(self, key: str) -> Opened:
        """The model, set up with this key: one that was replaced meanwhile must not be used for good."""
        async with self._opening:
            if key not in self._opened:
                self._opened[key] = await set_up(self.profile, key, self._allowed)
            return self._opened[key]

    def _attempts(self, deadline: float, troubles: list[Trouble]) -> AsyncIterator[stamina.Attempt]:
        """One attempt after the other, each at its time; what was worth another is noted."""
        import stamina
        from anyio import current_time

        def again(error: Exception) -> bool | float:
            if not isinstance(error, Trouble) or not error.transient:
                return False
            troubles.append(error)
            if error.after is None:
                return True
            return error.after if current_time() + error.after < deadline else False

        # Where an application does not log, its terminal must not show stamina's warnings.
        getLogger("stamina").addHandler(_SILENCE)
        retrying = stamina.retry_context(
            on=again,
            attempts=self.profile.attempts,
            timeout=None,
            wait_initial=_FIRST_WAIT,
            wait_max=_LONGEST_WAIT,
        )
        return aiter(retrying)


def _settings(profile: Profile, ask: Ask, model: Model) -> ModelSettings:
    limits = (ask.max_tokens, profile.max_output_tokens, model_of(profile).max_output)
    # Thinking is paid for like an answer, and with Gemini takes its room.
    settings: ModelSettings = {"max_tokens": min(limit for limit in limits if limit), "thinking": False}
    if profile.temperature is not None and not any(model.profile.get(name) for name in _NO_TEMPERATURE):
        settings["temperature"] = profile.temperature
    if profile.seed is not None and takes_seed(profile.vendor):
        settings["seed"] = profile.seed
    return settings
