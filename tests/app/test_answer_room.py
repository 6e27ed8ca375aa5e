"""A manager keeps room for the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.errors import InsufficientBudget, InvalidInput
from compact.messages import Json
from compact.policies import AnswerRoom, Profile, Profiles
from compact.settings.profiles import save_profiles
from tests.app.test_manager import Bench, calls, make, talk, tokens

__all__ = ["make"]

WINDOW, BUFFER = 16_000, 1_500
TALK = talk(17)
"""About 9,000 tokens: more than half of the window, and less than 85%."""


def request(limit: int | None, messages: list[Json] = TALK) -> dict[str, Json]:
    return {"model": "gpt-4o", "messages": messages, "max_completion_tokens": limit}


def test_a_request_that_fits_with_its_answer_is_left_alone(make: Bench) -> None:
    left = WINDOW - BUFFER - tokens(TALK)
    for limit in (None, 1, 100, left):
        done = make(WINDOW).prepare(f"s{limit}", request(limit))
        assert (done.compacted, done.messages, done.max_tokens) == (False, TALK, None)
    assert not make.watcher.named("max_tokens_lowered")


def test_room_for_an_answer_is_made_by_compaction(make: Bench) -> None:
    done = make(WINDOW).prepare("s", request(6_400))
    assert (done.compacted, done.max_tokens) == (True, None)
    assert done.tokens_after == tokens(done.messages) <= WINDOW - BUFFER - 6_400
    assert make(WINDOW).prepare("t", TALK, max_tokens=6_400).tokens_after == done.tokens_after


def test_an_answer_that_wants_more_than_half_of_the_window_gets_what_is_left(make: Bench) -> None:
    left = WINDOW - BUFFER - tokens(TALK)
    for limit in (left + 1_000, WINDOW, 10 * WINDOW):
        for done in (
            make(WINDOW).prepare("s", request(limit)),
            make(WINDOW).prepare("s", TALK, max_tokens=limit),
            make(WINDOW).prepare("s", request(1), max_tokens=limit),
        ):
            assert (done.compacted, done.messages) == (False, TALK)
            assert done.max_tokens == left
            assert done.events[-1].name == "compact.max_tokens_lowered"
            sizes = {"window": WINDOW, "input": done.tokens_after, "buffer": BUFFER}
            assert done.events[-1].properties == {"requested": limit, "max_tokens": left, **sizes}


def test_whoever_gets_only_messages_is_told_that_the_limit_does_not_fit(make: Bench) -> None:
    manager, left = make(WINDOW), WINDOW - BUFFER - tokens(TALK)
    assert manager.preflight("s", request(left)) == TALK
    with pytest.raises(InsufficientBudget, match=f"Lower the limit of the answer to {left:,}") as raised:
        manager.preflight("s", request(left + 1_000))
    assert (raised.value.needed, raised.value.budget) == (tokens(TALK), WINDOW - BUFFER - left - 1_000)


def test_a_compaction_by_hand_tells_that_the_limit_does_not_fit(make: Bench) -> None:
    manager, messages = make(WINDOW), [{"role": "system", "content": "word " * 11_000}, *talk(4)]
    now = manager.compact_now("s", request(4_000, messages))
    assert now.compacted
    assert now.max_tokens == WINDOW - BUFFER - now.tokens_after
    with pytest.raises(InsufficientBudget, match=f"Lower the limit of the answer to {now.max_tokens:,}"):
        manager.manual_compact("t", request(4_000, messages))
    assert manager.prepare("t", request(4_000, messages)).messages == now.messages
    assert manager.manual_compact("u", request(now.max_tokens, messages)) == now.messages


def test_a_limit_is_lowered_where_what_must_stay_leaves_no_room(make: Bench) -> None:
    task = {"role": "user", "content": "word " * 11_000, "meta": {"protected": True}}
    bare = {"role": "user", "content": task["content"]}
    done = make(WINDOW).prepare("s", [task], max_tokens=4_000)
    assert (done.compacted, done.messages) == (False, [bare])
    assert done.max_tokens == WINDOW - BUFFER - tokens([bare])
    assert make(WINDOW).prepare("t", [task], max_tokens=100).max_tokens is None
    thinking = {"type": "enabled", "budget_tokens": 3_499}
    asked = {"format": "anthropic-messages", "model": "gpt-4o", "messages": [task], "max_tokens": 5_000}
    lowered = make(WINDOW).prepare("u", {**asked, "thinking": {**thinking, "budget_tokens": 2_000}})
    assert lowered.max_tokens == done.max_tokens
    with pytest.raises(InsufficientBudget, match="the budget is 11,000 of 16,000") as raised:
        make(WINDOW).prepare("v", {**asked, "thinking": thinking})
    assert (raised.value.needed, raised.value.answer, raised.value.budget) == (tokens([bare]), 5_000, WINDOW)


@pytest.mark.parametrize("limit", [None, 8_000])
@pytest.mark.parametrize("words", [4_000, 8_000, 10_000])
def test_beside_a_large_prompt_room_is_not_made_again_and_again(make: Bench, words: int, limit: int | None) -> None:
    """Each compaction makes room for several steps; where it would not, the limit is lowered."""
    window = 20_000
    manager, opening = make(window), [{"role": "system", "content": "word " * words}, *talk(1)[:1]]
    steps, compacted, lowered = calls(20), 0, 0
    for at in range(0, len(steps), 2):
        done = manager.prepare("s", request(limit, [*opening, *steps[:at]]))
        compacted, lowered = compacted + done.compacted, lowered + (done.max_tokens is not None)
        assert done.tokens_after + (done.max_tokens or limit or 0) <= window - BUFFER
    growth = tokens([*opening, *steps]) - tokens(opening)
    assert compacted <= 1 + growth // 2_000
    assert bool(lowered) is bool(limit and words > 4_000)


def test_what_must_stay_is_refused_only_where_the_least_answer_does_not_fit(make: Bench) -> None:
    for words, fits in ((13_460, True), (13_480, False)):
        task = {"role": "user", "content": "word " * words}
        assert (tokens([task]) <= WINDOW - BUFFER - 1_024) is fits
        if fits:
            assert (make(WINDOW).prepare("s", [task], max_tokens=9_000).max_tokens or 0) >= 1_024
        else:
            with pytest.raises(InsufficientBudget):
                make(WINDOW).prepare("t", [task], max_tokens=9_000)
            assert make(WINDOW).prepare("u", [task], max_tokens=900).max_tokens is None


def test_with_all_of_the_window_as_a_trigger_a_session_still_leaves_room(make: Bench) -> None:
    whole = {"trigger_pct": 1.0}
    assert not make(WINDOW, policy=whole).prepare("s", request(100)).compacted
    done = make(WINDOW, policy=whole).prepare("s", request(6_400))
    assert done.compacted
    assert done.tokens_after <= WINDOW - BUFFER - 6_400
    assert (
        make.watcher.last("trigger_decision")
        .properties["reason"]
        .endswith(f"exceed the {WINDOW - BUFFER - 6_400:,} that buffer and reserved output leave")
    )


def test_a_session_is_not_compacted_again_for_the_next_request_that_fits(make: Bench) -> None:
    manager = make(WINDOW)
    first = manager.prepare("s", request(6_400))
    following = [*TALK, *talk(2, 17)]
    assert first.compacted
    for limit in (100, 6_400, 12_000):
        done = manager.prepare("s", request(limit, following))
        assert not done.compacted
        assert done.messages[: len(first.messages)] == first.messages


def test_what_was_undone_stays_so_while_its_answer_fits(make: Bench) -> None:
    manager = make(WINDOW)
    assert manager.prepare("s", request(6_400)).compacted
    assert manager.undo("s") == TALK
    assert not manager.prepare("s", request(5_000)).compacted
    assert manager.prepare("s", request(6_400)).compacted


def test_compacting_on_demand_leaves_room_too(make: Bench) -> None:
    done = make(WINDOW).compact_now("s", request(6_400))
    assert done.tokens_after <= WINDOW - BUFFER - 6_400
    greedy = make(WINDOW).compact_now("t", request(15_000))
    assert greedy.max_tokens == WINDOW - BUFFER - greedy.tokens_after


def test_the_window_of_gemini_is_for_the_input_alone(make: Bench) -> None:
    contents = [{"role": "user", "parts": [{"text": "word " * 9_000}]}]
    body = {"contents": contents, "generationConfig": {"maxOutputTokens": 60_000}}
    done = make(WINDOW, model="gemini-2.5-flash").prepare("s", body)
    assert (done.compacted, done.max_tokens) == (False, None)
    shared = make(WINDOW).prepare("s", body)
    assert shared.max_tokens == WINDOW - BUFFER - shared.tokens_after


@pytest.mark.parametrize("by_profile", [False, True])
@pytest.mark.parametrize(
    ("window", "most"),
    [
        (400_000, 272_000),  # its own
        (300_000, 272_000),
        (200_000, 200_000 - 1_024),
        (600_000, 600_000 - 1_024),  # larger than the catalogue knows: what that states of the input is outdated, too
    ],
)
def test_a_maximum_input_that_the_vendor_states_holds_beside_a_window_that_is_set(
    make: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int, most: int, by_profile: bool
) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    if by_profile:
        own = Profile(name="own", vendor="openai", model="gpt-5", context_window=window)
        save_profiles(Profiles(profiles=(own,)))
    manager = make(model="gpt-5", max_context_tokens=None if by_profile else window)
    room = manager.compactor.threshold.divide(manager.compactor.limits, AnswerRoom.limited(8_192))
    assert room.most == most - BUFFER


def test_a_profile_says_how_long_answers_are_and_how_large_the_window_is(
    make: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    profile = {"name": "own", "vendor": "compatible", "model": "house", "url": "http://localhost:9/v1"}
    file = tmp_path / "home" / "profiles.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"profiles": [{**profile, "context_window": WINDOW, "max_output_tokens": 6_400}]}))
    manager = make(model="house", max_context_tokens=None)
    assert manager.window == WINDOW
    done = manager.prepare("s", TALK)
    assert done.compacted
    assert done.tokens_after <= WINDOW - BUFFER - 6_400
    assert not manager.prepare("t", TALK, max_tokens=100).compacted


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_positive(make: Bench, limit: int) -> None:
    with pytest.raises(InvalidInput, match="max_tokens: must be positive"):
        make().prepare("s", TALK, max_tokens=limit)
