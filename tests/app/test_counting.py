"""Counting plain messages through the public function."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compact
from compact.app import count, learn_calibration, read_transcript
from compact.app.counting import _Recent, choose_model, counter_for
from compact.errors import TokenCountError
from compact.formats import FORMATS, parse, request_body
from compact.messages import Reasoning, Text, ToolCall, ToolResult
from compact.testing.generate import random_body
from compact.tokens import Count
from tests.tokens.oracle import oracle


def tiktoken(text: str) -> int:
    return len(oracle("o200k_base").encode_ordinary(text))


def test_openai_frames_by_the_cookbook() -> None:
    messages = [
        {"role": "system", "content": "You are a helpful, pattern-following assistant."},
        {"role": "user", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    ]
    texts = ["system", messages[0]["content"], "user", "example_user", messages[1]["content"]]
    assert compact.count_tokens(messages) == sum(map(tiktoken, texts)) + 2 * 3 + 1 + 3


def test_calls_results_and_tools_are_counted() -> None:
    messages: list[Any] = [{"role": "user", "content": "Read it."}]
    plain = compact.count_tokens(messages)
    arguments = json.dumps({"path": "src/compact/messages/apply.py", "limit": 200})
    function = {"name": "read_file", "arguments": arguments}
    messages.append({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]})
    called = compact.count_tokens(messages)
    assert called - plain == 3 + sum(map(tiktoken, ("assistant", "read_file", arguments)))
    messages.append({"role": "tool", "tool_call_id": "c1", "content": "the text"})
    assert compact.count_tokens(messages) - called == 3 + tiktoken("tool") + tiktoken("the text")
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "Where"}}}
    tool = {"type": "function", "function": {"name": "read_file", "description": "Reads", "parameters": schema}}
    assert compact.count_tokens(messages, tools=[tool]) > compact.count_tokens(messages) + 10


def test_claude_is_an_estimate_and_says_so() -> None:
    conversation = parse([{"role": "user", "content": "hello " * 500}])
    counted = count(conversation, model="claude-sonnet-4-5")
    assert counted.precision == "estimate"
    assert counted.meter.factor == pytest.approx(1.2)
    assert counted.total > count(conversation).total
    assert count(conversation).precision == "exact"


@pytest.mark.parametrize(
    ("format", "model"),
    [
        ("anthropic-messages", "claude-sonnet-4-5"),
        ("google-gemini", "gemini-2.5-pro"),
        ("openai-chat", "gpt-4o"),
        ("openai-responses", "gpt-4o"),
    ],
)
def test_where_no_model_is_named_one_of_the_formats_vendor_counts(format: str, model: str) -> None:
    assert choose_model(None, parse([], format=format)) == (model, "default")
    assert choose_model("gpt-5", parse([], format=format)) == ("gpt-5", "option")


def test_images_of_unknown_size_make_a_count_an_estimate() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    counted = count(parse([{"role": "user", "content": [part]}]))
    assert counted.precision == "estimate"
    assert counted.estimated == ("images of unknown size or price (1)",)
    assert counted.by_kind["images"] > 0


def test_attachments_count_by_their_metadata() -> None:
    def size(data: str) -> int:
        file = {"filename": "report.pdf", "file_data": f"data:application/pdf;base64,{data}"}
        return compact.count_tokens([{"role": "user", "content": [{"type": "file", "file": file}]}])

    assert abs(size("A" * 400) - size("A" * 400_000)) <= 2
    file = {"filename": "report.pdf", "file_data": "data:application/pdf;base64,AAAA"}
    counted = count(parse([{"role": "user", "content": [{"type": "file", "file": file}]}]))
    assert counted.estimated == ("attachments, by their metadata alone (1)",)


def test_of_an_unknown_block_only_what_is_base64_is_left_out() -> None:
    def counted(value: str) -> Count:
        block = {"type": "hologram", "data": value}
        return count(parse([{"role": "user", "content": [block]}], format="anthropic-messages"))

    picture = counted(base64.b64encode(random.Random(1).randbytes(300_000)).decode())
    assert picture.total < 100
    assert picture.precision == "estimate"
    assert counted("a-b_c/" * 1000).total > 2500


def test_what_cannot_be_serialized_is_an_error_not_a_guess() -> None:
    value: Any = "deep"
    for _ in range(100_000):
        value = [value]
    block = {"type": "tool_use", "id": "t", "name": "n", "input": {"deep": value}}
    with pytest.raises(TokenCountError, match="message 0: a ToolCall cannot be written as JSON"):
        compact.count_tokens([{"role": "assistant", "content": [block]}])
    del value, block


@pytest.mark.parametrize("text", ["7" * 100_001, "日本" * 50_000, "ab" * 32_767 + "7" * 70_000])
def test_a_long_text_without_a_safe_cut_is_counted_exactly(text: str) -> None:
    empty = compact.count_tokens([{"role": "user", "content": ""}])
    assert compact.count_tokens([{"role": "user", "content": text}]) - empty == tiktoken(text)


def test_counting_opens_no_connection(tmp_path: Path) -> None:
    code = """
import sys
def watch(name, given):
    if name.startswith("socket."):
        raise SystemExit(f"{name} {given}")
sys.addaudithook(watch)
import compact
for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "llama-3.3-70b", "deepseek-chat", "nobody-knows-it"):
    assert compact.count_tokens([{"role": "user", "content": "Hello there"}], model=model) > 2
"""
    keys = {f"{vendor}_API_KEY": "sk-made-up" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}
    environment = {**os.environ, **keys, "COMPACT_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_deep_but_serializable_messages_are_counted() -> None:
    value: Any = "deep"
    for _ in range(600):
        value = {"inner": value}
    block = {"type": "tool_use", "id": "t", "name": "n", "input": {"deep": value}}
    assert compact.count_tokens([{"role": "assistant", "content": [block]}]) > 600


@given(st.sampled_from(sorted(FORMATS)), st.integers(0, 2**32), st.data())
def test_counting_step_by_step_equals_counting_at_once(format: str, seed: int, data: st.DataObject) -> None:
    body = random_body(random.Random(seed), format)
    wires = body[FORMATS[format].messages_key]
    counter = counter_for("gpt-4o")
    recent = _Recent()
    sizes = sorted(data.draw(st.lists(st.integers(0, len(wires)), max_size=5)))
    data.draw(st.randoms()).shuffle(sizes)
    for size in sizes:
        assert recent.count(counter, wires[:size], None, []) == _Recent().count(counter, wires[:size], None, [])
    assert recent.count(counter, wires, None, []) == counter.conversation(parse(wires)).total


def test_a_message_changed_in_place_is_counted_anew() -> None:
    messages = [{"role": "user", "content": f"message {index}"} for index in range(50)]
    before = compact.count_tokens(messages)
    messages[10]["content"] = "something quite a bit longer than it was before"
    after = compact.count_tokens(messages)
    assert after > before
    assert after == _Recent().count(counter_for("gpt-4o"), messages, None, [])


def test_a_format_that_shows_late_is_not_mistaken() -> None:
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    compact.count_tokens(messages)
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "x"}}
    messages.append({"role": "assistant", "content": [block]})
    assert compact.count_tokens(messages) == count(parse(messages, format="anthropic-messages")).total


def test_what_was_counted_before_does_not_change_a_count() -> None:
    plain = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {"at": "x"}}
    claude: list[Any] = [*plain, {"role": "assistant", "content": [call]}]
    chat: list[Any] = [*plain, {"role": "tool", "tool_call_id": "x", "content": "r"}]
    for messages in (chat, claude, plain, claude, chat):
        assert compact.count_tokens(messages) == count(parse(messages)).total


def test_only_so_much_is_remembered() -> None:
    recent = _Recent()
    counter = counter_for("gpt-4o")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 3_000_000}}
    for index in range(14):
        recent.count(counter, [{"role": "user", "content": [image, {"type": "text", "text": str(index)}]}])
    assert sum(known.chars for known in recent._lists) <= 32_000_000
    recent.count(counter, [])
    assert len(recent._lists) == 10


def test_a_mistake_is_named_where_it_stands() -> None:
    messages: list[Any] = [{"role": "user", "content": str(index)} for index in range(10)]
    compact.count_tokens(messages)
    with pytest.raises(compact.InvalidInput, match=r"messages\[10\]\.role"):
        compact.count_tokens([*messages, {"content": "x"}])
    with pytest.raises(compact.InvalidInput, match="tools: must be a list"):
        compact.count_tokens(messages, tools="abc")
    with pytest.raises(compact.InvalidInput, match="beside a whole request"):
        compact.count_tokens({"messages": messages}, system="Be brief.")


def test_many_threads_agree() -> None:
    lists = [[{"role": "user", "content": f"{seed} {index}"} for index in range(200)] for seed in range(4)]
    expected = [_Recent().count(counter_for("gpt-4o"), messages, None, []) for messages in lists]
    wrong: list[int] = []

    def work(which: int) -> None:
        for size in range(150, 201):
            compact.count_tokens(lists[which][:size])
        if compact.count_tokens(lists[which]) != expected[which]:
            wrong.append(which)

    threads = [threading.Thread(target=work, args=(index % 4,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.transcripts
def test_real_transcripts_count_as_tiktoken_counts_their_texts(transcripts: list[Path]) -> None:
    for path in transcripts:
        conversation = read_transcript(path.read_bytes())
        counted = count(conversation, model="gpt-4o")
        assert counted.precision == "exact"
        expected = 3
        for message in conversation.messages:
            texts = [message.role, *([message.name] if message.name else []), *_texts(message)]
            expected += 3 + bool(message.name) + sum(map(tiktoken, texts))
        assert counted.total == expected, path.name


def _texts(message: compact.Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield block.name
            raw = block.raw
            yield raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
        for part in block.parts if isinstance(block, ToolResult) else (block,):
            if isinstance(part, Text | Reasoning):
                yield part.text


def test_a_calibration_that_makes_no_sense_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    long, short = parse([{"role": "user", "content": "word " * 900}]), parse([{"role": "user", "content": "hi"}])
    with pytest.raises(compact.InvalidInput, match="cannot be the vendor's count"):
        learn_calibration(long, "claude-opus-4-6", 999_999)
    with pytest.raises(compact.InvalidInput, match="too few to learn from"):
        learn_calibration(short, "claude-opus-4-6", 9)
    assert count(long, model="claude-opus-4-6").precision == "estimate"


def test_a_calibration_brings_the_count_to_the_vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    body = random_body(random.Random(3), "anthropic-messages", size=60)
    conversation = parse(body)
    model = "claude-opus-4-6"
    reported = round(count(conversation, model=model).total * 1.23)
    learned = learn_calibration(conversation, model, reported)
    again = count(conversation, model=model)
    assert learned.samples == 1
    assert again.precision == "calibrated"
    assert abs(again.total - reported) / reported < 0.02
    assert (tmp_path / "home" / "calibration.json").stat().st_mode & 0o777 == 0o600
    assert request_body(conversation) == body


@pytest.mark.parametrize("model", [None, 5])
def test_what_is_no_name_of_a_model_is_refused(model: Any) -> None:
    with pytest.raises(compact.InvalidInput, match=r"^model: "):
        compact.count_tokens([{"role": "user", "content": "hi"}], model=model)
