"""The settings, driven as people would."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from compact.policies import Profile, Profiles
from compact.settings.profiles import load_profiles, save_profiles
from compact.testing.vendors import FakeVendors
from tests.page.driving import Opened
from tests.page.talking import Server, orchard

if TYPE_CHECKING:
    import pytest

Open = Callable[[str], Opened]


def test_values_are_saved_reset_and_say_where_they_come_from(open_page: Open, server: Server) -> None:
    opened = open_page("settings")
    page = opened.page
    field = page.locator("#field-retention_tokens")
    expect(field).to_contain_text("the default")
    opened.photograph("settings-general")
    opened.hold_to_axe()
    kept = field.get_by_role("textbox", name="Retention tokens")
    kept.fill("2500")
    kept.press("Enter")
    expect(field).to_contain_text("not saved")
    opened.button("Save", exact=True).click()
    expect(field).to_contain_text("set for everything")
    assert server.ask("GET", "/api/settings")["own"] == {"retention_tokens": 2500}
    field.get_by_role("button", name="Reset retention_tokens").click()
    expect(field).to_contain_text("the default")
    assert server.ask("GET", "/api/settings")["own"] == {}


def test_what_the_server_refuses_stands_at_its_field(open_page: Open) -> None:
    opened = open_page("settings")
    field = opened.page.locator("#field-strategy")
    field.get_by_role("combobox", name="Strategy").fill("nonsense")
    opened.button("Save", exact=True).click()
    expect(field.locator(".fault")).to_contain_text("nonsense")
    opened.photograph("settings-refused")
    opened.complaints[:] = [each for each in opened.complaints if "400" not in each and "422" not in each]


def test_settings_are_found_by_their_words(open_page: Open) -> None:
    opened = open_page("settings")
    page = opened.page
    page.get_by_role("searchbox", name="Search settings").fill("summary failure")
    opened.button("On summary failure").first.click()
    field = page.locator("#field-on_summary_failure")
    expect(field).to_be_in_viewport()
    expect(field).to_have_attribute("data-found", "")


def test_providers_are_compared_and_their_settings_kept_as_a_preset(open_page: Open, server: Server) -> None:
    opened = open_page("settings/providers")
    page = opened.page
    table = page.get_by_role("table", name="The providers side by side")
    expect(table.get_by_role("row", name="token reduction")).to_contain_text("11% (0-65%)")
    table.get_by_role("radio", name="Layers").check()
    expect(page.get_by_role("heading", name="Settings of Layers")).to_be_visible()
    roles = page.get_by_role("textbox", name="Roles kept")
    roles.fill("system\nuser")
    turns = page.get_by_role("textbox", name="Recent turns")
    turns.fill("3")
    turns.press("Enter")
    page.get_by_role("textbox", name="Keep these settings as a preset").fill("my-layers")
    opened.photograph("settings-providers")
    opened.hold_to_axe()
    opened.button("Save preset").click()
    expect(page.get_by_text("The Inspector and the editor offer it now")).to_be_visible()
    (kept,) = [each for each in server.ask("GET", "/api/presets") if each["name"] == "my-layers"]
    assert (kept["provider"], kept["settings"]["recent_turns"]) == ("layers", 3)
    assert kept["settings"]["roles_kept"] == ["system", "user"]


def test_advanced_settings_of_a_provider_unfold(open_page: Open, server: Server) -> None:
    opened = open_page("settings/providers")
    page = opened.page
    page.get_by_role("radio", name="Truncation").check()
    expect(page.get_by_role("textbox", name="Preserve recent")).to_be_visible()
    reduction = page.get_by_role("textbox", name="Target reduction")
    expect(reduction).to_be_hidden()
    page.get_by_text("Advanced: 11 more settings").click()
    reduction.fill("75")
    reduction.press("Enter")
    page.get_by_role("textbox", name="Keep these settings as a preset").fill("three-quarters")
    opened.button("Save preset").click()
    expect(page.get_by_text("The Inspector and the editor offer it now")).to_be_visible()
    (kept,) = [each for each in server.ask("GET", "/api/presets") if each["name"] == "three-quarters"]
    assert kept["settings"]["target_reduction"] == 0.75


def test_the_default_recipe_is_chosen_and_outlasts_a_reload(open_page: Open, server: Server) -> None:
    opened = open_page("settings/providers")
    page = opened.page
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Default recipe"))
    expect(panel).to_contain_text("auto, as Compact comes")
    panel.get_by_role("button", name="Compact with").click()
    page.get_by_role("option", name="layers", exact=True).click()
    expect(panel).to_contain_text("layers, chosen here or by a command")
    opened.photograph("settings-recipe")
    opened.hold_to_axe()
    page.reload()
    expect(panel).to_contain_text("layers, chosen here or by a command")
    page.get_by_role("link", name="Inspector").click()
    opened.button("Open the demo session").click()
    expect(page.get_by_role("radio", name="layers default").first).to_be_checked()
    expect(opened.button("Compact with layers")).to_be_enabled()
    server.ask("PUT", "/api/recipes/default", {"recipe": "auto"})


def test_models_are_added_edited_reset_and_deleted(open_page: Open, server: Server) -> None:
    server.transcript(orchard(1), "one.json")
    opened = open_page("settings/models")
    page = opened.page
    opened.button("Add a model").click()
    expect(page.get_by_role("textbox", name="Maximum input, tokens")).to_have_value("128,000")
    page.get_by_role("textbox", name="Vendor").fill("acme")
    page.get_by_role("textbox", name="Model", exact=True).fill("rocket-1")
    opened.photograph("settings-model")
    opened.hold_to_axe()
    opened.button("Save", exact=True).click()
    row = page.get_by_role("row", name="rocket-1")
    expect(row).to_contain_text("128,000")
    known = page.get_by_role("row", name="gpt-4o")
    before = known.inner_text()
    opened.button("Edit openai:gpt-4o").click()
    share = page.get_by_role("textbox", name="Threshold of its own")
    share.fill("50%")
    share.press("Tab")
    opened.button("Save", exact=True).click()
    expect(known).to_contain_text("50%")
    expect(known).to_contain_text("set by you")
    opened.photograph("settings-models")
    opened.hold_to_axe()
    page.get_by_role("link", name="Thresholds").click()
    threshold = page.get_by_role("row", name="gpt-4o")
    expect(threshold).to_contain_text("its own")
    opened.photograph("settings-thresholds")
    opened.hold_to_axe()
    page.get_by_role("link", name="Models").click()
    opened.button("Reset openai:gpt-4o").click()
    expect(known).to_have_text(before.replace("\t", "").replace("\n", ""), use_inner_text=False)
    opened.button("Delete acme:rocket-1").click()
    expect(row).to_have_count(0)


def test_one_threshold_is_saved_where_it_is_shown_and_shown_everywhere(open_page: Open, server: Server) -> None:
    server.transcript(orchard(1), "threshold.json")
    opened = open_page("settings/thresholds")
    page = opened.page
    model, others = page.get_by_role("row", name="openai:gpt-4o"), page.get_by_role("row", name="Any other model")
    share = page.get_by_role("textbox", name="Threshold for all")
    expect(share).to_have_value("")
    expect(others).to_contain_text("95%")
    expect(others).to_contain_text("85%")
    opened.hold_to_axe()
    share.fill("40")
    opened.button("Save", exact=True).click()
    expect(page.get_by_text("Saved. It holds at once.")).to_be_visible()
    for row in (model, others):
        expect(row.get_by_role("img", name="40%")).to_have_count(2)
    opened.photograph("settings-threshold")
    page.reload()
    expect(share).to_have_value("40%")
    page.get_by_role("link", name="Compaction").click()
    same = page.get_by_role("textbox", name="Threshold", exact=True)
    expect(same).to_have_value("40%")
    same.fill("60%")
    same.press("Tab")
    opened.button("Save", exact=True).click()
    expect(page.get_by_text("Saved 1 setting")).to_be_visible()
    page.get_by_role("link", name="Thresholds").click()
    for row in (model, others):
        expect(row.get_by_role("img", name="60%")).to_have_count(2)
    share.fill("")
    opened.button("Save", exact=True).click()
    expect(others.get_by_role("img", name="95%")).to_have_count(1)
    assert server.ask("GET", "/api/settings")["own"] == {}


def test_vendors_are_asked_how_much_their_models_read(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-test")
    opened = open_page("settings/models")
    page = opened.page
    opened.button("Ask the vendors").click()
    expect(page.get_by_text("No profile is configured, so there is no vendor to ask.")).to_be_visible()
    with FakeVendors(window=150_000) as vendor:
        claude = {"name": "talk", "vendor": "anthropic", "model": "claude-haiku-4-5", "key": "env:TEST_KEY"}
        save_profiles(Profiles(profiles=(Profile.model_validate({**claude, "url": vendor.url}),)))
        opened.button("Ask the vendors").click()
        expect(page.get_by_text("talk: the limits of")).to_be_visible()
    save_profiles(Profiles())
    row = page.get_by_role("row", name="claude-haiku-4-5").first
    expect(row).to_contain_text("86,000")  # not what the catalogue says
    expect(row).to_contain_text("vendor")
    expect(row).not_to_contain_text("set by you")
    opened.hold_to_axe()


def test_profiles_are_added_tested_edited_and_deleted(open_page: Open, server: Server) -> None:
    with FakeVendors() as vendor:
        vendor.reply("Yes.")
        opened = open_page("settings/profiles")
        page = opened.page
        expect(page.get_by_text("No profile is configured")).to_be_visible()
        opened.button("Add a profile").click()
        page.get_by_role("textbox", name="Name", exact=True).fill("mine")
        opened.button("Served by").click()
        page.get_by_role("option", name="Ollama").click()
        address = page.get_by_role("textbox", name="Address")
        expect(address).to_have_value("http://localhost:11434/v1")
        address.fill(f"{vendor.url}/v1")
        page.get_by_role("textbox", name="Model", exact=True).fill("llama3.1")
        key = page.get_by_role("textbox", name="Where its key is")
        key.fill("sk-proj-4f9d8e7c6b5a4938271605f4e3d2c1b0")
        opened.button("Save", exact=True).click()
        expect(page.locator(".fault")).to_contain_text("holds what looks like a key itself")
        opened.photograph("settings-profile")
        opened.hold_to_axe()
        key.fill("")
        opened.button("Save", exact=True).click()
        row = page.get_by_role("row", name="mine llama3.1 compatible")
        expect(row).to_contain_text("ready")
        assert not vendor.requests
        opened.button("Test mine").click()
        expect(row).to_contain_text("answered in")
        assert len(vendor.requests) == 1
        page.reload()
        expect(row).to_contain_text("ready")
        expect(row).not_to_contain_text("answered")
        opened.button("Edit mine").click()
        page.get_by_text("Prices, window, threshold and prompt").click()
        for label, value in (("Input, dollars", "0.1"), ("Answers, dollars", "0.4"), ("Context window", "8192")):
            field = page.get_by_role("textbox", name=label)
            field.fill(value)
            field.press("Tab")
        opened.photograph("settings-profile-prices")
        opened.hold_to_axe()
        opened.button("Save", exact=True).click()
        expect(row).to_contain_text("0.1 / 0.4")
        expect(row).to_contain_text("8,192")
        (kept,) = load_profiles().profiles
        assert (kept.vendor, kept.model, kept.input_price, kept.context_window) == (
            "compatible",
            "llama3.1",
            0.1,
            8_192,
        )
        opened.button("Delete mine").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Delete mine").click()
        expect(row).to_have_count(0)
        assert load_profiles().profiles == ()
    opened.complaints[:] = [each for each in opened.complaints if "400" not in each]


def test_ready_is_said_only_where_the_credentials_were_looked_at(open_page: Open) -> None:
    page = open_page("settings/profiles").page
    expect(page.get_by_role("row", name="vertex usual model")).to_contain_text("not tested")
    expect(page.get_by_role("row", name="openrouter usual model")).to_contain_text("not ready")


def test_profiles_tell_their_standing_and_what_each_way_costs(open_page: Open) -> None:
    profile = {"name": "mine", "vendor": "compatible", "model": "gpt-4o", "url": "http://127.0.0.1:9/v1"}
    save_profiles(Profiles(profiles=(Profile.model_validate(profile),)))
    opened = open_page("settings/profiles")
    page = opened.page
    expect(page.get_by_role("row", name="mine gpt-4o compatible")).to_contain_text("ready")
    expect(page.get_by_role("columnheader", name="Pays after")).to_be_visible()
    assert page.get_by_role("row").count() > 5
    opened.photograph("settings-profiles")
    opened.hold_to_axe()


def test_prompts_show_the_exact_request(open_page: Open, server: Server) -> None:
    opened = open_page("settings/prompts")
    page = opened.page
    instructions = page.get_by_role("region", name="Instructions")
    expect(instructions).not_to_be_empty()
    usual = instructions.inner_text()
    page.get_by_role("textbox", name="Words of your own").fill("Write down every decision, and nothing else.")
    expect(instructions).to_contain_text("Write down every decision, and nothing else.")
    assert instructions.inner_text() != usual
    page.get_by_role("textbox", name="Keep them as").fill("decisions")
    opened.photograph("settings-prompts")
    opened.hold_to_axe()
    opened.button("Save prompt").click()
    expect(opened.button("decisions", exact=True)).to_be_visible()
    assert server.ask("GET", "/api/prompts/decisions")["text"].startswith("Write down every decision")


def test_redaction_is_tried_with_what_it_finds_highlighted(open_page: Open) -> None:
    opened = open_page("settings/redaction")
    page = opened.page
    text = page.get_by_role("textbox", name="Text")
    text.fill("\N{PEAR} key sk-proj-4f9d8e7c6b5a4938271605f4e3d2c1b0 and ORCHARD-77")
    found = page.get_by_role("region", name="Found")
    expect(found.locator("mark")).to_contain_text("sk-proj-4f9d8e7c6b5a4938271605f4e3d2c1b0")
    page.get_by_role("textbox", name="Patterns of your own").fill(r"ORCHARD-\d+")
    expect(found.locator("mark", has_text="ORCHARD-77")).to_be_visible()
    expect(page.get_by_role("region", name="Redacted")).not_to_contain_text("ORCHARD-77")
    opened.photograph("settings-redaction")
    opened.hold_to_axe()


def test_the_configuration_says_who_set_each_value(open_page: Open) -> None:
    opened = open_page("settings/config")
    expect(opened.page.get_by_role("columnheader", name="Environment")).to_be_visible()
    assert opened.page.get_by_role("row").count() > 10
    opened.photograph("settings-config")
    opened.hold_to_axe()
