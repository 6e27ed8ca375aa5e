"""Stored summaries as values: every field is written and read back, and what cannot be read says why."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from compact.engine.stored.snapshots import (
    SummarySnapshot,
    describe_summary,
    read_summary,
    require_known,
    standing_edits,
    words_of,
)
from compact.errors import NewerVersion, StoredPlanMismatch
from compact.messages import Drop, EditKind, Fold, Pass, Replace, Where, frame_account, plan_to_json
from compact.ports import SNAPSHOT_VERSION, Snapshot

ACCOUNT = Fold(("1", "2"), frame_account("- It was mended.", 2), EditKind.SUMMARIZED, "user")
MARKER = Fold(("4", "5", "6"), None, EditKind.SUMMARIZED)
CUT = Replace(Where("3", 0), "short", EditKind.TRUNCATED)
SUMMARY = SummarySnapshot(
    plan=(Pass("Fold", (ACCOUNT, MARKER)), Pass("Cut", (CUT,))),
    view=(7, ACCOUNT.handle, 3, MARKER.handle),
    cutoff=9,
    first=1,
    messages=5,
    number=2,
    words="- It was mended.",
    role="user",
    trigger="manual",
    recipe="chat",
    strategy="facts",
    tokens_before=100,
    tokens_after=40,
    replaces=8,
    source="other",
    written_by=("a", "b"),
    why_offline="no key",
    cost=Decimal("0.0000001"),
)
CONTENT: dict[str, Any] = {
    "summaryText": ACCOUNT.text,
    "messageRange": {"first": 1, "last": 9},
    "words": "- It was mended.",
    "version": 2,
    "messages": 5,
    "view": [7, ACCOUNT.handle, 3, MARKER.handle],
    "plan": plan_to_json(SUMMARY.plan),
    "role": "user",
    "recipe": "chat",
    "strategy": "facts",
    "tokensBefore": 100,
    "tokensAfter": 40,
    "trigger": "manual",
    "writtenBy": ["a", "b"],
    "whyOffline": "no key",
    "cost": "0.0000001",
    "replaces": 8,
    "from": "other",
}


def snapshot(content: Any, **fields: Any) -> Snapshot:
    return Snapshot("s", "summary", content, 9, 7, id=4, **fields)


def test_a_summary_is_stored_with_all_that_it_did_and_read_back() -> None:
    stored = SUMMARY.stored("s", len)
    assert stored == Snapshot("s", "summary", CONTENT, 9, len(ACCOUNT.text))
    assert read_summary(stored) == SUMMARY
    assert describe_summary(stored) == replace(SUMMARY, plan=(), view=())


def test_what_a_summary_did_not_do_is_not_stored() -> None:
    content = SummarySnapshot().stored("s", len).content
    assert {"writtenBy", "whyOffline", "cost", "replaces", "from"}.isdisjoint(content)
    assert content["summaryText"] == ""
    assert read_summary(SummarySnapshot(cutoff=9).stored("s", len)) == SummarySnapshot(cutoff=9)
    assert (
        SummarySnapshot(cost=Decimal(0), replaces=0).stored("s", len).content.items()
        >= {"cost": "0", "replaces": 0}.items()
    )


def test_fields_that_are_missing_or_something_else_are_what_they_usually_are() -> None:
    assert describe_summary(snapshot({})) == SummarySnapshot(cutoff=9)
    odd = dict.fromkeys(CONTENT, "x") | {"messageRange": {"first": "x"}, "cost": "x"}
    texts: dict[str, Any] = {
        "words": "x",
        "role": "x",
        "trigger": "x",
        "recipe": "x",
        "strategy": "x",
        "source": "x",
        "why_offline": "x",
    }
    assert describe_summary(snapshot(odd)) == SummarySnapshot(cutoff=9, **texts)
    assert describe_summary(snapshot({"messageRange": 5, "cost": 5})) == SummarySnapshot(cutoff=9)
    assert describe_summary(snapshot({"summaryText": "y", "words": ""})).words == "y"


def test_a_summary_of_before_there_were_plans_is_one_fold() -> None:
    fold = Fold(("summarized",), "told", EditKind.SUMMARIZED, "user")
    content = {"summaryText": "told", "role": "user", "kept": [3, "x", 5], "thoughtless": 2}
    assert read_summary(snapshot(content, version=1)) == SummarySnapshot(
        plan=(Pass("Summary", (fold,), merges=False),),
        view=(3, 5),
        cutoff=9,
        words="told",
        role="user",
        placed=False,
        thoughtless=2,
    )
    assert read_summary(snapshot({"kept": 5})).view == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"plan": 5, "view": []}, "its plan is damaged"),
        ({"plan": []}, r"its plan is damaged \(KeyError: 'view'\)"),
        ({"plan": [], "view": [True]}, r"its plan is damaged \(TypeError: True is no entry of a view\)"),
        ({"plan": [], "view": [1.5]}, r"its plan is damaged \(TypeError: 1.5 is no entry of a view\)"),
        ({"plan": [], "view": [1, "fold-x"]}, "its plan has no fold-x"),
    ],
)
def test_a_summary_whose_plan_is_damaged_says_so(content: Any, problem: str) -> None:
    with pytest.raises(StoredPlanMismatch, match=f"summary 4 of session s cannot be used: {problem}"):
        read_summary(snapshot(content))


def test_a_summary_of_a_later_version_is_refused() -> None:
    known = snapshot({}, version=SNAPSHOT_VERSION)
    assert require_known(known) is known
    for act in (require_known, read_summary):
        with pytest.raises(NewerVersion, match=f"summary 4 of session s is of version {SNAPSHOT_VERSION + 1}"):
            act(snapshot({}, version=SNAPSHOT_VERSION + 1))


def test_the_account_is_the_fold_that_tells_most() -> None:
    assert SUMMARY.folds == {ACCOUNT.handle: ACCOUNT, MARKER.handle: MARKER}
    assert SUMMARY.account == ACCOUNT
    assert SUMMARY.text == ACCOUNT.text
    assert SUMMARY.kept == [7, 3]
    one = replace(MARKER, messages=("1",))
    assert SummarySnapshot(plan=(Pass("Fold", (MARKER, one)),)).account == MARKER
    assert SummarySnapshot(plan=(Pass("Cut", (CUT,)),)).account is None
    assert SummarySnapshot().text == ""


def test_other_words_take_the_place_of_the_account() -> None:
    new = Fold(("1", "2"), frame_account("other", 5), EditKind.SUMMARIZED, "user")
    assert SUMMARY.reworded("other") == replace(
        SUMMARY,
        plan=(Pass("Fold", (MARKER,)), Pass("Cut", (CUT,)), Pass("Summary", (new,))),
        view=(7, new.handle, 3, MARKER.handle),
        words="other",
        number=3,
        written_by=(),
        why_offline="",
        cost=None,
    )
    without = SummarySnapshot(plan=(Pass("Cut", (CUT,)),), view=(3,), messages=1, role="assistant")
    first = Fold((), frame_account("other", 1), EditKind.SUMMARIZED, "assistant")
    assert without.reworded("other") == replace(
        without,
        plan=(Pass("Cut", (CUT,)), Pass("Summary", (first,))),
        view=(first.handle, 3),
        words="other",
        number=1,
    )


def test_only_edits_whose_results_still_stand_are_kept() -> None:
    later = Replace(Where("3", 0), "shorter", EditKind.TRUNCATED)
    lines = Replace(Where("3", 1, lines=(0, 2)), "few", EditKind.TRUNCATED)
    plan = (Pass("a", (CUT, lines)), Pass("b", (ACCOUNT,)), Pass("c", (later, lines)), Pass("d", (MARKER,)))
    assert standing_edits(plan, {"3", ACCOUNT.handle}) == (
        Pass("a", (lines,)),
        Pass("b", (ACCOUNT,)),
        Pass("c", (later, lines)),
    )
    assert standing_edits(plan[:1], {"4"}) == ()
    # Where a block was dropped, the same place may be another one later.
    drop = Pass("d", (Drop(Where("3", 0), EditKind.TRUNCATED),))
    assert standing_edits((plan[0], drop, plan[2]), {"3"}) == (plan[0], drop, plan[2])


def test_the_words_of_an_account_are_what_stands_in_its_frame() -> None:
    assert words_of(frame_account("- It was mended.", 2)) == "- It was mended."
    assert words_of("no frame") == "no frame"
