"""Gemini over plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from compact.testing.vendors import FakeVendors, Reply
from tests.testing.vendor_clients import APIS, GEMINI, send, words

API = APIS["gemini"]
USER: Any = {"role": "user", "parts": [{"text": "What is the weather in Paris?"}]}
TOOLS: Any = [{"functionDeclarations": [{"name": "weather"}]}]


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


def test_an_answer(server: FakeVendors) -> None:
    server.reply(Reply("Sunny, as ever.", reasoning="It is June."))
    config = {"thinkingConfig": {"includeThoughts": True}}
    answer = API.ask(server, {"contents": [USER], "generationConfig": config}).json
    [candidate] = answer["candidates"]
    thought, text = candidate["content"]["parts"]
    assert thought == {"text": "It is June.", "thought": True}
    assert text["text"] == "Sunny, as ever."
    assert candidate["finishReason"] == "STOP"
    assert answer["modelVersion"] == "gemini-2.5-flash"
    usage = answer["usageMetadata"]
    assert (usage["promptTokenCount"], usage["candidatesTokenCount"], usage["thoughtsTokenCount"]) == (13, 3, 3)
    assert usage["totalTokenCount"] == 19


def test_thoughts_are_hidden_unless_asked_for(server: FakeVendors) -> None:
    server.reply(Reply("Yes.", reasoning="Hm."))
    [part] = API.ask(server).json["candidates"][0]["content"]["parts"]
    assert part.keys() == {"text", "thoughtSignature"}


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-pro-preview"])
def test_calls_carry_a_signature_and_are_accepted_again(server: FakeVendors, model: str) -> None:
    path = f"/v1beta/models/{model}:generateContent"
    server.reply(Reply(calls=[("weather", {"city": "Paris"}), ("weather", {})]), "Sunny.")
    content = send(server, "POST", path, {"contents": [USER], "tools": TOOLS}, GEMINI).json["candidates"][0]["content"]
    assert [part["functionCall"]["args"] for part in content["parts"]] == [{"city": "Paris"}, {}]
    assert ["thoughtSignature" in part for part in content["parts"]] == [True, False]
    result = {"functionResponse": {"name": "weather", "response": {"result": "sun"}}}
    body: Any = {"contents": [USER, content, {"role": "user", "parts": [result, result]}], "tools": TOOLS}
    assert API.text(send(server, "POST", path, body, GEMINI).json) == "Sunny."

    content["parts"][0]["thoughtSignature"] = "c2lnbmF0dXJl"
    refused = send(server, "POST", path, body, GEMINI)
    assert refused.json == {
        "error": {"code": 400, "message": "Corrupted thought signature.", "status": "INVALID_ARGUMENT"}
    }
    content["parts"][0]["thoughtSignature"] = "skip_thought_signature_validator"
    assert send(server, "POST", path, body, GEMINI).status == 200


@pytest.mark.parametrize(
    "reply",
    [
        Reply("A rather long answer, in several pieces.", reasoning="Thinking about it for more than one piece."),
        Reply("Look:", calls=[("weather", {"city": "Paris"}), ("weather", {})]),
        Reply("Cut sh", stop="length"),
        Reply(stop="filter"),
        Reply(stop="refusal"),
        Reply(),
    ],
)
def test_a_stream_adds_up_to_the_whole(server: FakeVendors, reply: Reply) -> None:
    server.reply(reply, reply, reply)
    body = {"contents": [USER], "generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    whole = API.ask(server, body).json
    streamed = [data for _, data in API.stream(server, body).events]
    array = json.loads(send(server, "POST", API.stream_path.removesuffix("?alt=sse"), body, GEMINI).body)
    assert _joined(streamed) == _joined([whole])
    assert _joined(array) == _joined([whole])


def _joined(chunks: list[Any]) -> Any:
    candidates = [chunk["candidates"][0] for chunk in chunks if "candidates" in chunk]
    parts = [part for candidate in candidates for part in candidate.get("content", {}).get("parts", [])]
    return {
        "text": "".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        "thoughts": "".join(part["text"] for part in parts if part.get("thought")),
        "calls": [part["functionCall"] for part in parts if "functionCall" in part],
        "signatures": [part["thoughtSignature"] for part in parts if "thoughtSignature" in part],
        "ending": [candidate["finishReason"] for candidate in candidates if "finishReason" in candidate],
        "feedback": chunks[-1].get("promptFeedback"),
        "usage": chunks[-1]["usageMetadata"],
    }


def test_a_history_that_breaks_a_rule_is_refused_in_the_vendors_words(server: FakeVendors) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {}}}]}
    refused = API.ask(server, {"contents": [call, USER], "tools": TOOLS})
    assert refused.status == 400
    assert refused.json["error"]["status"] == "INVALID_ARGUMENT"
    assert (
        "Please ensure that function call turn comes immediately after a user turn" in refused.json["error"]["message"]
    )


def test_an_error_in_place_of_an_array_stands_in_one(server: FakeVendors) -> None:
    path = API.stream_path.removesuffix("?alt=sse")
    [refused] = send(server, "POST", path, {"contents": []}, GEMINI).json
    assert refused["error"]["code"] == 400


def test_overflow_has_the_vendors_words() -> None:
    with FakeVendors(count=words, window=20) as server:
        refused = API.ask(server, API.body("word " * 14))
        assert refused.json["error"]["message"].startswith(
            "The input token count (21) exceeds the maximum number of tokens allowed (20)"
        )
        assert API.ask(server, API.body("word " * 13)).status == 200


def test_tokens_are_counted_as_they_are_charged(server: FakeVendors) -> None:
    body: Any = {"contents": [USER], "systemInstruction": {"parts": [{"text": "Be brief."}]}, "tools": TOOLS}
    charged = API.ask(server, body).json["usageMetadata"]["promptTokenCount"]
    path = "/v1beta/models/gemini-2.5-flash:countTokens"
    assert send(server, "POST", path, body, GEMINI).json["totalTokens"] == charged
    wrapped = {"generateContentRequest": {"model": "models/gemini-2.5-flash", **body}}
    assert send(server, "POST", path, wrapped, GEMINI).json["totalTokens"] == charged


def test_a_key_may_stand_in_the_query_and_is_not_recorded(server: FakeVendors) -> None:
    answer = send(server, "POST", f"{API.path}?key=secret", API.body())
    assert answer.status == 200
    assert server.requests[0].path == f"{API.path}?key=[redacted]"


def test_a_missing_conversation_is_named(server: FakeVendors) -> None:
    refused = send(server, "POST", API.path, {}, GEMINI)
    assert refused.json["error"]["message"] == "* GenerateContentRequest.contents: contents is not specified\n"
    assert send(server, "POST", API.path, {"contents": "Hi"}, GEMINI).status == 400


def test_models_are_listed(server: FakeVendors) -> None:
    listed = send(server, "GET", "/v1beta/models", None, GEMINI).json["models"]
    assert "models/gemini-2.5-pro" in [model["name"] for model in listed]
    assert send(server, "GET", "/v1beta/models/gemini-x", None, GEMINI).json["name"] == "models/gemini-x"
