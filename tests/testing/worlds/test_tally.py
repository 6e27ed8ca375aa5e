from __future__ import annotations

from compact.testing.worlds import (
    Count,
    Fate,
    Reading,
    Reason,
    Topic,
    TruthKind,
    judge,
    make_world,
    plant,
    tally,
    topic_of,
)

WORLDS = [make_world(seed, tokens=3_000) for seed in range(30)]


def test_every_truth_that_is_needed_has_a_topic() -> None:
    without = {truth.kind for world in WORLDS for truth in world.truths if topic_of(truth) is None}
    assert without <= {TruthKind.ORDER, TruthKind.PROHIBITION, TruthKind.VALUE, TruthKind.QUOTATION}
    for truth in (truth for world in WORLDS for truth in world.truths):
        topic = topic_of(truth)
        assert (topic is Topic.REQUESTS) is (truth.fate in {Fate.OPEN, Fate.DONE})
        assert (topic is Topic.DROPPED) is (truth.fate in {Fate.REFUSED, Fate.WITHDRAWN, Fate.REPLACED})
        assert (topic is Topic.VALUES) is truth.asked
        assert (topic in {Topic.ORDERS, Topic.PROHIBITIONS}) is (
            truth.standing and truth.kind in {TruthKind.ORDER, TruthKind.PROHIBITION}
        )


def test_whole_conversations_tell_everything_and_silence_nothing() -> None:
    whole = tally(judge(world, world.messages) for world in WORLDS)
    silent = tally(judge(world, []) for world in WORLDS)
    assert (whole.worlds, silent.worlds) == (30, 30)
    assert whole.truths == silent.truths > 500
    assert set(whole.counts) == set(Topic)
    assert all(count == Count(told=count.total) and count.total for count in whole.counts.values())
    assert all(count == Count(missing=count.total) for count in silent.counts.values())
    assert {count.share for count in silent.counts.values()} == {0}
    assert whole.statements > 600
    assert (whole.contradicted, whole.false, whole.wrong_speaker, silent.statements) == (0, 0, 0, 0)


def test_what_is_wrong_is_counted_by_statements() -> None:
    planted = [(world, plant(world, world.messages, seed)) for seed, world in enumerate(WORLDS)]
    judgements = [judge(world, each.messages) for world, each in planted]
    found = tally(judgements)
    wrong = [statement for judgement in judgements for statement in judgement.wrong]
    assert found.false == sum(each.reading is Reading.FALSE for each in wrong) > 0
    assert found.wrong_speaker == sum(each.reason is Reason.SPEAKER for each in wrong) > 0
    topics = [topic_of(world.by_id[each.truth]) for world, each in planted]
    assert found.contradicted >= 0.9 * sum(topic is not None for topic in topics) > 0


def test_a_tally_for_programs() -> None:
    told = tally(judge(world, world.messages) for world in WORLDS).to_json()
    assert told["false"] == told["wrong_speaker"] == 0
    counts = told["truths"]
    assert isinstance(counts, dict)
    assert list(counts) == [topic.value for topic in Topic]
    assert all(list(count) == ["told", "missing", "contradicted"] for count in counts.values())


def test_nothing_to_tell_is_told() -> None:
    assert Count().share == 1
    assert tally([]).truths == 0
