"""One request to a model through its vendor's SDK; whatever an SDK raises becomes Trouble here, and only here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compact.errors import CompactError
from compact.llm.failures import Trouble, trouble, without_key
from compact.llm.replies import read_reply
from compact.llm.vendors import Opened, open_model
from compact.policies import Profile
from compact.ports import Answer

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings


async def set_up(profile: Profile, key: str) -> Opened:
    """The profile's model, ready to be asked with this key; whoever gets it closes it."""
    from anyio.to_thread import run_sync

    try:
        # An SDK takes seconds to load, and Google's looks for credentials on the network.
        return await run_sync(open_model, profile, key, abandon_on_cancel=True)
    except CompactError:
        raise
    except Exception as error:  # noqa: BLE001 - SDKs check in many ways what they are given
        raise Trouble("unconfigured", f"it cannot be set up: {without_key(str(error), key)}") from None


class Requests:
    """Puts requests to a profile's model, which was set up with this key."""

    def __init__(self, profile: Profile, key: str, model: Model) -> None:
        self._profile, self._key, self._model = profile, key, model

    async def put(
        self, messages: Sequence[ModelMessage], settings: ModelSettings, tools: ModelRequestParameters | None = None
    ) -> Answer:
        """One attempt; raises Trouble."""
        from pydantic_ai.direct import model_request

        try:
            # Never instrumented: an application's tracing must not carry off what the conversation says.
            reply = await model_request(
                self._model, messages, model_settings=settings, model_request_parameters=tools, instrument=False
            )
            return read_reply(reply, self._profile)
        except Trouble:
            raise
        except Exception as error:  # noqa: BLE001 - SDKs raise anything on a strange answer; a Failure says so
            raise trouble(error, self._key) from None
