from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.providers.native import NativeProvider
from compact.providers.registry import BUILT_IN, COMPARISON, DEFAULT, comparison, provider, providers

GOOD = """
from compact.policies import Configuration
from compact.providers import Capabilities

class Mine:
    id = "mine"
    name = "Mine"
    description = "Does nothing."
    version = "1"
    capabilities = Capabilities()
    settings = Configuration

    def condense(self, task, settings):
        yield from ()

instance = Mine()
"""
POINTS = """
[compact.providers]
mine = offered:Mine
made = offered:instance
gone = nowhere:Provider
bursting = bursting:Provider
empty = offered:__name__
native = offered:Mine
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that offers one good provider and five bad ones."""
    (tmp_path / "offered.py").write_text(GOOD)
    (tmp_path / "bursting.py").write_text("raise RuntimeError('no licence')")
    info = tmp_path / "plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("offered", "bursting"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_every_built_in_provider_is_there_and_called_by_its_id() -> None:
    ids = ["auto", "native", "lossless", "truncation", "smart", "layers"]
    assert [provider(id).id for id in BUILT_IN] == ids
    assert [listed.id for listed in providers()][:6] == ids
    assert [listed.error for listed in providers() if listed.id in BUILT_IN] == [""] * 6
    assert isinstance(provider(DEFAULT), NativeProvider)


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidConfiguration, match=r"provider: 'magic' is unknown.*lossless, native, smart, truncation"
    ):
        provider("magic")


@pytest.mark.usefixtures("plugins")
def test_others_may_offer_providers() -> None:
    found = provider("mine")
    assert (found.id, type(found).__module__) == ("mine", "offered")


@pytest.mark.usefixtures("plugins")
def test_a_broken_plugin_is_listed_with_its_error_and_harms_nobody() -> None:
    listed = {(each.origin, each.id): each for each in providers()}
    assert listed["plugins", "mine"].provider is not None
    errors = {id: each.error for (origin, id), each in listed.items() if origin == "plugins" and each.error}
    assert errors == {
        "bursting": "RuntimeError: no licence",
        "empty": "TypeError: it has no id, name, description, version, capabilities, settings, condense",
        "gone": "ModuleNotFoundError: No module named 'nowhere'",
        "made": "ValueError: its id is 'mine', and its entry point is called 'made'",
        "native": "another provider is called 'native' already",
    }
    assert isinstance(provider("native"), NativeProvider)
    with pytest.raises(
        InvalidConfiguration, match=r"'bursting' cannot be loaded: RuntimeError: no licence\. .*plugins"
    ):
        provider("bursting")


@pytest.mark.usefixtures("plugins")
def test_the_known_ones_include_those_of_others() -> None:
    with pytest.raises(InvalidConfiguration, match="mine"):
        provider("magic")


def test_no_provider_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, compact.providers.registry; print(*(n for n in sys.modules if n.startswith('compact.providers.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = done.stdout.split()
    assert "compact.providers.registry" in loaded
    assert [name for name in loaded if name.split(".")[:3] in [["compact", "providers", id] for id in BUILT_IN]] == []


def test_the_comparison_has_a_column_for_each_provider_and_tells_what_they_can_do() -> None:
    table = {row["feature"]: row for row in comparison()}
    assert len(table) == 11
    assert all(set(row) == {"feature", *COMPARISON} for row in table.values())
    expected = {
        "multi-pass": ["no", "no", "no", "no", "yes", "no"],
        "batch mode": ["yes", "yes", "no", "no", "yes", "yes"],
        "individual mode": ["yes", "no", "no", "yes", "yes", "no"],
        "lossless phase": ["no", "no", "yes", "no", "optional", "no"],
    }
    assert {name: [table[name][id] for id in COMPARISON] for name in expected} == expected
    assert provider("lossless").capabilities.lossless
