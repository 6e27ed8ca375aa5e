"""OpenAI Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from compact.formats import FORMATS
from compact.messages import Json
from compact.testing.vendors.faults import Operation
from compact.testing.vendors.openai import INVALID, OPENAI, charge, need, refuse, wrong_type
from compact.testing.vendors.seals import digest, seal, unseal
from compact.testing.vendors.wire import Api, ApiError, Body, Event, Generation, Headers, Options, pieces

_SEALED: Final = "gAAAA"
_EMPTY: Final[dict[str, dict[str, Json]]] = {
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "reasoning": {"summary": []},
}
_ENDINGS: Final = {"length": "max_output_tokens", "filter": "content_filter"}
_ECHOED: Final[dict[str, Json]] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


def _require(body: Body, _: Operation) -> None:
    if not body.get("model"):
        refuse("Missing required parameter: 'model'.", "model", "missing_required_parameter")
    given = body.get("previous_response_id") or body.get("prompt") or body.get("conversation")
    asked = body.get("input", []) if given else need(body, "input")
    if not isinstance(asked, str | list):
        wrong_type("input", "one of a string or array of objects", asked)
    if not asked and not given:
        refuse(
            """One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.""",
            None,
            "missing_required_parameter",
        )


def _expand(body: Body, memory: Mapping[str, list[Json]]) -> Body:
    """The request with everything said before the response that it goes on from."""
    previous, asked = body.get("previous_response_id"), body.get("input", [])
    if not isinstance(previous, str) or not previous:
        return body
    if previous not in memory:
        text = f"Previous response with id '{previous}' not found."
        refuse(text, "previous_response_id", "previous_response_not_found")
    added = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    return {**body, "input": [*memory[previous], *added]}


def _remember(body: Body, whole: Json) -> tuple[str, list[Json]] | None:
    if body.get("store") is False:
        return None
    asked = body["input"]
    given = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    return whole["id"], [*given, *whole["output"]]


def _overflow(_: int, __: int, ___: int) -> ApiError:
    text = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return ApiError(400, text, INVALID, "input", "context_length_exceeded")


def _verify(body: Body, _: Headers, options: Options) -> tuple[Body, None]:
    items = body.get("input") if options.enforces("R6") else None
    for item in items if isinstance(items, list) else []:
        sealed = item.get("encrypted_content") if isinstance(item, dict) and item.get("type") == "reasoning" else None
        if isinstance(sealed, str) and (not sealed.startswith(_SEALED) or unseal(sealed.removeprefix(_SEALED)) is None):
            refuse(
                f"The encrypted content {sealed[:4]}...{sealed[-4:]} could not be verified. "
                "Reason: Encrypted content could not be decrypted or parsed.",
                None,
                "invalid_encrypted_content",
            )
    return body, None


def _whole(made: Generation) -> Json:
    usage = made.usage
    reason = _ENDINGS.get(made.reply.ending)
    return {
        "id": made.ids.new("resp_", 48),
        "object": "response",
        "created_at": made.created,
        "status": "incomplete" if reason else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": made.model,
        "output": list(_output(made)),
        **{key: made.body.get(key, default) for key, default in _ECHOED.items()},
        "service_tier": "default",
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def _output(made: Generation) -> Iterator[Json]:
    reply = made.reply
    status = "incomplete" if reply.ending in _ENDINGS else "completed"
    if reply.reasoning:
        yield _reasoning(made)
    if reply.text:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if reply.ending == "refusal":
            part = {"type": "refusal", "refusal": reply.text}
        id = made.ids.new("msg_", 48)
        yield {"id": id, "type": "message", "status": status, "role": "assistant", "content": [part]}
    for name, arguments in reply.calls:
        yield {
            "id": made.ids.new("fc_", 48),
            "type": "function_call",
            "status": "completed",
            "call_id": made.ids.new("call_", 24),
            "name": name,
            "arguments": json.dumps(arguments),
        }


def _reasoning(made: Generation) -> Json:
    """Thinking is shown only in a summary, and handed out sealed, each only if it was asked for."""
    wish, include = made.body.get("reasoning"), made.body.get("include")
    text = made.reply.reasoning
    shown = isinstance(wish, dict) and wish.get("summary")
    item: dict[str, Json] = {
        "id": made.ids.new("rs_", 48),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": text}] if shown else [],
    }
    if isinstance(include, list) and "reasoning.encrypted_content" in include:
        item["encrypted_content"] = _SEALED + seal(digest(text.encode("utf-8", "surrogatepass"), item["id"].encode()))
    return item


def _events(whole: Json, _: Generation) -> Iterator[Event]:
    number = count()
    started = whole | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    kind = "response.completed" if whole["status"] == "completed" else "response.incomplete"
    events = [
        ("response.created", {"response": started}),
        ("response.in_progress", {"response": started}),
        *(event for at, item in enumerate(whole["output"]) for event in _item_events(at, item)),
        (kind, {"response": whole}),
    ]
    for name, data in events:
        yield name, {"type": name, "sequence_number": next(number), **data}


def _item_events(at: int, item: Json) -> Iterator[Event]:
    place = {"output_index": at}
    opened = {**item, **_EMPTY[item["type"]]} | ({"status": "in_progress"} if "status" in item else {})
    yield "response.output_item.added", {**place, "item": opened}
    inside = {"item_id": item["id"], **place}
    if item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**inside, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield "response.function_call_arguments.done", {**inside, **done}
    for index, part in enumerate(item.get("content", [])):
        yield from _part_events({**inside, "content_index": index}, part, "response.content_part")
    for index, part in enumerate(item.get("summary", [])):
        yield from _part_events({**inside, "summary_index": index}, part, "response.reasoning_summary_part")
    yield "response.output_item.done", {**place, "item": item}


def _part_events(inside: Json, part: Json, name: str) -> Iterator[Event]:
    key = "refusal" if part["type"] == "refusal" else "text"
    spoken = {"output_text": "output_text", "refusal": "refusal", "summary_text": "reasoning_summary_text"}[
        part["type"]
    ]
    extra: dict[str, Json] = {"logprobs": []} if spoken == "output_text" else {}
    yield f"{name}.added", {**inside, "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield f"response.{spoken}.delta", {**inside, "delta": piece, **extra}
    yield f"response.{spoken}.done", {**inside, key: part[key], **extra}
    yield f"{name}.done", {**inside, "part": part}


def _broken(envelope: Json) -> Event:
    return "error", {"type": "error", "sequence_number": 2, **envelope}


RESPONSES: Final = Api(
    vendor=OPENAI,
    format=FORMATS["openai-responses"],
    require=_require,
    overflow=_overflow,
    verify=_verify,
    charge=charge,
    limit=lambda body: body.get("max_output_tokens"),
    whole=_whole,
    events=_events,
    broken=_broken,
    counted=lambda tokens: {"object": "response.input_tokens", "input_tokens": tokens},
    expand=_expand,
    remember=_remember,
)
