"""What a person does who has nothing but a browser, from an empty home to a conversation that outgrew its model."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from compact.settings import home
from compact.testing.vendors import FakeVendors, Received, Reply
from tests.page.driving import Opened

WINDOW = 8_000
SUMMARY = "## Context\n- Apples are ordered for Basel. [m0]"


def test_a_person_with_only_a_browser_sets_a_model_up_and_chats_past_its_window(
    open_page: Callable[[str], Opened],
) -> None:
    assert not [each for each in home().rglob("*") if each.is_file()]
    with FakeVendors(window=WINDOW) as vendor:
        vendor.reply(_reply)
        opened = open_page("")
        expect(opened.page.get_by_role("heading", name="Conversations that always fit")).to_be_visible()
        _photograph(opened, "1-empty")
        _add_a_profile(opened, f"{vendor.url}/v1")
        _choose_a_recipe(opened)
        _set_the_threshold(opened)
        _chat_past_the_threshold(opened, vendor)
        assert {received.status for received in vendor.requests} == {200}  # the vendor refuses what is too long


def _reply(received: Received) -> Reply:
    """An answer to an order; to all else, which asks for a summary, a summary."""
    said = received.body["messages"][-1]["content"]
    return Reply("Noted." if str(said).startswith(("Order", "What")) else SUMMARY)


def _photograph(opened: Opened, name: str) -> None:
    opened.page.wait_for_timeout(200)
    opened.page.screenshot(path=opened.album / f"walk-{name}.png")


def _add_a_profile(opened: Opened, url: str) -> None:
    page = opened.page
    page.get_by_role("link", name="Add a model").click()
    expect(page.get_by_text("No profile is configured")).to_be_visible()
    _photograph(opened, "2-no-profile")
    opened.button("Add a profile").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("mine")
    opened.button("Served by").click()
    page.get_by_role("option", name="Another compatible server").click()
    page.get_by_role("textbox", name="Address").fill(url)
    page.get_by_role("textbox", name="Model", exact=True).fill("house-model")
    page.get_by_text("Prices, window, threshold and prompt").click()
    window = page.get_by_role("textbox", name="Context window")
    window.fill(str(WINDOW))
    window.press("Tab")
    _photograph(opened, "3-profile")
    opened.button("Save", exact=True).click()
    row = page.get_by_role("row", name="mine house-model compatible")
    opened.button("Test mine").click()
    expect(row).to_contain_text("answered in")
    _photograph(opened, "4-profile-tested")
    page.reload()
    expect(row).to_contain_text("ready")
    expect(row).to_contain_text("8,000")


def _choose_a_recipe(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("link", name="Recipes").click()
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Default recipe"))
    panel.get_by_role("button", name="Compact with").click()
    page.get_by_role("option", name="layers", exact=True).click()
    expect(panel).to_contain_text("layers, chosen here or by a command")
    page.reload()
    expect(panel).to_contain_text("layers, chosen here or by a command")
    _photograph(opened, "5-recipe")


def _set_the_threshold(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("link", name="Compaction").click()
    share = page.get_by_role("textbox", name="Threshold", exact=True)
    share.fill("60%")
    share.press("Tab")
    _photograph(opened, "6-threshold")
    opened.button("Save", exact=True).click()
    expect(page.get_by_text("Saved 1 setting")).to_be_visible()
    page.reload()
    expect(share).to_have_value("60%")
    expect(page.get_by_text("set for everything")).to_be_visible()


def _chat_past_the_threshold(opened: Opened, vendor: FakeVendors) -> None:
    page = opened.page
    page.get_by_role("link", name="Chat").click()
    expect(page.get_by_role("link", name="Add a model")).to_have_count(0)
    opened.button("New session").click()
    expect(page.get_by_role("link", name="house-model", exact=True)).to_be_visible()
    meter = page.get_by_role("meter", name="Context in use")
    expect(meter).to_have_attribute("aria-valuemax", str(WINDOW))
    _photograph(opened, "7-session")
    summary = page.get_by_role("region", name="Summary of what was said before")
    for number in range(12):
        _say(opened, f"Order {number}: {number + 2} crates of apples for Basel. " + "It goes on and on. " * 100)
        if summary.count():
            break
    expect(page.get_by_role("status").filter(has_text="Summarized 10 messages")).to_contain_text(
        "tokens. \N{LEFT DOUBLE QUOTATION MARK}Apples are ordered for Basel."
    )
    _photograph(opened, "8-compacted")
    page.reload()
    for words in ("automatic", "by house-model", "10 messages"):
        expect(summary).to_contain_text(words)
    summary.get_by_role("button", name="Summary").click()
    expect(summary).to_contain_text("Apples are ordered for Basel.")
    expect(page.get_by_text("compaction begins 4,800")).to_be_visible()
    _photograph(opened, "9-reloaded")
    _say(opened, "What is left to do?")
    assert "Apples are ordered for Basel." in str(vendor.requests[-1].body)
    assert "Order 1:" not in str(vendor.requests[-1].body)


def _say(opened: Opened, text: str) -> None:
    message = opened.page.get_by_role("textbox", name="Message")
    message.fill(text)
    message.press("Enter")
    last = opened.thread().get_by_role("article").last
    expect(last).to_have_attribute("data-role", "assistant")
    expect(last).not_to_have_attribute("aria-busy", "true")
    expect(last).to_contain_text("Noted.")
