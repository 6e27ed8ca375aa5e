"""A stored session whose model binds what it thinks to all that precedes it."""

from __future__ import annotations

import pytest

from compact.formats import parse, violations
from compact.messages import Json
from compact.ports import ModelConfig, StoredSession
from tests.app.stored.conftest import WINDOW, Desk

MODEL = "claude-fable-5-1"


def step(number: int) -> list[Json]:
    thought = {"type": "thinking", "thinking": f"Step {number}.", "signature": f"s{number}"}
    call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"path": f"m{number}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"def parse_{number}(line): ...\n" * 5}
    return [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("answered", [False, True])
def test_what_was_thought_goes_with_what_went_into_the_summary(desk: Desk, answered: bool) -> None:
    desk.sessions.preferences.put_model(ModelConfig("anthropic", MODEL, WINDOW, 1000))
    desk.sessions.create(StoredSession(id="b", model=MODEL, format="anthropic-messages"))
    said: list[Json] = [{"role": "user", "content": "Mend every module."}]
    said += [wire for number in range(60) for wire in step(number)]
    if answered:
        said += [{"role": "assistant", "content": "Mended."}, {"role": "user", "content": "And the tests?"}]
    desk.sessions.append("b", said)
    sent = desk.sessions.prepare("b")
    assert sent.compression is not None

    def request(messages: list[Json]) -> Json:
        return {"model": MODEL, "max_tokens": 1000, "messages": messages}

    assert violations(parse(request(sent.messages)), origin=parse(request(said))) == []
    assert "signature" not in str(sent.messages)
