"""Words as the search knows them, and the piece of a text that is shown of them."""

from __future__ import annotations

import pytest

from compact.sessions.words import asked, excerpt, fts5_query, indexed, storable, tsquery


@pytest.mark.parametrize(
    ("text", "stored"),
    [("plain", "plain"), ("é😀", "é😀"), ("a\0b", "a\ufffdb"), ("é\0", "é\ufffd"), ("\udc80é", "?é"), ("", "")],
)
def test_a_database_gets_what_it_has_a_place_for(text: str, stored: str) -> None:
    assert storable(text) == stored


def test_words_are_asked_for_once_and_no_more_than_32() -> None:
    words = ["the", "parser", "snake", "case", "CAFE", "v1", "25"]
    assert asked("The PARSER, the parser: snake_case café CAFE v1.25") == words
    assert asked(" ".join(f"w{number}" for number in range(40))) == [f"w{number}" for number in range(32)]
    assert asked("… _ !") == []


def test_queries_quote_every_word() -> None:
    assert fts5_query(["AND", "b"]) == '"AND" "b"'
    assert tsquery(["Café", "b"]) == "'cafe' & 'b'"
    assert tsquery(["x" * 70]) == f"'{'x' * 64}'"
    assert tsquery(["é" * 70]) == f"'{'e' * 64}'"


def test_words_are_indexed_once_folded_and_cut() -> None:
    assert indexed("B a b A_c") == "b a c"
    assert indexed("É e\u0301 b") == "e b"
    assert indexed("x" * 64 + " y") == "x" * 64 + " y"
    assert indexed("x" * 65 + " y") == "x" * 64 + " y"
    assert indexed("") == ""


def test_of_an_enormous_text_as_many_whole_words_are_indexed_as_a_million_bytes_hold() -> None:
    words = [f"{number:09d}" for number in range(100_000)]  # ten bytes each with the space
    assert indexed(" ".join(words)) == " ".join(words)
    assert indexed(" ".join([*words, "x"])) == " ".join(words)
    assert indexed(" ".join(["ab", *words])) == " ".join(["ab", *words[:-1]])
    wide = ["日" * 3 + f"{number:06d}" for number in range(70_000)]  # sixteen bytes each
    assert indexed(" ".join(wide)) == " ".join(wide[:62_500])
    assert indexed(" ".join(["a" * 14, *wide])) == " ".join(["a" * 14, *wide[:62_499]])  # it ends within a character
    shifted = indexed(" ".join(["a", *wide]))
    assert shifted == " ".join(["a", *wide[:62_499]])


@pytest.mark.parametrize(
    ("text", "piece", "spans"),
    [
        ("The needle.", "The needle.", ((4, 10),)),
        ("x" * 59 + " needle", "x" * 59 + " needle", ((60, 66),)),
        ("ab " + "x" * 58 + " needle", "x" * 58 + " needle", ((59, 65),)),
        ("y" * 70 + " needle", "needle", ((0, 6),)),
        ("a b c " + "word " * 20 + "needle", "word " * 11 + "needle", ((55, 61),)),
        ("needle " + "x" * 300, "needle " + "x" * 233, ((0, 6),)),
        ("NEEDLE needles Needle", "NEEDLE needles Needle", ((0, 6), (15, 21))),
        ("none of it " + "x" * 300, "none of it " + "x" * 229, ()),
    ],
)
def test_an_excerpt_begins_at_a_word_a_little_before_the_first_one_that_was_asked_for(
    text: str, piece: str, spans: tuple[tuple[int, int], ...]
) -> None:
    assert excerpt(text, ["needle"]) == (piece, spans)
