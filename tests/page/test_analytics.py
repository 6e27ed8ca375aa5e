"""Analytics, driven as people would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from playwright.sync_api import expect

from compact.models.spending import Charge, Spending
from compact.settings.spending import add_spending
from tests.page.driving import Opened
from tests.page.talking import Server, orchard

Open = Callable[[str], Opened]


def test_with_nothing_compressed_there_is_an_invitation_and_advice(open_page: Open) -> None:
    opened = open_page("analytics")
    expect(opened.page.get_by_role("heading", name="Nothing was compacted yet")).to_be_visible()
    advice = opened.page.get_by_role("list", name="Recommendations")
    expect(advice).to_contain_text("$")
    opened.photograph("analytics-empty")
    opened.hold_to_axe()


def _condensed(now: datetime) -> Iterator[dict[str, object]]:
    for day in range(20):
        at = (now - timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
        data = {
            "tokens_before": 9_000 + 700 * (day % 5),
            "tokens_after": 2_000,
            "provider": ("smart", "native")[day % 2],
        }
        yield {
            "type": "span",
            "trace_id": f"trace-{day}",
            "span_id": f"span-{day}",
            "name": "compact.condensed",
            "started_at": at,
            "ended_at": at,
            "data": data,
            "status": "error" if day == 7 else "ok",
        }


def test_what_was_saved_is_drawn_and_told(open_page: Open, server: Server) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    for fruit in ("figs", "plums"):
        id = server.transcript(orchard(30), f"{fruit}.json")
        server.ask("POST", f"/api/sessions/{id}/compress", {})
    server.ask("POST", "/ingest", {"batch": list(_condensed(now))})
    for index, (expected, paid) in enumerate((("0.02", "0.018"), ("0.011", "0.016"))):
        add_spending(
            Spending(
                at=(now - timedelta(hours=index)).isoformat(),
                way="balanced",
                profile="mine",
                model="gpt-4o-mini",
                limit=4_000,
                tokens_before=10_000,
                tokens_after=3_000,
                estimated=Charge(cost=Decimal(expected)),
                actual=Charge(cost=Decimal(paid)),
            )
        )
    opened = open_page("analytics")
    page = opened.page
    chart = page.get_by_role("img", name="Tokens saved, 30 days")
    expect(chart).to_be_visible()
    assert chart.locator("rect[data-tone]").count() == 30
    opened.photograph("analytics")
    opened.hold_to_axe()
    page.get_by_role("radiogroup", name="Tokens saved as").get_by_text("Table").click()
    expect(page.get_by_role("region", name="Day by day").get_by_role("row")).to_have_count(31)
    page.get_by_text("7 days", exact=True).click()
    expect(page.get_by_role("region", name="Day by day").get_by_role("row")).to_have_count(8)
    where = page.locator("section", has=page.get_by_role("heading", name="Where it was saved"))
    expect(where.get_by_role("row", name="smart")).to_be_visible()
    where.get_by_text("Strategy", exact=True).click()
    expect(where.get_by_role("row", name="general")).to_be_visible()
    expect(page.get_by_text("1 of 2 within a fifth")).to_be_visible()
    cache = page.locator("section", has=page.get_by_role("heading", name="Effect on the prompt cache"))
    expect(cache.get_by_role("row", name="figs.json")).to_contain_text("request")
    opened.hold_to_axe()
