"""The Inspector, driven as people would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import expect

from compact.app.planfile import load_plan, restore_file
from compact.app.transcripts import read_transcript
from tests.page.driving import Opened

Open = Callable[[str], Opened]

HOSTILE = [
    {"role": "system", "content": "<script>window.hurt = 1</script><style>body{display:none}</style>"},
    {"role": "user", "content": '<img src="x" onerror="window.hurt = 2"> <a href="javascript:window.hurt=3">go</a>'},
    {"role": "assistant", "content": "\u001b[31mred\u001b]0;title\u0007 \u202eesrever\u202c \u0000 end"},
    {"role": "user", "content": "שלום עולם, this runs the other way: مرحبا بالعالم"},
    {"role": "assistant", "content": "${7*7} {{7*7}} </pre></span><svg/onload=window.hurt=4>"},
    {"role": "user", "content": "huge " + "and then some more of it\n" * 200_000},
    {"role": "assistant", "content": "wide" * 5_000},
    {"role": "user", "content": "The last one."},
]
# As newer browsers scroll: what is given back is no longer nothing.
_SCROLLS_LATER = """() => {
  const scroll = Element.prototype.scrollIntoView
  Element.prototype.scrollIntoView = function (...given) { scroll.apply(this, given); return Promise.resolve() }
}"""
_SPELLED = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}U+202E\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}esrever"


def test_the_empty_view_invites(open_page: Open) -> None:
    opened = open_page("inspector")
    opened.page.get_by_role("heading", name="Drop a transcript here").wait_for()
    opened.photograph("inspector-empty")
    opened.hold_to_axe()


def test_transcripts_are_dropped_on_the_view(open_page: Open) -> None:
    opened = open_page("inspector")
    page = opened.page
    opened.drop_file("first.json", json.dumps([{"role": "user", "content": "The first."}]), ".drop")
    expect(page.get_by_text("first.json")).to_be_visible()
    opened.drop_file("second.json", json.dumps([{"role": "user", "content": "The second."}]), ".drop-around")
    expect(page.get_by_text("second.json")).to_be_visible()
    expect(page.get_by_text("first.json")).to_have_count(0)


def test_a_transcript_is_condensed_looked_at_and_restored(open_page: Open, tmp_path: Path) -> None:
    opened = open_page("inspector")
    page = opened.page
    opened.open_demo()
    expect(page.get_by_text("valid for its vendor", exact=True)).to_be_visible()
    table = page.get_by_role("table")
    expect(table.get_by_role("radio", name="auto default")).to_be_checked()
    expect(table.locator("tbody .skeleton")).to_have_count(0)
    assert table.locator("tbody tr").count() >= 10
    expect(table.get_by_role("row", name="v1")).to_contain_text(re.compile(r"2\d,\d{3}"))
    opened.photograph("inspector-presets")
    opened.hold_to_axe()

    share = page.get_by_role("textbox", name="Share of the tokens to come down to")
    share.fill("30%")
    share.press("Enter")
    expect(table.get_by_role("row", name="balanced")).to_contain_text(re.compile(r"28,\d{3}"))
    opened.condense("balanced")
    outcome = page.get_by_role("region", name="What was done")
    expect(outcome).to_contain_text(re.compile("\N{MINUS SIGN}7[0-9]%"))
    expect(outcome).to_contain_text("target of 30,053 met")
    expect(page.locator(".message[data-kind=superseded]").first).to_be_visible()
    expect(page.locator("mark[data-kind=truncated]").first).to_be_visible()
    opened.photograph("inspector-changes", ".outcome")
    opened.hold_to_axe()

    page.get_by_role("tab", name="Report").click()
    expect(page.get_by_text("Context condensed using Smart strategy:")).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_have_count(1)
    expect(page.locator(".list")).to_have_count(0)
    opened.photograph("inspector-report", ".outcome")
    page.get_by_role("tab", name="Receipt").click()
    expect(page.get_by_text("facts can still be read")).to_be_visible()
    opened.photograph("inspector-receipt", ".outcome")
    page.get_by_role("tab", name="Restore and files").click()
    opened.button("Restore and compare").click()
    expect(page.get_by_text("Equal to the original, byte for byte")).to_be_visible()
    opened.photograph("inspector-restore", ".outcome")
    opened.hold_to_axe()

    files = {}
    for name in ("Compacted file", "Plan file"):
        with page.expect_download() as download:
            opened.button(name).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    assert [path.name for path in files.values()] == ["demo.openai-chat.condensed.json", "demo.openai-chat.plan.json"]
    condensed = read_transcript(files["Compacted file"].read_bytes())
    assert len(restore_file(condensed, load_plan(files["Plan file"].read_bytes()))) == 406_173


def test_outcomes_are_left_for_another_and_for_another_view(open_page: Open) -> None:
    opened = open_page("inspector")
    page = opened.page
    page.evaluate(_SCROLLS_LATER)
    outcome = page.get_by_role("region", name="What was done")
    opened.open_demo()
    opened.condense()
    opened.condense()
    opened.drop_file("other.json", json.dumps([{"role": "user", "content": "Another."}]), ".drop-around")
    expect(page.get_by_text("other.json")).to_be_visible()
    expect(outcome).to_have_count(0)
    opened.condense()
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="Inspector").click()
    expect(page.get_by_text("other.json")).to_be_visible()


@pytest.mark.parametrize(
    ("format", "model", "window"),
    [("anthropic-messages", "claude-sonnet-4-5", "200,000"), ("google-gemini", "gemini-2.5-pro", "1,048,576")],
)
def test_a_file_is_counted_for_a_model_of_its_vendor(open_page: Open, format: str, model: str, window: str) -> None:
    whole = json.loads((files("compact") / "cli" / "transcripts" / f"session.{format}.json").read_bytes())
    messages = {key: value for key, value in whole.items() if key in ("messages", "contents")}
    opened = open_page("inspector")
    page = opened.page
    opened.open_file("session.json", json.dumps(messages).encode())
    expect(page.get_by_text(f"of {window}")).to_be_visible()
    expect(page.get_by_text(f"{model}, usual for the file")).to_be_visible()
    opened.photograph(f"inspector-{format}")
    page.get_by_role("link", name="Replay").click()
    expect(page.get_by_role("combobox", name="Model")).to_have_attribute("placeholder", model)


def test_auto_comes_down_to_its_target(open_page: Open) -> None:
    opened = open_page("inspector")
    opened.open_demo()
    opened.condense()
    outcome = opened.page.get_by_role("region", name="What was done")
    expect(outcome).to_contain_text("target of 50,088 met")
    opened.photograph("inspector-auto", ".outcome")


def test_why_a_message_was_edited_is_told_on_focus(open_page: Open) -> None:
    opened = open_page("inspector")
    opened.open_demo()
    opened.condense("balanced")
    page = opened.page
    reason = page.get_by_role("tooltip")
    page.locator(".message[data-kind=superseded] .headline-button").first.focus()
    page.keyboard.press("Tab")
    for _ in range(20):  # rows that are still read and measured move the list, and scrolling closes tooltips
        page.wait_for_timeout(400)
        if reason.is_visible():
            break
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
    expect(reason).to_contain_text("Superseded answers: superseded")


def test_kinds_of_edits_are_filtered_and_runs_unfold(open_page: Open) -> None:
    opened = open_page("inspector")
    opened.open_demo()
    opened.condense()
    page = opened.page
    kept = page.get_by_role("group", name="Kinds of edits that are shown").get_by_role("button", name="Kept")
    expect(kept).to_have_attribute("aria-pressed", "false")
    run = page.get_by_role("button", name="messages not shown").first
    run.click()
    expect(page.locator(".message[data-kind=kept]").first).to_be_visible()
    kept.click()
    expect(page.get_by_role("button", name="messages not shown")).to_have_count(0)
    first = page.locator(".message .headline-button").first
    expect(first).to_have_attribute("aria-expanded", "false")
    first.press("Enter")
    expect(first).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".message .diff").first).to_contain_text("You are a coding assistant")


def test_hostile_transcripts_are_only_shown(open_page: Open) -> None:
    opened = open_page("inspector")
    page = opened.page
    opened.open_file('"><img src=x onerror=window.hurt=9>.json', json.dumps(HOSTILE).encode())
    page.get_by_role("region", name="Messages").wait_for()
    for index in range(len(HOSTILE)):
        page.locator(".headline-button").nth(index).click()
    expect(page.locator(".diff").nth(0)).to_contain_text("<script>window.hurt = 1</script>")
    expect(page.locator(".diff").nth(2)).to_contain_text(f"␛[31mred␛]0;title␇ {_SPELLED}")
    expect(page.locator(".diff").nth(3).locator("pre").first).to_have_attribute("dir", "auto")
    opened.photograph("inspector-hostile")
    huge = page.locator(".message", has_text="huge")
    huge.get_by_role("button", name="Show all").click()
    expect(huge.get_by_role("button", name="Show all")).to_have_count(0, timeout=15_000)
    assert huge.locator(".diff").evaluate("element => element.textContent.length") > 5_000_000
    assert page.evaluate("window.hurt") is None
    assert page.locator(".stage img, .stage script, .stage style").count() == 0


def test_what_the_vendor_would_reject_is_listed(open_page: Open) -> None:
    opened = open_page("inspector")
    broken = [{"role": "user", "content": "Hello"}, {"role": "tool", "tool_call_id": "x", "content": "?"}]
    opened.open_file("broken.json", json.dumps(broken).encode())
    expect(opened.page.get_by_text("1 violation", exact=True)).to_be_visible()
    expect(opened.page.get_by_role("heading", name="What the vendor would reject")).to_be_visible()
    opened.photograph("inspector-violations")


def test_what_is_no_transcript_is_told_and_nothing_is_lost(open_page: Open) -> None:
    opened = open_page("inspector")
    opened.open_file("odd.json", b"{]")
    expect(opened.page.get_by_role("alert").first).to_contain_text("odd.json: is not valid JSON")
    opened.photograph("inspector-refused")
    opened.open_demo()
    # The browser itself reports the refusal; nothing else.
    assert [text for text in opened.complaints if "400" not in text] == []
    opened.complaints.clear()


def test_ten_thousand_messages_are_drawn_a_screen_at_a_time(open_page: Open) -> None:
    opened = open_page("inspector")
    page = opened.page
    turns = [{"role": ("user", "assistant")[index % 2], "content": f"Turn {index} of many."} for index in range(10_000)]
    opened.open_file("long.json", json.dumps(turns).encode())
    expect(page.get_by_text("10,000", exact=True).first).to_be_visible()
    region = page.get_by_role("region", name="Messages")
    region.wait_for()
    assert page.locator(".message").count() < 80
    region.evaluate("element => element.scrollTo(0, element.scrollHeight)")
    expect(page.get_by_text("Turn 9999 of many.")).to_be_visible()
    assert page.locator(".message").count() < 80
