"""What a search of removed texts finds, in which order, and what it shows around the words."""

from __future__ import annotations

import pytest

from compact.engine.searching import Hit, Index, Piece
from compact.errors import InvalidInput


def piece(text: str, handle: str = "", tool: str = "", path: str = "") -> Piece:
    return Piece(handle or text, 7, "tool", tool, path, text)


def found(words: str, *texts: str, limit: int = 20) -> list[str]:
    return [hit.handle for hit in Index(map(piece, texts)).search(words, limit)]


@pytest.mark.parametrize(
    ("words", "better", "worse"),
    [
        ("tab", "tab tab of x", "tab one of x"),  # often
        ("tab", "a tab", "a tab and much more around it than the other has"),  # in little text
        ("tab", "a tab bc", "a stab c"),  # alone, on the left
        ("tab", "a tab bc", "a tabs c"),  # and on the right
        ("tab", "tab a bc", "tabs abc"),
        ("tab", "a bc tab", "abc stab"),
        ("tab skip", "x tab skip", "tabs skips"),  # each of them
        ("tab skip", "xtabx tab skip", "xtabx skip tab"),  # together, though none stands alone first
        ("tab skip", "the tab skip z", "the skip tab z"),  # together
    ],
)
def test_the_better_one_comes_first(words: str, better: str, worse: str) -> None:
    assert found(words, better, worse) == found(words, worse, better) == [better, worse]


def test_every_word_is_needed_anywhere_in_any_case_and_the_limit_holds() -> None:
    texts = ("Skip TABS here", "skip nothing", "tabs nothing")
    assert found("tab SKIP", *texts) == ["Skip TABS here"]
    assert found("tab tab", *texts, limit=1) == ["tabs nothing"]
    assert len(found("nothing", *texts)) == 2
    assert found("nothing", *texts, limit=0) == found("nothing", *texts, limit=-1) == []
    assert found("absent", *texts) == found("absent") == []


def test_the_tool_and_the_path_are_searched_and_count_for_more() -> None:
    named = piece("x = 1", "named", "read", "src/parser.py")
    told = piece("parser.py says x = 1", "told")
    assert [hit.handle for hit in Index([told, named]).search("parser.py", 5)] == ["named", "told"]
    assert [hit.handle for hit in Index([told, named]).search("read src", 5)] == ["named"]


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("needle", "needle"),
        ("a" * 79 + " needle", "a" * 79 + " needle"),
        ("b" + "a" * 79 + " Needle", "…" + "a" * 79 + " Needle"),
        ("needle " + "a" * 153, "needle " + "a" * 153),
        ("needle " + "a" * 154, "needle " + "a" * 153 + "…"),
        ("x\n\n  needle\ty", "x needle y"),
    ],
)
def test_a_snippet_shows_what_stands_around_the_longest_word(text: str, snippet: str) -> None:
    (hit,) = Index([piece(text, "h", "read", "a.py")]).search("needle e", 5)
    assert hit == Hit("h", 7, "tool", "read", "a.py", snippet)
    assert str(hit) == f"h (tool read a.py): {snippet}"


def test_a_word_of_the_path_alone_shows_how_the_text_begins() -> None:
    (hit,) = Index([piece("x" * 200, "h", "read", "a.py")]).search("a.py", 5)
    assert hit.snippet == "x" * 160 + "…"
    assert piece("", "h", "", "a  b\n" + "c" * 200).source == "tool a b " + "c" * 96


@pytest.mark.parametrize("text", ["", "  \n", None, 3])
def test_what_holds_no_word_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="must hold a word") as caught:
        Index([]).search(text, 5)
    assert caught.value.field == "text"
