"""The chat where a summary fails, or where nothing is compacted automatically."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from compact.testing.vendors import FakeVendors, Fault, Reply
from tests.page.driving import Opened
from tests.page.talking import Server, orchard
from tests.server.routes.conversing import configure

Open = Callable[[str], Opened]


def test_a_blocked_session_says_why_and_goes_on(open_page: Open, server: Server, vendor: FakeVendors) -> None:
    configure(vendor, model="narrow")
    server.ask("POST", "/api/models", {"provider": "unknown", "model": "narrow", "max_input": 4_000})
    id = server.transcript([{"role": "user", "content": "word " * 600}] * 6, "narrow.json", model="narrow")
    vendor.fail(Fault("quota"), times=2)
    opened = open_page(f"chat/{id}")
    page = opened.page
    expect(page.locator(".usage[data-level=high]")).to_be_visible()
    opened.photograph("chat-high")
    message = page.get_by_role("textbox", name="Message")
    message.fill("word " * 400)
    message.press("Enter")
    alert = page.get_by_role("alert").filter(has_text="This session is blocked")
    expect(alert).to_be_visible()
    expect(opened.button("Send")).to_be_disabled()
    expect(page.locator(".usage[data-level=full]")).to_be_visible()
    opened.photograph("chat-blocked")
    opened.hold_to_axe()
    alert.get_by_role("button", name="Acknowledge and go on").click()
    expect(alert).to_have_count(0)
    going_on = page.get_by_role("note").filter(has_text="the risk of going on without it was acknowledged")
    expect(going_on.get_by_role("button", name="Summarize without a model")).to_be_enabled()
    vendor.fail(Fault("quota"), times=2)
    opened.button("Ask again").click()
    refused = page.get_by_role("alert").filter(has_text="No answer")
    expect(refused).to_contain_text("The compaction that was tried failed")
    expect(refused).to_contain_text("without a model")
    opened.photograph("chat-acknowledged")
    vendor.reply(lambda _: Reply("## Context\n- Words were said. [m0]"))
    opened.button("Ask again").click()  # which tries the compression again, too
    summary = page.get_by_role("region", name="Summary of what was said before")
    expect(summary).to_contain_text("by narrow")
    expect(page.get_by_text("the risk of going on without it was acknowledged")).to_have_count(0)
    expect(opened.thread().get_by_role("article").last).to_contain_text("Words were said.")
    expect(opened.button("Ask again")).to_have_count(0)


def test_an_acknowledged_session_is_summarized_without_a_model_and_then_answers(
    open_page: Open, server: Server, vendor: FakeVendors
) -> None:
    configure(vendor, model="slim")
    server.ask("POST", "/api/models", {"provider": "unknown", "model": "slim", "max_input": 4_000})
    id = server.transcript(orchard(8), "acknowledged.json", model="slim")
    vendor.fail(Fault("quota"))
    opened = open_page(f"chat/{id}")
    page = opened.page
    message = page.get_by_role("textbox", name="Message")
    message.fill("And the figs?")
    message.press("Enter")
    opened.button("Acknowledge and go on").click()
    going_on = page.get_by_role("note").filter(has_text="Going on without a summary")
    asked = len(vendor.requests)
    going_on.get_by_role("button", name="Summarize without a model").click()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_contain_text("without a model")
    expect(going_on).to_have_count(0)
    assert len(vendor.requests) == asked
    vendor.reply(lambda _: Reply("They are ripe."))
    opened.button("Ask again").click()
    expect(opened.thread().get_by_role("article").last).to_contain_text("They are ripe.")


def test_a_summary_by_hand_is_made_without_a_model_by_one_click(
    open_page: Open, server: Server, vendor: FakeVendors
) -> None:
    configure(vendor)
    id = server.transcript(orchard(), "offline.json")
    opened = open_page(f"chat/{id}")
    page = opened.page
    opened.button("Summarize conversation history").click()
    panel = page.get_by_role("region", name="Summarize conversation history")
    without = panel.get_by_role("button", name="Summarize without a model")
    expect(without).to_be_enabled()
    opened.photograph("chat-summarize-offline")
    without.click()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_contain_text("without a model")
    assert not vendor.requests


def test_automatic_compaction_is_turned_off_for_a_session_and_summarizing_by_hand_still_works(
    open_page: Open, server: Server, vendor: FakeVendors
) -> None:
    configure(vendor, model="small")
    vendor.reply(lambda _: Reply("## Context\n- Fruit was ripe. [m0]"))
    server.ask("POST", "/api/models", {"provider": "unknown", "model": "small", "max_input": 4_000})
    id = server.transcript(orchard(10), "by-hand.json", model="small")
    opened = open_page(f"chat/{id}")
    page = opened.page
    expect(page.get_by_text("compaction begins")).to_be_visible()
    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Rename and session settings").click()
    choice = page.get_by_role("radiogroup", name="Automatic compaction")
    expect(choice.get_by_role("radio", name="As in Settings (on)")).to_be_checked()
    choice.get_by_text("Off", exact=True).click()
    opened.photograph("chat-session-settings")
    opened.hold_to_axe()
    opened.button("Save").click()
    expect(page.get_by_text("compaction begins")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Automatic compaction is off for this session")).to_be_visible()
    message = page.get_by_role("textbox", name="Message")
    message.fill("And the figs?")
    message.press("Enter")
    refused = page.get_by_role("alert").filter(has_text="No answer")
    expect(refused).to_contain_text("Automatic compaction is off for this session, so nothing was removed")
    assert not vendor.requests
    opened.photograph("chat-automatic-off")
    opened.hold_to_axe()
    opened.button("Summarize conversation history").click()
    opened.button("Summarize now").click()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_contain_text("manual")
    opened.button("Ask again").click()
    expect(opened.thread().get_by_role("article").last).to_contain_text("Fruit was ripe.")
    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Rename and session settings").click()
    expect(choice.get_by_role("radio", name="Off")).to_be_checked()
    choice.get_by_text("As in Settings (on)").click()
    opened.button("Save").click()
    expect(page.get_by_text("compaction begins")).to_be_visible()


def test_a_failed_summary_says_why_and_is_made_without_a_model_by_one_click(
    open_page: Open, server: Server, vendor: FakeVendors
) -> None:
    configure(vendor)
    id = server.transcript(orchard(), "refused.json")
    vendor.fail(Fault("quota"), times=3)
    opened = open_page(f"chat/{id}")
    page = opened.page
    message = page.get_by_role("textbox", name="Message")
    message.fill("/summarize keep the figs")
    message.press("Enter")
    failed = page.get_by_role("alert").filter(has_text="The summary failed")
    expect(failed).to_contain_text("no summary")
    expect(failed).to_contain_text("You may go on without it")
    expect(opened.button("Ask again")).to_have_count(0)
    opened.photograph("chat-failed")
    opened.hold_to_axe()
    asked = len(vendor.requests)
    failed.get_by_role("button", name="Try again").click()
    expect(failed.get_by_role("button", name="Try again")).to_be_enabled()
    assert len(vendor.requests) > asked
    opened.button("Summarize conversation history").click()
    panel = page.get_by_role("region", name="Summarize conversation history")
    panel.get_by_role("button", name="Summarize now").click()
    expect(panel.get_by_role("alert")).to_contain_text("The summary failed")
    panel.get_by_role("button", name="Close").first.click()
    asked = len(vendor.requests)
    failed.get_by_role("button", name="Summarize without a model").click()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_be_visible()
    expect(failed).to_have_count(0)
    assert len(vendor.requests) == asked
    message.fill("/summarize")
    message.press("Enter")
    nothing = page.get_by_role("note").filter(has_text="There is nothing to summarize")
    expect(nothing.get_by_role("button", name="Try again")).to_have_count(0)
    assert [text for text in opened.complaints if "409" not in text] == []
    opened.complaints.clear()
