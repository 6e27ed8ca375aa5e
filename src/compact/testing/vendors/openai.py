"""How OpenAI speaks, in both of its APIs."""

from __future__ import annotations

from functools import partial
from typing import Final, NoReturn

from compact.messages import Json
from compact.testing.vendors.cache import charge_shared
from compact.testing.vendors.wire import ApiError, Body, Headers, Rejected, Vendor, decode

INVALID: Final = "invalid_request_error"
_LISTED: Final = ("gpt-4o", "gpt-4o-mini", "gpt-5")
_CREATED: Final = 1715367049

FAILURES: Final = {
    "rate_limit": ApiError(
        429,
        "Rate limit reached for {model} in organization org-fake on tokens per min (TPM): Limit 30000, Used 29937, "
        "Requested 385. Please try again in {wait}s. Visit https://platform.openai.com/account/rate-limits to learn "
        "more.",
        "tokens",
        code="rate_limit_exceeded",
    ),
    "quota": ApiError(
        429,
        "You exceeded your current quota, please check your plan and billing details. For more information on this "
        "error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
        "insufficient_quota",
        code="insufficient_quota",
    ),
    "overloaded": ApiError(503, "The engine is currently overloaded, please try again later", "server_error"),
    "server_error": ApiError(
        500, "The server had an error while processing your request. Sorry about that!", "server_error"
    ),
    "unavailable": ApiError(503, "The server is overloaded or not ready yet.", "server_error"),
}


def refuse(message: str, param: str | None = None, code: str | None = None) -> NoReturn:
    raise Rejected(ApiError(400, message, INVALID, param, code))


def need(body: Body, name: str) -> Json:
    """The parameter's value, which must be given."""
    if name not in body:
        refuse(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    return body[name]


def wrong_type(name: str, expected: str, value: Json) -> NoReturn:
    kinds = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
    }
    # OpenAI's validator calls null an object, as JavaScript does.
    got = kinds.get(type(value), "an object")
    refuse(f"Invalid type for '{name}': expected {expected}, but got {got} instead.", name, "invalid_type")


def _authenticate(headers: Headers, _: str) -> None:
    if not headers.get("authorization", "").removeprefix("Bearer").strip() and not headers.get("api-key"):
        raise Rejected(
            ApiError(
                401,
                "You didn't provide an API key. You need to provide your API key in an Authorization header using "
                "Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if "
                "you're accessing the API from your browser and are prompted for a username and password. You can "
                "obtain an API key from https://platform.openai.com/account/api-keys.",
                INVALID,
            )
        )


def _envelope(error: ApiError, _: str) -> Json:
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def _headers(error: ApiError | None, request_id: str) -> dict[str, str]:
    found = {
        "x-request-id": request_id,
        "openai-organization": "org-fake",
        "openai-processing-ms": "1",
        "openai-version": "2020-10-01",
    }
    if error is not None and error.retry_after is not None:
        found |= {"retry-after": f"{error.retry_after:g}", "retry-after-ms": f"{error.retry_after * 1000:.0f}"}
    return found


def _read(raw: bytes) -> Body:
    try:
        body = decode(raw)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        refuse(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
            "library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you "
            "have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)"
        )
    return body


def _unknown(method: str, path: str) -> ApiError:
    return ApiError(404, f"Invalid URL ({method} {path})", INVALID)


def _models(asked: str, _: int | None) -> Json:
    found = [
        {"id": name, "object": "model", "created": _CREATED, "owned_by": "system"}
        for name in ([asked] if asked else _LISTED)
    ]
    return found[0] if asked else {"object": "list", "data": found}


charge: Final = partial(charge_shared, step=128)
OPENAI: Final = Vendor(
    name="openai",
    invalid=INVALID,
    authenticate=_authenticate,
    envelope=_envelope,
    headers=_headers,
    read=_read,
    unknown=_unknown,
    failures=FAILURES,
    models=_models,
)
