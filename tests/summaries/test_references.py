"""Ids and reference numbers, as people are given them."""

from __future__ import annotations

import pytest

from compact.summaries.offline.vocabulary import references_in


def test_what_tool_output_and_prose_are_full_of_is_no_reference() -> None:
    said = "On 2024-05-01 at 10:30 UTF-8 and SHA-256: 300000 rows, $123456, 1,234,567 and v1.2.34567, src/AB12345, #1."
    assert references_in(said) == ()


@pytest.mark.parametrize(
    "code",
    ["HOTEL-83721", "#W2378156", "XK4T9Q", "418223", "OPS-2214", "AB-12-CD34", "123e4567-e89b-12d3-a456-426614174000"],
)
def test_references_are_found_as_people_are_given_them(code: str) -> None:
    assert references_in(f"It is done; your number is {code}. Anything else?") == (code,)
