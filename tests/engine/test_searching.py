"""Searching what was removed: what is found, in which order, and what is shown of it."""

from __future__ import annotations

import pytest

from compact.engine.recalling import PAGE, Recalled, Removed, read_handle, unknown_handle
from compact.engine.searching import Hit, Index, Piece
from compact.errors import InvalidInput
from compact.formats import parse
from compact.messages import EditKind, Fold, Json, Pass, apply_plan, mark_recalled


def piece(text: str, tool: str = "", path: str = "") -> Piece:
    return Piece("msg-1", 1, "tool", tool, path, text)


def found(query: str, *pieces: Piece, limit: int = 20) -> list[int]:
    """The places of the pieces that are found, the best first."""
    numbered = [Piece(f"msg-{number}", number, *one_of(one)) for number, one in enumerate(pieces)]
    return [hit.position for hit in Index(numbered).search(query, limit)]


def one_of(one: Piece) -> tuple[str, str, str, str]:
    return one.role, one.tool, one.path, one.text


@pytest.mark.parametrize(
    ("query", "pieces", "places"),
    [
        ("a b", [piece("a x b"), piece("a"), piece("b")], [0]),
        ("word", [piece("x"), piece("WORD")], [1]),
        ("STRASSE", [piece("Straße")], [0]),
        ("word", [piece("word x x x x x"), piece("word word word x")], [1, 0]),
        ("word", [piece("word " + "x" * 100), piece("word x")], [1, 0]),
        ("word", [piece("swordx y"), piece("sword y y"), piece("a word y")], [2, 0, 1]),
        ("word", [piece("wordy y"), piece("word. y")], [1, 0]),
        ("one two", [piece("two one x"), piece("one two x")], [1, 0]),
        ("one one", [piece("one"), piece("one one one")], [1, 0]),
        ("read", [piece("read x"), piece("x x x", "read")], [1, 0]),
        ("part.py", [piece("part.py x"), piece("x x x", "", "src/part.py")], [1, 0]),
        ("x", [piece("x"), piece("x"), piece("x")], [2, 1, 0]),
        ("x", [], []),
    ],
)
def test_the_best_come_first(query: str, pieces: list[Piece], places: list[int]) -> None:
    assert found(query, *pieces) == places
    assert found(query, *pieces, limit=1) == places[:1]
    assert found(query, *pieces, limit=-1) == []


@pytest.mark.parametrize("query", ["", " \n", 5, None])
def test_a_search_must_hold_a_word(query: Json) -> None:
    with pytest.raises(InvalidInput, match="text: must hold a word"):
        Index([piece("x")]).search(query, 5)


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("a needle\n in hay", "a needle in hay"),
        ("x" * 79 + " needle", "x" * 79 + " needle"),
        ("x" * 80 + " needle", "…" + "x" * 79 + " needle"),
        ("NEEDLE" + "x" * 154, "NEEDLE" + "x" * 154),
        ("NEEDLE" + "x" * 155, "NEEDLE" + "x" * 154 + "…"),
    ],
)
def test_a_snippet_stands_around_the_longest_word(text: str, snippet: str) -> None:
    (hit,) = Index([piece(text, "Read", "hay  in\na")]).search("a needle", 1)
    assert hit == Hit("msg-1", 1, "tool", "Read", "hay  in\na", snippet)
    assert str(hit) == f"msg-1 (tool Read hay in a): {snippet}"


def test_a_word_that_only_the_call_has_shows_the_beginning() -> None:
    (hit,) = Index([piece("y" * 200, "Read", "p" * 101)]).search("read", 1)
    assert hit.snippet == "y" * 160 + "…"
    assert hit.source == f"tool Read {'p' * 100}"


@pytest.mark.parametrize(
    ("start", "size", "shown", "more"),
    [
        (0, 100, "one\ntwo\nthree", ""),
        (0, 13, "one\ntwo\nthree", ""),
        (0, 12, "one\ntwo\n", "5 more characters: start=8"),
        (0, 8, "one\ntwo\n", "5 more characters: start=8"),
        (0, 7, "one\n", "9 more characters: start=4"),
        (0, 9, "one\ntwo\n", "5 more characters: start=8"),
        (0, 3, "one", "10 more characters: start=3"),
        (4, 3, "two", "6 more characters: start=7"),
        (8, 2, "th", "3 more characters: start=10"),
        (-5, 0, "o", "12 more characters: start=1"),
        (13, 5, "", ""),
        (99, 5, "", ""),
    ],
)
def test_a_page_ends_with_a_line_where_that_leaves_half_of_it(start: int, size: int, shown: str, more: str) -> None:
    recalled = Recalled("cut-3f9a2c1d", (piece("one\ntwo\nthree"),), ())
    assert recalled.page(start, size) == mark_recalled(shown, "cut-3f9a2c1d", more)


def test_a_page_has_so_many_characters_unless_another_number_is_asked_for() -> None:
    recalled = Recalled("cut-3f9a2c1d", (piece("x" * 20_001),), ())
    assert PAGE == 20_000
    assert recalled.page() == mark_recalled("x" * 20_000, "cut-3f9a2c1d", "1 more characters: start=20000")


@pytest.mark.parametrize(
    ("given", "handle"),
    [
        ("[compact_recall CUT-3f9a2c1d shows the whole text]", "cut-3f9a2c1d"),
        ("see fold-0123456789ab", "fold-0123456789ab"),
        ("sum-01234567", "sum-01234567"),
        ("MSG-12", "msg-12"),
        ("see #abcdef0", "#abcdef0"),
        (" #abcde ", "#abcde"),
        (" Nothing ", "Nothing"),
    ],
)
def test_a_handle_may_be_given_as_a_whole_marker(given: str, handle: str) -> None:
    assert read_handle(given) == handle


def test_what_is_no_text_is_no_handle() -> None:
    number: Json = 5
    with pytest.raises(InvalidInput, match="handle: must be a text, not int"):
        read_handle(number)


def test_an_unknown_handle_names_near_ones_else_the_last() -> None:
    known = [f"cut-0000000{number}" for number in range(5)]
    assert "Nothing was removed so far." in str(unknown_handle("x", []))
    assert "Did you mean one of these: cut-00000004, cut-00000003, cut-00000002?" in str(unknown_handle("zzz", known))
    assert "Did you mean one of these: fold-0123456789ab?" in str(
        unknown_handle("fold-0123456789", [*known, "fold-0123456789ab"])
    )


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        *(
            (f'{{"{key}": "a"}}', "a")
            for key in ("file_path", "path", "filePath", "filename", "file", "target_file", "url", "command", "cmd")
        ),
        ('{"pattern": "a"}', "a"),
        ('{"query": "a"}', "a"),
        ('{"query": "a", "path": "b"}', "b"),
        ('{"path": 5, "query": "a"}', "a"),
        ('{"other": "a"}', ""),
        ("[1]", ""),
    ],
)
def test_the_argument_that_tells_most_is_named(arguments: str, path: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": arguments}}
    conversation = parse(
        [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
            {"role": "user", "content": "end"},
        ],
        format="openai-chat",
    )
    fold = Fold(("1", "2"), None, EditKind.OTHER)
    index = Removed(conversation.messages, [apply_plan(conversation, (Pass("p", (fold,)),))[1]])
    assert [(one.tool, one.path) for one in index.recall(fold.handle).pieces] == [("run", path)] * 2
    assert fold.handle in index
    assert "msg-1" in index
    assert "msg-0" not in index
    assert index.handles[0] == fold.handle


def test_a_text_is_found_as_it_stands_whatever_its_case_and_spaces() -> None:
    pieces = [piece("The  Port\nis 8099."), piece("8099 is the port."), piece("nothing")]
    assert [hit.snippet for hit in Index(pieces).find("port is 8099")] == ["The Port is 8099."]
    assert [hit.snippet for hit in Index(pieces).find("8099")] == ["The Port is 8099.", "8099 is the port."]
    with pytest.raises(InvalidInput, match="must hold a word"):
        Index(pieces).find("  ")


def test_every_message_of_the_log_is_found_and_what_was_removed_has_a_handle() -> None:
    conversation = parse([{"role": "user", "content": f"alpha {number}"} for number in range(3)], format="openai-chat")
    fold = Fold(("1",), None, EditKind.OTHER)
    removed = Removed(conversation.messages, [apply_plan(conversation, (Pass("p", (fold,)),))[1]])
    assert [(hit.position, hit.handle) for hit in removed.find("ALPHA")] == [(0, ""), (1, "msg-1"), (2, "")]
