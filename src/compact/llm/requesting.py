"""One request to a model through its vendor's SDK; whatever an SDK raises becomes Trouble here, and only here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from compact.errors import CompactError
from compact.llm.failures import Trouble, trouble, without_key
from compact.llm.replies import read_reply
from compact.llm.vendors import Opened, open_model
from compact.policies import Profile
from compact.policies.addresses import Network
from compact.ports import Answer

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings


async def set_up(profile: Profile, key: str, allowed: Collection[Network] = ()) -> Opened:
    """The profile's model, ready to be asked with this key; whoever gets it closes it.

    `allowed` are networks that may be reached by any name.
    """
    from anyio.to_thread import run_sync

    try:
        # An SDK takes seconds to load, and Google's looks for credentials on the network.
        return await run_sync(open_model, profile, key, allowed, abandon_on_cancel=True)
    except CompactError:
        raise
    except Exception as error:  # noqa: BLE001 - SDKs check in many ways what they are given
        raise Trouble("unconfigured", f"it cannot be set up: {without_key(str(error), key)}") from None


class Requests:
    """Puts requests to a profile's model, which was set up with this key."""

    def __init__(self, profile: Profile, key: str, model: Model) -> None:
        self._profile, self._key, self._model = profile, key, model

    async def put(
        self,
        messages: Sequence[ModelMessage],
        settings: ModelSettings,
        tools: ModelRequestParameters | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> Answer:
        """One attempt; raises Trouble. Where somebody listens, the words are heard as the model writes them."""
        from pydantic_ai.direct import model_request, model_request_stream

        try:
            # Never instrumented: an application's tracing must not carry off what the conversation says.
            if heard is None:
                reply = await model_request(
                    self._model, messages, model_settings=settings, model_request_parameters=tools, instrument=False
                )
            else:
                async with model_request_stream(
                    self._model, messages, model_settings=settings, model_request_parameters=tools, instrument=False
                ) as stream:
                    reply = await _listen(stream, heard)
            return read_reply(reply, self._profile)
        except Trouble:
            raise
        except Exception as error:  # noqa: BLE001 - SDKs raise anything on a strange answer; a Failure says so
            raise trouble(error, self._key) from None


async def _listen(stream: StreamedResponse, heard: Callable[[str], None]) -> ModelResponse:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    async for event in stream:
        match event:
            case (
                PartStartEvent(part=TextPart(content=words)) | PartDeltaEvent(delta=TextPartDelta(content_delta=words))
            ):
                if words:
                    heard(words)
    reply = stream.get()
    if reply.finish_reason is None:
        raise Trouble("unavailable", "the answer broke off")
    return reply
