"""No pass gets through that breaks what it must keep."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact import condense
from compact.errors import EditError
from compact.formats import FORMATS, parse, reject, render, violations
from compact.messages import (
    Block,
    Conversation,
    Drop,
    Edit,
    EditKind,
    Fold,
    Json,
    Message,
    Pass,
    Problem,
    Reasoning,
    Replace,
    Rules,
    Text,
    Violation,
    Where,
    apply,
    check,
    exchanges,
    frame_account,
    is_signed,
    protect,
    untouchable,
)
from compact.testing.strategies import conversations, hostile_messages
from tests.messages.plans import passes, sites
from tests.messages.test_references import pointing

LONG = "a long answer that says very little, again and again " * 4


def size(conversation: Conversation) -> int:
    return len(json.dumps(render(conversation)))


def problems(before: Conversation, after: Conversation) -> set[str]:
    return {problem.kind for problem in check(before, after, rules=reject, count=size)}


def chat(*messages: Json) -> Conversation:
    return parse(list(messages), format="openai-chat")


def say(role: str, text: str = LONG) -> Json:
    return {"role": role, "content": text}


def ask(id: str) -> Json:
    function = {"name": "f", "arguments": json.dumps({"text": LONG})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


def answer(id: str) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": LONG}


TALK = chat(
    say("system"),
    say("user"),
    say("assistant"),
    ask("a"),
    answer("a"),
    say("user"),
    say("assistant"),
    say("user"),
    ask("b"),
    answer("b"),
)


def without(conversation: Conversation, *ids: str) -> Conversation:
    return conversation.with_messages([message for message in conversation.messages if message.id not in ids])


def edited(conversation: Conversation, *edits: Edit) -> Conversation:
    return apply(conversation, Pass("test", edits))[0]


def shortened(conversation: Conversation, id: str) -> Conversation:
    message = next(message for message in conversation.messages if message.id == id)
    where = (
        Where(id, 0) if isinstance(message.blocks[0], Text) else Where(id, 0, (0,) if message.results else ("text",))
    )
    return edited(conversation, Replace(where, "x", EditKind.OTHER))


@pytest.mark.parametrize("id", ["2", "3", "4", "5", "6"])
def test_a_shorter_message_in_the_middle_may_stand(id: str) -> None:
    assert problems(TALK, shortened(TALK, id)) == set()


def test_folded_exchanges_may_stand() -> None:
    assert problems(TALK, edited(TALK, Fold(("2", "3", "4"), "They looked at it.", EditKind.OTHER))) == set()
    assert problems(TALK, edited(TALK, Fold(("2", "3", "4", "5", "6"), None, EditKind.OTHER, "user"))) == set()


@pytest.mark.parametrize("id", ["0", "1", "7", "8", "9"])
def test_system_prompt_first_and_last_user_message_and_current_step_may_not_change(id: str) -> None:
    assert problems(TALK, shortened(TALK, id)) == {"protected"}
    assert "protected" in problems(TALK, without(TALK, id))


def test_protected_messages_may_not_change() -> None:
    before = protect(TALK, [2])
    assert problems(before, shortened(before, "2")) == {"protected"}
    assert problems(before, edited(before, Fold(("2",), "x", EditKind.OTHER))) == {"protected"}
    assert problems(before, shortened(before, "6")) == set()


def test_a_summary_may_go_but_not_become_something_else() -> None:
    sealed = {"role": "user", "content": frame_account("They looked at it, and at much else.", 3)}
    before = parse([say("user"), say("assistant"), sealed, say("assistant"), say("user")])
    assert problems(before, shortened(before, "2")) == {"summary"}
    assert problems(before, edited(before, Replace(Where("2", 0), frame_account("Seen.", 3), EditKind.OTHER))) == set()
    assert problems(before, edited(before, Fold(("2", "3"), None, EditKind.OTHER))) == set()


def test_the_system_prompt_and_the_tools_beside_the_messages_may_not_change() -> None:
    body = {"system": "be brief", "tools": [{"name": "f"}], "messages": [say("user"), say("assistant"), say("user")]}
    before = parse(body, format="anthropic-messages")
    after = shortened(before, "1")
    assert problems(before, after) == set()
    assert problems(before, replace(after, system=None)) == {"protected"}
    assert problems(before, replace(after, tools=())) == {"protected"}


def test_messages_may_not_change_places_or_appear_twice() -> None:
    after = shortened(TALK, "6")
    first, *middle, last = after.messages
    swapped = after.with_messages([first, *middle[1::-1], *middle[2:], last])
    assert problems(TALK, swapped) == {"order"}
    assert "order" in problems(TALK, after.with_messages([*after.messages[:3], after.messages[2], *after.messages[3:]]))


def test_half_a_pair_may_not_go() -> None:
    assert problems(TALK, without(TALK, "4")) == {"pair", "invalid"}
    assert problems(TALK, without(TALK, "3")) == {"pair", "invalid"}


def test_a_pass_must_shrink_the_conversation() -> None:
    assert problems(TALK, TALK) == {"grew"}
    assert problems(TALK, edited(TALK, Replace(Where("2", 0), LONG * 2, EditKind.OTHER))) == {"grew"}


def thinking(text: str, signature: str = "sealed") -> Json:
    thought = {"type": "thinking", "thinking": text, "signature": signature}
    return {"role": "assistant", "content": [thought, {"type": "text", "text": LONG}]}


def thoughtful(middle: Json) -> Conversation:
    last = {"role": "user", "content": "last"}
    return parse([say("user"), middle, say("user"), say("assistant"), last], format="anthropic-messages")


@pytest.mark.parametrize("altered", [thinking("x"), thinking(LONG, "x")])
def test_reasoning_may_not_be_altered(altered: Json) -> None:
    before = thoughtful(thinking(LONG))
    assert "reasoning" in problems(before, thoughtful(altered))
    assert problems(before, thoughtful(say("assistant", "x"))) == set()


def test_reasoning_may_not_move_to_another_message() -> None:
    before = thoughtful(thinking(LONG))
    moved = [say("user"), say("assistant"), say("user"), thinking(LONG), {"role": "user", "content": "last"}]
    assert "reasoning" in problems(before, parse(moved, format="anthropic-messages"))


def signed(part: Json, *before: Json) -> Conversation:
    parts = [*before, {**part, "thoughtSignature": "s"}, {"text": LONG}]
    contents = [("user", [{"text": "Go."}]), ("model", parts), ("user", [{"text": "Go on."}])]
    return parse([{"role": role, "parts": inner} for role, inner in contents], format="google-gemini")


@pytest.mark.parametrize(
    ("part", "path"),
    [({"text": LONG}, ()), ({"functionCall": {"id": "c", "name": "f", "args": {"text": LONG}}}, ("text",))],
)
def test_what_is_signed_may_go_but_not_change(part: Json, path: tuple[str, ...]) -> None:
    before = signed(part)
    assert "reasoning" in problems(before, edited(before, Replace(Where("1", 0, path), "x", EditKind.OTHER)))
    assert "reasoning" not in problems(before, edited(before, Replace(Where("1", 1), "x", EditKind.OTHER)))
    assert "reasoning" not in problems(before, edited(before, Fold(("1",), "x", EditKind.OTHER)))
    thinking = signed(part, {"text": LONG, "thought": True})
    assert problems(thinking, edited(thinking, Drop(Where("1", 0), EditKind.OTHER))).isdisjoint({"reasoning"})


def test_a_reference_may_not_lose_what_it_stands_for() -> None:
    shown = "\n".join(f"{number}: a line that is shown twice" for number in range(40))
    told = chat(
        say("user"), say("assistant", shown), say("user"), say("assistant", shown), say("user"), say("assistant")
    )
    before = condense(told, recipe="lossless:verbatim").conversation
    assert before.messages[3].text != shown
    after = edited(before, Fold(("1", "2"), "They looked at it.", EditKind.OTHER))
    assert problems(before, after) == {"reference"}
    assert problems(before, edited(before, Fold(("5",), "x", EditKind.OTHER))) == set()


def one_rule(broken: Callable[[Message], bool]) -> Rules:
    def rules(_: Conversation, after: Conversation, only: Collection[str] | None) -> list[Violation]:
        assert only in (None, {"X1"})
        return [Violation("X1", i, f"messages.{i}", "fix it") for i, m in enumerate(after.messages) if broken(m)]

    return rules


def test_a_violation_that_was_there_before_is_not_blamed_on_the_pass() -> None:
    before = chat(say("user"), answer("nobody"), say("assistant"), say("user"), say("assistant"), say("user"))
    after = edited(before, Fold(("2",), "x", EditKind.OTHER))
    assert [violation.rule for violation in violations(before)] == ["C2"]
    assert problems(before, after) == set()
    assert problems(before, shortened(before, "4")) == set()


def test_a_second_violation_of_the_same_rule_is_blamed_on_the_pass() -> None:
    rules = one_rule(lambda message: message.text == "x")
    before = chat(say("user"), say("assistant", "x"), say("user"), say("assistant"), say("user"))
    found = check(before, shortened(before, "3"), rules=rules, count=size)
    assert found == (Problem("invalid", "X1: messages.3", "3"),)
    assert check(before, edited(before, Fold(("2",), "y", EditKind.OTHER)), rules=rules, count=size) == ()


def test_one_more_violation_in_the_same_message_is_blamed_on_the_pass() -> None:
    def rules(_: Conversation, after: Conversation, only: Collection[str] | None) -> list[Violation]:
        words = ((i, word) for i, message in enumerate(after.messages) for word in message.text.split())
        return [Violation("X1", i, f"messages.{i}", "fix it") for i, word in words if word == "bad"]

    before = chat(say("user"), say("assistant", "bad and long"), say("user"), say("assistant"), say("user"))

    def found(text: str) -> tuple[Problem, ...]:
        after = edited(before, Replace(Where("1", 0), text, EditKind.OTHER))
        return check(before, after, rules=rules, count=size)

    assert found("bad") == ()
    assert found("bad bad") == (Problem("invalid", "X1: messages.1", "1"),)


def test_what_a_reference_stands_for_may_not_go() -> None:
    source = "\n".join(f"line {number} of a text that is worth a reference" for number in range(20))
    shown = chat(
        say("user"), say("assistant", source), say("user"), say("assistant", pointing(source, 3, 9)), say("user")
    )
    assert problems(shown, shortened(shown, "2")) == set()
    assert problems(shown, shortened(shown, "1")) == {"reference"}
    assert problems(shown, edited(shown, Fold(("1", "2", "3"), None, EditKind.OTHER))) == set()
    lost = chat(say("user"), say("assistant"), say("user"), say("assistant", pointing(source, 3, 9)), say("user"))
    assert problems(lost, shortened(lost, "1")) == set()  # it led nowhere before


def test_rules_see_what_the_conversation_was_made_from() -> None:
    seen = []

    def rules(before: Conversation, after: Conversation, only: Collection[str] | None) -> list[Violation]:
        seen.append((before, after, only))
        return [Violation("X1", None, "never good", "give up")]

    after = shortened(TALK, "6")
    assert check(TALK, after, rules=rules, count=size) == ()
    assert seen == [(TALK, after, None), (TALK, TALK, {"X1"})]


def block_at(conversation: Conversation, where: Where) -> Block:
    return next(message for message in conversation.messages if message.id == where.message).blocks[where.block]


@st.composite
def shrunk(draw: st.DrawFn, format: str) -> tuple[Conversation, Conversation]:
    """A conversation, and one with the longest free text in it cut; or the same twice if there is none."""
    before = draw(conversations(format))
    fixed = untouchable(before)
    free = [site for message in before.messages if message.id not in fixed for site in sites(message)]
    texts = [
        where
        for where, text in free
        if text is not None and len(text) > 20 and not where.path and not is_signed(block_at(before, where))
    ]
    if not texts:
        return before, before
    return before, edited(before, Replace(draw(st.sampled_from(texts)), "cut", EditKind.OTHER))


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_a_cut_in_a_valid_conversation_may_stand(format: str, data: st.DataObject) -> None:
    before, after = data.draw(shrunk(format))
    bound = any(isinstance(block, Reasoning) for message in before.messages for block in message.blocks)
    if before != after and not (bound and before.options["model"] == "claude-fable-5-1"):
        assert check(before, after, rules=reject, count=size) == ()


# A system message between the others pins its neighbours, and bound thinking pins all before it. A message that ends
# the loop before a thoughtless one, or that parts the words of a Gemini model from its calls, cannot go. The caller
# has to choose another fold.
NOT_EVERYWHERE = {"A17", "A20", "A25", "G1"}


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize("role", ["assistant", "user"])
@given(st.data())
def test_folding_whole_exchanges_keeps_a_request_valid(format: str, role: str, data: st.DataObject) -> None:
    before = data.draw(conversations(format))
    fixed = untouchable(before)
    groups = [[before.messages[index].id for index in group] for group in exchanges(before.messages)]
    chosen = [id for group in groups if fixed.isdisjoint(group) and data.draw(st.booleans()) for id in group]
    if chosen:
        after = edited(before, Fold(tuple(chosen), "They went on.", EditKind.OTHER, role))
        assert {violation.rule for violation in reject(before, after)} <= NOT_EVERYWHERE


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_the_judgement_matches_what_was_done(format: str, data: st.DataObject) -> None:
    before = data.draw(conversations(format, size=8))
    step = data.draw(passes(before))
    after, done = apply(before, step)
    kinds = problems(before, after)
    touched = {message.id for _, message in done.originals}
    assert ("protected" in kinds) == bool(touched & untouchable(before))
    assert ("grew" in kinds) == (size(after) >= size(before))
    assert kinds.isdisjoint({"order", "pair"})
    signed = [edit for edit in step.edits if isinstance(edit, Replace) and is_signed(block_at(before, edit.where))]
    assert signed or "reasoning" not in kinds


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_hostile_messages_are_judged_without_an_accident(format: str, data: st.DataObject) -> None:
    before = parse(data.draw(hostile_messages(format)), format=format)
    groups = exchanges(before.messages)
    chosen = [group for group in groups if data.draw(st.booleans())]
    try:
        fold = Fold(tuple(before.messages[index].id for group in chosen for index in group), None, EditKind.OTHER)
        after = edited(before, fold)
    except EditError:
        assert not chosen
        return
    touched = {before.messages[index].id for group in chosen for index in group}
    assert ("protected" in problems(before, after)) == bool(touched & untouchable(before))
