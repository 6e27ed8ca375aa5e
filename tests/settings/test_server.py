"""The settings of `compact serve`."""

from __future__ import annotations

from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.settings.compaction import OTHERS
from compact.settings.server import ServerSettings, load_server_settings, variable_of


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        (
            "COMPACT_TOKEN",
            "short",
            "COMPACT_TOKEN: a token has 16 to 256 letters, digits or signs of ASCII, and no spaces",
        ),
        ("COMPACT_TOKEN", "x" * 257, "COMPACT_TOKEN: a token has 16 to 256 "),
        ("COMPACT_UPSTREAM_OPENAI", "zzz", "COMPACT_UPSTREAM_OPENAI: must be an http or https address"),
        ("COMPACT_UPSTREAM_NETWORKS", "10.1.0.0/99", "COMPACT_UPSTREAM_NETWORKS.0: "),
        ("COMPACT_MAX_CONNECTIONS", "-1", "COMPACT_MAX_CONNECTIONS: "),
        ("COMPACT_HEAD_BYTES", "10", "COMPACT_HEAD_BYTES: "),
        ("COMPACT_HEAD_SECONDS", "0", "COMPACT_HEAD_SECONDS: "),
        ("COMPACT_BODY_SECONDS", "soon", "COMPACT_BODY_SECONDS: "),
        ("COMPACT_STOP_SECONDS", "-1", "COMPACT_STOP_SECONDS: "),
    ],
)
def test_mistakes_are_told_by_the_name_of_the_variable(variable: str, text: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        load_server_settings({variable: text})
    assert str(caught.value).startswith(told)
    assert "Known settings" not in str(caught.value)


def test_a_good_token_is_taken() -> None:
    assert load_server_settings({"COMPACT_TOKEN": " " + "x" * 16 + " "}).token == "x" * 16


def test_no_variable_of_the_servers_is_taken_for_a_managers() -> None:
    assert {variable_of(name) for name in ServerSettings.model_fields} <= OTHERS


def test_the_page_of_the_server_names_every_variable() -> None:
    page = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
    assert [name for name in map(variable_of, ServerSettings.model_fields) if f"`{name}`" not in page] == []
