"""Profiles over the API: made, changed, tested and removed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compact.settings.profiles import load_profiles, profiles_path
from compact.testing.vendors import FakeVendors, Fault
from tests.server.routes.conversing import SECRET, Api

GOOD = {"name": "cheap", "vendor": "openai", "model": "gpt-4o-mini", "key": "env:COMPACT_KEY_TEST"}


@pytest.fixture(autouse=True)
def nobody(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COMPACT_KEY_TEST", SECRET)
    yield
    profiles_path().unlink(missing_ok=True)


def patch(api: Api, name: str, values: object) -> dict[str, object]:
    answer = api.ask("PATCH", f"/profiles/{name}", values)
    assert answer.is_success, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_profile_is_made_changed_and_removed(api: Api) -> None:
    made = api.ask("POST", "/profiles", GOOD)
    assert made.status_code == 201
    view = made.json()
    assert (view["name"], view["source"], view["credentials"]) == ("cheap", "configured", "found")
    assert view["settings"]["key"] == "env:COMPACT_KEY_TEST"
    assert SECRET not in made.text
    assert api.get("/profiles")[0] == view
    changed = patch(api, "cheap", {"threshold": 70, "input_price": 0.1, "output_price": 0.4, "context_window": 9_000})
    assert (changed["threshold"], changed["input_price"], changed["context_window"]) == (70, "0.1", 9_000)
    assert changed["model"] == "gpt-4o-mini"
    assert patch(api, "cheap", {"input_price": None, "output_price": None})["input_price"] == view["input_price"]
    assert patch(api, "cheap", {"name": "a/b c"})["name"] == "a/b c"
    api.delete("/profiles/a/b c")
    assert load_profiles().profiles == ()


@pytest.mark.parametrize(
    ("values", "field", "told"),
    [
        (GOOD, "name", "there is a profile 'cheap' already"),
        (GOOD | {"name": "x", "vendor": "acme"}, "vendor", "should be 'openai'"),
        (GOOD | {"name": "x", "key": SECRET}, "key", "holds what looks like a key itself"),
        (
            GOOD | {"name": "x", "url": "http://169.254.169.254/v1"},
            "url",
            "must not be a link-local or reserved address",
        ),
        (GOOD | {"name": "x", "url": "http://example.com/v1"}, "url", "must begin with https"),
        (GOOD | {"name": "x", "prompt": "\ud800"}, "prompt", "unicode"),
        (GOOD | {"name": "x", "speed": 1}, "speed", "is no setting"),
        (GOOD | {"name": "x", "vendor": "vertex", "key": "", "url": "https://example.com"}, "key", "may not go to"),
        (GOOD | {"name": "x", "key": "env:AWS_SECRET_ACCESS_KEY"}, "key", "may not go to openai"),
        (GOOD | {"name": "x", "key": "", "url": "https://example.com/v1"}, "key", "may not go to example.com"),
        (
            GOOD | {"name": "x", "key": "keyring:mail/me", "url": "https://example.com"},
            "key",
            "may not go to example.com",
        ),
        (
            {
                "name": "x",
                "vendor": "compatible",
                "model": "m",
                "url": "https://example.com",
                "key": "env:OPENAI_API_KEY",
            },
            "key",
            "OPENAI_API_KEY may not go to example.com",
        ),
        ({"name": "x"}, "vendor", "is needed"),
        (["x"], "", "dictionary"),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(api: Api, values: object, field: str, told: str) -> None:
    api.post("/profiles", GOOD)
    before = profiles_path().read_bytes()
    error = api.refused(400, "POST", "/profiles", values)
    assert error["field"] == field
    assert told in error["message"]
    assert SECRET not in str(error)
    assert profiles_path().read_bytes() == before


def test_a_key_goes_to_no_other_address_by_a_change_either(api: Api) -> None:
    keyless = {"name": "own", "vendor": "openai", "model": "gpt-4o-mini"}
    assert api.ask("POST", "/profiles", keyless).status_code == 201
    assert patch(api, "own", {"threshold": 60})["threshold"] == 60
    refused = api.ask("PATCH", "/profiles/own", {"url": "https://example.com/v1"})
    assert refused.status_code == 400
    assert "OPENAI_API_KEY may not go to example.com" in refused.text
    assert load_profiles().profiles[0].url == ""
    compatible = {"vendor": "compatible", "url": "https://example.com/v1", "key": ""}
    assert patch(api, "own", compatible)["key"] == "no key"
    azure = {"vendor": "azure", "url": "https://mine.openai.azure.com", "key": ""}
    assert patch(api, "own", azure)["vendor"] == "azure"


def test_what_is_not_there_is_not_found(api: Api) -> None:
    api.refused(404, "PATCH", "/profiles/nobody", {"priority": 1})
    api.refused(404, "DELETE", "/profiles/nobody")
    api.refused(404, "DELETE", "/profiles/openai")
    api.refused(404, "POST", "/profiles/nobody/test")


def test_a_test_asks_one_small_question(api: Api, vendor: FakeVendors) -> None:
    api.post("/profiles", GOOD | {"url": f"{vendor.url}/v1", "attempts": 1})
    assert not vendor.requests
    vendor.reply("Yes.")
    answer = api.ask("POST", "/profiles/cheap/test")
    found = answer.json()
    assert (found["answered"], found["reason"]) == (True, None)
    assert float(found["cost"]) > 0
    assert found["seconds"] > 0
    assert len(vendor.requests) == 1
    assert SECRET not in answer.text
    vendor.fail(Fault("server_error"))
    failed = api.post("/profiles/cheap/test")
    assert not failed["answered"]
    assert failed["reason"]


def test_a_profile_without_its_key_is_not_asked(api: Api, vendor: FakeVendors) -> None:
    made = api.post("/profiles", GOOD | {"url": f"{vendor.url}/v1", "key": "env:COMPACT_KEY_NOT_SET"})
    assert (made["ready"], made["credentials"]) == (False, "missing")
    found = api.post("/profiles/cheap/test")
    assert (found["answered"], found["seconds"]) == (False, None)
    assert "NOT_SET is not set" in found["reason"]
    assert not vendor.requests


def test_credentials_that_only_a_vendors_library_finds_are_not_looked_at(api: Api) -> None:
    vertex = api.post("/profiles", {"name": "v", "vendor": "vertex", "model": "gemini-2.5-flash"})
    assert vertex["credentials"] == "not looked at"
    local = {"name": "l", "vendor": "compatible", "model": "llama3.1", "url": "http://localhost:11434/v1"}
    assert api.post("/profiles", local)["credentials"] == "none needed"


def test_without_the_token_nothing_is_changed_or_asked(api: Api) -> None:
    api.post("/profiles", GOOD)
    before = profiles_path().read_bytes()
    for method, path in (
        ("POST", "/profiles"),
        ("PATCH", "/profiles/cheap"),
        ("DELETE", "/profiles/cheap"),
        ("POST", "/profiles/cheap/test"),
    ):
        answer = api.client.request(method, f"/api{path}", json={"priority": 1}, headers={"authorization": "Bearer x"})
        assert answer.status_code == 401
    assert profiles_path().read_bytes() == before
