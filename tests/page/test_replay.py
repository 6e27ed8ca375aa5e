"""Replay, driven as people would."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.page.driving import Opened

Open = Callable[[str], Opened]


def test_nothing_open_and_nothing_played_are_invitations(open_page: Open) -> None:
    opened = open_page("replay")
    expect(opened.page.get_by_role("heading", name="Drop a transcript here")).to_be_visible()
    opened.hold_to_axe()
    opened.open_demo()
    expect(opened.page.get_by_role("heading", name="Nothing was played yet")).to_be_visible()
    opened.photograph("replay-empty")
    opened.hold_to_axe()


def test_every_way_is_played_and_drawn(open_page: Open) -> None:
    opened = open_page("replay")
    page = opened.page
    opened.open_demo()
    page.get_by_label("Model").fill("claude-sonnet-4-5")
    page.get_by_role("textbox", name="Window").fill("60000")
    opened.button("Play 15 ways").click()
    status = page.get_by_role("region", name="Outcome").get_by_role("status")
    expect(status).to_contain_text("less than with no compaction", timeout=180_000)
    expect(status).to_contain_text("requests would have been refused")
    rows = page.locator(".ways tbody tr")
    expect(rows).to_have_count(15)
    expect(rows.first).to_contain_text("no compaction")
    chart = page.get_by_role("img", name="Tokens of each request")
    expect(chart.locator("polyline")).to_have_count(15)
    expect(page.get_by_role("img", name="Dollars: no compaction $")).to_be_visible()
    opened.photograph("replay")
    opened.photograph("replay-ways", ".ways-scroll")
    opened.hold_to_axe()
    page.get_by_role("radiogroup", name="Tokens of each request as").get_by_text("Table").click()
    table = page.get_by_role("region", name="Request by request")
    expect(table.get_by_role("row")).to_have_count(82)
    opened.hold_to_axe()


def test_with_the_keyboard_a_way_is_left_out_and_a_line_brought_forward(open_page: Open) -> None:
    opened = open_page("replay")
    page = opened.page
    opened.open_demo()
    ways = page.get_by_role("group", name="Ways to play")
    lossless = ("lossless:verbatim", "lossless:formatting", "lossless:superseded")
    for name in ("auto", "layers", "native", *lossless, "quality", "cost", "balanced", "v3", "speed", "v1"):
        ways.get_by_role("button", name=name, exact=True).press("Space")
    expect(ways.get_by_role("button", name="quality")).to_have_attribute("aria-pressed", "false")
    opened.button("Play 3 ways").press("Enter")
    chart = page.get_by_role("img", name="Tokens of each request")
    expect(chart.locator("polyline")).to_have_count(3, timeout=60_000)
    page.get_by_role("radio", name="naive truncation").press("Space")
    expect(chart.locator("polyline[data-quiet]")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="v2")).to_be_checked()


def test_what_is_wrong_is_told(open_page: Open) -> None:
    opened = open_page("replay")
    page = opened.page
    opened.open_file("empty.json", b'[{"role": "user", "content": "Hi"}]')
    page.get_by_role("textbox", name="Come down to").fill("90%")
    page.get_by_role("textbox", name="Come down to").blur()
    expect(page.get_by_text("Must lie below the trigger")).to_be_visible()
    expect(opened.button("Play 15 ways")).to_be_disabled()
    page.get_by_role("textbox", name="Come down to").fill("50%")
    page.get_by_role("textbox", name="Come down to").blur()
    opened.button("Play 15 ways").click()
    expect(page.get_by_role("heading", name="There is nothing to play")).to_be_visible()
    opened.hold_to_axe()
