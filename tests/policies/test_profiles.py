"""Profiles: what is accepted, what is refused and in which words, who is asked first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from compact.errors import InvalidConfiguration
from compact.models import CacheRules, Prices, find_model
from compact.policies import CHEAP, Profile, Profiles, Vendor, configure, default_profile, model_of

GOOD = {"name": "cheap", "vendor": "openai", "model": "gpt-4o-mini"}
KEYS = (
    "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AA",
    "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "ABSKQmVkcm9ja0FQSUtleS0wMTIzNDU2Nzg5",
    "AKIAIOSFODNN7EXAMPLE",
    "gsk_0123456789abcdefghijklmnopqrstuvwxyz",
    "0123456789abcdef0123456789abcdef",
    "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "Bearer abcdefgh",
)


def _refusal(**values: Any) -> str:
    with pytest.raises(InvalidConfiguration) as caught:
        configure(Profiles, {"profiles": [{**GOOD, **values}]})
    return str(caught.value)


def test_a_profile_needs_little() -> None:
    profile = configure(Profile, GOOD)
    assert (profile.temperature, profile.seed, profile.timeout, profile.attempts) == (0, 42, 60, 3)
    assert (profile.use, profile.priority, profile.threshold, profile.key) == ("both", 0, -1, "")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"vendor": "opnai"}, "profiles.0.vendor: should be 'openai', 'azure', 'anthropic', 'bedrock'"),
        ({"model": ""}, "profiles.0.model: should have at least 1 character"),
        ({"name": ""}, "profiles.0.name: should match"),
        ({"threshold": 3}, "profiles.0.threshold: must be from 5 to 100, or -1 for what holds elsewhere"),
        ({"threshold": 101}, "profiles.0.threshold: must be from 5 to 100"),
        ({"vendor": "compatible"}, "profiles.0.url: is needed for compatible, whose address only you know"),
        ({"vendor": "azure"}, "profiles.0.url: is needed for azure"),
        ({"url": "ftp://host"}, "profiles.0.url: must be an http or https address"),
        ({"url": "http://example.com/v1"}, "profiles.0.url: must begin with https"),
        ({"url": "https://me:secret@host/v1"}, "profiles.0.url: must be a plain address"),
        ({"url": "https://host/v1?key=secret"}, "profiles.0.url: must be a plain address"),
        ({"url": "http://169.254.169.254/latest"}, "profiles.0.url: must not be a link-local or reserved address"),
        ({"timeout": 0}, "profiles.0.timeout: should be greater than 0"),
        ({"attempts": 0}, "profiles.0.attempts: should be greater than or equal to 1"),
        ({"concurrency": 1000}, "profiles.0.concurrency: should be less than or equal to 64"),
        ({"temperature": 3}, "profiles.0.temperature: should be less than or equal to 2"),
        ({"api_key": "x"}, "profiles.0.api_key: is no setting"),
        ({"key": "OPENAI_API_KEY"}, "profiles.0.key: must be env:NAME or keyring:SERVICE/USER"),
        ({"key": "env:NOT A NAME"}, "profiles.0.key: must be env:NAME"),
        ({"key": "keyring:service"}, "profiles.0.key: must be env:NAME"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(values: dict[str, Any], told: str) -> None:
    text = _refusal(**values)
    assert told in text
    assert "secret" not in text


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", ["{}", "env:{}", "keyring:service/{}", "keyring:{}/me"])
def test_a_key_in_place_of_a_reference_is_refused_and_not_repeated(key: str, form: str) -> None:
    text = _refusal(key=form.format(key))
    assert text.startswith("profiles.0.key: ")
    assert key not in text
    assert key[6:] not in text


@pytest.mark.parametrize("field", ["name", "model", "region", "project", "api_version"])
@pytest.mark.parametrize("key", KEYS[:4])
def test_a_key_is_not_taken_for_anything_else(key: str, field: str) -> None:
    text = _refusal(**{field: key})
    assert text.startswith(f"profiles.0.{field}: ")
    assert key not in text


@pytest.mark.parametrize("key", KEYS)
def test_the_error_of_the_class_itself_does_not_repeat_it_either(key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Profile.model_validate({**GOOD, "key": key})
    assert key not in f"{caught.value}{caught.value!r}"


@given(st.text(max_size=200))
def test_no_text_is_a_reference_but_a_reference(text: str) -> None:
    try:
        profile = Profile.model_validate({**GOOD, "key": text})
    except ValidationError:
        return
    assert profile.key == "" or profile.key.startswith(("env:", "keyring:"))


@pytest.mark.parametrize(
    "model",
    [
        "accounts/fireworks/models/llama-v3p1-405b-instruct",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
        "ft:gpt-4o-mini-2024-07-18:org:custom:AbCdEfGh",
        "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
        "Qwen2.5-Coder-32B-Instruct-GPTQ-Int4",
    ],
)
def test_long_names_of_models_are_no_keys(model: str) -> None:
    assert configure(Profile, {**GOOD, "model": model}).model == model


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1",
        "http://192.168.1.20:1234/v1",
        "http://ollama:11434/v1",
        "http://gateway.internal/v1",
        "https://llm.example.com/v1",
    ],
)
def test_near_addresses_need_no_encryption(url: str) -> None:
    assert configure(Profile, {**GOOD, "vendor": "compatible", "url": url}).url == url


def test_names_are_unique() -> None:
    with pytest.raises(InvalidConfiguration, match="more than one is called cheap"):
        configure(Profiles, {"profiles": [GOOD, GOOD]})


def _profiles() -> Profiles:
    values = [
        {**GOOD, "name": "main", "use": "conversation"},
        {**GOOD, "name": "late", "priority": 5},
        {**GOOD, "name": "cheap", "use": "condensation", "priority": 1},
        {**GOOD, "name": "other main", "use": "conversation", "priority": -1},
        {**GOOD, "name": "tie", "priority": 1},
    ]
    return configure(Profiles, {"profiles": values})


def test_condensation_asks_by_priority_and_the_conversations_models_last() -> None:
    assert [found.name for found in _profiles().for_condensation()] == ["cheap", "tie", "late", "other main", "main"]
    assert [found.name for found in _profiles().for_conversation()] == ["other main", "main", "tie", "late"]
    assert Profiles().for_condensation() == ()


@pytest.mark.parametrize("vendor", list(CHEAP))
def test_cheap_models_exist_are_current_and_have_a_price(vendor: Vendor) -> None:
    profile = default_profile(vendor, url="https://mine.example.com" if vendor == "azure" else "")
    model = find_model(profile.catalogue_name)
    assert profile.use == "condensation"
    assert model.source == "catalogue"
    assert not model.retired
    assert model.prices is not None
    assert model.prices.input is not None
    assert model.prices.input <= 1


def test_vendors_without_an_address_or_a_model_have_no_default() -> None:
    with pytest.raises(InvalidConfiguration, match=r"^profile\.url: is needed for azure"):
        default_profile("azure")
    with pytest.raises(InvalidConfiguration, match=r"^profile\.model: "):
        default_profile("compatible", url="http://localhost:8080/v1")
    assert default_profile("compatible", url="http://localhost:8080/v1", model="local").catalogue_name == "local"


def asked(**values: object) -> Profile:
    return Profile.model_validate({"name": "p", "vendor": "openai", "model": "gpt-4o-mini", **values})


def test_a_profile_without_words_of_its_own_is_as_the_catalogue_says() -> None:
    assert model_of(asked()) == find_model("openai:gpt-4o-mini")


def test_prices_window_and_cache_of_a_profile_go_before_the_catalogue() -> None:
    model = model_of(
        asked(input_price=0.1, output_price=0.4, cache_read_price=0.01, context_window=8_000, caches=False)
    )
    assert model.prices == Prices.per_million("0.1", "0.4", None, "0.01")
    assert (model.context_window, model.max_input, model.source) == (8_000, 4_000, "profile")
    assert model.cache is None


def test_a_name_at_a_compatible_address_tells_neither_a_price_nor_a_cache() -> None:
    place = {"vendor": "compatible", "url": "http://localhost:9/v1"}
    strange = model_of(asked(**place))
    assert (strange.prices, strange.cache) == (None, None)
    assert strange.context_window == find_model("gpt-4o-mini").context_window
    own = model_of(asked(**place, model="mine", input_price=0, output_price=0, context_window=8_192, caches=True))
    assert own.prices == Prices.per_million(0, 0)
    assert (own.max_input, own.cache) == (8_192, CacheRules(1_024))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"input_price": 1}, "output_price: goes together with input_price"),
        ({"output_price": 1}, "output_price: goes together with input_price"),
        ({"cache_read_price": 1}, "cache_read_price: needs input_price and output_price"),
        ({"cache_write_price": 1}, "cache_write_price: needs input_price and output_price"),
        ({"input_price": -1, "output_price": 1}, "input_price: should be greater than or equal to 0"),
        ({"input_price": float("nan"), "output_price": 1}, "input_price: "),
        ({"context_window": 10}, "context_window: should be greater than or equal to 1000"),
    ],
)
def test_a_price_that_cannot_be_is_refused_by_its_name(values: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=told):
        configure(Profile, {"name": "p", "vendor": "openai", "model": "gpt-4o-mini", **values})
