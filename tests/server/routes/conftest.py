"""What tests of the API's routes share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from compact.settings.profiles import profiles_path
from compact.testing.vendors import FakeVendors
from tests.server.routes.conversing import VARIABLES, Api, opened


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with nobody to ask; the tests of a file share it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_HOME", str(home))
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        with opened(home) as found:
            yield found


@pytest.fixture
def fresh(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server of one's own, with nothing in it."""
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    with opened(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def sdks() -> None:
    """Loads the SDKs once; some warn of their own source while it is compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for vendor in ("openai", "anthropic"):
            import_module(f"pydantic_ai.models.{vendor}")
            import_module(f"pydantic_ai.providers.{vendor}")


@pytest.fixture
def vendor(sdks: None) -> Iterator[FakeVendors]:
    """Vendors to talk to without a network; afterwards nobody is configured."""
    with FakeVendors() as running:
        yield running
    profiles_path().unlink(missing_ok=True)
