"""Exact words that stand in no message get a mark; the statement stays, and so does every word that was read."""

from __future__ import annotations

import json

import pytest

from tests.summaries.checking import check, kept, talk, under
from tests.summaries.talks import anthropic, used, user

READ = talk(
    "The report of 4 March 2026 is wrong. Mail ana@shop.example about invoice R12345.",
    "It costs 1.200,50 EUR, see https://shop.example/a/b?c=1 and src/tax.py, sent on 2026-11-19.",
    "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567\n7160999700 4d8a9f6e-1c2b-4a3d-9e8f-0123456789ab",
)


@pytest.mark.parametrize(
    "word",
    [
        "0a1b2c3d",
        "R12345",
        "7160999700",
        "4d8a9f6e-1c2b-4a3d-9e8f-0123456789ab",
        "ana@shop.example",
        "https://shop.example/a/b",
        "tax.py",
        "2026-03-04",
        "March 4, 2026",
        "19.11.2026",
        "$1,200.50",
        "1280x720",
        "and/or",
        "42",
        "node.js-like",
        "C:\\temp\\notes",
    ],
)
def test_exact_words_that_were_read_and_other_words_have_no_mark(word: str) -> None:
    text = f"It is {word}, they say"
    assert kept(under("Findings", text), READ)[0] == text


@pytest.mark.parametrize(
    "word",
    [
        "9f8e7d6c5b",
        "R99999",
        "7160999701",
        "4d8a9f6e-1c2b-4a3d-9e8f-0123456789ff",
        "bob@shop.example",
        "https://evil.example/a",
        "invented.py",
        "2026-03-05",
        "March 5, 2026",
        "20.11.2026",
        "$1,200.51",
    ],
)
def test_exact_words_that_stand_in_no_message_are_marked_where_they_stand(word: str) -> None:
    checked = check(under("Findings", f"It is {word}, they say."), READ)
    assert checked.draft.statements[0].text == f"It is {word} (?), they say."
    (doubt,) = checked.doubts
    assert (doubt.why, doubt.removed) == (f"{word!r} stands in no message", False)
    assert kept(under("Findings", f"It is {word} (?), they say."), READ)[0] == f"It is {word} (?), they say."


def test_numbers_in_json_are_read_as_they_stand() -> None:
    rows = json.dumps({"ids": [12345678901234567890], "line": 7654321})
    call = {"order": 7160999777}
    messages = anthropic(user("Which ones?"), *used("get_order", call, rows))
    text = "The ids are 12345678901234567890, 7654321 and 7160999777"
    assert kept(under("Findings", text), messages)[0] == text
