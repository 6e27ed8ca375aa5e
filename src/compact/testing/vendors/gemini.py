"""Google Gemini: generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn
from urllib.parse import parse_qs

from compact.formats import FORMATS
from compact.messages import Json
from compact.testing.vendors.cache import charge_shared
from compact.testing.vendors.faults import Operation
from compact.testing.vendors.seals import digest, seal, unseal
from compact.testing.vendors.wire import (
    Api,
    ApiError,
    Body,
    Event,
    Generation,
    Headers,
    Options,
    Rejected,
    Vendor,
    decode,
    encode,
    pieces,
)

INVALID: Final = "INVALID_ARGUMENT"
UNCHECKED: Final = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""What Google documents to be sent instead of a signature that was lost."""

_ENDINGS: Final = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
_LISTED: Final = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview")
_TYPES: Final = "type.googleapis.com/google.rpc."
_QUOTA: Final = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: "
    "https://ai.dev/rate-limit. "
)

FAILURES: Final = {
    "rate_limit": ApiError(429, _QUOTA + "\nPlease retry in {wait}s.", "RESOURCE_EXHAUSTED"),
    "quota": ApiError(429, _QUOTA, "RESOURCE_EXHAUSTED"),
    "overloaded": ApiError(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"),
    "server_error": ApiError(
        500,
        "An internal error has occurred. Please retry or report in "
        "https://developers.generativeai.google/guide/troubleshooting",
        "INTERNAL",
    ),
    "unavailable": ApiError(503, "The service is currently unavailable.", "UNAVAILABLE"),
}


def _refuse(message: str, status: int = 400, type: str = INVALID) -> NoReturn:  # noqa: A002 - the wire's word
    raise Rejected(ApiError(status, message, type))


def _authenticate(headers: Headers, query: str) -> None:
    if not headers.get("x-goog-api-key") and not headers.get("authorization") and "key" not in parse_qs(query):
        _refuse(
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
            "other form of API consumer identity to call this API.",
            403,
            "PERMISSION_DENIED",
        )


def _envelope(error: ApiError, _: str) -> Json:
    found: dict[str, Json] = {"code": error.status, "message": error.message, "status": error.type}
    if error.retry_after is not None:
        found["details"] = [{"@type": f"{_TYPES}RetryInfo", "retryDelay": f"{error.retry_after:g}s"}]
    return {"error": found}


def _read(raw: bytes) -> Body:
    try:
        body = decode(raw)
    except ValueError:
        _refuse("Invalid JSON payload received. Unexpected token.")
    if not isinstance(body, dict):
        _refuse('Invalid JSON payload received. Unknown name "": Root element must be a message.')
    inner = body.get("generateContentRequest")
    return inner if isinstance(inner, dict) else body


def _models(asked: str, window: int | None) -> Json:
    found = [
        {
            "name": f"models/{name}",
            "displayName": name.replace("-", " ").title(),
            "inputTokenLimit": window or 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        for name in ([asked] if asked else _LISTED)
    ]
    return found[0] if asked else {"models": found}


def _require(body: Body, _: Operation) -> None:
    contents = body.get("contents")
    if not contents:
        _refuse("* GenerateContentRequest.contents: contents is not specified\n")
    if not isinstance(contents, list):
        _refuse("Invalid value at 'contents' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)")


def _overflow(tokens: int, _: int, window: int) -> ApiError:
    return ApiError(
        400, f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window}).", INVALID
    )


def _verify(body: Body, _: Headers, options: Options) -> tuple[Body, None]:
    for content in body["contents"] if options.enforces("G7") else ():
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else []:
            sealed = part.get("thoughtSignature", part.get("thought_signature")) if isinstance(part, dict) else None
            if sealed is not None and sealed not in UNCHECKED and unseal(sealed) is None:
                _refuse("Corrupted thought signature.")
    return body, None


def _config(body: Body) -> dict[str, Json]:
    found = body.get("generationConfig", body.get("generation_config"))
    return found if isinstance(found, dict) else {}


def _whole(made: Generation) -> Json:
    reply = made.reply
    frame = {"usageMetadata": _usage(made), "modelVersion": made.model, "responseId": made.ids.new("", 22)}
    if reply.ending == "filter":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **frame}
    candidate: dict[str, Json] = {"content": {"role": "model"}}
    if reply.ending == "refusal":
        rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
        candidate = {"safetyRatings": [rating]}
    elif parts := list(_parts(made)):
        candidate = {"content": {"parts": parts, "role": "model"}}
    candidate |= {"finishReason": _ENDINGS.get(reply.ending, reply.ending), "index": 0}
    return {"candidates": [candidate], **frame}


def _parts(made: Generation) -> Iterator[Json]:
    """Thoughts are shown if asked for; the first call carries their signature, or the text where there is no call."""
    reply = made.reply
    thinking = _config(made.body).get("thinkingConfig")
    signature = {"thoughtSignature": seal(digest(reply.reasoning.encode("utf-8", "surrogatepass")))}
    if reply.reasoning and isinstance(thinking, dict) and thinking.get("includeThoughts"):
        yield {"text": reply.reasoning, "thought": True}
    if reply.text:
        yield {"text": reply.text} | (signature if reply.reasoning and not reply.calls else {})
    for index, (name, arguments) in enumerate(reply.calls):
        yield {"functionCall": {"name": name, "args": dict(arguments)}} | (signature if index == 0 else {})


def _usage(made: Generation) -> Json:
    usage = made.usage
    found: dict[str, Json] = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    }
    if usage.cached:
        found["cachedContentTokenCount"] = usage.cached
        found["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cached}]
    return found | ({"thoughtsTokenCount": usage.reasoning} if usage.reasoning else {})


def _events(whole: Json, _: Generation) -> Iterator[Event]:
    frame = {key: value for key, value in whole.items() if key != "candidates"}
    [candidate] = whole.get("candidates") or [{}]
    parts = [piece for part in candidate.get("content", {}).get("parts", []) for piece in _pieces(part)]
    for part in parts[:-1]:
        yield "", {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], **frame}
    if parts:
        candidate = {**candidate, "content": {"parts": parts[-1:], "role": "model"}}
    yield "", ({"candidates": [candidate], **frame} if candidate else whole)


def _pieces(part: Json) -> list[Json]:
    """A part in portions; what belongs to the whole of it goes with the last one."""
    if "text" not in part:
        return [part]
    *first, last = pieces(part["text"])
    flag = {"thought": True} if part.get("thought") else {}
    return [*({"text": piece, **flag} for piece in first), {**part, "text": last}]


def as_array(events: Iterator[Event]) -> Iterator[bytes]:
    """The events as the elements of one JSON array: what Gemini streams unless asked for server-sent events."""
    opening = b"["
    for _, data in events:
        yield opening + encode(data)
        opening = b",\r\n"
    yield b"]"


VENDOR: Final = Vendor(
    name="google",
    invalid=INVALID,
    authenticate=_authenticate,
    envelope=_envelope,
    headers=lambda _, __: {"server": "scaffolding on HTTPServer2", "server-timing": "gfet4t7; dur=1"},
    read=_read,
    unknown=lambda _, __: ApiError(404, "Requested entity was not found.", "NOT_FOUND"),
    failures=FAILURES,
    models=_models,
)
GENERATE: Final = Api(
    vendor=VENDOR,
    format=FORMATS["google-gemini"],
    require=_require,
    overflow=_overflow,
    verify=_verify,
    charge=charge_shared,
    limit=lambda body: _config(body).get("maxOutputTokens"),
    whole=_whole,
    events=_events,
    counted=lambda tokens: {
        "totalTokens": tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}],
    },
)
