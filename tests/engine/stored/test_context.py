"""What a request of a stored session is made of, in which order, and which counts of its messages hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from compact.app import counter_for
from compact.engine.stored.context import Assembled, assemble, believed, counter_name, fold_of
from compact.engine.stored.snapshots import SummarySnapshot
from compact.formats import parse, render, tools_of
from compact.messages import AccountItem, Drop, EditKind, Fold, Json, Pass, Replace, Where, frame_account
from compact.ports import Active, StoredMessage, StoredSession
from compact.tokens import Counter
from compact.tokens.counter import Meter

COUNTER = counter_for("gpt-4o")
ACCOUNT = Fold(("1", "2"), frame_account("Two messages.", 2), EditKind.SUMMARIZED, "system")
WORDS = ["Begin.", "Gladly.", "Mend it.", "Done.", "Again.", "Done again."]
WIRES: list[Json] = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(WORDS)]


def stored(position: int, wire: Json, *, pinned: bool = False, tokens: int = 1, counter: str = "") -> StoredMessage:
    """A message whose id is its position and 10."""
    raw = json.dumps(wire).encode()
    return StoredMessage(position + 10, "a", position, raw, wire["role"], tokens, counter, pinned)


def messages(wires: Sequence[Json], *positions: int, pinned: bool = False) -> tuple[StoredMessage, ...]:
    return tuple(stored(at, wires[at], pinned=pinned) for at in positions)


def session(format: str = "openai-chat", model: str = "gpt-4o", **given: Any) -> StoredSession:
    return StoredSession("a", model, format, **given)


def said(assembled: Assembled) -> list[str]:
    return [message.text for message in assembled.conversation.messages]


def placed(view: tuple[int | str, ...], cutoff: int, *edits: Any) -> SummarySnapshot:
    return SummarySnapshot(plan=(Pass("Summary", (ACCOUNT, *edits)),), view=view, cutoff=cutoff)


def test_a_message_that_a_fold_made_is_known_by_the_folds_handle() -> None:
    (message,) = parse(WIRES[:1], format="openai-chat").messages
    ids = ("fold-0123456789ab", "fold-0123456789ab.1", "7")
    assert [fold_of(replace(message, id=id)) for id in ids] == ["fold-0123456789ab", "fold-0123456789ab", "7"]


def test_without_a_summary_all_is_sent_in_order_and_the_input_last() -> None:
    recent = messages(WIRES, 0, 1)
    whole = assemble(Active(session(), None, (), recent), None, COUNTER, input=WIRES[2:3])
    assert render(whole.conversation) == WIRES[:3]
    assert (whole.plan, whole.made, whole.items, whole.summary) == ((), {}, {}, None)
    assert [one.id for one in whole.conversation.messages] == ["0", "1", "input-0"]
    assert [one.protected for one in whole.conversation.messages] == [False, False, True]
    assert (whole.input, list(whole.messages.values())) == ((WIRES[2],), list(recent))
    conversation = parse(WIRES[:3], format="openai-chat")
    assert whole.tokens == COUNTER.conversation(conversation).total


def test_system_and_tools_are_sent_and_counted() -> None:
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
    given = session(system="Be brief.", tools=[tool])
    whole = assemble(Active(given, None, (), messages(WIRES, 0)), None, COUNTER)
    conversation = parse(WIRES[:1], format="openai-chat", system="Be brief.", tools=[tool])
    assert [one.name for one in whole.tools] == ["read"]
    assert whole.tokens == COUNTER.conversation(conversation, tools_of(conversation)).total
    assert assemble(Active(session(tools="none"), None, (), ()), None, COUNTER).tools == ()


def test_what_the_view_names_stands_there_and_what_was_pinned_since_in_its_place() -> None:
    summary = placed((10, ACCOUNT.handle, 13), 13)
    kept, recent = messages(WIRES, 0, 3), messages(WIRES, 4, 5)
    whole = assemble(Active(session(), None, (), recent), summary, COUNTER, kept)
    assert said(whole) == ["Begin.", ACCOUNT.text, "Done.", "Again.", "Done again."]
    assert whole.plan == summary.plan
    (made,) = whole.made.items()
    assert made == (whole.conversation.messages[1].id, ACCOUNT)
    assert whole.conversation.messages[1].role == "system"
    assert not whole.conversation.messages[1].protected
    pinned = messages(WIRES, 0, 1, pinned=True)
    with_pins = assemble(Active(session(), None, pinned, recent), summary, COUNTER, kept)
    assert said(with_pins) == ["Begin.", "Gladly.", ACCOUNT.text, "Done.", "Again.", "Done again."]
    assert [one.protected for one in with_pins.conversation.messages] == [False, True, False, False, False, False]


def test_what_was_pinned_since_stands_ahead_of_an_account_at_the_end_of_the_view() -> None:
    summary = placed((10, ACCOUNT.handle), 12)
    pinned = messages(WIRES, 2, pinned=True)
    whole = assemble(Active(session(), None, pinned, messages(WIRES, 3)), summary, COUNTER, messages(WIRES, 0))
    assert said(whole) == ["Begin.", "Mend it.", ACCOUNT.text, "Done."]


def test_edits_are_made_of_what_is_stored_and_the_rest_is_believed() -> None:
    cut = Replace(Where("3", 0), "Short.", EditKind.TRUNCATED)
    name = counter_name(COUNTER)
    kept = [stored(0, WIRES[0], tokens=1000, counter=name), stored(3, WIRES[3], tokens=5000, counter=name)]
    other = stored(4, WIRES[4], tokens=20_000, counter="o200k_base*2@openai")
    whole = assemble(Active(session(), None, (), (other,)), placed((10, ACCOUNT.handle, 13), 13, cut), COUNTER, kept)
    assert said(whole) == ["Begin.", ACCOUNT.text, "Short.", "Again."]
    counted = sum(COUNTER.message(one) for one in whole.conversation.messages[1:])
    assert whole.tokens == COUNTER.frame(whole.conversation, ()) + 1000 + counted
    assert whole.originals["3"].text == "Done."


def test_the_items_of_accounts_are_found_by_their_messages() -> None:
    items = (AccountItem("Two messages.", ("1", "2")),)
    fold = replace(ACCOUNT, items=items)
    summary = SummarySnapshot(plan=(Pass("Summary", (fold,)),), view=(fold.handle,), cutoff=12)
    whole = assemble(Active(session(), None, (), messages(WIRES, 3)), summary, COUNTER)
    assert whole.items == {whole.conversation.messages[0].id: items}


def test_a_summary_without_a_place_stands_behind_what_is_pinned_first() -> None:
    old = replace(placed((), 13), placed=False)
    pinned, recent = messages(WIRES, 0, 2, pinned=True), messages(WIRES, 4, 5)
    whole = assemble(Active(session(), None, pinned, recent), old, COUNTER, messages(WIRES, 3))
    assert said(whole) == ["Begin.", "Mend it.", ACCOUNT.text, "Done.", "Again.", "Done again."]
    assert whole.summary == replace(old, view=(10, 12, ACCOUNT.handle, 13), placed=True)
    every = assemble(Active(session(), None, pinned, ()), old, COUNTER)
    assert said(every) == ["Begin.", "Mend it.", ACCOUNT.text]


def test_reasoning_that_an_old_summary_leaves_out_is_left_out_up_to_its_position() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    wires = [
        {**one, "content": [thought, {"type": "text", "text": one["content"]}]} if one["role"] == "assistant" else one
        for one in WIRES
    ]
    old = replace(placed((), 11), placed=False, thoughtless=3)
    recent = tuple(stored(at, wires[at]) for at in (2, 3, 4, 5))
    given = session("anthropic-messages", "claude-sonnet-4-5")
    whole = assemble(Active(given, None, (), recent), old, COUNTER)
    kinds = [[type(block).__name__ for block in one.blocks] for one in whole.conversation.messages[1:]]
    assert kinds == [["Text"], ["Text"], ["Text"], ["Reasoning", "Text"]]
    drop = Pass("Reasoning dropped", (Drop(Where("3", 0), EditKind.BOUND_TO_SUMMARIZED),), merges=False)
    assert whole.summary == replace(old, plan=(*old.plan, drop), view=(ACCOUNT.handle,), placed=True, thoughtless=None)
    kept = assemble(Active(given, None, (), recent), replace(old, thoughtless=None), COUNTER)
    assert kept.plan == old.plan


@pytest.mark.parametrize(
    ("name", "exact", "calibrated"),
    [
        ("o200k_base*1.2@mine", True, True),
        ("o200k_base*1.2@other", False, False),
        ("cl100k_base*1.2@mine", False, False),
        ("o200k_base*1.21@mine", False, True),
        ("o200k_base*1.189@mine", False, True),
        ("o200k_base*1.213@mine", False, False),
        ("o200k_base*1.187@mine", False, False),
        ("o200k_base", False, False),
    ],
)
def test_counts_hold_by_the_same_tokenizer_and_by_a_learned_factor_of_less_than_a_hundredth_off(
    name: str, *, exact: bool, calibrated: bool
) -> None:
    one = stored(0, WIRES[0], counter=name)
    meter = Meter("m", "mine", "o200k_base", 1.2)
    for held, holds in ((meter, exact), (replace(meter, precision="calibrated"), calibrated)):
        counter = Counter(held, len)
        assert counter_name(counter) == "o200k_base*1.2@mine"
        assert believed([one], counter) == ({name} if holds else set())
    assert believed([], COUNTER) == set()


def test_where_turns_alternate_an_account_between_takes_the_role_that_is_missing() -> None:
    fold = Fold(("1",), frame_account("One message.", 1), EditKind.SUMMARIZED, "assistant")
    summary = SummarySnapshot(plan=(Pass("Summary", (fold,)),), view=(10, fold.handle, 12), cutoff=12)
    given = session("google-gemini", "gemini-2.5-pro")
    wires = [
        {"role": "model" if one["role"] == "assistant" else "user", "parts": [{"text": one["content"]}]}
        for one in WIRES
    ]
    whole = assemble(
        Active(given, None, (), messages(wires, 3)), summary, counter_for(given.model), messages(wires, 0, 2)
    )
    assert [one.role for one in whole.conversation.messages] == ["user", "assistant", "user", "assistant"]
