"""Reading transcripts from files, good and bad."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app import dump_json, read_transcript, write_transcript
from compact.errors import CompactError, InvalidConversation, UnknownFormat
from compact.formats import parse, render

MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def test_the_four_shapes_of_a_file() -> None:
    wrapper = {"format": "openai-chat", "id": "x", "meta": {"model": "m"}, "messages": MESSAGES}
    lines = "\n".join(json.dumps(message) for message in MESSAGES)
    body = {"model": "claude-sonnet-4-5", "system": "Be brief.", "messages": MESSAGES}
    for data in (json.dumps(MESSAGES), json.dumps(wrapper), lines, "\ufeff" + json.dumps(body, indent=1)):
        assert render(read_transcript(data.encode())) == MESSAGES
    assert read_transcript(json.dumps(body).encode()).format == "anthropic-messages"
    assert json.loads(write_transcript(read_transcript(json.dumps(wrapper).encode()))) == wrapper
    assert list(json.loads(write_transcript(read_transcript(json.dumps(body).encode())))) == list(body)


def test_a_wrapped_list_and_a_single_line_are_conversations() -> None:
    assert render(read_transcript(json.dumps({"id": "x", "conversation": MESSAGES}).encode())) == MESSAGES
    assert render(read_transcript(json.dumps(MESSAGES[0]).encode() + b"\n")) == MESSAGES[:1]


def test_a_request_that_names_its_conversation_is_no_wrapper() -> None:
    request = {"model": "gpt-5", "conversation": {"id": "conv_1"}, "input": MESSAGES}
    assert render(read_transcript(json.dumps(request).encode())) == MESSAGES


def test_errors_name_the_file_and_say_the_place_once() -> None:
    with pytest.raises(InvalidConversation) as caught:
        read_transcript(b'[{"role": "us\ner"}]', name="chat.json")
    assert str(caught.value) == (
        "chat.json: is not valid JSON: Invalid control character at line 1, column 14. "
        "Correct it there, or export it again."
    )
    for data in (b"", b"\xff", b"42", b"[NaN]", b"[" * 100_000, b'{"a": 1}\n{'):
        with pytest.raises(InvalidConversation, match=r"^chat\.json: "):
            read_transcript(data, name="chat.json")


def test_what_is_protected_stays_so_in_a_file() -> None:
    messages = [{**MESSAGES[0], "meta": {"protected": True}}, MESSAGES[1]]
    for content in (messages, {"model": "gpt-4o", "messages": messages, "stream": True}):
        conversation = read_transcript(json.dumps(content).encode())
        assert json.dumps(json.loads(write_transcript(conversation))) == json.dumps(content)
        assert render(conversation) == MESSAGES


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "file: is empty. Give a JSON document with messages."),
        (b"\xff\xfe\x00", "file: is not UTF-8 text (byte 0)"),
        (b'[{"role": "user", ]', "file: is not valid JSON: "),
        (b'{"role": "user"}\n{"role": \n', "at line 2, column"),
        (b"42", "file: holds a single JSON value, not a conversation"),
        (b"{}", "no messages found."),
        (b'[{"role": "user", "content": "a"}, 3]', "messages[1]: a message must be a JSON object, not int"),
        (b'[{"content": "a"}]', "messages[0].role: is missing. Give each message a role"),
        (b'{"messages": {"role": "user"}, "format": "openai-chat"}', "messages: must be a list, not dict"),
        (b'[{"role": "user", "content": NaN}]', "file: NaN is no JSON number"),
        (b'[{"role": "user", "content": 1e999}]', "file: 1e999 is larger than any number"),
        (b'[{"role": "user", "content": ' + b"9" * 5000 + b"}]", "limit"),
        (b"[" * 100_000 + b"]" * 100_000, "file: is nested too deeply"),
    ],
)
def test_a_bad_file_is_told_apart_with_its_remedy(data: bytes, says: str) -> None:
    with pytest.raises((InvalidConversation, UnknownFormat)) as caught:
        read_transcript(data)
    assert says in str(caught.value)


def test_a_format_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UnknownFormat, match=r"^format: 'toml' is unknown\. Use one of: openai-chat"):
        read_transcript(b'{"messages": []}', format="toml")


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with contextlib.suppress(CompactError):
        read_transcript(data)


@given(st.text(st.characters()), st.integers())
def test_written_json_is_utf8_and_equal(text: str, number: int) -> None:
    value = [{"role": "user", "content": text, "n": number}]
    assert json.loads(dump_json(value).encode()) == value


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.transcripts
def test_every_real_transcript_renders_back_equal(transcripts: list[Path]) -> None:
    assert len(transcripts) >= 100
    for path in transcripts:
        data = path.read_bytes()
        original = json.loads(data)
        conversation = read_transcript(data)
        assert conversation.format == original["format"], path.name
        assert json.dumps(render(conversation)) == json.dumps(original["messages"]), path.name
        assert json.dumps(json.loads(write_transcript(conversation))) == json.dumps(original), path.name
        untouched = parse(original["messages"], format=original["format"])
        assert all(one is other for one, other in zip(render(untouched), original["messages"], strict=True))
