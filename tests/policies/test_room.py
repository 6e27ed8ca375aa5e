"""How a window is divided between input, answer and buffer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS
from compact.messages import Json
from compact.models import Limits, find_model
from compact.policies import MANAGER, PROVIDERS, SESSIONS, AnswerRoom, Threshold, should_condense
from compact.policies.room import LEAST_ANSWER, read_answer_room

NO_ANSWER = AnswerRoom(0)
SHARED = find_model("gpt-4o").limits  # 128,000 tokens, of which an answer may take 16,384
APART = find_model("gemini-2.5-flash").limits
STATED = find_model("gpt-5").limits  # 400,000 tokens, but no more than 272,000 of input


@pytest.mark.parametrize(
    ("threshold", "limits", "answer", "budget"),
    [
        # The managers' specification: 128,000 tokens less a buffer of 1,500.
        (MANAGER, Limits.shared(128_000), NO_ANSWER, 126_500),
        # The providers' specification: a tenth of the window and the request's maximum, else 8,192 tokens.
        (PROVIDERS, Limits.shared(101_800), None, 83_428),
        (PROVIDERS, Limits.shared(200_000), AnswerRoom.limited(4_096), 175_904),
        # The sessions' specifications: the window less the longest answer and 5%.
        (SESSIONS, SHARED, AnswerRoom.limited(16_384), 106_035),
        (SESSIONS, find_model("claude-sonnet-4-5").limits, AnswerRoom.limited(64_000), 129_200),
        # A manager: the request's limit, else the model's longest answer but at most 8,192 tokens.
        (MANAGER, Limits.shared(101_800), AnswerRoom.limited(8_192), 92_108),
        (MANAGER, SHARED, AnswerRoom.usual(16_384), 118_308),
        (MANAGER, Limits.shared(128_000), AnswerRoom.usual(None), 118_308),
        (MANAGER, Limits.shared(128_000), AnswerRoom.usual(4_096), 122_404),
        # Where the answer takes nothing of the window, and where the vendor states a limit of the input.
        (MANAGER, APART, AnswerRoom.limited(60_000), APART.input - 1_500),
        (MANAGER, STATED, AnswerRoom.limited(100_000), 270_500),
        (MANAGER, STATED, AnswerRoom.limited(150_000), 248_500),
        # Reserves above half of the window are not met: the answer is to get at least 1,024 tokens.
        (MANAGER, Limits.shared(8_000), AnswerRoom.limited(2_500), 4_000),
        (MANAGER, Limits.shared(8_000), AnswerRoom.limited(2_501), 5_476),
        (MANAGER, Limits.shared(8_000), AnswerRoom.limited(8_192), 5_476),
        (MANAGER, Limits.shared(8_000), AnswerRoom.limited(8_192, thinking=4_000), 2_499),
        (MANAGER, Limits.shared(8_000), AnswerRoom.usual(8_192), 6_500),
        # The buffer takes no more than half of the window.
        (MANAGER, Limits.shared(2_000), NO_ANSWER, 1_000),
    ],
)
def test_the_input_gets_what_answer_and_buffer_leave(
    threshold: Threshold, limits: Limits, answer: AnswerRoom | None, budget: int
) -> None:
    room = threshold.divide(limits, answer)
    assert room.budget == budget
    at_the_limit, above = (should_condense(used, room, Threshold()) for used in (budget, budget + 1))
    assert (at_the_limit.triggered, above.triggered) == (False, True)
    assert above.trigger_at == budget + 1


@pytest.mark.parametrize(
    ("limit", "thinking", "used", "lowered"),
    [
        (4_000, 0, 2_500, None),
        (4_000, 0, 2_501, 3_999),
        (8_000, 0, 5_476, LEAST_ANSWER),
        (8_000, 3_000, 3_000, 3_500),
        (8_000, 3_000, 3_499, 3_001),
        (8_000, 3_000, 3_500, None),  # nothing helps: the buffer stays free
        (900, 0, 5_601, None),  # a short answer stays as it is
    ],
)
def test_the_limit_of_the_answer_is_lowered_to_what_is_left(
    limit: int, thinking: int, used: int, lowered: int | None
) -> None:
    room = MANAGER.divide(8_000, AnswerRoom.limited(limit, thinking))
    assert room.lowered(used) == lowered


def test_an_answer_without_a_limit_or_with_a_room_of_its_own_is_left_alone() -> None:
    assert MANAGER.divide(8_000, AnswerRoom.usual(8_192)).lowered(6_000) is None
    assert MANAGER.divide(APART, AnswerRoom.limited(60_000)).lowered(APART.input - 1) is None


def test_all_of_the_window_as_a_threshold_leaves_only_the_budget() -> None:
    room = MANAGER.divide(SHARED, AnswerRoom.usual(16_384))
    whole = Threshold(share=1, buffer_tokens=1_500)
    assert not should_condense(SHARED.window, room, whole).triggered
    assert should_condense(118_309, room, whole).reason == (
        "118,309 tokens exceed the 118,308 that buffer and reserved output leave"
    )


def test_the_percentage_stays_and_the_target_is_lowered_with_the_trigger() -> None:
    narrow = MANAGER.divide(20_000, AnswerRoom.usual(8_192))
    decision = should_condense(10_000, narrow, MANAGER)
    assert (decision.triggered, decision.trigger_at) == (False, 10_309)
    assert decision.lowered == pytest.approx(10_309 / 17_000)
    wide = should_condense(94_874, MANAGER.divide(SHARED, AnswerRoom.usual(16_384)), MANAGER)
    assert (wide.reason, wide.lowered) == ("94,874 tokens reach the threshold of 94,874", 1.0)


REQUESTS: dict[str, tuple[dict[str, Json], ...]] = {
    "openai-chat": ({"max_tokens": 9}, {"max_completion_tokens": 9}, {"max_completion_tokens": 9, "max_tokens": 9}),
    "openai-responses": ({"max_output_tokens": 9},),
    "anthropic-messages": ({"max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 4}},),
    "google-gemini": (
        {"generationConfig": {"maxOutputTokens": 9, "temperature": 0}},
        {"generation_config": {"max_output_tokens": 9}},
    ),
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_reads_and_lowers_the_limit_and_nothing_else(format: str) -> None:
    rules = FORMATS[format]
    for body in REQUESTS[format]:
        request = {"model": "m", rules.messages_key: [], **body}
        before = json.dumps(request)
        assert rules.answer_limit(request) == 9
        lowered = rules.with_answer_limit(request, 5)
        assert json.dumps(lowered) == before.replace("9", "5")
        assert json.dumps(request) == before
    for other in ({}, {"max_tokens": None}, {"max_tokens": "9"}, {"max_tokens": True}, {"generationConfig": 9}):
        assert rules.answer_limit(other) is None
        assert rules.with_answer_limit(other, 5) == other


def test_the_room_of_an_answer_exceeds_its_reasoning() -> None:
    (body,) = REQUESTS["anthropic-messages"]
    assert read_answer_room(FORMATS["anthropic-messages"], body) == AnswerRoom(9, 9)
    longer = {"max_tokens": 9_000, "thinking": {"type": "enabled", "budget_tokens": 4_000}}
    assert read_answer_room(FORMATS["anthropic-messages"], longer) == AnswerRoom(9_000, 4_001)
    assert read_answer_room(FORMATS["anthropic-messages"], longer, 2_000) == AnswerRoom(2_000, 2_000)
    assert read_answer_room(FORMATS["openai-responses"], {}) is None


@pytest.mark.parametrize(
    ("limits", "utmost"),
    [
        (Limits.shared(8_000), 8_000 - 400 - LEAST_ANSWER),
        (Limits(8_000, 8_000, None), 8_000 - 400),  # nothing of it is the answer's
        (Limits(8_000, 8_000, 128_000), 8_000),  # a maximum input far below the window
    ],
)
def test_the_buffer_of_a_window_is_never_used_up(limits: Limits, utmost: int) -> None:
    assert SESSIONS.divide(limits, AnswerRoom.limited(3_000)).utmost == utmost


@given(
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**5),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
)
def test_whatever_is_sent_fits_with_its_answer_and_the_buffer(
    window: int, used: int, buffer: int, limit: int, thinking: int
) -> None:
    room = Threshold(buffer_tokens=buffer).divide(window, AnswerRoom.limited(limit, thinking))
    assert 0 <= room.budget <= room.most <= room.utmost <= window
    answer = room.lowered(used) or limit
    assert min(limit, LEAST_ANSWER) <= answer <= limit
    assert answer == limit or answer > thinking
    if used <= room.utmost:
        assert used + answer + room.buffer <= window
    if limit + room.buffer <= window // 2:
        assert room.budget == window - limit - room.buffer
