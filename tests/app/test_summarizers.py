"""Which model writes summaries: profiles, else the conversation's own vendor if its key is set; and why none does."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from threading import Event as ThreadEvent
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.profiles import OFFLINE, probe
from compact.app.responding import responder_for
from compact.app.stored import StoredSessions
from compact.app.summarizers import NOT_CONFIGURED, choose_summarizers, ready_vendors
from compact.errors import InvalidConfiguration
from compact.policies import CHEAP, Profile, Profiles
from compact.policies.compaction import StorageSettings
from compact.ports import Answer, Ask, Completion, Event
from compact.settings.profiles import save_profiles
from compact.settings.spending import load_spending
from compact.testing.vendors import FakeVendors, Fault
from tests.app.tables import SECRET, conversation, home, vendor
from tests.app.test_own_words import Compact, by_gateway, by_sessions

__all__ = ["home", "vendor"]


def manager(tmp_path: Path, events: list[Event] | None = None, **values: object) -> CompactManager:
    given = {"model": "gpt-4o", "max_context_tokens": 8_000, "storage": {"path": str(tmp_path / "kept")}, **values}
    return CompactManager(CompactConfig.model_validate(given), observe=events.append if events is not None else None)


def test_the_conversations_own_vendor_writes_where_its_key_is_set(
    tmp_path: Path, vendor: FakeVendors, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    events: list[Event] = []
    with caplog.at_level(logging.WARNING, "compact"), manager(tmp_path, events) as opened:
        done = opened.prepare("s", conversation())
    assert done.report is not None
    assert [name.split("-2")[0] for name in done.report.written_by] == [CHEAP["openai"]]
    assert f"Written by {CHEAP['openai']}" in str(done.report)
    assert "The first tables are moved" in json.dumps(done.messages)
    assert {request.body["model"] for request in vendor.requests} == {CHEAP["openai"]}
    assert [record.getMessage().split(" as ")[0] for record in caplog.records] == [
        "summaries of conversations with gpt-4o are written by gpt-4o-mini,"
    ]
    selected = [event for event in events if event.name == "compact.handler_selected"]
    assert {event.properties["model"] for event in selected} == {CHEAP["openai"]}
    result = next(event for event in events if event.name == "compact.condensed")
    assert result.properties["written_by"] == list(done.report.written_by)
    assert capsys.readouterr().out == ""
    assert sum(record.actual.questions for record in load_spending()) == len(vendor.requests) <= 3


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "a-model-of-my-own"])
def test_a_key_of_another_vendor_is_not_used(tmp_path: Path, vendor: FakeVendors, model: str) -> None:
    with manager(tmp_path, model=model) as opened:
        done = opened.prepare("s", conversation())
    assert not vendor.requests
    assert done.report is not None
    assert done.report.written_by == ()
    assert done.report.why_offline.startswith("no profile is configured, and ")


@pytest.mark.parametrize(
    ("profile", "switch", "reason"), [(OFFLINE, "", "the profile is offline"), ("", "1", "COMPACT_OFFLINE is set")]
)
def test_it_can_be_switched_off(
    tmp_path: Path, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch, profile: str, switch: str, reason: str
) -> None:
    monkeypatch.setenv("COMPACT_OFFLINE", switch)
    events: list[Event] = []
    with manager(tmp_path, events, profile=profile) as opened:
        done = opened.prepare("s", conversation())
    assert not vendor.requests
    assert done.report is not None
    assert (done.report.written_by, done.report.why_offline) == ((), reason)
    assert f" - Written offline: {reason}" in str(done.report)
    result = next(event for event in events if event.name == "compact.condensed")
    assert result.properties["why_offline"] == reason


def test_offline_holds_for_profiles_answers_and_detection(monkeypatch: pytest.MonkeyPatch, vendor: FakeVendors) -> None:
    mine = Profile(name="mine", vendor="compatible", model="m", url=f"{vendor.url}/v1")
    save_profiles(Profiles(profiles=(mine,)))
    assert choose_summarizers().profiles == (mine,)
    monkeypatch.setenv("COMPACT_OFFLINE", "yes")
    assert not choose_summarizers("mine")
    assert responder_for("gpt-4o").problem == "COMPACT_OFFLINE is set."
    with pytest.raises(InvalidConfiguration, match="COMPACT_OFFLINE: is set"):
        probe(mine)
    with StoredSessions(":memory:") as sessions, pytest.raises(InvalidConfiguration, match="COMPACT_OFFLINE"):
        sessions.detect()
    monkeypatch.setenv("COMPACT_OFFLINE", "maybe")
    with pytest.raises(InvalidConfiguration, match="COMPACT_OFFLINE: is 'maybe'"):
        choose_summarizers()
    assert not vendor.requests


def test_a_model_that_fails_leaves_an_account_and_the_reason(tmp_path: Path, vendor: FakeVendors) -> None:
    vendor.fail(Fault("quota"), times=9)
    with manager(tmp_path) as opened:
        done = opened.prepare("s", conversation())
    assert done.compacted
    assert done.report is not None
    assert done.report.written_by == ()
    assert "openai" in done.report.why_offline


def test_a_compaction_asks_no_more_often_than_it_may(tmp_path: Path) -> None:
    asked: list[Sequence[Ask]] = []

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.append(asks)
        return tuple(Completion("Nothing that the conversation says.") for _ in asks)

    for most in (1, 2):
        asked.clear()
        config = {"model": "gpt-4o", "max_context_tokens": 8_000, "max_asks": most, "policy": {"recipe": "native"}}
        config["storage"] = {"path": str(tmp_path / f"kept{most}")}
        with CompactManager(CompactConfig.model_validate(config), ask=ask) as opened:
            assert opened.prepare("s", conversation()).compacted
        assert asked
        assert sum(map(len, asked[1:])) <= max(0, most - len(asked[0]))


def test_a_question_that_may_cost_more_than_is_left_today_is_not_asked(tmp_path: Path, vendor: FakeVendors) -> None:
    with manager(tmp_path, max_cost="0.00000001") as opened:
        dear = opened.prepare("one", conversation())
    assert dear.report is not None
    assert not vendor.requests
    assert "and $1e-8 of max_cost are left today" in dear.report.why_offline
    with manager(tmp_path / "more", max_cost="0.01") as opened:
        affordable = opened.prepare("one", conversation())
    assert affordable.report is not None
    assert affordable.report.written_by
    assert vendor.requests


def test_no_model_is_called_once_the_days_money_is_spent(tmp_path: Path, vendor: FakeVendors) -> None:
    with manager(tmp_path, max_cost="0.01") as opened:
        assert opened.prepare("one", conversation()).report
    (bill,) = load_spending()
    assert bill.actual.cost is not None
    assert bill.actual.cost < Decimal("0.01")
    asked = len(vendor.requests)
    with manager(tmp_path / "less", max_cost=str(bill.actual.cost)) as opened:
        second = opened.prepare("two", conversation())
    assert second.report is not None
    assert second.report.why_offline.endswith(f"max_cost is ${bill.actual.cost}")
    assert len(vendor.requests) == asked


def test_a_compaction_is_prepared_in_the_background_where_a_model_writes(tmp_path: Path, vendor: FakeVendors) -> None:
    prepared = ThreadEvent()
    said = conversation(90)
    near = next(size for size in range(len(said), 0, -1) if not _triggers(tmp_path, said[:size]))
    config = CompactConfig(
        model="gpt-4o", max_context_tokens=8_000, storage=StorageSettings(path=str(tmp_path / "own"))
    )

    def observe(event: Event) -> None:
        if event.name == "compact.background_prepared":
            prepared.set()

    with CompactManager(config, observe=observe) as opened:
        assert not opened.prepare("s", said[:near]).compacted
        assert prepared.wait(60)
    assert vendor.requests


def _triggers(tmp_path: Path, messages: list[dict[str, Any]]) -> bool:
    with manager(tmp_path, profile=OFFLINE, originals="none", allow_loss=True) as opened:
        return opened.prepare("probe", messages).compacted


def by_condense(_: Path, recipe: str) -> object:
    return compact.condense(conversation(), model="gpt-4o", recipe=recipe, target=0.2)


@pytest.mark.parametrize("run", [by_condense, by_gateway, by_sessions])
def test_only_a_manager_uses_a_key_that_no_profile_names(
    tmp_path: Path, home: Path, vendor: FakeVendors, run: Compact
) -> None:
    home.mkdir()
    run(tmp_path, "native")
    assert vendor.requests == ()


def test_without_a_vendor_only_what_is_configured_is_asked(vendor: FakeVendors) -> None:
    assert choose_summarizers().reason == NOT_CONFIGURED
    assert choose_summarizers(model="gpt-4o").own
    assert [profile.name for profile in ready_vendors()] == ["openai"]


def test_condense_asks_the_profile_that_is_named(monkeypatch: pytest.MonkeyPatch, vendor: FakeVendors) -> None:
    save_profiles(Profiles(profiles=(Profile(name="mine", vendor="compatible", model="m", url=f"{vendor.url}/v1"),)))
    assert "no callback or profile was given" in str(compact.condense(conversation(), target=0.2).report)
    assert not vendor.requests
    result = compact.condense(conversation(), target=0.2, ask="mine")
    assert result.report.written_by == ("m",)
    assert vendor.requests
    monkeypatch.setenv("COMPACT_OFFLINE", "1")
    assert compact.condense(conversation(), target=0.2, ask="mine").report.why_offline == "COMPACT_OFFLINE is set"
    monkeypatch.delenv("COMPACT_OFFLINE")
    with pytest.raises(InvalidConfiguration, match="there is no profile 'nothing'"):
        compact.condense(conversation(), ask="nothing")


def test_an_address_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "not an address")
    assert choose_summarizers(model="gpt-4o").reason.startswith("OPENAI_BASE_URL: ")
