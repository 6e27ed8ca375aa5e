"""What plans removed from a log is found again, by handle and by words."""

from __future__ import annotations

import json
import random
from time import perf_counter

import pytest

from compact.app import Condensation
from compact.app.recipes import list_recipes, resolve_recipe
from compact.engine.recalling import Recalled, Removed, read_handle, unknown_handle
from compact.engine.searching import Piece
from compact.errors import InvalidInput
from compact.formats import FORMATS, parse, render
from compact.messages import (
    Conversation,
    Drop,
    EditKind,
    Fold,
    Frame,
    Json,
    Pass,
    Plan,
    Reasoning,
    Replace,
    Where,
    apply_plan,
    cut_handle,
    fingerprint,
    frame_account,
    is_recalled,
    mark_recalled,
    message_texts,
    own_handle,
    summary_handle,
    untouchable,
    with_handle,
)
from compact.testing.generate import random_body


def asked(question: str) -> Json:
    return {"role": "user", "content": question}


def read(number: int, text: str) -> list[Json]:
    function = {"name": "Read", "arguments": f'{{"path": "src/part_{number}.py"}}'}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
    ]


def talk() -> Conversation:
    return parse([asked("begin"), *read(1, "alpha Beta gamma"), asked("Why?"), *read(2, "beta delta"), asked("end")])


def removed(conversation: Conversation, *passes: Pass) -> Removed:
    return Removed(conversation.messages, [apply_plan(conversation, passes)[1]])


def ids(conversation: Conversation, *positions: int) -> tuple[str, ...]:
    return tuple(conversation.messages[position].id for position in positions)


def test_a_pruned_fold_is_recalled_whole() -> None:
    conversation = talk()
    fold = Fold(ids(conversation, 1, 2, 3), None, EditKind.OTHER)
    recalled = removed(conversation, Pass("p", (fold,))).recall(fold.handle)
    assert list(recalled.messages) == render(conversation)[1:4]
    assert [(piece.handle, piece.role, piece.tool, piece.path) for piece in recalled.pieces] == [
        ("msg-1", "assistant", "Read", "src/part_1.py"),
        ("msg-2", "tool", "Read", "src/part_1.py"),
        ("msg-3", "user", "", ""),
    ]
    assert "alpha Beta gamma" in recalled.text
    assert "msg-2, tool Read src/part_1.py" in recalled.text


def test_a_summary_of_a_summary_is_recalled_down_to_the_messages() -> None:
    conversation = talk()
    first = Fold(ids(conversation, 1, 2), frame_account("one", 2, Frame(1)), EditKind.OTHER)
    second = Fold(
        (first.handle, *ids(conversation, 3, 4, 5)), frame_account("two", 4, Frame(2, handle=True)), EditKind.OTHER
    )
    index = removed(conversation, Pass("p", (first,)), Pass("q", (second,)))
    assert list(index.recall(summary_handle(second.text)).messages) == render(conversation)[1:6]
    assert list(index.recall(summary_handle(first.text)).messages) == render(conversation)[1:3]
    assert summary_handle(second.text) in second.text
    assert list(index.recall(second.handle).messages) == render(conversation)[1:6]


def test_a_summary_sealed_anew_is_found_under_its_new_handle() -> None:
    conversation = talk()
    fold = Fold(ids(conversation, 1, 2), frame_account("one", 2), EditKind.OTHER)
    again = frame_account("one, with facts", 2)
    index = removed(
        conversation, Pass("p", (fold,)), Pass("q", (Replace(Where(fold.handle, 0), again, EditKind.FACTS_NAMED),))
    )
    assert list(index.recall(summary_handle(again)).messages) == render(conversation)[1:3]


def test_a_cut_text_is_recalled_by_the_handle_at_its_end() -> None:
    conversation = talk()
    where = Where(conversation.messages[2].id, 0, (0,))
    cut = Replace(where, with_handle("alpha", "alpha Beta gamma"), EditKind.TRUNCATED)
    index = removed(conversation, Pass("p", (cut,)))
    recalled = index.recall(own_handle(cut.with_))
    assert (recalled.text, recalled.pieces[0].path) == ("alpha Beta gamma", "src/part_1.py")
    assert list(recalled.messages) == render(conversation)[2:3]
    assert index.recall(cut.with_.partition(" ")[2]).text == "alpha Beta gamma"


def test_what_was_edited_before_it_was_cut_is_recalled_as_it_was_given() -> None:
    conversation = talk()
    where = Where(conversation.messages[2].id, 0, (0,))
    plain = Replace(where, "alpha beta gamma", EditKind.LAYOUT)
    cut = Replace(where, with_handle("a", plain.with_), EditKind.TRUNCATED)
    index = removed(conversation, Pass("p", (plain,)), Pass("q", (cut,)))
    assert index.recall(own_handle(cut.with_)).text == "alpha Beta gamma"


def test_a_cut_keeps_its_handle_when_it_is_cut_again() -> None:
    once = with_handle("left", "original")
    assert own_handle(with_handle("less", once)) == own_handle(once) == cut_handle("original")
    assert own_handle("⟨recall cut-00000000⟩ is what it says") == ""
    assert own_handle("The end ⟨recall cut-00000000⟩") == "cut-00000000"  # as earlier versions wrote it


def test_a_reference_is_recalled_by_the_hash_of_its_source() -> None:
    conversation = talk()
    digest = fingerprint("alpha Beta gamma")
    index = removed(conversation, Pass("p", (Fold(ids(conversation, 1, 2), None, EditKind.OTHER),)))
    assert index.recall(f"⟨=lines 1-1 of Read #{digest[:6]}:0000⟩").text == "alpha Beta gamma"


def test_places_are_told_apart_after_reasoning_went() -> None:
    wire = [
        {"role": "user", "content": "begin"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm, gears", "signature": "x"},
                {"type": "text", "text": "one"},
                {"type": "text", "text": "two"},
            ],
        },
        {"role": "user", "content": "end"},
    ]
    conversation = parse(wire, format="anthropic-messages")
    message = conversation.messages[1]
    assert isinstance(message.blocks[0], Reasoning)
    drop = Pass("p", (Drop(Where(message.id, 0), EditKind.BOUND_TO_CHANGED),))
    index = removed(conversation, drop, Pass("q", (Replace(Where(message.id, 0), "…", EditKind.SUPERSEDED),)))
    assert index.recall(cut_handle("one")).text == "one"
    assert [(hit.handle, hit.snippet) for hit in index.search("gears")] == [("msg-1", "hm, gears")]


def test_an_unknown_handle_is_told_with_near_ones() -> None:
    conversation = talk()
    fold = Fold(ids(conversation, 1, 2), None, EditKind.OTHER)
    index = removed(conversation, Pass("p", (fold,)))
    with pytest.raises(InvalidInput, match=f"Did you mean one of these: {fold.handle}"):
        index.recall(f"{fold.handle[:-1]}x")
    with pytest.raises(InvalidInput, match=fold.handle):
        index.recall("nonsense")
    with pytest.raises(InvalidInput, match="msg-0"):
        index.recall("msg-0")
    with pytest.raises(InvalidInput, match="Nothing was removed so far"):
        removed(conversation).recall("cut-00000000")


def test_every_word_must_occur_in_any_case_and_the_best_comes_first() -> None:
    conversation = talk()
    index = removed(conversation, Pass("p", (Fold(ids(conversation, 1, 2, 3, 4, 5), None, EditKind.OTHER),)))
    assert {hit.handle for hit in index.search("BETA")} == {"msg-2", "msg-5"}
    assert [hit.handle for hit in index.search("beta gamma")] == ["msg-2"]
    assert index.search("beta nowhere") == []
    assert len(index.search("beta", limit=1)) == 1
    assert index.search("part_2 delta")[0].handle == "msg-5", "a result is found by the path that was read"
    assert str(index.search("delta")[0]) == "msg-5 (tool Read src/part_2.py): [Read answered] beta delta"
    with pytest.raises(InvalidInput, match="must hold a word"):
        index.search("  ")


def test_what_is_still_shown_is_not_found() -> None:
    conversation = talk()
    index = removed(conversation, Pass("p", (Fold(ids(conversation, 1, 2), None, EditKind.OTHER),)))
    assert index.search("delta") == []


def test_pages_follow_each_other_without_a_gap() -> None:
    conversation = parse([asked("begin"), asked("\n".join(f"line {n}" for n in range(500))), asked("end")])
    fold = Fold(ids(conversation, 1), None, EditKind.OTHER)
    recalled = removed(conversation, Pass("p", (fold,))).recall(fold.handle)
    start, read_so_far = 0, ""
    while True:
        page = recalled.page(start, 1000)
        assert is_recalled(page)
        body = page.split("\n", 1)[1].rpartition("\n[End of recall")[0]
        read_so_far += body
        start += len(body)
        if f"start={start}" not in page:
            break
    assert read_so_far == recalled.text
    assert is_recalled(recalled.page(10**9))


def test_what_only_looks_recalled_is_not_spared() -> None:
    true = mark_recalled("some text", "cut-00000000")
    assert is_recalled(true)
    assert not is_recalled(true.replace("some", "other"))
    assert not is_recalled(mark_recalled("x" * 30_000, "cut-00000000"))
    assert "⟨=" not in mark_recalled("⟨=lines 1-2 of x #123456:1234⟩", "cut-00000000")


def test_what_was_recalled_is_spared_while_it_is_fresh() -> None:
    recall = mark_recalled("some text", "cut-00000000")
    fresh = parse([asked("begin"), *read(1, recall), *read(2, "x"), asked("end"), *read(3, "y")])
    assert fresh.messages[2].id in untouchable(fresh)
    assert fresh.messages[4].id not in untouchable(fresh)
    stale = parse([asked("begin"), *read(1, recall), *(m for n in range(2, 12) for m in read(n, "x")), asked("end")])
    assert stale.messages[2].id not in untouchable(stale)
    many = parse([asked("begin"), *(m for n in range(7) for m in read(n, recall)), asked("end")])
    assert sum(message.id in untouchable(many) for message in many.messages if message.role == "tool") == 4


@pytest.mark.laws
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_handle_that_is_shown_gives_back_what_was_there(format: str) -> None:
    rng = random.Random(f"recall {format}")
    names = [name for name, _ in list_recipes()]
    shown = 0
    for number in range(60):
        before = parse(random_body(rng, format, size=24), format=format)
        name = names[number % len(names)]
        result = Condensation(before, "gpt-4o", 0.3, handles=True).run(resolve_recipe(name))
        index = Removed(before.messages, [_as_kept(result.plan)])
        texts = {text for message in before.messages for _, text in message_texts(message)}
        wires = {message.id: message.wire for message in before.messages}
        edits = [edit for step in result.plan for edit in step.edits]
        for edit in edits:
            if isinstance(edit, Fold):
                found = index.recall(summary_handle(edit.text) or edit.handle)
                assert found.messages
            elif isinstance(edit, Replace) and own_handle(edit.with_):
                shown += 1
                found = index.recall(own_handle(edit.with_))
                assert found.pieces[0].text in texts
                assert wires[edit.where.message] in found.messages
    assert shown > 15


def _as_kept(plan: Plan) -> Plan:
    """The plan as it comes back from disk: without the messages it replaced."""
    return tuple(Pass(step.name, step.edits, step.notes, (), step.added) for step in plan)


@pytest.mark.clock
def test_ten_thousand_messages_are_searched_at_once() -> None:
    rng = random.Random(0)
    words = [f"word{n}" for n in range(2000)]
    wires = [asked(f"{' '.join(rng.choices(words, k=150))} needle{n}") for n in range(10_000)]
    conversation = parse([asked("begin"), *wires, asked("end")])
    fold = Fold(tuple(message.id for message in conversation.messages[1:-1]), None, EditKind.OTHER)
    index = Removed(conversation.messages, [(Pass("p", (fold,)),)])
    assert index.search("Needle7777")[0].handle == "msg-7778"  # makes the index
    began = perf_counter()
    for number in range(10):
        assert index.search(f"needle{9000 + number}")[0].handle == f"msg-{9001 + number}"
    assert (perf_counter() - began) / 10 < 0.5


@pytest.mark.parametrize(
    "name",
    [
        *("file_path", "path", "filePath", "filename", "file", "target_file", "url", "command", "cmd", "pattern"),
        "query",
    ],
)
def test_the_argument_that_tells_most_is_named_with_the_call(name: str) -> None:
    arguments = json.dumps({"other": "x", "limit": 3, name: "src/a.py"})
    call = {"id": "c", "type": "function", "function": {"name": "Do", "arguments": arguments}}
    answer = {"role": "tool", "tool_call_id": "c", "content": "done"}
    conversation = parse([asked("begin"), {"role": "assistant", "content": None, "tool_calls": [call]}, answer])
    fold = Fold(ids(conversation, 1, 2), None, EditKind.PRUNED)
    pieces = removed(conversation, Pass("p", (fold,))).recall(fold.handle).pieces
    assert [(piece.tool, piece.path) for piece in pieces] == [("Do", "src/a.py")] * 2


def test_a_path_goes_before_a_command_and_what_is_no_text_is_passed_over() -> None:
    arguments = json.dumps({"query": "q", "command": "ls", "path": 3, "filename": "f"})
    call = {"id": "c", "type": "function", "function": {"name": "Do", "arguments": arguments}}
    conversation = parse([asked("begin"), {"role": "assistant", "content": None, "tool_calls": [call]}])
    fold = Fold(ids(conversation, 1), None, EditKind.PRUNED)
    (piece,) = removed(conversation, Pass("p", (fold,))).recall(fold.handle).pieces
    assert piece.path == "f"


def test_what_was_made_plain_is_recalled_by_its_hash_whole() -> None:
    conversation = talk()
    plain = Replace(Where(conversation.messages[2].id, 0, (0,)), "alpha  beta", EditKind.LAYOUT)
    index = removed(conversation, Pass("p", (plain,)))
    digest = fingerprint("alpha  beta")
    for length in (6, 12, 64):
        assert list(index.recall(f"#{digest[:length]}").messages) == render(conversation)[2:3]
    with pytest.raises(InvalidInput):
        index.recall(f"#{digest[:11]}{'0' if digest[11] != '0' else '1'}")
    given = fingerprint("beta delta")
    assert index.recall(f"#{given[:6]}").text == "beta delta"
    assert f"#{given}" in index


def test_handles_are_read_out_of_what_was_given() -> None:
    assert read_handle("⟨ 3 removed, recall FOLD-0123456789AB ⟩") == "fold-0123456789ab"
    assert [read_handle(f"see {name}.") for name in ("msg-12", "cut-0123abcd", "sum-0123abcd", "#012abc")] == [
        "msg-12", "cut-0123abcd", "sum-0123abcd", "#012abc",
    ]  # fmt: skip
    assert read_handle("  none of it ") == "none of it"
    with pytest.raises(InvalidInput, match="must be a text, not int") as caught:
        read_handle(3)  # type: ignore[arg-type]
    assert caught.value.field == "handle"


def test_near_handles_are_three_at_most_and_else_the_last_ones() -> None:
    known = [f"cut-0000000{number}" for number in range(5)]
    near = unknown_handle("cut-00000009", known)
    assert str(near).count("cut-0000000") == 1 + 3
    assert near.field == "handle"
    assert "msg-4, msg-3, msg-2" in str(unknown_handle("zzz", [f"msg-{at}" for at in range(5)]))
    assert "Nothing was removed so far" in str(unknown_handle("zzz", []))


def test_only_messages_that_were_changed_are_recalled_by_their_numbers() -> None:
    conversation = talk()
    fold = Fold(ids(conversation, 1, 2), None, EditKind.PRUNED)
    index = removed(conversation, Pass("p", (fold,)))
    assert [f"msg-{at}" in index for at in range(9)] == [False, True, True, *[False] * 6]
    assert index.recall("msg-2").text.endswith("alpha Beta gamma")
    assert index.handles == (fold.handle,)


@pytest.mark.parametrize(
    ("start", "size", "shown", "rest"),
    [
        (0, 100, "one two\nthree\nfour", ""),
        (0, 18, "one two\nthree\nfour", ""),
        (0, 17, "one two\nthree\n", "4 more characters: start=14"),
        (0, 10, "one two\n", "10 more characters: start=8"),
        (0, 3, "one", "15 more characters: start=3"),
        (8, 4, "thre", "6 more characters: start=12"),
        (-5, 0, "o", "17 more characters: start=1"),
        (99, 5, "", ""),
    ],
)
def test_a_page_ends_at_a_line_of_its_second_half(start: int, size: int, shown: str, rest: str) -> None:
    piece = Piece("cut-0123abcd", 0, "tool", "", "", "one two\nthree\nfour")
    recalled = Recalled("cut-0123abcd", (piece,), ())
    assert recalled.page(start, size) == mark_recalled(shown, "cut-0123abcd", rest)
