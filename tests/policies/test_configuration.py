"""How mistakes in settings are told."""

from __future__ import annotations

from typing import Any

import pytest

from compact.errors import InvalidConfiguration
from compact.policies import CompactConfig, Profiles, configure


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"max_context_tokens": 10}, "max_context_tokens: should be greater than or equal to 1000"),
        ({"policy": 5}, "policy: must be an object with settings"),
        ({"polici": {}}, "polici: is no setting. Known settings: model, max_context_tokens, variant, "),
        ({"storage": {"pth": ""}}, "storage.pth: is no setting. Known settings: adapter, path, bucket, "),
        ({"background": 5, "storage": {"path": 5}}, "storage.path: should be a valid string; background: should be "),
    ],
)
def test_only_an_unknown_name_is_answered_with_the_known_ones(values: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        configure(CompactConfig, {"model": "gpt-4o", **values})
    assert str(caught.value).startswith(told)
    assert ("Known settings" in str(caught.value)) == ("Known settings" in told)


def test_the_known_names_are_those_of_the_place() -> None:
    with pytest.raises(
        InvalidConfiguration, match=r"^profiles\.0\.x: is no setting\. Known settings: name, vendor, model,"
    ):
        configure(Profiles, {"profiles": [{"name": "a", "vendor": "openai", "model": "b", "x": 1}]})
