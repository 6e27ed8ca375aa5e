"""What the tests of access share."""

from __future__ import annotations

import warnings
from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def sdks() -> None:
    """Loads the SDKs once, outside of any deadline; some warn of their own source while it is compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for vendor in ("openai", "openrouter", "anthropic", "google", "bedrock"):
            import_module(f"pydantic_ai.models.{vendor}")
            import_module(f"pydantic_ai.providers.{vendor}")
