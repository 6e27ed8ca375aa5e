"""Logs and views: whatever the caller hands back, the same view comes out."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from compact.app import Condensation
from compact.app.recipes import resolve_recipe
from compact.engine.projection import Projection
from compact.errors import EditError
from compact.formats import parse, render
from compact.messages import Json

TEXT = "\n".join(f"line {number} of a long answer about nothing in particular" for number in range(60))


PROVIDERS = ("auto", "native", "lossless")


def talk(start: int, turns: int) -> list[Json]:
    messages: list[Json] = []
    for number in range(start, start + turns):
        messages.append({"role": "user", "content": f"question {number}"})
        messages.append({"role": "assistant", "content": f"{number}: {TEXT}"})
    return messages


def empty() -> Projection:
    return Projection(parse([], format="openai-chat"))


def given(projection: Projection, messages: list[Json]) -> Projection:
    return projection.follow(messages)[0]


def sent(projection: Projection) -> list[Json]:
    return copy.deepcopy(render(projection.conversation))


def compact(projection: Projection, provider: str = "native") -> Projection:
    result = Condensation(projection.conversation, "gpt-4o", None).run(resolve_recipe(provider))
    assert result.plan
    return projection.compacted(result.plan, result.conversation)


def texts(messages: list[Json]) -> list[str]:
    return [str(message["content"])[:12] for message in messages]


def test_the_log_and_the_view_give_the_same_view() -> None:
    log = talk(0, 8)
    projection = compact(given(empty(), log))
    view = sent(projection)
    assert view != log
    more = talk(8, 1)
    from_view, from_log = given(projection, [*view, *more]), given(projection, [*log, *more])
    assert sent(from_view) == sent(from_log) == [*view, *more]
    assert (
        [line.message.wire for line in from_view.log] == [line.message.wire for line in from_log.log] == [*log, *more]
    )


def test_a_second_compaction_is_recognised_from_every_earlier_state() -> None:
    log = talk(0, 8)
    once = compact(given(empty(), log))
    first = sent(once)
    grown = given(once, [*first, *talk(8, 4)])
    twice = compact(grown)
    view = sent(twice)
    more = talk(12, 1)
    for held in (view, [*first, *talk(8, 4)], [*log, *talk(8, 4)]):
        assert sent(given(twice, [*held, *more])) == [*view, *more]


def test_a_rewound_history_falls_back_to_the_state_it_belongs_to() -> None:
    log = talk(0, 8)
    once = compact(given(empty(), log))
    first = sent(once)
    twice = compact(given(once, [*first, *talk(8, 8)]))
    back = given(twice, [*first, *talk(8, 1)])
    assert sent(back) == [*first, *talk(8, 1)]
    assert [done.number for done in back.compactions] == [1]
    assert [line.message.wire for line in back.log] == [*log, *talk(8, 1)]


def test_a_branch_before_the_compaction_takes_it_back() -> None:
    log = talk(0, 8)
    once = compact(given(empty(), log))
    branch = [*log[:3], {"role": "user", "content": "something else"}]
    after = given(once, branch)
    assert (sent(after), after.compactions) == (branch, ())


def test_a_message_changed_in_place_is_noticed() -> None:
    log = talk(0, 8)
    once = compact(given(empty(), log))
    view = sent(once)
    view[-1]["content"] = "changed"
    after = given(once, view)
    assert sent(after)[-1] == {"role": "assistant", "content": "changed"}
    assert after.log[-1].message.wire["content"] == "changed"
    log[1]["content"] = "changed too"
    assert once.log[1].message.wire["content"] != "changed too"


def test_the_callers_own_objects_are_named() -> None:
    log = talk(0, 4)
    projection = given(empty(), log)
    followed, own = projection.follow(log)
    assert [own[line] is wire for line, wire in zip(followed.view, log, strict=True)] == [True] * len(log)
    compacted = compact(projection)
    followed, own = compacted.follow(log)
    edited = [line for line in followed.view if line not in own]
    assert edited
    assert all(line.message.wire not in log for line in edited)


def test_undoing_keeps_later_turns() -> None:
    log = talk(0, 8)
    once = compact(given(empty(), log))
    grown = given(once, [*sent(once), *talk(8, 2)])
    assert sent(grown.without(1)) == [*log, *talk(8, 2)]
    with pytest.raises(EditError, match="no compaction 7; there are: 1"):
        grown.without(7)


def test_undoing_keeps_later_compactions_that_touch_other_messages() -> None:
    log = talk(0, 6)
    once = compact(given(empty(), log), "lossless")
    twice = compact(given(once, [*sent(once), *talk(6, 6)]), "lossless")
    last = sent(twice)[-4:]
    undone = twice.without(1)
    assert [done.number for done in undone.compactions] in ([], [2])
    assert sent(undone)[-4:] == last or not undone.compactions
    assert sent(undone.without(2) if undone.compactions else undone) == [*log, *talk(6, 6)]


@pytest.mark.parametrize("seed", range(20))
def test_any_mixture_of_what_is_handed_back_gives_what_was_sent(seed: int) -> None:
    rng = random.Random(seed)
    projection = empty()
    log: list[Json] = []
    view: list[Json] = []
    turn = 0
    for _ in range(25):
        more: list[Any] = talk(turn, rng.randint(1, 3))
        turn += 3
        held = copy.deepcopy(rng.choice((log, view)))
        projection = given(projection, [*held, *copy.deepcopy(more)])
        log, view = [*log, *more], [*view, *more]
        assert sent(projection) == view
        if rng.random() < 0.4 and len(log) > 6:
            result = Condensation(projection.conversation, "gpt-4o", None).run(resolve_recipe(rng.choice(PROVIDERS)))
            if result.plan:
                projection = projection.compacted(result.plan, result.conversation)
                view = sent(projection)
        assert [line.message.wire for line in projection.log] == log
