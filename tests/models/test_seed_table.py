"""The models the specification names answer with the limits it gives them."""

from __future__ import annotations

import pytest

from compact.models import find_model

# name, window, largest output, input that always fits, encoding
TABLE = [
    ("gpt-5", 400_000, 128_000, 272_000, "o200k_base"),
    ("gpt-4o", 128_000, 16_384, 111_616, "o200k_base"),
    ("gpt-4o-mini", 128_000, 16_384, 111_616, "o200k_base"),
    ("gpt-4-turbo", 128_000, 4_096, 123_904, "cl100k_base"),
    ("claude-sonnet-4-5", 200_000, 64_000, 136_000, "o200k_base"),
    # The specification says 4K, which was true of Claude 3; the vendor says 32K (overlay.json).
    ("claude-opus-4-1", 200_000, 32_000, 168_000, "o200k_base"),
    ("claude-haiku-4-5", 200_000, 64_000, 136_000, "o200k_base"),
    ("claude-3-5-sonnet", 200_000, 8_192, 191_808, "o200k_base"),
    ("claude-3-opus", 200_000, 4_096, 195_904, "o200k_base"),
    ("claude-3-haiku", 200_000, 4_096, 195_904, "o200k_base"),
    ("gemini-2.5-pro", 1_048_576, 65_536, 1_048_576, "gemma3"),
    ("gemini-2.5-flash", 1_048_576, 65_536, 1_048_576, "gemma3"),
]


@pytest.mark.parametrize(("name", "window", "output", "fits", "encoding"), TABLE)
def test_the_table(name: str, window: int, output: int, fits: int, encoding: str) -> None:
    model = find_model(name)
    assert (model.context_window, model.max_output, model.max_input) == (window, output, fits)
    assert model.encoding == encoding
    assert model.source == "catalogue"
    assert model.prices is not None


@pytest.mark.parametrize(
    "name", ["gpt-5", "gpt-5-mini", "gpt-5.4", "gpt-4o", "gpt-4o-mini", "gpt-4-turbo", "gpt-4.1", "o3"]
)
def test_azure_is_openai(name: str) -> None:
    openai, azure = find_model(f"openai/{name}"), find_model(f"azure/{name}")
    assert azure.vendor == "azure"
    assert (azure.context_window, azure.max_input, azure.max_output) == (
        openai.context_window,
        openai.max_input,
        openai.max_output,
    )
    assert (azure.encoding, azure.prices) == (openai.encoding, openai.prices)


@pytest.mark.parametrize("name", ["claude-opus-5-5", "claude-sonnet-5-5", "gpt-6.1-sol", "gemini-3.8-flash"])
def test_models_newer_than_the_limits_source_come_from_the_overlay(name: str) -> None:
    model = find_model(name)
    assert model.source == "catalogue"
    assert model.context_window >= 1_000_000
    assert model.max_output is not None
    assert not model.retired
