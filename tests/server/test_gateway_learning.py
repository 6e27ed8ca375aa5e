"""What the gateway learns from the usage in answers."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from time import monotonic, sleep
from typing import Any

import httpx2
import pytest

from compact.app import count_tokens
from compact.models import find_model
from compact.server.gateway import learning
from compact.server.gateway.compacting import Asked, Outgoing
from compact.server.gateway.learning import Learning, _Ends, _learn, tokens_reported
from compact.server.gateway.managers import Managers
from compact.settings import load_calibrations
from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder, Serve, Served, long_history

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
EVENTS = {"content-type": "text/event-stream"}
WHOLE = {"content-type": "application/json"}
HISTORY: list[dict[str, Any]] = long_history(45, first="learning")


def samples(model: str) -> int:
    known = load_calibrations().get(find_model(model).id)
    return known.samples if known else 0


def ratios(model: str) -> tuple[float, ...]:
    """The vendor's tokens for one of o200k_base, in each sample."""
    return load_calibrations()[find_model(model).id].recent


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def told(usage: dict[str, int]) -> dict[str, tuple[Answer, ...]]:
    """Answers with that usage, in every way in which vendors tell it."""
    answer = json.dumps({"choices": [], "usage": usage}).encode()
    return {
        "whole": (Answer(200, WHOLE, (answer,)),),
        "packed": (Answer(200, {**WHOLE, "content-encoding": "gzip"}, (gzip.compress(answer),)),),
        "at the start": (Answer(200, EVENTS, (event({"message": {"usage": usage}}), event({"x": 1})), stream=True),),
        "at the end": (Answer(200, EVENTS, (event({"usage": None}), event({"usage": usage})), stream=True),),
        "in the last": (Answer(200, EVENTS, (event({"response": {"usage": usage}}),), stream=True),),
    }


@pytest.mark.parametrize(
    ("path", "model", "way"),
    [
        (MESSAGES, "claude-sonnet-5", "whole"),
        (MESSAGES, "claude-opus-5", "at the start"),
        (CHAT, "grok-4", "packed"),
        (CHAT, "mistral-large-latest", "at the end"),
        (RESPONSES, "grok-3", "in the last"),
    ],
)
def test_the_vendors_count_is_learned_after_its_answer(
    recorded: Served, recorder: Recorder, path: str, model: str, way: str
) -> None:
    key = "input" if path == RESPONSES else "messages"
    ours = count_tokens(HISTORY, model=model)
    usage = {"input_tokens": ours // 3, "cache_read_input_tokens": ours} if path == MESSAGES else {}
    recorder.answers.extend(told(usage or {"prompt_tokens": ours * 4 // 3})[way])
    body = {"model": model, key: HISTORY, "stream": way.startswith(("at", "in")), "max_tokens": 9}
    assert recorded.ask("POST", path, json=body).status_code == 200
    until = monotonic() + 10
    while not samples(model) and monotonic() < until:
        sleep(0.01)
    assert samples(model) == 1
    # Not again so soon.
    recorder.answers.extend(told({"prompt_tokens": ours})[way])
    assert recorded.ask("POST", path, json=body).status_code == 200
    sleep(0.05)
    assert samples(model) == 1


def counted(served: Served, model: str, history: list[dict[str, Any]] = HISTORY) -> int:
    """The tokens that the gateway counts for a request."""
    body = {"model": model, "messages": history, "max_tokens": 9}
    answer = served.ask("POST", MESSAGES, json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.headers["x-compact-tokens-before"])


def report(served: Served, recorder: Recorder, model: str, factor: float, history: list[dict[str, Any]]) -> None:
    """Let the vendor report so many times what we count, and wait until that was taken in."""
    seen, usage = samples(model), {"input_tokens": round(count_tokens(history, model=model) * factor)}
    recorder.answers.extend(told(usage)["whole"])
    counted(served, model, history)
    until = monotonic() + 2
    while samples(model) == seen and monotonic() < until:
        sleep(0.01)


def test_a_small_request_teaches_nothing(recorded: Served, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_EVERY", 0.0)
    model, small = "claude-opus-4-1", long_history(20)
    assert count_tokens(small, model=model) < 8_000 < count_tokens(HISTORY, model=model)
    for _ in range(2):
        recorder.answers.extend(told({"input_tokens": 4_000})["whole"])
        counted(recorded, model, small)
    report(recorded, recorder, model, 1.2, HISTORY)
    assert ratios(model) == pytest.approx((1.2 * find_model(model).prior,), rel=0.02)


def test_what_the_vendor_may_leave_out_teaches_nothing(
    recorded: Served, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "_EVERY", 0.0)
    model = "claude-3-7-sonnet-20250219"
    for edit in ({"type": "clear_tool_uses_20250919"}, {"type": "compact_20260112"}):
        recorder.answers.extend(told({"input_tokens": 9_000})["whole"])
        options = {"max_tokens": 9, "context_management": {"edits": [edit]}}
        recorded.ask("POST", MESSAGES, json={"model": model, "messages": HISTORY, **options})
    report(recorded, recorder, model, 1.2, HISTORY)
    assert ratios(model) == pytest.approx((1.2 * find_model(model).prior,), rel=0.02)


def test_a_factor_holds_after_the_next_start_once_three_samples_agree(
    serve: Serve, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "_EVERY", 0.0)
    model, first = "claude-opus-4-5", serve(recorder.url)
    before = counted(first, model)
    for factor in (0.759, 0.75, 1.3, 1.32):
        report(first, recorder, model, factor, HISTORY)
        assert counted(serve(recorder.url), model) == before
    report(first, recorder, model, 1.31, HISTORY)
    assert counted(first, model) == before
    assert counted(serve(recorder.url), model) == pytest.approx(before * 1.3, rel=0.02)


def test_what_an_overflow_teaches_holds_for_the_next_request(recorded: Served, recorder: Recorder) -> None:
    model = "claude-sonnet-4-5"
    before = counted(recorded, model)
    vendors = round(before * 1.4)
    message = f"prompt is too long: {vendors} tokens > {vendors - 500} maximum"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    recorder.answers.append(Answer(400, WHOLE, (json.dumps(error).encode(),)))
    another = long_history(45, first="another")
    asked = recorded.ask("POST", MESSAGES, json={"model": model, "messages": another, "max_tokens": 9})
    assert asked.headers["x-compact-compaction"] == "forced"
    assert counted(recorded, model, long_history(45, first="a third one")) == pytest.approx(vendors, rel=0.02)


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}, 7),
        ({"usage": {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300}}, 321),
        ({"message": {"usage": {"input_tokens": 4, "output_tokens": 1}}}, 4),
        ({"response": {"usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 4}}}}, 5),
        ({"response": {"usage": None}}, 0),
        ({"usage": {"prompt_tokens": "9", "input_tokens": -3}}, 0),
        ([], 0),
    ],
)
def test_usage_is_read_in_every_vendors_form(answer: Any, tokens: int) -> None:
    assert tokens_reported(answer) == tokens


@pytest.mark.parametrize(
    "content", [b"", b"no json", b'{"usage": 3}', b'{"usage": {"prompt_tokens": 9000000}}', b'data: {"usage": [[[']
)
def test_an_answer_that_makes_no_sense_teaches_nothing(
    content: bytes, recorded: Served, caplog: pytest.LogCaptureFixture
) -> None:
    ends = _Ends()
    ends.add(content)
    _learn(Asked("openai-chat", b"", {"model": "qwen-max", "messages": HISTORY}), httpx2.Headers(), ends)
    assert not [name for name in load_calibrations() if "qwen-max" in name]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_of_a_long_answer_both_ends_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_HEAD", 10)
    monkeypatch.setattr(learning, "_TAIL", 10)
    ends = _Ends()
    for number in range(100):
        ends.add(b"%05d" % number)
    assert ends.content == b"00000000010009800099"


def test_models_whose_tokenizer_is_known_are_not_watched(tmp_path: Any, recorded: Served) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    managers, watching = Managers(tmp_path), Learning()
    watched = {}
    for model in ("gpt-4o", "claude-haiku-4-5"):
        asked = Asked("openai-chat", b"", {"model": model, "messages": HISTORY})
        pieces = nothing()
        with managers.using(model, None) as manager:
            outgoing = Outgoing(asked, "none", 9_000, 9_000, None, manager)
        watched[model] = watching.watch(outgoing, httpx2.Response(200), pieces) is not pieces
    watching.close()
    managers.close()
    assert watched == {"gpt-4o": False, "claude-haiku-4-5": True}


def test_clients_cannot_fill_the_file_with_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_MOST", 2)
    watching = Learning()
    due = [watching._is_due(f"model-{number}") for number in (1, 2, 3, 1)]
    watching.close()
    assert due == [True, True, False, False]
