"""Plans as JSON and references as text: exactly what is written, and what is refused."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from compact.messages import (
    NEWEST,
    AccountItem,
    Drop,
    EditKind,
    Fold,
    Json,
    Numbering,
    Pass,
    Reference,
    Replace,
    Where,
    digest_of,
    message_bytes,
    plan_from_json,
    plan_to_json,
    references_of,
    segments,
)
from compact.messages.references import has_mark, parse_reference, without_marks

EDITS = (
    Fold(("1", "2"), "told", EditKind.SUMMARIZED, "user", 5, (AccountItem("a", ("1", "2")),), True, "0", ("7",)),
    Fold(("3",), None, EditKind.PRUNED),
    Replace(Where("4", 1, ("a", 0), (2, 5)), "short", EditKind.SUPERSEDED, ("9",)),
    Drop(Where("5", 0), EditKind.BOUND_TO_CHANGED),
)
PLAN = (
    Pass("first", EDITS, ("note",), added=("x",)),
    Pass("second", (), merges=False),
)
WRITTEN: list[Any] = [
    {
        "name": "first",
        "notes": ["note"],
        "edits": [
            {
                "fold": ["1", "2"],
                "into": "told",
                "role": "user",
                "why": "summarized",
                "count": 5,
                "items": [["a", "1", "2"]],
                "first": True,
                "behind": "0",
                "refers": ["7"],
            },
            {"fold": ["3"], "into": None, "role": "assistant", "why": "pruned"},
            {"replace": ["4", 1, ["a", 0], (2, 5)], "with": "short", "why": "superseded", "refers": ["9"]},
            {"drop": ["5", 0, [], None], "why": "bound to what was changed"},
        ],
        "added": ["x"],
        "merges": True,
    },
    {"name": "second", "notes": [], "edits": [], "added": []},
]


def test_a_plan_is_written_and_read_back() -> None:
    assert plan_to_json(PLAN) == WRITTEN
    assert plan_from_json(WRITTEN) == PLAN


def test_edits_of_an_earlier_plan_that_looked_ahead_refer_to_the_newest_message() -> None:
    (step, _) = plan_from_json([{**WRITTEN[0], "ahead": True}, WRITTEN[1]])
    fold, pruned, replaced, dropped = step.edits
    assert (references_of(fold), references_of(pruned)) == (("7",), (NEWEST,))
    assert (references_of(replaced), references_of(dropped)) == (("9",), ())


def test_a_message_is_kept_under_the_hash_of_its_bytes() -> None:
    wire = {"b": "é\ud800", "a": [1, 2]}
    assert message_bytes(wire) == b'{"b":"\\u00e9\\ud800","a":[1,2]}'
    assert digest_of(wire) == hashlib.sha256(message_bytes(wire)).hexdigest()


def changed(edit: dict[str, Any], **others: Json) -> Json:
    return [{**WRITTEN[1], "edits": [{**edit, **others}]}]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "list expected, not dict"),
        ([{**WRITTEN[1], "name": 1}], "str expected, not int"),
        ([{**WRITTEN[1], "notes": "a"}], "list expected, not str"),
        ([{**WRITTEN[1], "added": [1]}], "str expected, not int"),
        ([{**WRITTEN[1], "ahead": 1}], "bool expected, not int"),
        (changed(WRITTEN[0]["edits"][0], refers=[1]), "str expected, not int"),
        ([{**WRITTEN[1], "merges": None}], "bool expected, not NoneType"),
        (changed(WRITTEN[0]["edits"][0], why=None), "str expected, not NoneType"),
        (changed(WRITTEN[0]["edits"][0], into=5), "str expected, not int"),
        (changed(WRITTEN[0]["edits"][0], role=5), "str expected, not int"),
        (changed(WRITTEN[0]["edits"][0], count="5"), "int expected, not str"),
        (changed(WRITTEN[0]["edits"][0], items=[5]), "list expected, not int"),
        (changed(WRITTEN[0]["edits"][0], first="x"), "bool expected, not str"),
        (changed(WRITTEN[0]["edits"][0], behind=0), "str expected, not int"),
        (changed(WRITTEN[0]["edits"][2], replace=[4, 1, [], None]), "str expected, not int"),
        (changed(WRITTEN[0]["edits"][2], replace=["4", "1", [], None]), "int expected, not str"),
        (changed(WRITTEN[0]["edits"][2], **{"with": None}), "str expected, not NoneType"),
    ],
)
def test_what_is_no_plan_is_refused(data: Json, problem: str) -> None:
    with pytest.raises(TypeError, match=f"^{problem}$"):
        plan_from_json(data)


@pytest.mark.parametrize(
    ("numbering", "shown"),
    [
        (Numbering(9, "→", 1, False), ["9→a", "10→b"]),
        (Numbering(9, "\t", 4, False), ["   9\ta", "  10\tb"]),
        (Numbering(9, ": ", 3, True), ["009: a", "010: b"]),
        (Numbering(0, "+", 0, False), ["+a", "+b"]),
        (Numbering(0, " ", 0, False), [" a", " b"]),
    ],
)
def test_a_number_or_a_sign_stands_before_a_reference_as_before_its_first_line(
    numbering: Numbering, shown: list[str]
) -> None:
    reference = Reference("Read a.py", "481207", 12, 40, True, numbering)
    line = f"{shown[0].removesuffix('a')}[same text as Read a.py:12-40 above #481207]"
    assert reference.render() == line
    assert parse_reference(line) is not None
    assert parse_reference(f"x{line}") is None
    assert numbering.put_before(["a", "b"]) == shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb", [(0, ["a", "b"], None)]),
        ("1: a\nb", [(0, ["1: a", "b"], None)]),
        ("1: a\n2: b", [(0, ["a", "b"], Numbering(1, ": ", 1, False))]),
        ("1: a\n2:\n3: b", [(0, [" a", "", " b"], Numbering(1, ":", 1, False))]),
        ("1: a\n2: b\n4:", [(0, ["a", "b"], Numbering(1, ": ", 1, False)), (2, ["4:"], None)]),
        ("x\n 9\ta\n10\tb\ny", [(0, ["x"], None), (1, ["a", "b"], Numbering(9, "\t", 2, False)), (3, ["y"], None)]),
        (
            "1|a\n2|b\n4|c\n5|d",
            [(0, ["a", "b"], Numbering(1, "|", 1, False)), (2, ["c", "d"], Numbering(4, "|", 1, False))],
        ),
        ("007→a\n008→b", [(0, ["a", "b"], Numbering(7, "→", 3, True))]),
        ("x\ny\n5:a\n6:b", [(0, ["x", "y"], None), (2, ["a", "b"], Numbering(5, ":", 1, False))]),
    ],
)
def test_lines_are_taken_apart_where_their_numbering_changes(text: str, found: list[Any]) -> None:
    assert [(one.first, one.lines, one.numbering) for one in segments(text)] == found


def test_marks_of_references_are_told_and_made_unfit() -> None:
    mark = "[same as x above #481207]"
    marked = (mark, f"a\n+{mark}\nb", "[same text as x above #481207112358]", "[same as lines 1", "a ⟨=b")
    others = ("[same as x above]", "[same as x above #48120]", f"a {mark}", "[same as x #481207]", "[same as the lines")
    assert all(map(has_mark, marked))
    assert not any(map(has_mark, (*others, "⟨ =", "=")))
    assert without_marks("⟨=a [same as lines 1") == "⟨ =a [same as the lines 1"
    assert without_marks(f"a\n7→{mark}\n[same as x] b") == "a\n7→[the same as x above #481207]\n[same as x] b"
    assert not any(has_mark(without_marks(text)) for text in marked)
