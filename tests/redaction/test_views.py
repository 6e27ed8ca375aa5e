"""Texts without their escapes, the way back, and the search for what rules begin with."""

from __future__ import annotations

import re

import pytest

from compact.redaction import MARK, Finding, Redactor
from compact.redaction.prefilter import prefilter, with_automaton, with_expressions
from compact.redaction.rules import Rule
from compact.redaction.tries import trie
from compact.redaction.views import decoded, flatten

REDACTOR = Redactor()


def test_written_line_breaks_and_tabs_become_real_at_the_same_places() -> None:
    assert flatten("a\\nb\\rc\\td\\xe") == "a\v\nb\v\rc \td\\xe"
    assert flatten("a/n") == "a/n"


@pytest.mark.parametrize(
    ("text", "plain", "places"),
    [
        ("a b%3Dc d", "\nb=c", [2, 3, 6, 7]),
        ("%41%42", "\nAB", [0, 3, 6]),
        ("pre %41b' c%20d\"e%3", "\nAb\nc d", [4, 7, 8, 10, 11, 14, 15]),
        ("a%2541", "\na%41", [0, 1, 4, 5, 6]),
        ("x" * 1030 + "%41", "\n" + "x" * 1024 + "A", [*range(6, 1031), 1033]),
    ],
)
def test_pieces_with_percent_escapes_are_decoded_each_on_a_line(text: str, plain: str, places: list[int]) -> None:
    found = decoded(text)
    assert found is not None
    assert found.text == plain
    assert [found.original(at, at)[0] for at in range(1, len(plain) + 1)] == places
    assert found.original(1, len(plain)) == (places[0], places[-1])


def test_a_text_without_percent_escapes_has_nothing_to_decode() -> None:
    assert decoded("100% of %4 and %zz") is None


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("q=password%3Dhunter2%26x%3D1", f"q=password%3D{MARK}%26x%3D1"),
        ("q=password%253Dhunter2%2526x%253D1", f"q=password%253D{MARK}%2526x%253D1"),
        ("q=password%25253Dhunter2%252526x", "q=password%25253Dhunter2%252526x"),
        ("password=<SECRET-12>", "password=<SECRET-12>"),
        (
            "kind: Secret\ndata:\n  a: Yg==\n  b: # none\nother:\n  c: d",
            f"kind: Secret\ndata:\n  a: {MARK}\n  b: # none\nother:\n  c: d",
        ),
        (
            "data:\n  a: b\n---\nkind: Secret\n---\ndata:\n  a: b",
            "data:\n  a: b\n---\nkind: Secret\n---\ndata:\n  a: b",
        ),
        ("data:\n  a: b\nkind: Secret", f"data:\n  a: {MARK}\nkind: Secret"),
        ("kind: Secrets\ndata:\n  a: b", "kind: Secrets\ndata:\n  a: b"),
    ],
)
def test_secrets_in_escapes_beside_marks_and_in_manifests(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


def test_findings_that_overlap_are_one_of_the_kind_that_begins_first_and_is_longest() -> None:
    redactor = Redactor(["word=hunter2 x", "b{3}"])
    assert redactor.findings("password=hunter2 x bbb") == (Finding("pattern", 9, 18), Finding("pattern", 19, 22))
    assert Redactor(["ter2 x"]).findings("password=hunter2 x") == (Finding("password", 9, 18),)
    assert Redactor(["aab", "abcd"]).findings("aabcd") == (Finding("pattern", 0, 5),)
    assert Redactor(["aa", "bb"]).findings("aabb") == (Finding("pattern", 0, 2), Finding("pattern", 2, 4))


def rule(*anchors: str, any_case: bool) -> Rule:
    return Rule("kind", anchors, re.compile("x"), any_case)


@pytest.mark.parametrize("search", [prefilter, with_automaton, with_expressions])
def test_rules_are_tried_where_their_anchors_stand(search: object) -> None:
    assert callable(search)
    word, longer, prefix = rule("pass", any_case=True), rule("password", any_case=True), rule("xk-", any_case=False)
    candidates = search([word, longer, prefix])
    assert candidates("xk- PASSpass é\ud800 pass") == [
        (0, (prefix,)),
        (4, (word, longer)),
        (8, (word, longer)),
        (16, (word, longer)),
    ]
    assert candidates("nothing") == []
    assert search([prefix])("xk-") == [(0, (prefix,))]
    assert search([word])("İpass") == [(1, (word,))]


def test_a_trie_is_the_shortest_expression_for_any_of_its_words() -> None:
    assert trie({}) == ""
    assert trie({"ab": 1}) == "ab"
    assert trie({"ac": 1, "ab": 1, "b.": 1}) == r"(?:a(?:b|c)|b\.)"
