"""What vendors tell of their models, as it comes to hold for sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.models import find_model
from compact.policies import Profile, Profiles
from compact.ports import ModelConfig, StoredSession
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.app.stored.conftest import WINDOW, Desk, user
from tests.llm.test_listing import elsewhere, endless, listing, say

SECRET = "sk-made-up-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    """Vendors whose models read 90,000 tokens."""
    with FakeVendors(window=90_000) as running:
        yield running


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TEST_KEY", SECRET)


def configure(*profiles: dict[str, str]) -> None:
    save_profiles(Profiles(profiles=tuple(Profile.model_validate({"key": "env:TEST_KEY"} | one) for one in profiles)))


def test_fr_3_2_2_what_a_vendor_lists_holds_at_once_for_sessions(desk: Desk, server: FakeVendors) -> None:
    google = {"name": "google", "vendor": "gemini", "model": "gemini-2.5-flash", "url": server.url}
    names = ("bedrock", "azure", "vertex")
    clouds = [{"name": name, "vendor": name, "model": "m", "url": server.url} for name in names]
    configure(google, google | {"name": "again"}, *clouds)
    desk.sessions.create(StoredSession(id="g", model="gemini-2.5-flash", format="google-gemini"))
    assert desk.sessions.context("g").decision.window == find_model("gemini-2.5-flash").max_input
    found, *others = desk.sessions.detect()
    assert (found.profile, found.problem, found.told) == ("google", "", found.named)
    assert {config.source for config in found.stored} == {"api"}
    assert desk.sessions.context("g").decision.window == 90_000
    assert [other.problem for other in others] == [f"{name} lists no limits" for name in names]
    assert all(other.stored == () for other in others)
    assert [request.path.partition("?")[0] for request in server.requests] == ["/v1beta/models"]
    again, *_ = asyncio.run(desk.sessions.adetect())
    assert again == found  # and nothing was written: every stored value has the time at which it was


def test_a_persons_word_stays_whatever_a_vendor_tells(desk: Desk) -> None:
    items = [{"id": "gpt-4o", "context_length": 64_000}, {"id": "local-8b", "max_model_len": 8_192}]
    with listing(say({"data": items})) as lister:
        configure({"name": "here", "vendor": "compatible", "model": "local-8b", "url": f"{lister.url}/v1"})
        desk.sessions.create(StoredSession(id="l", model="local-8b", format="openai-chat"))
        (found,) = desk.sessions.detect("here")
    assert [(config.model, config.max_input, config.max_output) for config in found.stored] == [
        ("local-8b", 6_144, 2_048)  # of the window that is told, a quarter is left to the answer
    ]
    assert (found.named, found.told) == (2, 2)
    assert desk.sessions.context("a").decision.window == WINDOW
    decision = desk.sessions.context("l").decision
    assert (decision.window, decision.room.limits.total) == (6_144, 8_192)
    assert decision.budget + decision.room.buffer + 2_048 == 8_192


@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-8B-Instruct", "gpt-4o-mini", "gpt-5", "house"])
def test_a_window_that_was_told_holds_though_the_catalogue_knows_a_larger_one(desk: Desk, model: str) -> None:
    with listing(say({"data": [{"id": model, "max_model_len": 8_192}]})) as lister:
        configure({"name": "here", "vendor": "compatible", "model": model, "url": f"{lister.url}/v1"})
        desk.sessions.create(StoredSession(id="l", model=model, format="openai-chat"))
        desk.sessions.detect()
    for turns in (1, 40):
        desk.say(turns, id="l")
        sent = desk.sessions.prepare("l", [user("word " * 250)], max_tokens=None if turns == 1 else 6_000)
        assert sent.decision.room.limits.total == 8_192
        assert sent.tokens + sent.max_tokens + sent.decision.room.buffer <= 8_192


def test_of_two_that_sessions_know_by_one_name_the_smaller_holds(desk: Desk) -> None:
    names = ("openai/gpt-4o:extended", "openai/gpt-4o", "nobody/knows-it:free")
    items = [{"id": name, "context_length": size} for name, size in zip(names, (50_000, 60_000, 70_000), strict=True)]
    with listing(say({"data": items})) as lister:
        configure({"name": "router", "vendor": "openrouter", "model": "openai/gpt-4o", "url": f"{lister.url}/v1"})
        (found,) = desk.sessions.detect()
    output = find_model("openrouter:openai/gpt-4o").max_output
    assert [(config.id, config.max_input, config.max_output) for config in found.stored] == [
        ("openrouter:openai/gpt-4o", 50_000 - (output or 0), output),
        ("openrouter:nobody/knows-it:free", 70_000 - 8_192, 8_192),
    ]
    assert desk.sessions.preferences.model("openrouter:nobody/knows-it:free").max_input == 61_808


def test_what_is_in_the_way_is_told_and_stops_nobody_else(desk: Desk, server: FakeVendors) -> None:
    assert desk.sessions.detect() == ()
    configure(
        {"name": "keyless", "vendor": "openai", "model": "gpt-4o", "key": "env:NOT_SET"},
        {"name": "wrong", "vendor": "compatible", "model": "m", "url": f"{server.url}/nowhere"},
        {"name": "claude", "vendor": "anthropic", "model": "claude-haiku-4-5", "url": server.url},
    )
    keyless, wrong, claude = desk.sessions.detect()
    assert "NOT_SET is not set" in keyless.problem
    assert "answered 404" in wrong.problem
    assert claude.stored
    assert SECRET not in f"{keyless}{wrong}{claude}"
    with pytest.raises(InvalidConfiguration, match="there is no profile 'nobody'"):
        desk.sessions.detect("nobody")


def test_a_listing_that_leads_elsewhere_or_never_ends_is_told_without_the_key(desk: Desk) -> None:
    with listing(say({"data": []})) as other, listing(elsewhere(other)) as leading, listing(endless) as long:
        profile = {"vendor": "compatible", "model": "m"}
        configure(profile | {"name": "leading", "url": leading.url}, profile | {"name": "long", "url": long.url})
        redirected, large = desk.sessions.detect()
    assert "a redirect, which is not followed" in redirected.problem
    assert other.heard == []
    assert "larger than 16,000,000 bytes" in large.problem
    assert SECRET not in f"{redirected}{large}"


def test_what_was_detected_can_be_set_by_hand_and_reset(desk: Desk, server: FakeVendors) -> None:
    configure({"name": "claude", "vendor": "anthropic", "model": "claude-haiku-4-5", "url": server.url})
    (found,) = desk.sessions.detect()
    told = found.stored[0]
    desk.sessions.preferences.put_model(ModelConfig(told.provider, told.model, 5_000))
    (again,) = desk.sessions.detect()
    assert told.id not in {config.id for config in again.stored}
    desk.sessions.preferences.reset_model(told.id)
    (anew,) = desk.sessions.detect()
    assert told.max_input in {config.max_input for config in anew.stored if config.id == told.id}
