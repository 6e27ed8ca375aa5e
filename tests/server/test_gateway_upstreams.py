"""Where a request goes, and how a vendor says that it is too long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compact.errors import NotFound
from compact.policies import Profile
from compact.server.gateway.overflow import Overflow, parse_overflow, read_overflow
from compact.server.gateway.upstreams import Upstream

AZURE = "https://me.openai.azure.com"


def azure(**given: Any) -> Upstream:
    return Upstream(
        Profile(**{"name": "a", "vendor": "azure", "model": "my gpt", "url": AZURE, **given}), "openai", None
    )


@pytest.mark.parametrize(
    ("profile", "path", "query", "address"),
    [
        ({}, "chat/completions", "", "/openai/v1/chat/completions"),
        ({}, "chat/completions", "api-version=x", "/openai/v1/chat/completions?api-version=x"),
        (
            {"api_version": "2024-10-21"},
            "chat/completions",
            "",
            "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
        ),
        (
            {"api_version": "2024-10-21"},
            "embeddings",
            "a=1&api-version=evil&b=2",
            "/openai/deployments/my%20gpt/embeddings?a=1&b=2&api-version=2024-10-21",
        ),
        ({"api_version": "2025-04-01-preview"}, "responses", "", "/openai/responses?api-version=2025-04-01-preview"),
        ({"api_version": "2025-04-01-preview"}, "models", "", "/openai/models?api-version=2025-04-01-preview"),
        (
            {"api_version": "preview", "url": f"{AZURE}/openai/v1/"},
            "chat/completions",
            "",
            "/openai/v1/chat/completions?api-version=preview",
        ),
        ({"api_version": "a&b=c"}, "models", "", "/openai/models?api-version=a%26b%3Dc"),
    ],
)
def test_azure_is_asked_in_the_version_that_the_profile_names(
    profile: dict[str, str], path: str, query: str, address: str
) -> None:
    assert azure(**profile).url(path, query) == AZURE + address


def test_a_version_is_azures_alone() -> None:
    profile = Profile(name="o", vendor="openai", model="gpt-4o", api_version="2024-10-21")
    assert Upstream(profile, "openai", None).url("models") == "https://api.openai.com/v1/models"


def test_no_path_reaches_another_deployment() -> None:
    for path in ("../x", "deployments/../../x", "a//b", "a?b", ""):
        with pytest.raises(NotFound):
            azure(api_version="2024-10-21").url(path)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("prompt is too long: 215000 tokens > 200000 maximum", Overflow(215_000, 200_000)),
        (
            (
                "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or "
                "`max_tokens` and try again"
            ),
            Overflow(190_000, 200_000, 64_000),
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens "
                "(8500 in the messages, 501 in the functions)."
            ),
            Overflow(9_001, 8_192),
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (1900 in the "
                "messages, 100 in the functions, 8000 in the completion)."
            ),
            Overflow(2_000, 8_192, 8_000),
        ),
        (
            (
                "This model's maximum context length is 8191 tokens, however you requested 8238 tokens (8238 in your "
                "prompt; 0 for the completion)."
            ),
            Overflow(8_238, 8_191),
        ),
        (
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens "
                "(20000 of text input, 120000 in the output)."
            ),
            Overflow(20_000, 131_072, 120_000),
        ),
        (
            (
                "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens "
                "(94307 of text input)."
            ),
            Overflow(94_307, 16_384),
        ),
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is "
                "8192 tokens and your request has 2000 input tokens (8000 > 8192 - 2000)."
            ),
            Overflow(2_000, 8_192, 8_000),
        ),
        (
            (
                "You passed 9000 input tokens and requested 16 output tokens. However, the model's context length is "
                "only 8192 tokens, resulting in a maximum input length of 8176 tokens."
            ),
            Overflow(9_000, 8_192, 16),
        ),
        (
            (
                "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and "
                "your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens."
            ),
            Overflow(0, 128_000, 65_535),
        ),
        (
            "request (10000 tokens) exceeds the available context size (8192 tokens), try increasing it",
            Overflow(10_000, 8_192),
        ),
        ("the request exceeds the available context size. try increasing it", Overflow()),
        ("`inputs` must have less than 4096 tokens. Given: 5000", Overflow()),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens", None),
        ("Overloaded", None),
    ],
)
def test_what_vendors_say_of_a_long_request(message: str, found: Overflow | None) -> None:
    for error in ({"error": {"message": message}}, {"type": "error", "message": message}):
        assert parse_overflow(error) == found
        assert read_overflow(400, json.dumps(error).encode()) == found
    assert parse_overflow({"response": {"error": {"message": message}}}) == found
    assert read_overflow(429, json.dumps({"error": {"message": message}}).encode()) is None


@pytest.mark.parametrize("told", [None, [], "x", {}, {"error": "prompt is too long"}, {"response": []}, {"message": 1}])
def test_what_is_no_error_says_nothing(told: Any) -> None:
    assert parse_overflow(told) is None


@pytest.mark.parametrize(
    ("overflow", "window", "learned"),
    [
        (Overflow(), 4_000, 0),
        (Overflow(16_000, 8_000), 1_500, 8_000),
        (Overflow(6_000, 8_000, 4_000), 3_000, 8_000),
        (Overflow(6_000, 8_000, 8_000), 1_000, 8_000),
        (Overflow(6_000, 8_000, 9_000), 1_000, 8_000),
        (Overflow(6_000, 8_000, 1_000), 4_000, 0),
        (Overflow(0, 8_000, 4_000), 4_000, 0),
        (Overflow(0, 8_000, 6_000), 4_000, 8_000),
        (Overflow(0, 2_500, 500), 2_500, 2_500),
    ],
)
def test_what_fits_is_this_requests_and_what_is_learned_the_vendors(
    overflow: Overflow, window: int, learned: int
) -> None:
    """The window is for the input and an answer of 1,000 tokens, by our own count."""
    assert (overflow.window(3_000, 1_000), overflow.learned(3_000)) == (window, learned)
