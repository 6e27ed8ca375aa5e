"""Lines that an account joins: what the judge takes for the beginning of a sentence."""

from __future__ import annotations

from dataclasses import replace

from compact.messages import Json
from compact.testing.worlds import Truth, TruthKind, judge
from tests.testing.worlds.test_statements import MESSAGES, TOLD, TRUTHS, USER, WORLD, WRONG


def test_a_line_without_a_mark_at_its_end_is_no_beginning_of_the_sentence_after_it() -> None:
    truth = Truth(
        "ban",
        TruthKind.PROHIBITION,
        USER,
        ("arvesta",),
        "Never rename the branch arvesta while all others are at work.",
        1,
        1,
        opposite="Rename the branch arvesta while all others are at work.",
        negative=True,
    )
    other = "we looked at load_brixo this morning"
    said: list[Json] = [{"role": "user", "content": f"{other}\n{truth.text}"}]
    world = replace(WORLD, truths=(*TRUTHS, truth), body={"messages": [*MESSAGES, *said]})
    assert judge(world, [f'- user: "{other} {truth.text}"']).verdicts["ban"] is TOLD
    assert judge(world, [f'- user: "{other} {truth.opposite}"']).verdicts["ban"] is WRONG
    # What nobody said before it may turn what follows into something else.
    order, bare = replace(TRUTHS[0], text="run make check-velmo before you commit.", opposite=""), "it rained all day"
    body: dict[str, Json] = {"messages": [*MESSAGES, {"role": "user", "content": f"{bare}\n{order.text}"}]}
    world = replace(WORLD, truths=(order, *TRUTHS[1:]), body=body)
    assert judge(world, [f'- user: "{bare} {order.text}"']).verdicts["order"] is TOLD
    assert judge(world, [f'- user: "{bare} do not {order.text}"']).verdicts["order"] is WRONG
