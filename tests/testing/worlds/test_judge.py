from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from compact.messages import Json
from compact.testing.worlds import ErrorKind, Kind, Reason, Speaker, Verdict, World, judge, make_world, plant
from compact.testing.worlds.passages import read_messages
from tests.testing.worlds.writers import WRITERS

LOST = {Reason.STALE, Reason.LEAD, Reason.CONDITION}
"""What may be wrong with messages that are all true: something that governs them is not there."""


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_the_whole_conversation_tells_everything(start: int) -> None:
    for seed in range(start, start + 50):
        world = make_world(seed)
        judgement = judge(world, world.messages)
        assert [truth.id for truth in judgement.missing] == []
        assert judgement.wrong == []


@pytest.mark.parametrize("writer", WRITERS)
def test_true_accounts_are_called_true(writer: Callable[[World, Random], str]) -> None:
    statements = wrong = told = standing = 0
    for seed in range(80):
        world = make_world(seed, tokens=2_500)
        judgement = judge(world, [writer(world, Random(seed))])
        statements += len(judgement.statements)
        wrong += len(judgement.wrong)
        told += sum(judgement.verdicts[truth.id] is Verdict.TOLD for truth in world.truths if truth.standing)
        standing += sum(truth.standing for truth in world.truths)
    assert statements > 2_000
    assert wrong / statements <= 0.01
    assert told / standing >= 0.97


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_messages_that_stay_are_true(share: float) -> None:
    for seed in range(60):
        world = make_world(seed, tokens=4_000)
        rng = Random(seed)
        kept = [message for message in world.messages if rng.random() < share]
        for statement in judge(world, kept).wrong:
            truth = world.by_id[statement.truth]
            assert statement.reason in LOST
            assert world.messages[truth.at] not in kept


def test_messages_quoted_as_a_whole_are_not_called_wrong() -> None:
    heard = wrong = 0
    for seed in range(60):
        world = make_world(seed, tokens=3_000)
        others = [truth.lead for truth in world.truths if truth.speaker is Speaker.OTHER and truth.lead]
        lines = [
            f"- The {passage.role}: {passage.text}"
            for passage in read_messages(world.messages)
            if passage.kind == "text" and "\n" not in passage.text and not any(lead in passage.text for lead in others)
        ]
        judgement = judge(world, ["\n".join(lines)])
        heard += len(judgement.statements)
        # What a tool said is not quoted here, so the assistant's first word about it may be the only one.
        wrong += sum(statement.reason not in {*LOST, Reason.OUTCOME} for statement in judgement.wrong)
    assert heard > 500
    assert wrong / heard <= 0.01


def _cut(text: str, rng: Random) -> str:
    lines = text.split("\n")
    kept = [line for line in lines if rng.random() < 0.5]
    half = len(kept) // 2
    return "\n".join([*kept[:half], f"[… {len(lines) - len(kept)} lines omitted …]", *kept[half:]])


def test_results_that_are_cut_are_not_called_wrong() -> None:
    heard = wrong = 0
    for seed in range(60):
        world = make_world(seed, tokens=4_000)
        rng = Random(seed)
        messages: Any = copy.deepcopy(world.messages)
        for message in messages:
            if message["role"] == "tool":
                message["content"] = _cut(message["content"], rng)
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result":
                    block["content"] = _cut(block["content"], rng)
        judgement = judge(world, messages)
        heard += len(judgement.statements)
        wrong += sum(statement.reason not in LOST for statement in judgement.wrong)
    assert heard > 1_000
    assert wrong / heard <= 0.005


def test_silence_is_missing() -> None:
    world = make_world(1)
    judgement = judge(world, [])
    assert len(judgement.missing) == len(world.truths)
    assert judgement.statements == ()


@pytest.mark.laws
@pytest.mark.parametrize("worlds", [100, pytest.param(400, marks=pytest.mark.soak)])
def test_planted_errors_are_found(worlds: int) -> None:
    found: Counter[tuple[str, bool]] = Counter()
    for seed in range(worlds):
        world = make_world(seed, tokens=2_000)
        texts: list[Json] = [writer(world, Random(seed)) for writer in WRITERS]
        for number, messages in enumerate([world.messages, *([text] for text in texts)]):
            planted = plant(world, messages, 10 * seed + number)
            verdict = judge(world, planted.messages).verdicts[planted.truth]
            found[planted.kind, verdict is Verdict.CONTRADICTED] += 1
    missed = {kind: count for (kind, right), count in found.items() if not right}
    assert sum(missed.values()) / found.total() <= 0.01, missed
    assert {kind for kind, _ in found} == set(ErrorKind)


@pytest.mark.clock
def test_many_worlds_are_made_and_judged_in_a_minute() -> None:
    start = time.process_time()
    for seed in range(150):
        world = make_world(seed)
        judge(world, world.messages)
    assert time.process_time() - start < 6


def test_a_quotation_that_lost_its_line_break_is_not_called_wrong() -> None:
    world = make_world(12, tokens=2_000, kind=Kind.CODING, language="en")
    said = next(str(each["content"]) for each in world.messages if "blew up, see above\nok" in str(each["content"]))
    assert judge(world, [f'- ran it → assistant: "{said.replace(chr(10), " ")}"']).wrong == []
    assert judge(world, [f'- ran it → assistant: "{said.replace("blew up", "passed")}"']).wrong != []
