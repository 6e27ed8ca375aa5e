"""The editor of presets, driven by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml
from playwright.sync_api import Page, expect

from tests.page.driving import Opened

Open = Callable[[str], Opened]


def _titles(page: Page) -> list[str]:
    return page.locator(".pass-card .strong").all_inner_texts()


def _ready(opened: Opened) -> Page:
    page = opened.page
    page.get_by_test_id("effect").wait_for()
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    return page


def test_the_passes_of_a_preset_are_shown_with_their_badges(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    assert _titles(page) == ["Truncate old results", "Truncate more", "Summarize"]
    last = page.locator(".pass-card").nth(2)
    for badge in ("batch", "all but 5 recent", "above 2,000 tokens"):
        expect(last.get_by_text(badge, exact=True)).to_be_visible()
    opened.photograph("editor")
    opened.hold_to_axe()


def test_passes_are_moved_by_keyboard(open_page: Open) -> None:
    page = _ready(open_page("editor"))
    page.get_by_role("button", name="Move Truncate old results").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".pass-card .strong").first).to_have_text("Truncate more")
    assert sorted(_titles(page)) == ["Summarize", "Truncate more", "Truncate old results"]


def test_passes_are_moved_by_mouse(open_page: Open) -> None:
    page = _ready(open_page("editor"))
    cards = page.locator(".pass-card")
    box = cards.nth(0).bounding_box()
    assert box is not None
    target = {"x": box["width"] / 2, "y": 4}
    cards.nth(2).drag_to(cards.nth(0), source_position={"x": 140, "y": 12}, target_position={"x": target["x"], "y": 4})
    expect(page.locator(".pass-card .strong").first).to_have_text("Summarize")


def test_passes_are_added_duplicated_and_deleted(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    opened.button("Add a pass").click()
    assert _titles(page)[-1] == "New pass"
    expect(page.get_by_role("heading", name="Pass 4")).to_be_visible()
    opened.button("Duplicate Truncate more").click()
    assert _titles(page) == ["Truncate old results", "Truncate more", "Truncate more", "Summarize", "New pass"]
    expect(page.get_by_label("Id", exact=True)).to_have_value("truncate-more-2")
    opened.button("Delete New pass").click()
    assert len(_titles(page)) == 4


def test_the_effect_follows_what_is_edited(open_page: Open) -> None:
    page = _ready(open_page("editor"))
    before = page.get_by_test_id("effect").inner_text()
    page.locator("label", has_text="Enabled").click()
    expect(page.get_by_test_id("effect")).not_to_have_text(before)
    share = page.get_by_role("textbox", name="Share of the tokens to come down to")
    share.fill("10%")
    share.press("Enter")
    expect(page.get_by_role("list", name="What each pass does")).to_contain_text("Summarize")


def test_an_operation_is_chosen_and_its_parameters_appear(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    texts = page.get_by_role("group", name="Message text")
    expect(texts.get_by_role("textbox", name="Max lines")).to_have_count(0)
    texts.get_by_text("Summarize", exact=True).click()
    expect(texts.get_by_role("textbox", name="Max tokens")).to_be_visible()
    texts.get_by_text("Truncate", exact=True).click()
    expect(texts.get_by_role("textbox", name="Max lines")).to_be_visible()
    texts.scroll_into_view_if_needed()
    opened.photograph("editor-operations")
    opened.hold_to_axe()


def test_what_is_wrong_is_told_in_its_place(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    page.get_by_label("Name", exact=True).first.fill("balanced")
    expect(page.get_by_text("A built-in preset is called so")).to_be_visible()
    expect(opened.button("Save")).to_be_disabled()
    page.locator(".pass-editor").get_by_text("Conditional", exact=True).click()
    expect(page.get_by_text("a conditional pass needs token_threshold or window_share")).to_be_visible()
    expect(page.get_by_text("as it was last valid")).to_be_visible()
    expect(page.locator(".pass-card").first.get_by_text("1 problem")).to_be_visible()
    opened.photograph("editor-problems", ".workbench")
    opened.hold_to_axe()


def test_a_preset_is_saved_exported_deleted_and_imported(open_page: Open, tmp_path: Path) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    page.get_by_label("Name", exact=True).first.fill("night-shift")
    opened.button("Delete Summarize").click()
    expect(opened.button("Save")).to_be_enabled()
    opened.button("Save").click()
    expect(page.get_by_text("Saved “night-shift”")).to_be_visible()
    opened.button("Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="As YAML").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    kept = yaml.safe_load(file.read_text(encoding="utf-8"))["presets"]["night-shift"]
    assert [step["id"] for step in kept["settings"]["passes"]] == ["truncate-results", "truncate-more"]

    opened.button("Delete this preset").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted “night-shift”")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        opened.button("Import").click()
    chooser.value.set_files(file)
    expect(page.get_by_text("Imported night-shift.")).to_be_visible()
    expect(page.locator(".pass-card")).to_have_count(2)
    page.get_by_role("link", name="Inspector").click()
    opened.open_demo()
    expect(page.get_by_role("row", name="night-shift")).to_be_visible()


def test_presets_of_other_providers_are_forms_of_their_settings(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    page.locator(".preset-choice button").click()
    page.get_by_role("option", name="speed").click()
    expect(page.get_by_role("textbox", name="Max result lines")).to_have_value("10")
    opened.photograph("editor-form")
    opened.hold_to_axe()


def test_changes_outlast_another_view_and_are_not_dropped_without_a_question(open_page: Open) -> None:
    opened = open_page("editor")
    page = _ready(opened)
    name = page.get_by_role("textbox", name="Name", exact=True).first
    name.fill("orchard")
    page.locator(".pass-card").nth(2).click()
    threshold = page.get_by_role("textbox", name="Token threshold")
    threshold.fill("7500")
    threshold.press("Tab")
    expect(page.locator(".pass-card").nth(2)).to_contain_text("above 7,500 tokens")
    page.get_by_role("link", name="Inspector").click()
    page.get_by_role("heading", name="Inspector", exact=True).wait_for()
    page.get_by_role("link", name="Editor").click()
    expect(name).to_have_value("orchard")
    expect(page.locator(".pass-card").nth(2)).to_contain_text("above 7,500 tokens")
    page.get_by_role("button", name="Preset").click()
    page.get_by_role("option", name="cost", exact=True).click()
    question = page.get_by_role("dialog", name="Discard the changes")
    opened.photograph("editor-discard")
    question.get_by_role("button", name="Go on editing").click()
    expect(name).to_have_value("orchard")
    page.get_by_role("button", name="Preset").click()
    page.get_by_role("option", name="cost", exact=True).click()
    question.get_by_role("button", name="Discard").click()
    expect(name).to_have_value("my-cost")
