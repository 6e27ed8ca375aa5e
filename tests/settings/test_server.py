"""The settings of `compact serve`."""

from __future__ import annotations

import pytest

from compact.errors import InvalidConfiguration
from compact.settings.server import load_server_settings


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
    ],
)
def test_mistakes_are_told_by_the_name_of_the_variable(variable: str, text: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        load_server_settings({variable: text})
    assert str(caught.value).startswith(told)
    assert "Known settings" not in str(caught.value)


def test_a_good_token_is_taken() -> None:
    assert load_server_settings({"COMPACT_TOKEN": " " + "x" * 16 + " "}).token == "x" * 16
