"""A session's id can always be the name of a folder, and of one folder only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidInput
from compact.policies.session_ids import check_session_id


@pytest.mark.parametrize("session", ["a", "0", "user-42_2030.01.02", "console", "A" * 128, "com", "nullable", "lpt10"])
def test_plain_names_are_taken(session: str) -> None:
    assert check_session_id(session) == session


@pytest.mark.parametrize(
    "session",
    [
        "", ".", "..", ".hidden", "-rf", "_x", "a/b", "a\\b", "/etc", "C:", "a b", "a\n", "a\0", "ä", "a;b", "a%2fb",
        "x" * 129, "CON", "nul.txt", "Com1", "LPT9.log", "aux", "trailing.", None, 7, b"a", ["a"],
    ],
)  # fmt: skip
def test_others_are_refused_with_the_field_and_a_remedy(session: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_session_id(session)
    assert refused.value.field == "session_id"
    assert refused.value.remedy
    assert len(str(refused.value)) < 500


@given(st.text(max_size=10))
def test_what_is_taken_is_one_plain_component_of_a_path(session: str) -> None:
    try:
        check_session_id(session)
    except InvalidInput:
        return
    assert session.isascii()
    assert not set(session) & set('/\\:*?"<>| \0')
    assert session.strip(". ") == session.rstrip(". ") == session
