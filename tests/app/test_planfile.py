"""Plan files: with one, the condensed file becomes the original again, byte for byte."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app.condensing import Condensation, Result
from compact.app.planfile import (
    PlanFile,
    dump_plan,
    load_plan,
    restore_conversation,
    restore_file,
    write_like,
)
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import read_transcript
from compact.errors import InvalidInput
from compact.formats import FORMATS
from compact.messages import Conversation, apply_plan, wires_of
from compact.testing.generate import random_body

TEXT = "\n".join(f"line {number} of the file, which is long enough to be worth a reference" for number in range(20))


def call(id: str, result: str) -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": '{"path": "a.py"}'}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Read it. é"},
    *call("c1", TEXT),
    {"role": "user", "content": "Again \u0000.", "meta": {"protected": True}},
    *call("c2", TEXT),
    *call("c3", TEXT + "\nand one line more"),
    {"role": "user", "content": "Thanks."},
]

LAYOUTS = {
    "python": json.dumps(CHAT),
    "compact": json.dumps(CHAT, separators=(",", ":"), ensure_ascii=False),
    "indented": json.dumps(CHAT, indent=2) + "\n",
    "indented by one": json.dumps(CHAT, indent=1, ensure_ascii=False),
    "tabs": json.dumps(CHAT, indent="\t") + "\n",
    "carriage returns": json.dumps(CHAT, indent=4).replace("\n", "\r\n") + "\r\n",
    "byte order mark": "\ufeff" + json.dumps(CHAT),
    "lines": "\n".join(map(json.dumps, CHAT)) + "\n",
    "lines with carriage returns": "\r\n".join(json.dumps(message, ensure_ascii=False) for message in CHAT),
    "request": json.dumps({"model": "m", "messages": CHAT, "temperature": 0.5}),
    "lone surrogate": json.dumps([*CHAT, {"role": "user", "content": "\ud800"}]),
    "delete": json.dumps([*CHAT, {"role": "user", "content": "\x7f"}], ensure_ascii=False),
}
ODD = {
    "uneven spaces": json.dumps(CHAT).replace('"role": "user"', '"role" :  "user"'),
    "blank lines": "\n\n".join(map(json.dumps, CHAT)),
    "another way to write a number": json.dumps({"messages": CHAT, "top_p": 1.0}).replace("1.0", "1e0"),
    "a key twice": json.dumps(CHAT).replace('"role": "system"', '"role": "tool", "role": "system"'),
    "a wrapper": json.dumps({"id": 1, "conversation": {"messages": CHAT}}),
    "capital escapes": json.dumps(CHAT).replace("\\u00e9", "\\u00E9"),
}


def condensed(data: bytes, **recipe: Any) -> tuple[Conversation, Result]:
    before = read_transcript(data)
    return before, Condensation(before, "gpt-4o", recipe.pop("target", None)).run(
        resolve_recipe(**{**RECIPE, **recipe})
    )


RECIPE: dict[str, Any] = {"provider": "lossless"}


def written(data: bytes, **recipe: Any) -> tuple[PlanFile, bytes]:
    """The plan as it is read from its file, and the condensed file."""
    before, result = condensed(data, **recipe)
    plan = load_plan(dump_plan(data, before, result, name="chat.json"))
    assert result.plan
    return plan, write_like(data, before, wires_of(result.conversation))


def restored(plan: PlanFile, file: bytes) -> bytes:
    return restore_file(read_transcript(file, format=plan.format), plan)


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_a_known_layout_is_reproduced(text: str) -> None:
    data = text.encode()
    plan, file = written(data)
    assert plan.layout is not None
    assert len(file) < len(data)
    assert restored(plan, file) == data
    assert read_transcript(file).options.keys() == read_transcript(data).options.keys()


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_of_any_other_layout_the_bytes_are_kept(text: str) -> None:
    plan, file = written(text.encode())
    assert plan.layout is None
    assert restored(plan, file) == text.encode()


def test_condensed_json_lines_stay_json_lines() -> None:
    _, file = written(LAYOUTS["lines"].encode())
    assert [json.loads(line)["role"] for line in file.decode().splitlines()] == [message["role"] for message in CHAT]


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@given(st.integers(0, 10_000), st.sampled_from(sorted(FORMATS)), st.sampled_from(["auto", "lossless", "cost", "v1"]))
def test_every_condensation_can_be_taken_back(seed: int, format: str, recipe: str) -> None:
    body = random_body(random.Random(seed), format)
    data = json.dumps(body, indent=2).encode()
    before = read_transcript(data, format=format)
    result = Condensation(before, "gpt-4o", None).run(resolve_recipe(recipe))
    plan = load_plan(dump_plan(data, before, result))
    assert restored(plan, write_like(data, before, wires_of(result.conversation))) == data
    assert apply_plan(before, plan.passes) == (result.conversation, result.plan)


def test_the_edits_come_back_as_they_were() -> None:
    data = LAYOUTS["python"].encode()
    for preset in ("balanced", "v2", "cost"):
        before, result = condensed(data, provider=None, preset=preset, target=200)
        plan = load_plan(dump_plan(data, before, result))
        assert [(step.name, step.notes, step.edits, step.added) for step in plan.passes] == [
            (step.name, step.notes, step.edits, step.added) for step in result.plan
        ]
        assert plan.report == result.report.to_json()


def test_an_original_is_stored_once() -> None:
    spaced = TEXT.replace("\n", "   \n\n\n\n")
    messages = [*CHAT[:2], *call("c1", spaced), *call("c2", spaced), CHAT[-1]]
    data = json.dumps(messages).encode()
    before, result = condensed(data, provider=None, preset="cost")
    touched = [message.id for step in result.plan for _, message in step.originals]
    assert len(touched) > len(set(touched)), "no message was changed by two passes"
    plan = json.loads(dump_plan(data, before, result))
    assert plan["originals"] == {id: messages[int(id)] for id in touched}
    assert len(json.dumps({**plan, "report": None})) < 3 * len(data)


def test_messages_appended_since_follow_the_original() -> None:
    for text in (LAYOUTS["request"], LAYOUTS["lines"], ODD["uneven spaces"]):
        plan, file = written(text.encode())
        later = read_transcript(file, format=plan.format)
        more = read_transcript(json.dumps([{"role": "assistant", "content": "You are welcome."}]).encode()).messages
        whole = read_transcript(restore_file(later.with_messages([*later.messages, *more]), plan))
        assert [message.wire for message in whole.messages] == [*CHAT, more[0].wire]


def test_an_agents_log_is_read_again_as_the_log_it_is() -> None:
    messages = [{**message, "extra": {"cost": 0.1}} for message in CHAT]
    data = json.dumps({"trajectory_format": "mini-swe-agent-1", "messages": messages}).encode()
    plan, file = written(data)
    later, before = read_transcript(file, format=plan.format), wires_of(read_transcript(data))
    assert wires_of(restore_conversation(later, plan)) == before
    grown = later.with_messages([*later.messages, later.messages[-1]])
    assert wires_of(read_transcript(restore_file(grown, plan))) == [*before, before[-1]]


def test_a_plan_fits_its_own_file_only() -> None:
    plan, file = written(LAYOUTS["python"].encode())
    other = file.replace(b"Thanks.", b"Thank you.")
    with pytest.raises(InvalidInput, match=r"plan: was written for another file \(condensed from chat\.json\)"):
        restored(plan, other)
    plan, file = written(LAYOUTS["request"].encode())
    with pytest.raises(InvalidInput, match=r"plan: does not give back the original"):
        restored(plan, file.replace(b'"temperature": 0.5', b'"temperature": 0.6'))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "plan: is not JSON"),
        ("[" * 100_000, "plan: is not JSON"),
        ("[]", "plan: is no plan file. Give the file that `compact condense --plan` wrote."),
        (json.dumps(CHAT), "plan: is no plan file"),
        ('{"version": 3, "passes": []}', "plan: is of version 3, and this Compact reads version 2. Upgrade Compact."),
        ('{"version": 1, "passes": []}', "plan: is damaged (KeyError"),
    ],
)
def test_what_is_no_good_plan_is_told_with_its_remedy(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_plan(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", [LAYOUTS["python"], ODD["uneven spaces"]], ids=["layout", "bytes"])
def test_a_damaged_plan_never_gives_another_file(text: str) -> None:
    before, result = condensed(text.encode())
    file = write_like(text.encode(), before, wires_of(result.conversation))
    plan = dump_plan(text.encode(), before, result)

    @given(st.floats(0, 1, exclude_max=True), st.sampled_from(['"', "0", "[", "x", "", "null"]))
    def law(share: float, new: str) -> None:
        at = int(share * len(plan))
        try:
            back = restored(load_plan(plan[:at] + new + plan[at + 1 :]), file)
        except InvalidInput:
            return
        assert back == text.encode()

    law()
