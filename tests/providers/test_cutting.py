"""How a cut is marked."""

from __future__ import annotations

from compact.history.marks import unmarked
from compact.providers.truncation.cutting import Cut, is_condensed, is_cut, suppress


def test_plain_markers_say_what_was_left_out_and_how_much() -> None:
    lines = [f"line {number}" for number in range(1, 1301)]
    text = "\n".join(lines)
    assert Cut(2, tail=1, markers="plain").apply(text) == "line 1\nline 2\n[… 1,297 lines omitted …]\nline 1300"
    assert Cut(chars=4, markers="plain").apply("abcdefgh") == "abcd[… 4 characters omitted …]"
    assert Cut(chars=3, markers="plain", value=True).apply("abcd") == "abc[… 1 character omitted …]"
    assert suppress(text, "plain") == "[… all 1,300 lines omitted …]"
    assert suppress("abc", "plain") == "[… all 3 characters omitted …]"
    assert unmarked("see src/parse[… 4 characters omitted …]") == "see "  # the half of a word is none


def test_plain_markers_are_recognised() -> None:
    texts = {
        "a\n[… 1,204 lines omitted …]\nb": True,
        "a[… 7 characters omitted …]": True,
        "[… all 1,204 lines omitted …]": False,  # nothing of it is left to be cut otherwise
        "[Summary of 4,096 characters, written by a model]\n\na": False,
        "[Summary of 4,096 characters, in the words of the text]\n\na": False,
    }
    assert all(map(is_condensed, texts))
    assert {text: is_cut(text) for text in texts} == texts
    assert not is_condensed('print("[Summary of 12 characters]")')
