"""What may be spent: a ceiling on fallbacks, dollars a day, and parts of the size that the model asked reads."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.allowance import DailyLimit
from compact.policies import Profile, Profiles
from compact.ports import Event
from compact.settings.profiles import save_profiles
from compact.settings.spending import load_spending
from compact.testing.vendors import FakeVendors, Fault
from tests.app.tables import SUMMARY, conversation, home

__all__ = ["home"]


@pytest.fixture
def vendors(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeVendors, FakeVendors]]:
    """A cheap model that does not answer, and a dear one that does."""
    monkeypatch.setenv("FAKE_KEY", "any")
    with FakeVendors() as cheap, FakeVendors() as dear:
        cheap.fail(Fault("quota"), times=99)
        dear.reply(lambda _: SUMMARY)
        shared: dict[str, Any] = {"vendor": "openai", "key": "env:FAKE_KEY", "use": "condensation"}
        profiles = (
            Profile(name="cheap", model="gpt-4o-mini", url=f"{cheap.url}/v1", priority=1, **shared),
            Profile(name="dear", model="gpt-4o", url=f"{dear.url}/v1", priority=2, **shared),
        )
        save_profiles(Profiles(profiles=profiles))
        yield cheap, dear


def manager(tmp_path: Path, events: list[Event] | None = None, **values: object) -> CompactManager:
    given = {"model": "gpt-4o", "max_context_tokens": 8_000, "storage": {"path": str(tmp_path / "kept")}, **values}
    return CompactManager(CompactConfig.model_validate(given), observe=None if events is None else events.append)


def test_a_fallback_that_costs_more_than_three_times_the_first_is_not_asked(
    tmp_path: Path, vendors: tuple[FakeVendors, FakeVendors]
) -> None:
    events: list[Event] = []
    cheap, dear = vendors
    with manager(tmp_path, events) as opened:
        report = opened.prepare("s", conversation()).report
    assert report is not None
    assert cheap.requests
    assert not dear.requests
    assert "dear: as a fallback it may cost $0." in report.why_offline
    assert "fallback_max_cost allows more" in report.why_offline
    failed = [event.properties["profile"] for event in events if event.name == "compact.handler_failed"]
    assert failed == ["cheap", "dear"]
    assert load_spending() == ()


def test_fallback_max_cost_is_the_most_that_fallbacks_take(
    tmp_path: Path, vendors: tuple[FakeVendors, FakeVendors]
) -> None:
    _, dear = vendors
    with manager(tmp_path, fallback_max_cost="1") as opened:
        report = opened.prepare("s", conversation()).report
    assert report is not None
    assert report.written_by
    (bill,) = load_spending()
    assert bill.profile == "dear"
    assert bill.actual.cost is not None
    with manager(tmp_path / "less", fallback_max_cost=str(bill.actual.cost)) as opened:
        less = opened.prepare("s", conversation()).report
    assert less is not None
    assert "fallback_max_cost is $" in less.why_offline
    assert len(dear.requests) == 1


@pytest.mark.usefixtures("vendors")
def test_condense_has_the_same_ceiling() -> None:
    result = compact.condense(conversation(), target=0.2, ask="cheap")
    assert "as a fallback it may cost" in str(result.report)


def test_questions_under_way_count_towards_the_day() -> None:
    day = DailyLimit(Decimal("0.05"))
    assert day.spent() == day.reserve(Decimal("0.03")) == ""
    assert day.reserve(Decimal("0.03")) == "it may cost $0.0300, and $0.0200 of max_cost are left today"
    day.release(Decimal("0.03"))
    assert day.reserve(Decimal("0.05")) == ""
    assert DailyLimit(None).reserve(Decimal(10**6)) == ""
    assert DailyLimit(Decimal(0)).spent() == "$0 were spent on summaries today, and max_cost is $0"


def test_the_transcript_is_in_parts_only_where_the_model_that_is_asked_needs_them(
    tmp_path: Path, vendors: tuple[FakeVendors, FakeVendors]
) -> None:
    _, dear = vendors
    local = Profile(name="local", vendor="compatible", model="m", url=f"{dear.url}/v1", context_window=4_000)
    first = Profile(name="dear", vendor="openai", model="gpt-4o", url=f"{dear.url}/v1", key="env:FAKE_KEY", priority=-1)

    def requests(*profiles: Profile) -> int:
        before = len(dear.requests)
        save_profiles(Profiles(profiles=profiles))
        with manager(tmp_path / str(before)) as opened:
            assert opened.prepare("s", conversation()).compacted
        return len(dear.requests) - before

    assert requests(first, local.model_copy(update={"priority": 9})) == 1
    assert requests(local) > 2
