"""The policy that is found is the cheapest that keeps enough, and a manager compacts under it as was measured."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from compact.app.counting import count
from compact.app.manager import CompactManager
from compact.errors import InvalidInput
from compact.formats import parse
from compact.lab.replaying import Terms
from compact.lab.tuning import Rehearsal, Trial, best_of_each, settings_of, tune
from compact.messages import Conversation, Json
from compact.models import find_model
from compact.policies import CompactConfig, Policy

WINDOW = 12_000
SONNET = find_model("claude-sonnet-4-5")


def recalling(turns: int) -> Conversation:
    """A session that reads tables, and comes back to what it read six of them ago."""
    messages: list[Json] = [{"role": "user", "content": "Check every table, and compare with earlier ones."}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        listing = "\n".join(f"{line}: column_{number}_{line} = {4_000 + line * number}" for line in range(40))
        earlier = max(0, number - 6)
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": listing},
            {"role": "assistant", "content": f"As in `column_{earlier}_7` and `column_{earlier}_33`. Next one."},
            {"role": "user", "content": f"Go on with table {number + 1}."},
        ]
    return parse(messages)


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return Rehearsal(recalling(30), Terms(SONNET, WINDOW, summarizer=find_model("claude-haiku-4-5")))


@pytest.fixture(scope="module")
def trials(rehearsal: Rehearsal) -> list[Trial]:
    return list(tune(rehearsal, rehearsal.untouched(), ["v2", "layers"], 0.5))


def test_the_best_is_the_cheapest_that_keeps_enough(trials: list[Trial]) -> None:
    best = best_of_each(trials, 0.5)[0]
    keeping = [trial for trial in trials if trial.keeps(0.5)]
    assert best in keeping
    assert best.dollars == min(trial.dollars for trial in keeping if trial.dollars is not None)
    assert any(not trial.keeps(0.5) for trial in trials)  # or there would have been nothing to find


def test_where_none_keeps_enough_the_one_that_keeps_most_comes_first(trials: list[Trial]) -> None:
    best = best_of_each(trials, 1.1)[0]
    assert best.retention == max(trial.retention for trial in trials if trial.retention is not None)


def test_the_search_is_the_same_every_time_and_tries_nothing_twice(rehearsal: Rehearsal, trials: list[Trial]) -> None:
    again = islice(tune(rehearsal, rehearsal.untouched(), ["v2", "layers"], 0.5), 40)
    assert list(again) == trials[:40]
    assert len({trial.policy for trial in trials}) == len(trials)


def test_a_grid_of_triggers_and_targets_is_tried_first(rehearsal: Rehearsal) -> None:
    shares = [(trigger, round(trigger * target, 2)) for trigger in (0.3, 0.5, 0.7, 0.9) for target in (0.3, 0.55, 0.8)]
    found = islice(tune(rehearsal, rehearsal.untouched(), ["v2"], 0.5), 1, 13)
    assert [(trial.policy.trigger_pct, trial.policy.target_pct) for trial in found] == shares
    wide = Rehearsal(recalling(30), Terms(SONNET, 10 * WINDOW, summarizer=find_model("claude-haiku-4-5")))
    largest = max(sent.tokens for sent in wide.untouched().sent) / (10 * WINDOW)
    filled = islice(tune(wide, wide.untouched(), ["v2"], 0.5), 1, 13)
    assert {round(trial.policy.trigger_pct / largest, 1) for trial in filled} == {0.3, 0.5, 0.7, 0.9}


def test_only_policies_that_a_file_can_say_are_tried(trials: list[Trial]) -> None:
    for trial in trials:
        assert Policy(**settings_of(trial.policy)) == trial.policy
    kept = {(one.policy.keep_recent_turns, one.policy.summary_tokens) for one in trials if one.recipe == "layers"}
    assert len(kept) > 1


def test_retention_is_whole_without_a_compaction_and_falls_with_the_target(rehearsal: Rehearsal) -> None:
    roomy = replace(rehearsal.terms, window=200_000)
    assert Rehearsal(rehearsal.session, roomy).trial(Policy()).retention == 1.0
    shallow, usual, deep = (
        rehearsal.trial(Policy(preset="v2", trigger_pct=0.8, target_pct=target)).retention
        for target in (0.7, 0.35, 0.05)
    )
    assert shallow is not None
    assert usual is not None
    assert deep is not None
    assert 0 < deep < usual < shallow <= 1


@pytest.mark.parametrize("name", ["auto", "layers", "v2", "balanced"])
def test_a_manager_sends_what_was_measured(rehearsal: Rehearsal, tmp_path: Path, name: str) -> None:
    policy = Policy(recipe=name, trigger_pct=0.7, target_pct=0.35)
    trial = rehearsal.trial(policy)
    assert trial.played is not None
    assert trial.played.compactions > 1
    file = tmp_path / "compact.json"
    elsewhere = {"profile": "offline", "storage": {"path": str(tmp_path / "kept")}}
    chosen = {"model": SONNET.id, "max_context_tokens": WINDOW, "policy": settings_of(policy)}
    file.write_text(json.dumps({**chosen, **elsewhere}))
    log: list[Any] = [dict(message.wire) for message in rehearsal.session.messages]
    with CompactManager(CompactConfig.load(file)) as manager:
        for one in trial.played.sent:
            sent = manager.preflight("s", log[: one.position])
            assert count(parse(sent), model=SONNET.id).total == one.tokens


def test_a_policy_under_which_a_manager_gives_up_is_never_chosen(rehearsal: Rehearsal) -> None:
    narrow = Rehearsal(rehearsal.session, replace(rehearsal.terms, window=1_000))
    trial = narrow.trial(Policy(preset="v2", trigger_pct=0.5, target_pct=0.1))
    assert trial.played is None
    assert trial.sent < len(narrow.untouched().sent)
    assert not trial.keeps(0.0)


def test_without_prices_or_answers_there_is_nothing_to_tune(rehearsal: Rehearsal) -> None:
    unknown = replace(rehearsal.terms, model=find_model("nobody-knows-it"))
    with pytest.raises(InvalidInput, match="prices of nobody-knows-it"):
        Rehearsal(rehearsal.session, unknown).untouched()
    with pytest.raises(InvalidInput, match="nothing was asked"):
        Rehearsal(parse([{"role": "user", "content": "Hi"}]), rehearsal.terms).untouched()
