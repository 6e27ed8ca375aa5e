"""What the operator chooses holds from the next request on, and what the client sent besides its messages stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compact import parse
from compact.app.learning import learn_calibration
from tests.server.conftest import Recorder, Serve, Served, long_history

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
AUTOS_OWN = '?" →'
"""What `auto` writes between a question and its answer; `native` does not."""


@pytest.fixture(scope="module")
def narrow(serve: Serve, recorder: Recorder) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(recorder.url)


def ask(served: Served, model: str, messages: list[dict[str, Any]]) -> str:
    answer = served.ask("POST", CHAT, json={"model": model, "messages": messages})
    return answer.headers["x-compact-compaction"]


@pytest.mark.parametrize(("path", "key"), [(CHAT, "messages"), (RESPONSES, "input"), ("/v1/messages", "messages")])
def test_what_else_is_in_a_compacted_request_stays(narrow: Served, recorder: Recorder, path: str, key: str) -> None:
    tool = {"name": "read", "parameters": {"type": "object"}, "input_schema": {"type": "object"}}
    others = {
        "temperature": 0.25,
        "user": "é",
        "tools": [{"type": "function", "function": tool, **tool}],
        "odd": [None],
    }
    body: dict[str, Any] = {"model": "gpt-4o", "max_tokens": 9, **others, key: long_history(40, first=path)}
    answer = narrow.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
    assert answer.headers["x-compact-compaction"] == "applied"
    arrived = json.loads(recorder.arrived[-1].body)
    assert "compact_recall" not in str(arrived)
    assert len(arrived.pop(key)) < len(body.pop(key))
    assert arrived == body


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_conversation_that_the_vendor_keeps_goes_on_as_it_is(narrow: Served, recorder: Recorder, key: str) -> None:
    body = json.dumps({"model": "gpt-4o", "input": long_history(20), key: "abc"}).encode()
    answer = narrow.ask("POST", RESPONSES, content=body, headers={"content-type": "application/json"})
    assert answer.headers["x-compact-compaction"] == "none"
    assert recorder.arrived[-1].body == body


def test_a_changed_profile_holds_for_the_next_request(narrow: Served, recorder: Recorder, environment: Path) -> None:
    def configure(**settings: Any) -> None:
        profile = {"name": "own", "vendor": "compatible", "model": "m", "url": f"{recorder.url}/v1", "use": "both"}
        (environment / "profiles.json").write_text(json.dumps({"profiles": [profile | settings]}))

    history = long_history(15)
    try:
        configure()
        assert ask(narrow, "m", history) == "none"
        configure(threshold=20)
        assert ask(narrow, "m", history) == "applied"
        plain = json.loads(recorder.arrived[-1].body)["messages"]
        configure(threshold=20, recipe="native")
        assert ask(narrow, "m", long_history(15, first="By another recipe.")) == "applied"
        other = json.loads(recorder.arrived[-1].body)["messages"]
        configure(threshold=20)
        assert ask(narrow, "m", history) == "applied"
        assert json.loads(recorder.arrived[-1].body)["messages"] == plain
    finally:
        (environment / "profiles.json").unlink()
    assert (AUTOS_OWN in str(plain), AUTOS_OWN in str(other)) == (True, False)


def test_a_new_default_recipe_holds_for_new_compactions_alone(narrow: Served, recorder: Recorder) -> None:
    def arrived(history: list[dict[str, Any]]) -> Any:
        assert ask(narrow, "gpt-4o", history) == "applied"
        return json.loads(recorder.arrived[-1].body)["messages"]

    before, other = long_history(40, first="Before."), long_history(40, first="After.")
    first = arrived(before)
    try:
        assert narrow.ask("PUT", "/api/recipes/default", json={"recipe": "native"}).status_code == 200
        again, later = arrived(before), arrived(other)
    finally:
        narrow.ask("PUT", "/api/recipes/default", json={"recipe": "auto"})
    assert again == first
    assert (AUTOS_OWN in str(first), AUTOS_OWN in str(later)) == (True, False)


def test_what_was_learned_of_a_vendors_counting_holds_after_the_next_start(serve: Serve, recorder: Recorder) -> None:
    history, model = long_history(5), "claude-opus-4-6"

    def counted(served: Served) -> int:
        answer = served.ask("POST", "/v1/messages", json={"model": model, "messages": history, "max_tokens": 9})
        return int(answer.headers["x-compact-tokens-before"])

    before = serve(recorder.url)
    first = counted(before)
    learn_calibration(parse(history, format="anthropic-messages"), model, first * 2)
    assert counted(before) == first
    assert counted(serve(recorder.url)) > first * 1.3
