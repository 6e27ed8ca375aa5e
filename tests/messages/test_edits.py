"""What each edit does, and which edits are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from compact.errors import EditError
from compact.formats import parse, render
from compact.messages import (
    Conversation,
    Drop,
    Edit,
    EditKind,
    Fold,
    Json,
    Pass,
    Reasoning,
    Replace,
    Where,
    apply,
    plan_from_json,
    plan_to_json,
    restore,
)

USER = {"role": "user", "content": "one\ntwo\nthree"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
SOURCE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def chat(arguments: Json = '{"path": "a.py", "lines": [1, 2], "inner": {"deep": "text"}}') -> Conversation:
    function = {"name": "f", "arguments": arguments}
    return parse(
        [
            USER,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "out"}, {"type": "odd"}]},
            {"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE, {"type": "hologram", "x": 1}]},
        ],
        format="openai-chat",
    )


def anthropic(*blocks: Json) -> Conversation:
    return parse([USER, {"role": "assistant", "content": list(blocks)}, USER], format="anthropic-messages")


def run(conversation: Conversation, *edits: Edit) -> list[Json]:
    after, done = apply(conversation, Pass("test", edits))
    assert restore(after, (done,)) == conversation
    return render(after)


def put(where: Where, text: str = "new") -> Replace:
    return Replace(where, text, EditKind.OTHER)


def drop(block: int) -> Drop:
    return Drop(Where("1", block), EditKind.OTHER)


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
TEXT = {"type": "text", "text": "said"}


def test_spans_of_lines_are_replaced_from_one_reading_of_the_text() -> None:
    edits = put(Where("0", 0, (), (2, 3)), "c\nd"), put(Where("0", 0, (), (0, 1)), "a")
    assert run(chat(), *edits)[0] == {"role": "user", "content": "a\ntwo\nc\nd"}


def test_only_line_feeds_separate_lines() -> None:
    conversation = parse([{"role": "user", "content": "one\r\ntwo\x0bthree\u2028four\nfive"}], format="openai-chat")
    assert run(conversation, put(Where("0", 0, (), (1, 2))))[0]["content"] == "one\r\nnew\nfive"


def test_encoded_arguments_are_spliced_and_objects_are_patched() -> None:
    edits = put(Where("1", 0, ("inner", "deep"))), put(Where("1", 0, ("lines", 1)), "é")
    function = run(chat(), *edits)[1]["tool_calls"][0]["function"]
    assert function["arguments"] == '{"path": "a.py", "lines": [1, "é"], "inner": {"deep": "new"}}'
    edits = put(Where("1", 0, ("inner", "deep"))), put(Where("1", 0, ("lines", 1)))
    function = run(chat({"lines": [1, 2], "inner": {"deep": "x"}}), *edits)[1]["tool_calls"][0]["function"]
    assert json.dumps(function["arguments"]) == '{"lines": [1, "new"], "inner": {"deep": "new"}}'


def test_a_picture_becomes_text() -> None:
    assert run(chat(), put(Where("3", 1)))[3]["content"][1] == {"type": "text", "text": "new"}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "source": SOURCE}, TEXT]}
    conversation = parse([{"role": "user", "content": [result]}])
    assert run(conversation, put(Where("0", 0, (0,))))[0]["content"][0]["content"] == [
        {"type": "text", "text": "new"},
        TEXT,
    ]


def test_dropped_reasoning_takes_nothing_else_along() -> None:
    second = {"type": "redacted_thinking", "data": "x"}
    conversation = anthropic(THINKING, second, TEXT)
    assert run(conversation, drop(0), drop(1))[1]["content"] == [TEXT]
    assert run(conversation, drop(1), put(Where("1", 2)))[1]["content"] == [THINKING, {"type": "text", "text": "new"}]


def test_a_message_of_reasoning_only_goes_with_it() -> None:
    assert run(anthropic(THINKING), drop(0)) == [USER, USER]
    items = [USER, {"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "assistant", "content": "x"}]
    assert run(parse(items, format="openai-responses"), drop(0)) == [items[0], items[2]]


def test_reasoning_that_a_server_sends_under_two_names_goes_from_both() -> None:
    message = {"role": "assistant", "content": "so", "reasoning": "hm", "reasoning_content": "hm"}
    conversation = parse([USER, message, USER], format="openai-chat")
    drops = [drop(index) for index, block in enumerate(conversation.messages[1].blocks) if isinstance(block, Reasoning)]
    assert run(conversation, *drops)[1] == {"role": "assistant", "content": "so"}


def test_an_edited_item_loses_the_id_that_names_its_unedited_form() -> None:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    after = run(parse([USER, item], format="openai-responses"), put(Where("1", 0)))
    assert after[1] == {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "new"}]}


def test_a_fold_without_text_says_how_many_messages_went_and_how_to_get_them_back() -> None:
    fold = Fold(("1", "2"), None, EditKind.OTHER)
    after = run(chat(), fold)
    assert after[1] == {"role": "assistant", "content": f"⟨ 2 earlier messages removed, recall {fold.handle} ⟩"}
    assert Fold(("1",), None, EditKind.OTHER).text.startswith("⟨ 1 earlier message removed, recall fold-")


def test_the_handle_depends_on_what_is_folded_and_what_it_becomes_alone() -> None:
    fold = Fold(("1", "2"), "summary", EditKind.OTHER)
    assert fold.handle == Fold(("1", "2"), "summary", EditKind.SUMMARIZED).handle
    others = [
        Fold(("1",), "summary", EditKind.OTHER),
        Fold(("1", "2"), None, EditKind.OTHER),
        Fold(("1", "2"), "summary", EditKind.OTHER, "user"),
    ]
    assert len({fold.handle, *(other.handle for other in others)}) == 4
    assert Fold(("1",), "\ud800", EditKind.OTHER).handle.startswith("fold-")


def test_the_values_of_kinds_stand_in_stored_plans() -> None:
    assert {kind.name: kind.value for kind in EditKind} == snapshot(
        {
            "LAYOUT": "layout",
            "SHOWN_BEFORE": "shown before",
            "SOURCE_REMOVED": "its source was removed",
            "REFERENCE_FOLLOWED": "reference followed",
            "SUPERSEDED": "superseded",
            "TRUNCATED": "truncated",
            "SUPPRESSED": "suppressed",
            "SUMMARIZED": "summarized",
            "PRUNED": "pruned",
            "OVER_LIMIT": "over the limit",
            "FACTS_NAMED": "missing facts named",
            "BOUND_TO_CHANGED": "bound to what was changed",
            "BOUND_TO_SUMMARIZED": "bound to what was summarized",
            "OTHER": "changed",
        }
    )


def test_a_kind_says_whether_its_text_is_still_shown() -> None:
    assert {kind for kind in EditKind if kind.shows_all} == {
        EditKind.LAYOUT,
        EditKind.SHOWN_BEFORE,
        EditKind.SOURCE_REMOVED,
        EditKind.REFERENCE_FOLLOWED,
    }
    assert [kind for kind in EditKind if kind.looks_ahead] == [EditKind.SUPERSEDED]


@pytest.mark.parametrize("kind", EditKind)
def test_a_plan_is_read_as_it_was_written(kind: EditKind) -> None:
    plan = (Pass("p", (Replace(Where("1", 0), "x", kind), Fold(("2",), None, kind), Drop(Where("3", 0), kind))),)
    told: Json = plan_to_json(plan)
    assert [edit["why"] for edit in told[0]["edits"]] == [kind.value] * 3
    assert plan_from_json(json.loads(json.dumps(told))) == plan


@pytest.mark.parametrize(
    ("said", "kind"),
    [("truncated", EditKind.TRUNCATED), ("too long", EditKind.OTHER), ("", EditKind.OTHER), (None, EditKind.OTHER)],
)
def test_a_provider_may_give_a_string_as_the_kind(said: Any, kind: EditKind) -> None:
    edits: list[Edit] = [Replace(Where("1", 0), "x", said), Fold(("1",), None, said), Drop(Where("1", 0), said)]
    assert all(edit.kind is kind for edit in edits)


def test_a_kind_in_a_stored_plan_that_is_not_known_is_another() -> None:
    written: Json = plan_to_json((Pass("p", (put(Where("1", 0)),)),))
    written[0]["edits"][0]["why"] = "of a later version"
    assert plan_from_json(written)[0].edits[0].kind is EditKind.OTHER


def test_folds_in_one_place_stand_in_the_order_of_time() -> None:
    messages = [{"role": role, "content": str(index)} for index, role in enumerate(["user", "assistant"] * 4)]
    conversation = parse(messages, format="openai-chat")
    after = run(
        conversation,
        Fold(("2",), "B", EditKind.OTHER),
        Fold(("1",), "A", EditKind.OTHER),
        Fold(("4", "5"), "C", EditKind.OTHER),
    )
    assert [message["content"] for message in after] == ["0", "A", "B", "3", "C", "6", "7"]


def test_a_fold_does_not_come_before_the_message_that_it_stands_behind() -> None:
    messages = [{"role": role, "content": str(index)} for index, role in enumerate(["user", "assistant"] * 4)]
    conversation = parse(messages, format="openai-chat")
    folds = {behind: Fold(("0", "1", "3", "5"), "A", EditKind.OTHER, behind=behind) for behind in ("", "2", "7", "9")}
    after = {behind: [message["content"] for message in run(conversation, fold)] for behind, fold in folds.items()}
    assert after[""] == after["7"] == after["9"] == ["A", "2", "4", "6", "7"]
    assert after["2"] == ["2", "A", "4", "6", "7"]
    assert plan_from_json(plan_to_json((Pass("p", (folds["2"],)),))) == (Pass("p", (folds["2"],)),)


def test_a_fold_may_stand_where_the_first_of_its_messages_stood_ahead_of_system_messages() -> None:
    roles = ("user", "system", "assistant", "user", "assistant", "user")
    messages = [{"role": role, "content": str(index)} for index, role in enumerate(roles)]
    conversation = parse(messages, format="openai-chat")
    for first, expected in ((True, ["0", "A", "1", "3", "5"]), (False, ["0", "1", "A", "3", "5"])):
        after = run(conversation, Fold(("2", "4"), "A", EditKind.OTHER, first=first))
        assert [message["content"] for message in after] == expected


WRONG: dict[str, tuple[Conversation, tuple[Edit, ...]]] = {
    "no such message": (chat(), (put(Where("9", 0)),)),
    "no such message to fold": (chat(), (Fold(("0", "9"), None, EditKind.OTHER),)),
    "no such block": (chat(), (put(Where("0", 1)),)),
    "a negative block": (chat(), (put(Where("0", -1)),)),
    "a path into text": (chat(), (put(Where("0", 0, ("text",))),)),
    "a path into a picture": (chat(), (put(Where("3", 1, ("image_url",))),)),
    "no such argument": (chat(), (put(Where("1", 0, ("nothing",))),)),
    "no such item": (chat(), (put(Where("1", 0, ("lines", 2))),)),
    "a character of an argument": (chat(), (put(Where("1", 0, ("path", 0))),)),
    "a character of an argument in an object": (chat({"path": "a.py"}), (put(Where("1", 0, ("path", 0))),)),
    "all arguments": (chat(), (put(Where("1", 0)),)),
    "arguments that do not decode": (chat("{"), (put(Where("1", 0, ("path",))),)),
    "what names a call that has no arguments": (
        parse([USER, {"type": "function_call", "call_id": "a", "name": "f"}], format="openai-responses"),
        (put(Where("1", 0, ("call_id",))),),
    ),
    "a result itself": (chat(), (put(Where("2", 0)),)),
    "no such part": (chat(), (put(Where("2", 0, (2,))),)),
    "a negative part": (chat(), (put(Where("2", 0, (-1,))),)),
    "a path into a part": (chat(), (put(Where("2", 0, (0, "text"))),)),
    "a part of unknown kind": (chat(), (put(Where("2", 0, (1,))),)),
    "a block of unknown kind": (chat(), (put(Where("3", 2)),)),
    "reasoning": (anthropic(THINKING, TEXT), (put(Where("1", 0)),)),
    "lines of a picture": (chat(), (put(Where("3", 1, (), (0, 1))),)),
    "lines of a number": (chat(), (put(Where("1", 0, ("lines", 0), (0, 1))),)),
    "lines past the end": (chat(), (put(Where("0", 0, (), (2, 4))),)),
    "lines backwards": (chat(), (put(Where("0", 0, (), (2, 1))),)),
    "no lines": (chat(), (put(Where("0", 0, (), (1, 1))),)),
    "negative lines": (chat(), (put(Where("0", 0, (), (-1, 1))),)),
    "overlapping lines": (chat(), (put(Where("0", 0, (), (0, 2))), put(Where("0", 0, (), (1, 3))))),
    "lines and the whole": (chat(), (put(Where("0", 0, (), (0, 1))), put(Where("0", 0)))),
    "the whole and lines": (chat(), (put(Where("0", 0)), put(Where("0", 0, (), (0, 1))))),
    "the same text twice": (chat(), (put(Where("0", 0)), put(Where("0", 0)))),
    "an argument and what is in it": (chat(), (put(Where("1", 0, ("inner",))), put(Where("1", 0, ("inner", "deep"))))),
    "a value and the argument it is in": (
        chat(),
        (put(Where("1", 0, ("inner", "deep"))), put(Where("1", 0, ("inner",)))),
    ),
    "a value and the object it is in": (
        chat({"inner": {"deep": "x"}}),
        (put(Where("1", 0, ("inner", "deep"))), put(Where("1", 0, ("inner",)))),
    ),
    "dropped text": (anthropic(THINKING, TEXT), (drop(1),)),
    "dropped twice": (anthropic(THINKING, TEXT), (drop(0), drop(0))),
    "dropped where nothing is": (anthropic(THINKING, TEXT), (drop(2),)),
    "lines of reasoning dropped": (anthropic(THINKING, TEXT), (Drop(Where("1", 0, (), (0, 1)), EditKind.OTHER),)),
    "a path in reasoning dropped": (anthropic(THINKING, TEXT), (Drop(Where("1", 0, ("thinking",)), EditKind.OTHER),)),
    "edited and dropped": (anthropic(THINKING, TEXT), (drop(0), put(Where("1", 0)))),
    "nothing folded": (chat(), (Fold((), None, EditKind.OTHER),)),
    "a message folded twice in one fold": (chat(), (Fold(("3", "3"), None, EditKind.OTHER),)),
    "a message folded by two folds": (
        chat(),
        (Fold(("3",), None, EditKind.OTHER), Fold(("0", "3"), None, EditKind.OTHER)),
    ),
    "half an exchange folded": (chat(), (Fold(("1",), None, EditKind.OTHER),)),
    "the other half folded": (chat(), (Fold(("0", "2"), None, EditKind.OTHER),)),
    "edited and folded": (chat(), (put(Where("0", 0)), Fold(("0",), None, EditKind.OTHER))),
    "dropped and folded": (anthropic(THINKING), (drop(0), Fold(("1",), None, EditKind.OTHER))),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_edit_that_addresses_nothing_or_gets_in_the_way_of_another_is_refused(name: str) -> None:
    conversation, edits = WRONG[name]
    before = json.dumps(render(conversation))
    with pytest.raises(EditError):
        apply(conversation, Pass("test", edits))
    assert json.dumps(render(conversation)) == before
