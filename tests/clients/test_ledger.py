"""The law by which requests are held against each other."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.lab.ledger import Entry, Ledger, plain
from scripts.lab.project import NONCES

MARK = {"cache_control": {"type": "ephemeral"}}


def chat(*texts: str, **beside: str) -> dict[str, Any]:
    return {**beside, "messages": [{"role": "user", "content": text} for text in texts]}


def ledger(*pairs: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]) -> Ledger:
    found = Ledger()
    for written, sent, more in pairs:
        found.add(Entry(written, sent, **{"tokens": 100, **more}))
    return found


def same(*bodies: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    return [(body, body, {}) for body in bodies]


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


@pytest.mark.parametrize(
    "bodies",
    [
        [chat("a"), chat("a", "b"), chat("a", "b", "c")],
        [chat("a", "tail"), chat("a", "b", "tail"), chat("a", "b", "c", "tail")],
        [{"messages": [block("a", **MARK)]}, {"messages": [block("a"), block("b", **MARK)]}],
        [{"messages": [block("a", **MARK)]}, {"messages": [{"role": "user", "content": "a"}, block("b", **MARK)]}],
    ],
)
def test_what_a_client_changes_breaks_nothing(bodies: list[dict[str, Any]]) -> None:
    found = ledger(*same(*bodies))
    assert (found.breaks, found.remarks) == ({}, [])


def test_a_mark_inside_a_result_may_move_and_one_in_a_tools_input_may_not() -> None:
    def result(**more: Any) -> dict[str, Any]:
        inner = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x", **more}]}
        return {"role": "user", "content": [inner]}

    def call(**given: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": given}]}

    moved = ledger(*same({"messages": [call(), result(**MARK)]}, {"messages": [call(), result(), block("b")]}))
    assert moved.breaks == {}
    first, second = {"messages": [call(**MARK)]}, {"messages": [call(), block("b")]}
    assert ledger((first, first, {}), (first, second, {})).breaks == {"none": 1}


def test_a_break_has_a_cause_or_is_remarked() -> None:
    first, second = chat("a", "b"), chat("a", "b", "c")
    cut = chat("summary", "c")
    begun: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = (first, first, {})
    assert ledger(begun, (second, cut, {"compacted": True})).breaks == {"compaction": 1}
    assert ledger(begun, (second, cut, {"claimed": "undo"})).breaks == {"undo": 1}
    assert ledger(begun, (second, cut, {"claimed": "client_rewrote"})).breaks == {"none": 1}
    found = ledger(begun, (second, cut, {}))
    assert (found.breaks, found.remarks) == (
        {"none": 1},
        ["request 1 repeats 1 of 3 messages, of which the client changed 0"],
    )
    changed = chat("a", "B", "c")
    assert ledger(begun, (changed, cut, {"claimed": "client_rewrote"})).breaks == {"client_rewrote": 1}
    long = [*map(str, range(20))]
    rewritten = chat("0", *"xyz")
    assert ledger((chat(*long), chat(*long), {}), (rewritten, chat("s", *"xyz"), {})).breaks == {"client_rewrote": 1}


@pytest.mark.parametrize(
    ("compacted", "claimed", "remarks"),
    [
        (True, "compaction", []),
        (True, "", ["request 1 breaks by compaction, and is said to by nothing"]),
        (True, "client_rewrote", ["request 1 breaks by compaction, and is said to by client_rewrote"]),
        (False, "compaction", ["request 1 repeats 1 of 3 messages, of which the client changed 0"]),
    ],
)
def test_a_cause_that_is_told_wrongly_is_remarked(compacted: bool, claimed: str, remarks: list[str]) -> None:
    first, second, cut = chat("a", "b"), chat("a", "b", "c"), chat("summary", "c")
    found = ledger((first, first, {}), (second, cut, {"compacted": compacted, "claimed": claimed}))
    assert found.remarks == remarks


def test_a_break_that_is_told_and_does_not_happen_is_remarked() -> None:
    first, second = chat("a", "b"), chat("a", "b", "c")
    found = ledger((first, first, {}), (second, second, {"compacted": True, "claimed": "compaction"}))
    assert found.remarks == ["request 1 is said to break by a compaction, and does not break"]


def test_a_change_of_the_tools_is_the_clients() -> None:
    first, second = chat("a", tools="1"), chat("a", "b", tools="2")
    assert ledger(*same(first, second)).breaks == {}


def test_compactions_are_due_as_the_conversation_grows() -> None:
    body = chat("a")
    sizes = [(60, False), (90, False), (50, True), (80, False), (50, True)]
    found = ledger(*((body, body, {"tokens": size, "compacted": done}) for size, done in sizes))
    assert found.compactions == 2
    assert [found.due(grown) for grown in (0, 40, 41, 400)] == [1, 2, 3, 11]


def test_rules_and_the_shared_prefix_are_counted() -> None:
    written = chat(*NONCES)
    found = ledger((written, written, {}), (written, chat(*NONCES[:4]), {"compacted": True}))
    assert found.missing_rules() == 1
    assert 0.4 < found.prefix < 0.5


def test_a_plain_request_has_no_blocks_that_only_bear_marks() -> None:
    two = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", **MARK}]}
    asked = {"model": "m", "messages": [block("a", **MARK), two]}
    bare = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert plain(asked) == {"model": "m", "messages": [{"role": "user", "content": "a"}, bare]}
