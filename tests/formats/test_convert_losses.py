"""What another format has no place for is an error, or left out and noted; nothing is lost in silence."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from compact.errors import ConversionError
from compact.formats import FORMATS, convert, parse, render, tools_of
from compact.messages import Json, protect
from tests.formats.contents import calls, instructions, results, texts

PAIRS = list(permutations(sorted(FORMATS), 2))

every_pair = pytest.mark.parametrize(("source", "target"), PAIRS)

CALL: list[Json] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
]
PICTURE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def result(*parts: Json, **more: Json) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [*parts], **more}]}


@every_pair
def test_what_is_protected_stays_protected(source: str, target: str) -> None:
    anthropic = parse([*CALL, result({"type": "text", "text": "x"}), {"role": "assistant", "content": "done"}])
    there = convert(protect(anthropic, [1, 2]), source)
    after = convert(there, target)
    kinds = [(message.protected, bool(message.calls or message.results)) for message in after.messages]
    assert kinds == [(False, False), (True, True), (True, True), (False, False)]
    assert all("meta" not in wire for wire in render(after))


def test_protection_of_one_of_several_results_covers_the_message_they_share() -> None:
    items = [
        {"role": "user", "content": "go"},
        *({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in "ab"),
        *({"type": "function_call_output", "call_id": id, "output": "x"} for id in "ab"),
    ]
    conversation = protect(parse(items), [4])
    after = convert(conversation, "anthropic-messages")
    assert [message.protected for message in after.messages] == [False, False, True]


def test_a_failed_result_keeps_its_text_where_there_is_no_flag_and_that_is_noted() -> None:
    conversation = parse([*CALL, result({"type": "text", "text": "no such file"}, is_error=True)])
    for target in ("openai-chat", "openai-responses"):
        notes: list[str] = []
        assert results(convert(conversation, target, note=notes.append)) == ["no such file"]
        assert notes == ["message 2: the flag of a failed tool result"]
    (failed,) = convert(conversation, "google-gemini").messages[2].results
    assert failed.error


LOSSES: list[tuple[str, list[Json], str, str]] = [
    ("openai-chat", [{"role": "user", "name": "alice", "content": "hi"}], "anthropic-messages", "its speaker, 'alice'"),
    ("openai-chat", [{"role": "system", "name": "s", "content": "hi"}], "google-gemini", "its speaker, 's'"),
    (
        "openai-responses",
        [{"role": "system", "content": [{"type": "input_image", "image_url": "https://example.org/x.png"}]}],
        "openai-chat",
        "a picture among its instructions",
    ),
    (
        "openai-responses",
        [{"role": "user", "content": [{"type": "input_file", "file_url": "https://example.org/x.pdf"}]}],
        "openai-chat",
        "a file by its address",
    ),
    ("anthropic-messages", [*CALL, result(PICTURE)], "google-gemini", "a picture in a tool result"),
    (
        "openai-chat",
        [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}],
        "anthropic-messages",
        "system instructions in the middle",
    ),
    (
        "openai-chat",
        [{"role": "user", "content": "a"}, {"role": "developer", "content": "b"}],
        "google-gemini",
        "developer instructions in the middle",
    ),
]


@pytest.mark.parametrize(("source", "messages", "target", "what"), LOSSES)
def test_every_loss_is_an_error_or_noted(source: str, messages: list[Json], target: str, what: str) -> None:
    conversation = parse(messages, format=source)
    with pytest.raises(ConversionError, match=what) as caught:
        convert(conversation, target)
    assert "(path=" not in str(caught.value)
    assert "lossy=True" in str(caught.value)
    notes: list[str] = []
    after = convert(conversation, target, lossy=True, note=notes.append)
    assert [note for note in notes if what in note] == notes != []
    assert (texts(after), instructions(after)) == (texts(conversation), instructions(conversation))


@pytest.mark.parametrize("target", ["openai-responses", "anthropic-messages", "google-gemini"])
def test_a_call_that_takes_free_text_becomes_a_function_with_that_input(target: str) -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
    ]
    conversation = parse(messages)
    with pytest.raises(ConversionError, match="message 1 holds a call of 'patch', which is no function"):
        convert(conversation, target)
    assert calls(convert(conversation, target, lossy=True)) == [("patch", {"input": "*** Begin"})]


@pytest.mark.parametrize("response", [{"celsius": 20, "sky": "clear"}, {"output": "a", "stderr": "b"}, {"sky": "x"}])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_a_structured_answer_is_written_as_json(target: str, response: Json) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]},
    ]
    for lossy in (False, True):
        (text,) = results(convert(parse(contents), target, lossy=lossy))
        assert json.loads(text) == response


def test_options_other_than_the_model_are_left_out_and_noted() -> None:
    notes: list[str] = []
    body = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "hi"}], "tools": [], "system": "s"}
    after = convert(parse(body), "google-gemini", note=notes.append)
    assert (after.options, notes) == ({"model": "m"}, ["the request's 'temperature'"])


BARE: dict[str, Json] = {
    "openai-chat": {"type": "function", "function": {"name": "now", "description": "Tells."}},
    "openai-responses": {"type": "function", "name": "now", "description": "Tells."},
    "google-gemini": {"functionDeclarations": [{"name": "now", "description": "Tells."}]},
}
VENDORS: dict[str, Json] = {
    "openai-chat": {"type": "custom", "custom": {"name": "patch"}},
    "openai-responses": {"type": "web_search"},
    "anthropic-messages": {"type": "bash_20250124", "name": "bash"},
    "google-gemini": {"googleSearch": {}},
}


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in BARE])
def test_a_function_without_parameters_is_a_function_everywhere(source: str, target: str) -> None:
    after = convert(parse([], format=source, tools=[BARE[source]]), target)
    expected = [("now", "Tells.", {"type": "object", "properties": {}})]
    assert [(tool.name, tool.description, tool.schema) for tool in tools_of(after)] == expected
    if target == "google-gemini":
        assert after.tools == (BARE[target],)


@every_pair
def test_a_tool_that_is_no_function_has_no_place_elsewhere(source: str, target: str) -> None:
    conversation = parse([], format=source, tools=[VENDORS[source]])
    with pytest.raises(ConversionError, match=r"the request holds the tool '\w+', which is no function"):
        convert(conversation, target)
    assert convert(conversation, target, lossy=True).tools == ()
