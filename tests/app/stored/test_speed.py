"""How long stored sessions take, in processor time: 1,000 messages are summarized, and what is sent is read at once."""

from __future__ import annotations

from time import thread_time

import pytest

import compact
from compact.app.stored import StoredSessions
from compact.ports import ModelConfig, StoredSession
from tests.app.stored.conftest import turn, user

pytestmark = pytest.mark.clock
MESSAGES = 1_000


@pytest.fixture
def sessions(url: str) -> StoredSessions:
    sessions = StoredSessions(url)
    sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", 20_000, 1000))
    sessions.preferences.change({"profile": "offline"})
    sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat"))
    sessions.append("a", [message for number in range(MESSAGES // 2) for message in turn(number)])
    return sessions


def test_a_thousand_messages_are_summarized_in_ten_seconds_and_a_context_is_put_together_in_100_ms(
    sessions: StoredSessions,
) -> None:
    with sessions:
        began = thread_time()
        done = sessions.prepare("a", [user("And now?")])
        assert done.compression is not None
        assert thread_time() - began < 10
        taken = []
        for _ in range(5):
            began = thread_time()
            sessions.context("a", [user("And now?")])
            taken.append(thread_time() - began)
        assert min(taken) < 0.1
        assert len(done.messages) < MESSAGES // 2
        assert len(sessions.history("a", limit=2 * MESSAGES)) == MESSAGES


def test_100_000_tokens_are_counted_in_half_a_second() -> None:
    message = user(" ".join(f"word{number}" for number in range(40_000)))
    began = thread_time()
    assert compact.count_tokens([message], model="gpt-4o") > 100_000
    assert thread_time() - began < 0.5
