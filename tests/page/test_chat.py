"""The chat, driven as people would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Event

import pytest
from playwright.sync_api import expect

from compact.app.transcripts import read_transcript
from compact.testing.vendors import FakeVendors, Received, Reply
from tests.page.driving import Opened
from tests.page.talking import Server, orchard
from tests.page.test_inspector import HOSTILE
from tests.server.routes.conversing import configure
from tests.server.routes.test_kept import reading

Open = Callable[[str], Opened]
_ARROW = "\N{RIGHTWARDS ARROW}"
_SPELLED = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}U+202E\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


def test_a_session_is_made_talked_in_renamed_and_deleted(open_page: Open) -> None:
    opened = open_page("chat")
    page = opened.page
    page.get_by_role("heading", name="Conversations that always fit").wait_for()
    opened.photograph("chat-empty")
    opened.hold_to_axe()
    opened.button("New session").click()
    expect(page.get_by_role("heading", name="Say something")).to_be_visible()
    message = page.get_by_role("textbox", name="Message")
    message.fill("The quinces are ripe.")
    message.press("Shift+Enter")
    expect(message).to_have_value("The quinces are ripe.\n")
    message.type("When shall we pick them?")
    message.press("Enter")
    expect(opened.thread()).to_contain_text("Offline answer: no model is configured")
    expect(opened.thread().get_by_role("article")).to_have_count(2)
    expect(message).to_have_value("")
    expect(page.get_by_role("link", name="offline responder")).to_be_visible()
    expect(page.get_by_role("meter", name="Context in use")).to_have_attribute("aria-valuemax", re.compile(r"^\d{5,}$"))
    opened.photograph("chat-talk")
    opened.hold_to_axe()

    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Rename and session settings").click()
    page.get_by_role("textbox", name="Title").fill("Quinces")
    opened.button("Save").click()
    expect(page.get_by_role("heading", name="Quinces")).to_be_visible()
    expect(page.get_by_role("complementary", name="Sessions")).to_contain_text("Quinces")
    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Delete").click()
    opened.button("Delete", exact=True).click()
    expect(page.get_by_role("heading", name="Conversations that always fit")).to_be_visible()
    expect(page.get_by_role("complementary", name="Sessions").get_by_text("Quinces", exact=True)).to_have_count(0)


def test_one_click_uses_a_key_that_is_in_the_environment(
    open_page: Open, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{vendor.url}/v1")
    vendor.reply(lambda _: Reply("Next week."))
    opened = open_page("chat")
    page = opened.page
    expect(opened.button("Use OPENAI_API_KEY")).to_be_visible()
    opened.photograph("chat-key-welcome")
    opened.hold_to_axe()
    opened.button("New session").click()
    expect(page.get_by_role("link", name="offline responder")).to_be_visible()
    expect(page.get_by_text("gpt-4o answers, gpt-4o-mini summarizes.")).to_be_visible()
    opened.photograph("chat-key")
    opened.hold_to_axe()
    assert not vendor.requests
    opened.button("Use OPENAI_API_KEY").click()
    expect(page.get_by_role("link", name="gpt-4o", exact=True)).to_be_visible()
    expect(opened.button("Use OPENAI_API_KEY")).to_have_count(0)
    message = page.get_by_role("textbox", name="Message")
    message.fill("When are the quinces ripe?")
    message.press("Enter")
    expect(opened.thread()).to_contain_text("Next week.")
    page.get_by_role("link", name="gpt-4o", exact=True).click()
    expect(page.get_by_role("row", name="openai-summaries")).to_contain_text("gpt-4o-mini")


def test_history_is_summarized_edited_regenerated_and_brought_back(open_page: Open, server: Server) -> None:
    id = server.transcript(orchard(), "orchard.json")
    opened = open_page(f"chat/{id}")
    page = opened.page
    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Summarize conversation history").click()
    panel = page.get_by_role("region", name="Summarize conversation history")
    expect(panel).to_contain_text("cost: no model is asked")
    expect(panel).to_contain_text(_ARROW)
    usual = panel.locator("dd").first.inner_text()
    panel.get_by_text("Nothing", exact=True).click()
    expect(panel.locator("dd").first).not_to_have_text(usual)
    panel.get_by_text("As set", exact=True).first.click()
    expect(panel.locator("dd").first).to_have_text(usual)
    panel.get_by_role("textbox", name="What matters").fill("Keep every fruit")
    opened.photograph("chat-summarize")
    opened.hold_to_axe()
    opened.button("Summarize now").click()
    expect(panel).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="Summarized")).to_contain_text(_ARROW)
    summary = page.get_by_role("region", name="Summary of what was said before")
    expect(summary).to_contain_text(f"{usual} messages")
    expect(summary).to_contain_text("manual")
    expect(summary).to_contain_text("without a model: no profile is configured or named")
    summary.get_by_role("button", name="Summary").click()
    opened.photograph("chat-summary")
    opened.hold_to_axe()

    summary.get_by_role("button", name="Edit").click()
    summary.get_by_role("textbox").fill("Everything was ripe.")
    summary.get_by_role("button", name="Save").click()
    expect(summary).to_contain_text("Everything was ripe.")
    expect(summary).to_contain_text("edited")
    summary.get_by_role("button", name="Earlier summaries").click()
    expect(summary.locator("details")).to_have_count(1)
    summary.get_by_role("button", name="Regenerate").click()
    expect(summary.locator(".sum-body > .said-text")).not_to_contain_text("Everything was ripe.")
    for _ in range(3):
        summary.get_by_role("button", name="Undo").click()
        page.get_by_text("The summary was taken back.").last.wait_for()
    expect(summary).to_have_count(0)
    message = page.get_by_role("textbox", name="Message")
    message.fill("/summarize keep the figs")
    message.press("Enter")
    expect(summary).to_be_visible()


def test_a_question_is_shown_once_while_the_history_is_summarized_and_answered(
    open_page: Open, server: Server, vendor: FakeVendors
) -> None:
    configure(vendor, model="narrow")
    server.ask("POST", "/api/models", {"provider": "unknown", "model": "narrow", "max_input": 4_000})
    id = server.transcript(orchard(12), "once.json", model="narrow")
    written, answered = Event(), Event()

    def reply(received: Received) -> Reply:
        asked = "When are" in str(received.body["messages"][-1]["content"])
        assert (answered if asked else written).wait(30)
        return Reply("Soon." if asked else "## Context\n- Fruit was ripe. [m0]")

    vendor.reply(reply)
    opened = open_page(f"chat/{id}")
    page, said = opened.page, opened.thread().get_by_text("When are the quinces ripe?")
    message = page.get_by_role("textbox", name="Message")
    message.fill("When are the quinces ripe?")
    message.press("Enter")
    expect(opened.thread().get_by_text("Summarizing")).to_be_visible()
    opened.photograph("chat-summarizing")
    expect(said).to_have_count(1)
    written.set()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_be_visible()
    page.wait_for_timeout(500)
    expect(said).to_have_count(1)
    expect(opened.thread().get_by_text("Thinking")).to_have_count(1)
    answered.set()
    expect(opened.thread().get_by_text("Soon.")).to_have_count(1)
    expect(said).to_have_count(1)


def test_notifications_can_be_switched_off(open_page: Open, server: Server) -> None:
    id = server.transcript(orchard(), "quiet.json")
    opened = open_page(f"chat/{id}")
    page = opened.page
    opened.button("Summarize conversation history").click()
    off = page.get_by_text("Tell me when a compaction ends, in every session")
    off.click()
    expect(page.get_by_role("switch")).not_to_be_checked()
    expect(page.locator(".switch[data-selected]")).to_have_count(0)
    opened.button("Summarize now").click()
    expect(page.get_by_role("region", name="Summary of what was said before")).to_be_visible()
    expect(page.get_by_text("Summarized 1")).to_have_count(0)
    server.ask("PUT", "/api/settings", {"workspace": "", "values": {"notify": None}})


def test_what_others_do_is_followed_and_a_summary_taken_over(open_page: Open, server: Server) -> None:
    source = server.transcript(orchard(), "source.json")
    opened = open_page(f"chat/{source}")
    page = opened.page
    opened.thread().get_by_role("article").last.wait_for()
    server.ask("POST", f"/api/sessions/{source}/compress", {})
    summary = page.get_by_role("region", name="Summary of what was said before")
    expect(summary).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="source.json")).to_contain_text("Summarized")
    opened.button("New", exact=True).click()
    expect(page.get_by_role("heading", name="Say something")).to_be_visible()
    opened.button("More for this session").click()
    page.get_by_role("menuitem", name="Take over another session").click()
    opened.button("Choose a session").click()
    page.get_by_role("option", name="source.json").click()
    opened.button("Take over", exact=True).click()
    expect(summary).to_contain_text("imported")


def test_the_full_history_is_marked_searched_and_pinned(open_page: Open, server: Server) -> None:
    id = server.transcript(orchard(40), "history.json")
    server.ask("POST", f"/api/sessions/{id}/compress", {"retention": 500})
    opened = open_page(f"chat/{id}")
    page = opened.page
    kept = opened.thread().get_by_role("article")
    expect(kept.first).to_be_visible()
    assert kept.count() < 10
    page.get_by_text("Full history", exact=True).click()
    history = page.get_by_role("region", name="Full history")
    expect(page.get_by_role("note")).to_contain_text("not active context")
    expect(history.get_by_role("article").first).to_be_visible()
    page.get_by_role("searchbox", name="Search the history").fill("medlars number 13")
    expect(page.locator(".match mark").first).to_be_visible()
    opened.photograph("chat-search")
    opened.hold_to_axe()
    page.locator(".match", has_text="user 13").click()
    found = history.get_by_role("article", name="You, message 27")
    expect(found).to_be_in_viewport()
    expect(found.locator("mark", has_text="medlars")).to_be_visible()
    expect(found).to_contain_text("summarized, not active")
    opened.photograph("chat-history")
    opened.hold_to_axe()
    found.get_by_role("button", name="Pin: keep it in every request").click()
    expect(found).to_contain_text("pinned")
    page.get_by_text("Conversation", exact=True).click()
    # The first request stays a message, and what is pinned stands behind it.
    expect(opened.thread().get_by_role("article").nth(1)).to_contain_text("medlars number 13")


def test_hostile_messages_are_only_shown(open_page: Open) -> None:
    opened = open_page("chat")
    page = opened.page
    with page.expect_file_chooser() as chooser:
        opened.button("Import a transcript").first.click()
    name = '"><img src=x onerror=window.hurt=9>.json'
    content = json.dumps(HOSTILE[1:]).encode()
    chooser.value.set_files({"name": name, "mimeType": "application/json", "buffer": content})
    thread = opened.thread()
    expect(thread.get_by_role("article", name="message 7")).to_contain_text("The last one.")
    opened.photograph("chat-hostile")
    opened.hold_to_axe()
    thread.evaluate("element => { element.scrollTop = 0 }")
    expect(thread.get_by_role("article", name="message 1")).to_contain_text('<img src="x" onerror=')
    expect(thread.get_by_role("article", name="message 2")).to_contain_text(_SPELLED + "esrever")
    expect(thread.get_by_role("article", name="message 3").locator(".said-text").first).to_have_attribute("dir", "auto")
    huge = thread.get_by_role("article", name="message 5")
    huge.scroll_into_view_if_needed()
    huge.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.querySelector('[aria-label$=\"message 5\"]')?.textContent.length > 5e6")
    assert page.evaluate("window.hurt") is None
    assert page.locator(".stage img, .stage script, .stage style").count() == 0


def test_calls_results_and_references_are_told_apart(open_page: Open, server: Server) -> None:
    lines = "\n".join(f"{number:>4}\tline {number} of the file" for number in range(1, 60))
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
    messages = [
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": lines},
        {"role": "assistant", "content": "\N{MATHEMATICAL LEFT ANGLE BRACKET} Content suppressed "
         "\N{MATHEMATICAL RIGHT ANGLE BRACKET}\nThat was it."},
    ]  # fmt: skip
    opened = open_page(f"chat/{server.transcript(messages, 'tools.json')}")
    thread = opened.thread()
    expect(thread.locator("[data-part=call]")).to_contain_text("read_file")
    result = thread.locator("[data-part=result]")
    expect(result).to_contain_text("line 1 of the file")
    expect(result).not_to_contain_text("line 59 of the file")
    result.get_by_role("button", name="Show all").click()
    expect(result).to_contain_text("line 59 of the file")
    thread.locator(".said-mark").focus()
    opened.page.keyboard.press("Shift+Tab")
    opened.page.keyboard.press("Tab")
    expect(opened.page.get_by_role("tooltip")).to_contain_text("taken out")
    opened.photograph("chat-tools")
    opened.hold_to_axe()


def test_a_reference_expands_to_what_it_stands_for(open_page: Open, server: Server) -> None:
    inspected = server.ask("POST", "/api/inspect", reading(2))["id"]
    done = server.ask("POST", f"/api/inspect/{inspected}/condense", {"provider": "lossless"})["id"]
    condensed = server.ask("GET", f"/api/inspect/{inspected}/results/{done}/condensed")
    opened = open_page(f"chat/{server.transcript(condensed, 'references.json')}")
    referring = opened.thread().get_by_role("article", name="Tool, message 5")
    expect(referring.locator(".said-mark[data-kind=reference]")).to_be_visible()
    expect(referring).not_to_contain_text("line 2 of a file")
    opened.photograph("chat-references")
    referring.get_by_role("button", name="Expand references").click()
    expect(referring).to_contain_text("line 2 of a file")


@pytest.fixture(scope="module")
def long_session(address: str) -> str:
    """The id of a session of 10,000 messages."""
    turns = [{"role": ("user", "assistant")[at % 2], "content": f"Turn {at} of many."} for at in range(10_000)]
    return Server(address).transcript(turns, "long.json", model="gemini-2.5-pro")


def test_ten_thousand_messages_are_drawn_a_screen_at_a_time(open_page: Open, long_session: str, tmp_path: Path) -> None:
    opened = open_page(f"chat/{long_session}")
    page, thread = opened.page, opened.thread()
    expect(thread.get_by_role("article", name="message 10000")).to_be_in_viewport()
    assert thread.get_by_role("listitem").count() < 60
    thread.evaluate("element => { element.scrollTop = element.scrollHeight / 2 }")
    expect(thread.get_by_text(re.compile(r"Turn [45]\d\d\d of many"))).not_to_have_count(0)
    opened.button("Newest").click()
    expect(thread.get_by_role("article", name="message 10000")).to_be_in_viewport()
    opened.button("More for this session").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export the full history").click()
    download.value.save_as(tmp_path / "long.json")
    assert len(read_transcript((tmp_path / "long.json").read_bytes()).messages) == 10_000


@pytest.mark.clock
def test_ten_thousand_messages_scroll_smoothly(open_page: Open, long_session: str) -> None:
    opened = open_page(f"chat/{long_session}")
    expect(opened.thread().get_by_role("article", name="message 10000")).to_be_in_viewport()
    frames: list[float] = opened.thread().evaluate(
        """async (list) => {
            const frames = [];
            let last = performance.now();
            for (let step = 0; step < 120; step += 1) {
                list.scrollTop -= 240;
                await new Promise(requestAnimationFrame);
                const now = performance.now();
                frames.push(now - last);
                last = now;
            }
            return frames;
        }"""
    )
    assert median(frames) < 34, f"half the frames took more than {median(frames):.0f} ms"
