"""Models over the API: what their vendors tell of them."""

from __future__ import annotations

import pytest

from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.server.routes.conversing import SECRET, Api


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)


def test_vendors_are_asked_for_their_models(api: Api, vendor: FakeVendors) -> None:
    assert api.post("/models/detect", {}) == []
    claude = {"name": "c", "vendor": "anthropic", "model": "claude-haiku-4-5", "url": vendor.url, "key": "env:TEST_KEY"}
    keyless = {"name": "keyless", "vendor": "openai", "model": "gpt-4o", "key": "env:NOT_SET"}
    save_profiles(Profiles(profiles=(Profile.model_validate(claude), Profile.model_validate(keyless))))
    answer = api.ask("POST", "/models/detect", {})
    told, untold = answer.json()
    assert (told["profile"], told["problem"], told["told"]) == ("c", None, len(told["stored"]))
    assert {(one["source"], one["max_input"]) for one in told["stored"]} == {("api", 136_000)}
    assert "NOT_SET is not set" in untold["problem"]
    assert SECRET not in answer.text
    assert {one["id"] for one in told["stored"]} <= {one["id"] for one in api.get("/models")["models"]}
    (one,) = api.post("/models/detect", {"profile": "c"})
    assert one["stored"] == told["stored"]
    assert "no profile" in api.refused(400, "POST", "/models/detect", {"profile": "nobody"})["message"]
