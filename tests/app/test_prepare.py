"""What a manager says of one call, with the usual recipe; and that what was undone stays undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact import InsufficientBudget
from compact.errors import CompactionBlocked
from compact.messages import Json
from compact.ports import Failure
from tests.app.test_manager import Bench, answering, calls, make, summaries, talk, tokens

__all__ = ["make"]

WIDE, EARLY = 29_000, {"trigger_pct": 0.58}
"""A window and a trigger below its budget: 33 turns are above the one and within the other."""
ASKED = ["compact.token_estimate", "compact.trigger_decision"]


def test_a_short_conversation_is_given_back_as_it_is(make: Bench) -> None:
    messages = talk(3)
    done = make().prepare("s", messages)
    assert (done.messages, done.compacted, done.report) == (messages, False, None)
    assert done.tokens_before == done.tokens_after == tokens(messages)
    assert [event.name for event in done.events] == ASKED
    assert not done.events[-1].properties["triggered"]


def test_a_compaction_says_what_it_did(make: Bench) -> None:
    messages = talk(20)
    done = make().prepare("s", messages)
    assert done.compacted
    assert done.report is not None
    assert (done.tokens_before, done.tokens_after) == (tokens(messages), tokens(done.messages))
    assert (done.report.tokens_before, done.report.tokens_after) == (done.tokens_before, done.tokens_after)
    assert 0.95 * 4000 <= done.tokens_after <= 4000
    names = [event.name for event in done.events]
    assert names[:2] == ASKED
    assert names[-1] == "compact.condensed"
    assert {"compact.archival", "compact.summary_created", "compact.pruned_messages"} <= set(names)
    assert list(done.events) == make.watcher.events
    assert len(summaries(done.messages)) == 1


def test_a_compaction_on_demand_says_so_too(make: Bench) -> None:
    messages = talk(20)
    done = make(6000).compact_now("s", messages, "before lunch")
    assert done.compacted
    assert done.events[1].properties["reason"] == "before lunch"
    assert done.tokens_after == tokens(done.messages) < done.tokens_before == tokens(messages)


def test_without_an_answer_the_account_is_written_without_a_model(make: Bench) -> None:
    done = make(ask=answering(Failure("no network"))).prepare("s", talk(20))
    (account,) = summaries(done.messages)
    assert "Question 3?" in account
    assert done.tokens_after <= 4000
    told = [event for event in done.events if "no network" in str(event.properties)]
    assert told


def test_without_an_answer_messages_go_where_the_policy_says_so(make: Bench) -> None:
    done = make(ask=answering(Failure("no network")), policy={"on_summary_failure": "prune"}).prepare("s", talk(20))
    assert not summaries(done.messages)
    assert done.messages[0] == talk(1)[0]
    assert done.messages[-1] == talk(20)[-1] or done.messages[-1] == talk(20)[-2]
    assert 0.9 * 4000 <= done.tokens_after <= 4000


def test_without_an_answer_nothing_happens_where_the_policy_says_so(make: Bench) -> None:
    messages = talk(17)
    with pytest.raises(CompactionBlocked, match="no network"):
        make(6000, ask=answering(Failure("no network")), policy={"on_summary_failure": "block"}).prepare("s", messages)
    messages = talk(33)
    manager = make(WIDE, ask=answering(Failure("no network")), policy={**EARLY, "on_summary_failure": "block"})
    done = manager.prepare("t", messages)
    assert (done.compacted, done.messages) == (False, messages)


@pytest.mark.parametrize(
    "recipe", ["auto", "native", "v1", "v2", "v3", "balanced", "cost", "quality", "speed", "lossless"]
)
def test_the_budget_is_kept_whatever_the_recipe(make: Bench, recipe: str) -> None:
    manager = make(5000, policy={"recipe": recipe})
    done = manager.prepare("s", [*talk(30), *calls(4), {"role": "user", "content": "And?"}])
    assert done.tokens_after == tokens(done.messages) <= 3500


def test_messages_of_a_named_role_are_never_pruned(make: Bench) -> None:
    messages = [{"role": "user", "content": "Go."}, *calls(6), {"role": "assistant", "content": "Done."}, *talk(25)]
    for recipe in ("auto", "layers"):
        for roles, stays in ((["system"], False), (["system", "tool"], True)):
            manager = make(policy={"recipe": recipe, "roles_never_prune": roles})
            sent = manager.prepare(f"{recipe} {stays}", messages).messages
            assert ("call_0" in [message.get("tool_call_id") for message in sent]) is stays


def test_a_request_just_above_what_must_stay_still_fits(make: Bench) -> None:
    first = {"role": "user", "content": "Keep to this plan. " * 700}
    messages = [first, {"role": "assistant", "content": "Well."}, *talk(6), {"role": "user", "content": "Go on."}]
    manager = make(tokens([first, messages[-1]]) + 1500 + 60)
    done = manager.prepare("s", messages)
    assert done.tokens_after <= tokens([first, messages[-1]]) + 60


def test_layers_say_that_they_cannot(make: Bench) -> None:
    pinned = {"role": "user", "content": "word " * 4000}
    with pytest.raises(InsufficientBudget):
        make(5000, policy={"provider": "layers"}).prepare("s", [pinned, *talk(20)])


@pytest.mark.parametrize("recipe", ["auto", "layers"])
def test_where_it_cannot_fit_nothing_is_changed(make: Bench, recipe: str) -> None:
    messages = [{"role": "user", "content": "word " * 4000}, *talk(20)]
    with pytest.raises(InsufficientBudget) as raised:
        make(5000, policy={"recipe": recipe}).prepare("s", messages)
    assert raised.value.needed > raised.value.budget
    assert not (make.folder / "archive" / "s").exists()
    assert make(128_000).preflight("s", messages) == messages
    assert not make.watcher.named("condensed")


def test_layers_have_one_summary_whose_items_stay_and_the_same_bytes_in_between(make: Bench) -> None:
    manager = make(policy={"recipe": "layers"})
    rules = [f"Always sort the rows of table {number} by their date." for number in range(3)]
    history = [*talk(1), *({"role": "user", "content": rule} for rule in rules), *talk(20, 1)]
    sent = manager.preflight("s", history)
    for number in range(2, 7):
        more = talk(1, 100 * number)
        again = manager.preflight("s", [*sent, *more])
        assert json.dumps(again) == json.dumps([*sent, *more])
        sent = manager.preflight("s", [*again, *talk(20, 100 * number + 1)])
        (summary,) = summaries(sent)
        assert summary.startswith(f"<COMPACT-SUMMARY v{number}>\n")
        assert all(rule in summary for rule in rules)


def undone(make: Bench) -> tuple[list[Json], list[Json]]:
    """A conversation that was compacted and taken back, and how it goes on."""
    messages = talk(33)
    manager = make(WIDE, policy=EARLY)
    assert manager.prepare("s", messages).compacted
    assert manager.undo("s") == messages
    return messages, talk(1, 33)


def test_what_was_undone_stays_so_while_it_fits(make: Bench) -> None:
    messages, more = undone(make)
    manager = make.made[-1]
    done = manager.prepare("s", [*messages, *more])
    assert (done.compacted, done.messages) == (False, [*messages, *more])
    assert "undone" in done.events[-1].properties["reason"]
    longer = [*messages, *more, *talk(10, 34)]
    assert manager.prepare("s", longer).compacted


def test_what_was_undone_stays_so_for_another_manager(make: Bench) -> None:
    beside = make(WIDE, policy=EARLY)
    messages, more = undone(make)
    for manager in (beside, make(WIDE, policy=EARLY)):
        assert not manager.prepare("s", [*messages, *more]).compacted
    assert make(WIDE, policy=EARLY).prepare("other", messages).compacted


def test_after_undo_one_may_still_compact_on_demand(make: Bench, tmp_path: Path) -> None:
    messages, _ = undone(make)
    assert make.made[-1].compact_now("s", messages).compacted
    assert list(tmp_path.rglob("*"))
