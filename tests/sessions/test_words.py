"""Words as the search knows them, ids that can be none, and what is said where the database fails."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from compact.errors import InvalidInput, NotFound, StorageError
from compact.sessions import rows
from compact.sessions.cursors import place_of
from compact.sessions.failures import told
from compact.sessions.words import asked, excerpt, fts5_query, indexed, storable, tsquery


def test_a_text_is_stored_without_what_a_database_has_no_place_for() -> None:
    assert storable("a\0b") == "a\ufffdb"
    assert storable("é\0\ud800") == "é\ufffd?"
    assert storable("é") == "é"
    plain = "plain"
    assert storable(plain) is plain


def test_words_are_asked_for_once_and_not_too_many() -> None:
    assert asked("b A, a b_c Café CAFE\u0301") == ["b", "a", "c", "CAFE\u0301"]
    assert asked(" ".join(f"w{number}" for number in range(40))) == [f"w{number}" for number in range(32)]
    assert fts5_query(["Or", "b"]) == '"Or" "b"'
    assert tsquery(["Café", "B"]) == "'cafe' & 'b'"


def test_words_are_indexed_once_each_cut_to_their_longest() -> None:
    assert indexed("B a-b A_c") == "b a c"
    assert indexed("Straße Café") == "strasse cafe"
    assert indexed("") == ""
    assert indexed(f"{'a' * 64} {'b' * 65} c") == f"{'a' * 64} {'b' * 64} c"
    assert indexed(f"é {'ö' * 65}") == f"e {'o' * 64}"


def test_an_enormous_text_is_indexed_as_far_as_the_database_takes_it() -> None:
    words = [f"{number:063}" for number in range(15_624)]
    fits, beyond = " ".join([*words, "a" * 64]), " ".join([*words[1:], "b" * 64, "a" * 64])
    assert (len(fits), len(beyond)) == (1_000_000, 1_000_001)
    assert indexed(fits) == fits
    assert indexed(beyond) == beyond[:-65]
    japanese = [f"{number:05}{'日' * 20}" for number in range(15_200)]
    assert indexed(" ".join(japanese)) == " ".join(japanese[:15_151])  # the next one is cut within a letter


@pytest.mark.parametrize(
    ("text", "piece", "spans"),
    [
        ("a Needle, needles", "a Needle, needles", ((2, 8),)),
        ("x" * 59 + " needle", "x" * 59 + " needle", ((60, 66),)),
        ("x" * 60 + " needle", "needle", ((0, 6),)),
        ("x" * 90 + " abc needle", "abc needle", ((4, 10),)),
        ("yyy" + "-" * 60 + "needle", "-" * 60 + "needle", ((60, 66),)),
        ("needle " + "x" * 240, "needle " + "x" * 233, ((0, 6),)),
        ("nothing " + "x" * 240, "nothing " + "x" * 232, ()),
    ],
)
def test_an_excerpt_begins_a_little_before_the_first_word(
    text: str, piece: str, spans: tuple[tuple[int, int], ...]
) -> None:
    assert excerpt(text, ["NEEDLE"]) == (piece, spans)


@pytest.mark.parametrize(
    ("id", "shown"),
    [("a'é", '"a\'\\xe9"'), ("a" * 80, f"'{'a' * 80}'"), ("a" * 81, f"'{'a' * 77}'..."), (5, "5")],
)
def test_what_is_missing_is_named_and_a_long_name_is_cut(id: object, shown: str) -> None:
    error = rows.missing("session", id)
    assert str(error).startswith(f"session: there is no session {shown}")
    assert error.field == "session"


def test_numbers_that_no_row_can_have_are_refused() -> None:
    most = 2**63 - 1
    assert rows.known_ids([3, 1, 3, most], "message") == [1, 3, most]
    assert rows.page(1) == 1
    assert rows.page(most) == most
    for number in (0, -1, most + 1):
        with pytest.raises(NotFound, match=f"there is no message {number}"):
            rows.known_ids([1, number], "message")
        with pytest.raises(InvalidInput, match=f"limit: {number} is too few or too many"):
            rows.page(number)
    assert rows.name("é") == "é"
    with pytest.raises(NotFound, match="there is no session"):
        rows.name("a\0")


def test_a_place_in_the_list_is_a_time_and_an_id() -> None:
    assert place_of("2030-01-01T00:00:00Z|a|b\n") == ("2030-01-01T00:00:00Z", "a|b\n")
    for text in ("2030-01-01T00:00:00Z|", "2030-01-01|a", "a", ""):
        assert place_of(text) is None


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("database is LOCKED", "Another process has been writing for long; try again."),
        ("database or disk is full", "Make room on the drive; nothing of this call was stored."),
        ("No space left on device", "Make room on the drive; nothing of this call was stored."),
        ("attempt to write a readonly database", "Give the owner of this process the right to write the file"),
        ("unable to open database file", "Give the owner of this process the right to read and write the file"),
        ("file is not a database", "Name another file; this one was made by something else, or is damaged."),
        ("database disk image is malformed", "Restore the file from a backup."),
        ("permission denied for schema", "Grant the user of the URL the right to use, and at first to make"),
        ("password authentication failed", "Correct user and password in the URL."),
        ('role "x" does not exist', "Create the database and the user that the URL names."),
        ('relation "x" already exists', "Tables of the same names belong to something else"),
        ("too many clients already", "Let the server take more connections, or use fewer processes."),
        ("it rains", "Check that the database can be reached and try again; what was stored before is safe."),
    ],
)
def test_an_answer_of_the_database_is_told_with_its_remedy_and_without_the_password(reason: str, remedy: str) -> None:
    engine = create_engine("postgresql+psycopg://me:hunter2@localhost/x")
    error = OperationalError("SELECT 1", {}, Exception(f" {reason} hunter2\nmore "))
    with pytest.raises(StorageError) as raised, told("the place", engine):
        raise error
    assert str(raised.value).startswith(f"the place: {reason} ***. {remedy}")
    with pytest.raises(StorageError, match=f"^the place: {reason}\\. "), told("the place", create_engine("sqlite://")):
        raise PoolTimeout(reason)
