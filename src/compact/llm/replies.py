"""A model's reply as an answer of ours: what was written, how it ended, what it took."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from compact.llm.failures import Trouble
from compact.models import cost
from compact.policies import Profile, model_of
from compact.ports import Completion, Refusal, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_LONGEST: Final = 500
_REASONS: Final = ("refusal", "block_reason", "finish_reason")
"""Where the SDK keeps why a model declined: its own words, or the vendor's."""


def read_reply(reply: ModelResponse, profile: Profile) -> Completion | Refusal:
    """The answer. One that is empty is a completion: the model was asked, and wrote nothing."""
    usage = _usage(reply)
    price = _price(usage, profile)
    model = reply.model_name or profile.model
    text = reply.text or ""
    details = reply.provider_details or {}
    if not text and usage is None and reply.finish_reason is None:
        raise Trouble("malformed", "the answer holds neither words nor an end")
    if reply.finish_reason == "content_filter":
        said = next((word for name in _REASONS if (word := details.get(name))), text or "it gave no reason")
        return Refusal(f"the model declined: {said}"[:_LONGEST], price, usage, model)
    return Completion(text, price, truncated=reply.finish_reason == "length", usage=usage, model=model)


def _usage(reply: ModelResponse) -> Usage | None:
    """The usage, where any was reported; the SDK's input includes what was cached."""
    used = reply.usage
    if not used.input_tokens and not used.output_tokens:
        return None
    return Usage.inclusive(used.input_tokens, used.output_tokens, used.cache_write_tokens, used.cache_read_tokens)


def _price(usage: Usage | None, profile: Profile) -> Decimal | None:
    return None if usage is None else cost(usage, model_of(profile).prices)
