"""OpenAI Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from compact.formats import FORMATS
from compact.messages import Json
from compact.testing.vendors.faults import Operation
from compact.testing.vendors.openai import INVALID, OPENAI, charge, need, refuse, wrong_type
from compact.testing.vendors.wire import Api, ApiError, Body, Event, Generation, pieces

_ENDINGS: Final = {"stop": "stop", "calls": "tool_calls", "refusal": "stop", "filter": "content_filter"}


def _require(body: Body, _: Operation) -> None:
    if not body.get("model"):
        refuse("you must provide a model parameter")
    messages = need(body, "messages")
    if not isinstance(messages, list):
        wrong_type("messages", "an array of objects", messages)
    if not messages:
        refuse(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "messages",
            "empty_array",
        )


def _overflow(tokens: int, answer: int, window: int) -> ApiError:
    resulted = f"your messages resulted in {tokens} tokens. Please reduce the length of the messages."
    if answer:
        sizes = f"{tokens + answer} tokens ({tokens} in the messages, {answer} in the completion)"
        resulted = f"you requested {sizes}. Please reduce the length of the messages or completion."
    text = f"This model's maximum context length is {window} tokens. However, {resulted}"
    return ApiError(400, text, INVALID, "messages", "context_length_exceeded")


def _whole(made: Generation) -> Json:
    reply = made.reply
    refused = reply.ending == "refusal"
    message: dict[str, Json] = {
        "role": "assistant",
        "content": None if refused or (reply.calls and not reply.text) else reply.text,
        "refusal": reply.text if refused else None,
    }
    if made.variant == "openai":
        message["annotations"] = []
    elif reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_call(made, name, arguments) for name, arguments in reply.calls]
    return {
        **_frame(made, "chat.completion"),
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": _ENDINGS.get(reply.ending, reply.ending),
            }
        ],
        "usage": _usage(made),
    }


def _frame(made: Generation, kind: str) -> dict[str, Json]:
    return {
        "id": made.ids.new("chatcmpl-", 29),
        "object": kind,
        "created": made.created,
        "model": made.model,
        "service_tier": "default",
        "system_fingerprint": "fp_0000000000",
    }


def _call(made: Generation, name: str, arguments: Json) -> Json:
    # Mistral's ids have nine characters, and it accepts no others.
    id = made.ids.new("", 9) if made.variant == "mistral" else made.ids.new("call_", 24)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _usage(made: Generation) -> Json:
    usage = made.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _events(whole: Json, made: Generation) -> Iterator[Event]:
    options = made.body.get("stream_options")
    with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
    frame = {key: value for key, value in whole.items() if key not in ("choices", "usage")}
    frame |= {"object": "chat.completion.chunk"} | ({"usage": None} if with_usage else {})
    [choice] = whole["choices"]
    for delta in _deltas(choice["message"]):
        yield "", frame | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
    yield "", frame | {"choices": [last]}
    if with_usage:
        yield "", frame | {"choices": [], "usage": whole["usage"]}
    yield "", "[DONE]"


def _deltas(message: Json) -> Iterator[Json]:
    calls = message.get("tool_calls") or []
    content = None if message["content"] is None else ""
    yield {"role": "assistant", "content": content, "refusal": None}
    for key in ("reasoning_content", "content", "refusal"):
        for piece in pieces(message.get(key) or ""):
            yield {key: piece}
    for index, call in enumerate(calls):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


CHAT: Final = Api(
    vendor=OPENAI,
    format=FORMATS["openai-chat"],
    require=_require,
    overflow=_overflow,
    charge=charge,
    limit=FORMATS["openai-chat"].answer_limit,
    counts_answers=("openai", "vllm", "deepseek"),
    whole=_whole,
    events=_events,
    counted=lambda tokens: {"input_tokens": tokens},
)
