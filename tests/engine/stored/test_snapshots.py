"""Summaries as values: what is stored of one, what is read of every version, and what of a plan still stands."""

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
from compact.messages import (
    Drop,
    Edit,
    EditKind,
    Fold,
    Frame,
    Pass,
    Plan,
    Replace,
    Seal,
    Where,
    frame_account,
    plan_to_json,
)
from compact.ports import SNAPSHOT_VERSION, CompactionFacts, PassSizes, Snapshot

ACCOUNT = Fold(("0", "1"), frame_account("Tabs are skipped.", 2), EditKind.SUMMARIZED, "user")
MARKER = Fold(("4", "5", "6"), None, EditKind.SUMMARIZED)
CUT = Replace(Where("2", 0), "short", EditKind.TRUNCATED)
PLAN = (Pass("One", (ACCOUNT, CUT)), Pass("Two", (MARKER,)))
FACTS = CompactionFacts(
    id="5f",
    ended_at="2030-01-01T00:00:00.000Z",
    source="chat",
    trigger="manual",
    recipe="layers",
    strategy="coding",
    model="gpt-4o",
    tokens_before=900,
    tokens_after=400,
    removed=5,
    seconds=1.5,
    written_by=("gpt-4o", "gpt-4o-mini"),
    why_offline="no key",
    cost=Decimal("0.00000012"),
    passes=(PassSizes("Account", 900, 400),),
)
WHOLE = SummarySnapshot(
    plan=PLAN,
    view=(ACCOUNT.handle, 12, MARKER.handle, 17),
    cutoff=17,
    first=10,
    messages=5,
    number=3,
    words="Tabs are skipped.",
    role="assistant",
    facts=FACTS,
    replaces=8,
    source="other",
)
OLD: dict[str, Any] = {
    "summaryText": "What was said.",
    "messageRange": {"first": 3, "last": 9},
    "version": 2,
    "role": "assistant",
    "kept": [4, "no id", 6],
    "thoughtless": 7,
}


def snapshot(content: dict[str, Any], version: int = SNAPSHOT_VERSION) -> Snapshot:
    return Snapshot("a", "summary", content, 9, 0, id=5, version=version)


def test_a_summary_is_stored_under_the_names_that_readers_know_and_is_read_back_as_it_was() -> None:
    stored = WHOLE.stored("a", len)
    assert stored == Snapshot(
        "a",
        "summary",
        {
            "summaryText": ACCOUNT.text,
            "messageRange": {"first": 10, "last": 17},
            "words": "Tabs are skipped.",
            "version": 3,
            "messages": 5,
            "view": [ACCOUNT.handle, 12, MARKER.handle, 17],
            "plan": plan_to_json(PLAN),
            "role": "assistant",
            "recipe": "layers",
            "strategy": "coding",
            "tokensBefore": 900,
            "tokensAfter": 400,
            "trigger": "manual",
            "writtenBy": ["gpt-4o", "gpt-4o-mini"],
            "whyOffline": "no key",
            "cost": "0.00000012",
            "facts": FACTS.to_json(),
            "replaces": 8,
            "from": "other",
        },
        17,
        len(ACCOUNT.text),
    )
    assert read_summary(stored) == WHOLE
    assert WHOLE.placed
    assert describe_summary(stored) == replace(WHOLE, plan=(), view=())


def test_a_summary_of_an_earlier_version_has_what_was_known_of_it_and_is_marked_as_older() -> None:
    content = {name: value for name, value in WHOLE.stored("a", len).content.items() if name != "facts"}
    facts = describe_summary(replace(snapshot(content), created="2029")).facts
    unknown: dict[str, Any] = {"id": "", "source": "", "model": "", "removed": 0, "seconds": 0.0, "passes": ()}
    assert facts == replace(FACTS, ended_at="2029", **unknown)
    assert facts.older
    assert not FACTS.older


def test_what_does_not_hold_for_a_summary_is_not_stored() -> None:
    content = SummarySnapshot().stored("a", len).content
    assert content.keys().isdisjoint(("facts", "writtenBy", "whyOffline", "cost", "replaces", "from"))
    zeros = SummarySnapshot(replaces=0, facts=replace(FACTS, cost=Decimal(0))).stored("a", len).content
    assert (zeros["replaces"], zeros["cost"], zeros["facts"]["cost"]) == (0, "0", "0")
    assert describe_summary(snapshot({})) == SummarySnapshot(cutoff=9)


def test_what_is_damaged_is_described_as_far_as_it_can_be_read() -> None:
    wrong: dict[str, Any] = dict.fromkeys(
        ("messageRange", "messages", "version", "tokensBefore", "tokensAfter", "replaces", "writtenBy"), "x"
    )
    assert describe_summary(snapshot({**wrong, "cost": "dear"})) == SummarySnapshot(cutoff=9)
    manual = CompactionFacts(trigger="manual")
    assert describe_summary(snapshot({**wrong, "trigger": "manual", "cost": "dear"})).facts == manual
    assert describe_summary(snapshot({"trigger": "manual", "facts": {"cost": "NaN", "passes": [3]}})).facts == manual
    assert describe_summary(snapshot({"cost": 3, "messageRange": {"first": "x"}})) == SummarySnapshot(cutoff=9)
    assert describe_summary(snapshot({"words": "", "summaryText": "As sent."})).words == "As sent."
    assert describe_summary(snapshot({"words": "Said.", "summaryText": "As sent."})).words == "Said."


def test_the_account_goes_before_a_marker_of_more_messages() -> None:
    assert WHOLE.folds == {ACCOUNT.handle: ACCOUNT, MARKER.handle: MARKER}
    assert (WHOLE.account, WHOLE.text, WHOLE.kept) == (ACCOUNT, ACCOUNT.text, [12, 17])
    fewer = Fold(("7",), None, EditKind.SUMMARIZED)
    assert SummarySnapshot(plan=(Pass("One", (MARKER, fewer)),)).account == MARKER
    cut = SummarySnapshot(plan=(Pass("One", (CUT,)),))
    assert (cut.account, cut.text) == (None, "")


def test_other_words_take_the_place_of_the_account_and_nothing_else_moves() -> None:
    seal = Seal("a key of the tests")
    new = Fold(("0", "1"), frame_account("Mine.", 5, Frame(seal=seal)), EditKind.SUMMARIZED, "user")
    assert WHOLE.reworded("Mine.", "edited", seal) == replace(
        WHOLE,
        plan=(Pass("One", (CUT,)), Pass("Two", (MARKER,)), Pass("Summary", (new,))),
        view=(new.handle, 12, MARKER.handle, 17),
        words="Mine.",
        number=4,
        revised="edited",
        facts=None,
    )


def test_where_there_was_no_account_the_words_come_first() -> None:
    cut = SummarySnapshot(plan=(Pass("One", (CUT,)),), view=(12, 17), cutoff=17, messages=1, role="user")
    new = Fold((), frame_account("Mine.", 1), EditKind.SUMMARIZED, "user")
    assert cut.reworded("Mine.", "imported") == replace(
        cut,
        plan=(*cut.plan, Pass("Summary", (new,))),
        view=(new.handle, 12, 17),
        words="Mine.",
        number=1,
        revised="imported",
    )


def test_a_summary_of_before_version_3_is_one_fold_without_a_place() -> None:
    fold = Fold(("summarized",), "What was said.", EditKind.SUMMARIZED, "assistant")
    assert read_summary(snapshot(OLD, version=2)) == SummarySnapshot(
        plan=(Pass("Summary", (fold,), merges=False),),
        view=(4, 6),
        cutoff=9,
        first=3,
        number=2,
        words="What was said.",
        role="assistant",
        placed=False,
        thoughtless=7,
    )
    bare = read_summary(snapshot({"kept": "no list", "thoughtless": "x"}, version=1))
    assert (bare.view, bare.thoughtless, bare.text, bare.role) == ((), None, "", "system")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"plan": "x"}, "its plan is damaged (TypeError: list expected, not str)"),
        ({"view": 3}, "its plan is damaged (TypeError"),
        ({"view": [True]}, "its plan is damaged (TypeError: True is no entry of a view)"),
        ({"view": [1.5]}, "its plan is damaged (TypeError: 1.5 is no entry of a view)"),
        ({"view": None}, "its plan is damaged (TypeError"),
        ({"view": [12, "fold-0"]}, "its plan has no fold-0"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_summary_and_what_helps(change: dict[str, Any], problem: str) -> None:
    content = {**WHOLE.stored("a", len).content, **change}
    with pytest.raises(StoredPlanMismatch) as caught:
        read_summary(snapshot(content))
    assert str(caught.value).startswith(f"summary 5 of session a cannot be used: {problem}")
    assert "Undo the summary" in str(caught.value)


def test_a_summary_without_a_view_is_damaged() -> None:
    content = dict(WHOLE.stored("a", len).content)
    del content["view"]
    with pytest.raises(StoredPlanMismatch, match=r"its plan is damaged \(KeyError: 'view'\)"):
        read_summary(snapshot(content))


def test_a_summary_of_a_later_version_is_refused() -> None:
    assert require_known(snapshot({})) == snapshot({})
    for read in (require_known, read_summary):
        with pytest.raises(NewerVersion, match=r"summary 5 of session a is of version 4, and this Compact reads .* 3"):
            read(snapshot({}, SNAPSHOT_VERSION + 1))


def test_the_words_of_an_account_are_those_in_its_frame() -> None:
    assert words_of(ACCOUNT.text) == "Tabs are skipped."
    assert words_of("⟨ 3 messages ⟩") == "⟨ 3 messages ⟩"


def cut(message: str, text: str, block: int = 0, lines: tuple[int, int] | None = None) -> Replace:
    return Replace(Where(message, block, lines=lines), text, EditKind.TRUNCATED)


def passes(*steps: tuple[Edit, ...]) -> Plan:
    return tuple(Pass(f"Pass {at}", step) for at, step in enumerate(steps))


def test_of_a_plan_those_edits_stand_whose_results_are_still_there() -> None:
    plan = (Pass("Pass 0", (ACCOUNT, CUT, cut("3", "x")), added=(ACCOUNT.handle,)), Pass("Pass 1", (MARKER,)))
    assert standing_edits(plan, {ACCOUNT.handle, "3"}) == (Pass("Pass 0", (ACCOUNT, cut("3", "x"))),)
    assert standing_edits(plan, {MARKER.handle, "2"}) == (Pass("Pass 0", (CUT,)), Pass("Pass 1", (MARKER,)))
    assert standing_edits(plan, set()) == ()


def test_an_edit_goes_that_a_later_one_of_the_whole_text_replaces() -> None:
    whole, lines, other = cut("2", "whole"), cut("2", "lines", lines=(0, 3)), cut("2", "other", block=1)
    drop = Drop(Where("2", 2), EditKind.BOUND_TO_SUMMARIZED)
    standing = {"2", ACCOUNT.handle}
    assert standing_edits(passes((CUT, other), (whole,)), standing) == (
        Pass("Pass 0", (other,)),
        Pass("Pass 1", (whole,)),
    )
    assert standing_edits(passes((CUT, lines), (ACCOUNT,), (whole,)), standing) == passes((), (ACCOUNT,), (whole,))[1:]
    # Lines of a text leave the rest of it; and where a block was dropped, the same place may be another one.
    assert standing_edits(passes((whole,), (lines,)), standing) == passes((whole,), (lines,))
    assert standing_edits(passes((CUT,), (drop,), (whole,)), standing) == passes((CUT,), (drop,), (whole,))
