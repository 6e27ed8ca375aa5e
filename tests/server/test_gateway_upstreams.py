"""Where a request goes, and how a vendor says that it is too long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compact.errors import NotFound
from compact.policies import Profile
from compact.server.gateway.failing import Overflow, overflow_in, overflow_told
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
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", Overflow(190_000, 180_000)),
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            Overflow(9_001, 8_192),
        ),
        ("the request exceeds the available context size. try increasing it", Overflow()),
        ("`inputs` must have less than 4096 tokens. Given: 5000", Overflow()),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens", None),
        ("Overloaded", None),
    ],
)
def test_what_vendors_say_of_a_long_request(message: str, found: Overflow | None) -> None:
    for error in ({"error": {"message": message}}, {"type": "error", "message": message}):
        assert overflow_told(error) == found
        assert overflow_in(400, json.dumps(error).encode()) == found
    assert overflow_told({"response": {"error": {"message": message}}}) == found
    assert overflow_in(429, json.dumps({"error": {"message": message}}).encode()) is None


@pytest.mark.parametrize("told", [None, [], "x", {}, {"error": "prompt is too long"}, {"response": []}, {"message": 1}])
def test_what_is_no_error_says_nothing(told: Any) -> None:
    assert overflow_told(told) is None
