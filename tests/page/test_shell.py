"""What stands around every view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect

from scripts import build_page
from tests.page.driving import Opened

Open = Callable[[str], Opened]


def test_without_the_token_the_page_says_where_it_is(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address.partition("#")[0])
        expect(page.get_by_role("heading", name="This page needs the server's token")).to_be_visible()


def test_the_token_leaves_the_address(open_page: Open) -> None:
    opened = open_page("inspector")
    assert "token" not in opened.page.url
    opened.page.reload()
    expect(opened.page.get_by_role("heading", name="Inspector", exact=True)).to_be_visible()


def test_a_token_that_is_pasted_into_an_open_tab_unlocks_it(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address.partition("#")[0])
        expect(page.get_by_role("heading", name="This page needs the server's token")).to_be_visible()
        page.evaluate("address => { location.href = address }", f"{address}&/settings/profiles")
        expect(page.get_by_role("heading", name="Profiles", exact=True)).to_be_visible()
        assert "token" not in page.url


def test_light_and_dark_by_the_system_and_by_the_switch(open_page: Open) -> None:
    opened = open_page("inspector")
    page = opened.page
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    opened.button("Colours as the system").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    opened.button("Light colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_every_view_is_reached_by_keyboard(open_page: Open) -> None:
    page = open_page("inspector").page
    page.get_by_role("heading", name="Inspector", exact=True).wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
    assert {"Inspector", "Editor"} <= set(names)
    for name in names:
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    page.get_by_role("link", name="Editor").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Editor", exact=True)).to_be_visible()


def test_the_types_of_the_page_are_those_of_the_api(built: Path) -> None:
    message = "the API has changed: run `python scripts/build_page.py --types`"
    assert build_page.SCHEMA.read_text(encoding="utf-8") == build_page.types(), message


def test_the_units_of_the_page_pass(built: Path) -> None:
    build_page.run("npm", "test")


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (build_page.WEB / "package-lock.json").read_text(encoding="utf-8")
