"""The gateway in front of a server that wants user and assistant to alternate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from compact.policies import Profile
from compact.server.gateway.managers import Managers
from compact.testing.vendors import FakeVendors
from tests.app.test_variants import talk
from tests.server.conftest import Serve, Served


@pytest.fixture(scope="module")
def alternating() -> Iterator[FakeVendors]:
    with FakeVendors(window=4_000, variants={"openai-chat": "perplexity"}) as fake:
        yield fake


@pytest.fixture(scope="module")
def gateway(serve: Serve, alternating: FakeVendors) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_CONTEXT_TOKENS", "4000"), ("VARIANT", "perplexity"), ("RECIPE", "balanced")):
            patch.setenv(f"COMPACT_{name}", value)
        yield serve(alternating.url)


def test_every_request_is_accepted(gateway: Served, alternating: FakeVendors) -> None:
    told, merged = [], 0
    with OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.state.token, max_retries=0) as client:
        for turns in range(5, 60, 5):
            messages: Any = talk(turns)
            answer = client.chat.completions.with_raw_response.create(model="gpt-4o", messages=messages)
            told.append(answer.headers["x-compact-compaction"])
            body: Any = alternating.requests[-1].body
            merged += any(isinstance(one["content"], list) for one in body["messages"])
    assert "applied" in told
    assert merged
    assert {request.status for request in alternating.requests} == {200}


@pytest.mark.parametrize(
    ("address", "profile", "variant"),
    [
        ("", None, ""),
        ("https://api.mistral.ai/v1", None, "mistral"),
        ("https://api.mistral.ai/v1", {"url": "https://api.perplexity.ai"}, "perplexity"),
        ("", {"url": "http://localhost:8000/v1", "variant": "vllm"}, "vllm"),
        ("", {"url": "https://api.perplexity.ai", "variant": "vllm"}, "vllm"),
    ],
)
def test_the_address_tells_the_server_unless_the_profile_does(
    address: str, profile: dict[str, str] | None, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMPACT_VARIANT", raising=False)
    values = {"name": "a", "vendor": "compatible", "model": "m", **(profile or {})}
    chosen = Profile.model_validate(values) if profile else None
    managers = Managers(tmp_path, address=address)
    with managers.using("m", chosen) as manager:
        assert manager.config.variant == variant
    managers.close()
