"""Keys are found by reference, used, and never shown."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import pprint
import sys
from collections.abc import Iterator
from typing import Any, cast

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from compact.errors import InvalidConfiguration
from compact.policies import Profile, configure
from compact.settings.keys import Key, resolve_key, reveal_key

SECRET = "sk-proj-ThisIsASecretThatNobodyMaySee0123456789"
VARIABLES = (
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def _profile(vendor: str = "openai", **more: Any) -> Profile:
    values = {"name": "mine", "vendor": vendor, "model": "m", "url": "https://host.example.com/v1", **more}
    return configure(Profile, values)


@pytest.mark.parametrize(
    ("vendor", "name"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("azure", "AZURE_OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("bedrock", "AWS_BEARER_TOKEN_BEDROCK"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
    ],
)
def test_the_usual_variable_is_used(vendor: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, f" {SECRET}\n")
    key = resolve_key(_profile(vendor))
    assert key.reveal() == reveal_key(_profile(vendor)) == SECRET
    assert str(key) == f"env:{name} (set)"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(InvalidConfiguration, match=r"^profile mine: OPENAI_API_KEY is not set\. Set it to the key"):
        resolve_key(_profile())
    with pytest.raises(InvalidConfiguration, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        resolve_key(_profile("gemini"))
    with pytest.raises(InvalidConfiguration, match="MY_KEY is not set"):
        resolve_key(_profile("compatible", key="env:MY_KEY"))


def test_an_address_of_ones_own_is_never_sent_a_vendors_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, SECRET)
    key = resolve_key(_profile("compatible"))
    assert key.reveal() == ""
    assert not key
    assert str(key) == "no key"
    assert resolve_key(_profile("vertex")).reveal() == ""


@pytest.mark.parametrize("value", ["two words", "line\nbreak", "schlüssel"])
def test_what_no_header_can_carry_is_refused_and_not_repeated(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(InvalidConfiguration, match="env:MY_KEY holds characters that no key has") as caught:
        resolve_key(_profile(key="env:MY_KEY"))
    assert value not in str(caught.value)


@dataclasses.dataclass
class Holder:
    key: Key


def test_a_key_is_shown_nowhere() -> None:
    key = Key("env:MY_KEY (set)", SECRET)
    copies = [copy.copy(key), copy.deepcopy(key), dataclasses.asdict(Holder(key))["key"]]
    shown = [repr(key), str(key), f"{key}", f"{key:>40}", "%s" % key, pprint.pformat(Holder(key)), repr([key])]  # noqa: UP031
    shown += [repr(getattr(key, name)) for name in dir(key)]
    assert not [text for text in shown if SECRET in text]
    assert [copied.reveal() for copied in copies] == [SECRET] * 3
    assert f"{key}" == "env:MY_KEY (set)"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="a key is not stored"):
            pickle.dumps(key, protocol)
    with pytest.raises(TypeError):
        json.dumps(key)
    with pytest.raises(TypeError):
        vars(key)


class Ring(KeyringBackend):
    """A keyring with one key, which can be locked."""

    priority = 1
    locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked(SECRET)
        return SECRET if (service, username) == ("compact", "me") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, made = keyring.get_keyring(), cast("Any", Ring)()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_the_keyring_is_asked_by_service_and_user(ring: Ring) -> None:
    key = resolve_key(_profile(key="keyring:compact/me"))
    assert key.reveal() == SECRET
    assert str(key) == "keyring:compact/me (set)"
    with pytest.raises(InvalidConfiguration, match=r"compact/you is not in the keyring\. Store it: keyring set"):
        resolve_key(_profile(key="keyring:compact/you"))


def test_a_locked_keyring_says_so_and_no_more(ring: Ring) -> None:
    ring.locked = True
    with pytest.raises(InvalidConfiguration, match=r"cannot be read \(KeyringLocked\)") as caught:
        resolve_key(_profile(key="keyring:compact/me"))
    assert SECRET not in str(caught.value)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(InvalidConfiguration, match=r"pip install 'compact-context\[keyring\]'"):
        resolve_key(_profile(key="keyring:compact/me"))
