"""Whatever a plan does, it does only that, and it can be taken back."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import EditError
from compact.formats import FORMATS, parse, render
from compact.messages import (
    Conversation,
    Drop,
    Edit,
    EditKind,
    Fold,
    Json,
    Pass,
    Plan,
    Reasoning,
    Replace,
    Where,
    apply,
    apply_plan,
    exchanges,
    restore,
)
from compact.testing.strategies import bodies, hostile_messages
from tests.messages.plans import any_conversation, decoded, edited_by_hand, passes, plans, short_text, sites


def wires(conversation: Conversation) -> list[Json]:
    return [message.wire for message in conversation.messages]


def changes(step: Pass) -> dict[str, list[Replace | Drop]]:
    found = defaultdict(list)
    for edit in step.edits:
        if not isinstance(edit, Fold):
            found[edit.where.message].append(edit)
    return found


@given(plans())
def test_restoring_gives_the_original(made: tuple[Conversation, Conversation, Plan]) -> None:
    before, after, plan = made
    back = restore(after, plan)
    assert back == before
    assert json.dumps(wires(back)) == json.dumps(wires(before))
    assert all(now is then for now, then in zip(wires(back), wires(before), strict=True))


@given(plans(), st.integers(1, 3))
def test_messages_added_since_survive_restoring(made: tuple[Conversation, Conversation, Plan], count: int) -> None:
    before, after, plan = made
    wire = (
        {"role": "user", "parts": [{"text": "x"}]}
        if before.format == "google-gemini"
        else {"role": "user", "content": "x"}
    )
    added = tuple(before.dialect.parse_message(wire, str(len(before) + index)) for index in range(count))
    grown = after.with_messages([*after.messages, *added])
    assert restore(grown, plan).messages == (*before.messages, *added)


@given(plans())
def test_messages_keep_their_order_and_say_what_their_wire_object_says(
    made: tuple[Conversation, Conversation, Plan],
) -> None:
    before, after, _ = made
    position = {message.id: index for index, message in enumerate(before.messages)}
    kept = [position[message.id] for message in after.messages if message.id in position]
    assert kept == sorted(set(kept))
    assert len({message.id for message in after.messages}) == len(after)
    for message in after.messages:
        again = after.dialect.parse_message(message.wire, message.id)
        assert (again.blocks, again.role, again.name) == (message.blocks, message.role, message.name)


@given(plans())
def test_the_same_plan_gives_the_same_bytes(made: tuple[Conversation, Conversation, Plan]) -> None:
    before, after, plan = made
    assert apply_plan(before, plan) == (after, plan)
    bare = tuple(Pass(step.name, step.edits) for step in plan)
    again, done = apply_plan(before, bare)
    assert json.dumps(render(again)) == json.dumps(render(after))
    assert restore(again, done) == before


def test_a_plan_that_was_only_proposed_restores_nothing_and_says_so() -> None:
    before = parse([{"role": "user", "content": text} for text in ("a", "bb", "c")])
    proposed = Pass("x", (Replace(Where("1", 0), "b", EditKind.OTHER),))
    after, applied = apply(before, proposed)
    with pytest.raises(EditError, match="'x' was proposed but not applied"):
        restore(after, (proposed,))
    with pytest.raises(EditError, match="'x' belongs to another conversation"):
        restore(after.with_messages(()), (applied,))


@given(st.data())
def test_edits_change_what_they_address_and_nothing_else(data: st.DataObject) -> None:
    before = data.draw(any_conversation())
    step = data.draw(passes(before))
    untouched = json.dumps(wires(before))
    after, done = apply(before, step)
    now = {message.id: message for message in after.messages}
    folded = {id for edit in step.edits if isinstance(edit, Fold) for id in edit.messages}
    edited = changes(step)
    for message in before.messages:
        if message.id in folded:
            assert message.id not in now
        elif message.id not in edited:
            assert now[message.id] is message
        elif (expected := edited_by_hand(before.format, message, edited[message.id])) is None:
            assert message.id not in now
        else:
            assert decoded(message, now[message.id].wire) == expected
            assert now[message.id].protected == message.protected
    assert json.dumps(wires(before)) == untouched
    assert {message.id for _, message in done.originals} == {*folded, *edited}


@given(st.data())
def test_a_fold_stands_before_the_oldest_kept_message_that_nothing_pins(data: st.DataObject) -> None:
    before = data.draw(any_conversation())
    after, done = apply(before, data.draw(passes(before)))
    old = {message.id: index for index, message in enumerate(before.messages)}
    order = [old.get(message.id, -1) for message in after.messages]
    kept = set(order)
    groups = [[index for index in group if index in kept] for group in exchanges(before.messages)]
    first_user = next((index for index, message in enumerate(before.messages) if message.from_user), -1)
    for fold in (edit for edit in done.edits if isinstance(edit, Fold)):
        oldest, newest = (end(old[id] for id in fold.messages) for end in (min, max))
        pinned = {index for index, message in enumerate(before.messages) if message.protected} | {first_user}
        free = [index for index in sorted(kept) if index > newest or (index > oldest and index not in pinned)]
        target = free[0] if free else len(before)
        # Not inside an exchange: then before all of it.
        while inside := [group for group in groups if group and group[0] < target <= group[-1]]:
            target = inside[0][0]
        place = next(at for at, message in enumerate(after.messages) if message.id == fold.handle)
        assert all(index < target for index in order[:place])
        assert [index for index in order[place:] if index >= 0] == [index for index in sorted(kept) if index >= target]
    assert set(done.added) == {message.id for message in after.messages} - set(old)


@given(st.data())
def test_a_fold_never_stands_inside_an_exchange(data: st.DataObject) -> None:
    before = data.draw(any_conversation())
    after, done = apply(before, data.draw(passes(before)))
    place = {message.id: index for index, message in enumerate(after.messages)}
    for group in exchanges(before.messages):
        kept = [place[id] for index in group if (id := before.messages[index].id) in place]
        assert not any(min(kept) < place[added] < max(kept) for added in done.added if kept)


@given(st.data())
def test_protected_messages_and_the_first_user_message_stay_when_others_fold(data: st.DataObject) -> None:
    before = data.draw(any_conversation())
    fixed = [message for message in before.messages if message.protected]
    groups = [group for group in exchanges(before.messages) if not any(before.messages[i].protected for i in group)]
    chosen = [group for group in groups if data.draw(st.booleans())]
    if not chosen:
        return
    ids = tuple(before.messages[index].id for group in chosen for index in group)
    after, _ = apply(before, Pass("fold", (Fold(ids, None, EditKind.OTHER),)))
    assert [message for message in after.messages if message.protected and message.id in {m.id for m in fixed}] == fixed
    assert len(after) == len(before) - len(ids) + 1


@st.composite
def addresses(draw: st.DrawFn, conversation: Conversation) -> Where:
    """A place in the conversation, or near one."""
    steps: st.SearchStrategy[str | int] = st.sampled_from(("path", "a", "")) | st.integers(-2, 2)
    known = [where for message in conversation.messages for where, _ in sites(message)]
    ids = [message.id for message in conversation.messages]
    where = draw(st.sampled_from(known or [Where("0", 0)]))
    message = draw(st.sampled_from([*[where.message] * 8, *ids[:4], "99", ""]))
    block = draw(st.sampled_from([*[where.block] * 8, *range(-2, 6)]))
    path = (*where.path[: draw(st.integers(0, 3))], *draw(st.lists(steps, max_size=2)))
    lines = draw(st.none() | st.tuples(st.integers(-1, 3), st.integers(-1, 3)))
    return Where(message, block, path, lines)


@st.composite
def any_edit(draw: st.DrawFn, conversation: Conversation) -> Edit:
    match draw(st.sampled_from(("replace", "replace", "drop", "fold"))):
        case "replace":
            return Replace(draw(addresses(conversation)), draw(short_text), EditKind.OTHER)
        case "drop":
            return Drop(draw(addresses(conversation)), EditKind.OTHER)
    ids = [message.id for message in conversation.messages]
    return Fold(
        tuple(draw(st.lists(st.sampled_from([*ids, "99"]), max_size=4))), draw(st.none() | short_text), EditKind.OTHER
    )


def try_to_apply(before: Conversation, step: Pass) -> None:
    untouched = json.dumps(wires(before))
    try:
        after, done = apply(before, step)
    except EditError:
        return
    finally:
        assert json.dumps(wires(before)) == untouched
    assert restore(after, (done,)) == before
    for message in after.messages:
        assert after.dialect.parse_message(message.wire, message.id).blocks == message.blocks


@given(st.data())
def test_a_wrong_edit_is_an_edit_error_and_nothing_else(data: st.DataObject) -> None:
    before = data.draw(any_conversation())
    for _ in range(8):
        try_to_apply(before, Pass("fuzz", tuple(data.draw(st.lists(any_edit(before), max_size=3)))))


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_a_wrong_edit_of_hostile_messages_is_an_edit_error_and_nothing_else(format: str, data: st.DataObject) -> None:
    before = parse(data.draw(hostile_messages(format, size=4)), format=format)
    for _ in range(4):
        try_to_apply(before, Pass("fuzz", tuple(data.draw(st.lists(any_edit(before), max_size=3)))))


@given(st.data())
def test_plans_over_hostile_messages_are_taken_back_too(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FORMATS)))
    before = parse(data.draw(hostile_messages(name, size=4)), format=name)
    try_to_apply(before, data.draw(passes(before)))


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_when_all_reasoning_is_dropped_none_is_left(format: str, data: st.DataObject) -> None:
    messages = data.draw(hostile_messages(format) | bodies(format).map(lambda body: body[FORMATS[format].messages_key]))
    before = parse(messages, format=format)
    drops = [
        Drop(Where(message.id, position), EditKind.OTHER)
        for message in before.messages
        for position, block in enumerate(message.blocks)
        if isinstance(block, Reasoning)
    ]
    after, done = apply(before, Pass("drop", tuple(drops)))
    assert not any(isinstance(block, Reasoning) for message in after.messages for block in message.blocks)
    kept = [type(block) for message in before.messages for block in message.blocks if not isinstance(block, Reasoning)]
    assert [type(block) for message in after.messages for block in message.blocks] == kept
    assert restore(after, (done,)) == before


@pytest.mark.parametrize("value", [None, 3, ["a"], {"type": "text", "text": "a"}, b"a"])
@pytest.mark.parametrize("lines", [None, (0, 1)])
def test_only_a_text_takes_the_place_of_a_text(value: Json, lines: tuple[int, int] | None) -> None:
    conversation = parse([{"role": "user", "content": "one\ntwo"}])
    with pytest.raises(EditError, match=f"a replacement is a text, not {type(value).__name__}"):
        apply(conversation, Pass("wrong", (Replace(Where("0", 0, (), lines), value, EditKind.OTHER),)))


@pytest.mark.parametrize(
    "others",
    [(Replace(Where("1", 0), "x", EditKind.OTHER),), (Fold(("1", "2"), "again", EditKind.OTHER),)],
)
def test_a_fold_and_another_edit_of_the_same_message_overlap(others: tuple[Edit, ...]) -> None:
    conversation = parse([{"role": role, "content": f"{role} speaks"} for role in ("user", "assistant") * 2])
    fold = Fold(("0", "1"), "They spoke.", EditKind.OTHER)
    for edits in ((fold, *others), (*others, fold)):
        with pytest.raises(EditError, match=r"message '1': .* and another edit overlap"):
            apply(conversation, Pass("wrong", edits))
