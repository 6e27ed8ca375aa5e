"""A session may be called almost anything, and what is kept of it has a plain file name of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidInput
from compact.policies.session_ids import check_session_id, file_name, session_of

_PLAIN = ["a", "0", "user-42_2030.01.02", "console", "A" * 128, "com", "nullable", "lpt10"]
_IDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=256)


@pytest.mark.parametrize("session", [*_PLAIN, "user:42", "ann@example.org", "x/y", "..", " ", "\N{PILE OF POO}" * 256])
def test_any_text_without_control_characters_is_taken(session: str) -> None:
    assert check_session_id(session) == session


@pytest.mark.parametrize(
    "session", ["", "a\n", "a\0", "\x1b[2J", "\x85", "\u2028", "\ud800", "x" * 257, None, 7, b"a", ["a"]]
)
def test_others_are_refused_with_the_field_and_a_remedy(session: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_session_id(session)
    assert refused.value.field == "session_id"
    assert refused.value.remedy
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("session", _PLAIN)
def test_a_plain_id_is_its_own_file_name_as_it_always_was(session: str) -> None:
    assert file_name(session) == session


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("user:42", "user%3A42"),
        ("ann@example.org", "ann%40example.org"),
        ("x/y", "x%2Fy"),
        ("\N{LATIN CAPITAL LETTER U WITH DIAERESIS}", "%C3%9C"),
        ("a%2Fb", "a%252Fb"),
        ("..", "%2E%2E"),
        (".hidden", "%2Ehidden"),
        ("-rf", "%2Drf"),
        ("trailing.", "trailing%2E"),
        ("CON", "%43ON"),
        ("nul.\N{GREEK SMALL LETTER ALPHA}", "%6Eul.%CE%B1"),
        ("a~b c", "a%7Eb%20c"),
    ],
)
def test_another_id_is_escaped(session: str, name: str) -> None:
    assert file_name(session) == name
    assert session_of(name) == session


@given(_IDS)
def test_a_file_name_is_one_plain_component_of_a_path(session: str) -> None:
    name = file_name(session)
    assert name.isascii()
    assert 0 < len(name) <= 200
    assert not set(name) & set('/\\:*?"<>| \0')
    assert name.strip(". ") == name
    assert session_of(name) in (session, name)


@given(_IDS, _IDS)
def test_no_two_ids_have_the_same_file_name(one: str, other: str) -> None:
    assert (file_name(one) == file_name(other)) == (one == other)
    assert file_name(file_name(one) + "%") != file_name(one)


@pytest.mark.parametrize("name", ["con", ".git", "a b", "x%2fy", "%41", "a%", "\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_what_is_no_sessions_file_name_is_told_apart(name: str) -> None:
    assert session_of(name) is None
