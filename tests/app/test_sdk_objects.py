"""Messages that are objects of the vendors' libraries: `response.choices[0].message` and its like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

import compact
from compact import CompactConfig, CompactManager
from compact.errors import InvalidConversation
from compact.messages import dump_objects

CHAT = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"path": "a.py"}'}}
                ],
            },
        }
    ],
}
BLOCKS = [
    {"type": "thinking", "thinking": "I look.", "signature": "c2ln"},
    {"type": "text", "text": "I look at it.", "citations": None},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"path": "a.py"}},
]
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": BLOCKS,
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}", "status": "completed"},
]
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "output": ITEMS,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def chat_message() -> Any:
    return ChatCompletion.model_validate(CHAT).choices[0].message


def chat() -> list[Any]:
    return [
        {"role": "user", "content": "Look at a.py, please. " + "It is long. " * 300},
        chat_message(),
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1\n" * 2000},
        {"role": "user", "content": "And now?"},
    ]


def claude() -> list[Any]:
    answer = AnthropicMessage.model_validate(ANTHROPIC)
    return [
        {"role": "user", "content": "Look at a.py, please."},
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"}]},
    ]


def test_a_message_of_openais_library_is_what_the_library_would_send() -> None:
    given = chat()
    conversation = compact.parse(given)
    assert compact.render(conversation)[1] == CHAT["choices"][0]["message"]  # type: ignore[index]
    assert all(sent is own for sent, own in zip(compact.render(conversation), given, strict=True) if type(own) is dict)


def test_content_blocks_of_anthropics_library_are_what_it_would_send() -> None:
    conversation = compact.parse(claude())
    assert conversation.format == "anthropic-messages"
    assert compact.render(conversation)[1] == {"role": "assistant", "content": BLOCKS}


def test_a_whole_message_of_anthropics_library_loses_nothing() -> None:
    given = [{"role": "user", "content": "Look."}, AnthropicMessage.model_validate(ANTHROPIC)]
    assert compact.render(compact.parse(given))[1] == ANTHROPIC


def test_items_of_a_response_are_taken_as_they_come() -> None:
    output = Response.model_validate(RESPONSE).output
    given = [{"role": "user", "content": "Look."}, *output]
    conversation = compact.parse(given)
    assert conversation.format == "openai-responses"
    assert compact.render(conversation)[1:] == ITEMS


class Camel(BaseModel):
    """A model as Google's library has them: names in snake case, aliases in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class Part(Camel):
    text: str | None = None
    function_call: dict[str, Any] | None = None
    thought_signature: bytes | None = None


class Content(Camel):
    role: str
    parts: list[Part]


def test_aliases_are_what_is_sent_as_in_googles_library() -> None:
    call = {"name": "look", "args": {"path": "a.py"}}
    given = [
        Content(role="user", parts=[Part(text="Look.")]),
        Content(role="model", parts=[Part(function_call=call)]),
    ]
    conversation = compact.parse(given)
    assert conversation.format == "google-gemini"
    assert compact.render(conversation)[1] == {"role": "model", "parts": [{"functionCall": call}]}


@pytest.mark.parametrize("given", [chat, claude])
def test_every_entry_point_takes_them(given: Any, tmp_path: Path) -> None:
    messages = given()
    plain = dump_objects(messages)
    json.dumps(plain)
    assert compact.count_tokens(messages, model="gpt-4o") == compact.count_tokens(plain, model="gpt-4o")
    result = compact.condense(messages, target=0.5)
    assert result.messages == compact.condense(plain, target=0.5).messages
    assert compact.restore(result) == plain
    assert compact.estimate(messages).tokens_after == compact.estimate(plain).tokens_after
    assert compact.convert(messages, to="openai-chat", lossy=True).messages
    with CompactManager(CompactConfig.load(model="gpt-4o", storage={"path": str(tmp_path)})) as manager:
        assert manager.preflight("s", messages) == plain
        assert manager.preflight("s", [*messages, {"role": "user", "content": "Thanks."}])[:-1] == plain
        whole = manager.prepare("t", {"model": "gpt-4o", "messages": messages})
        assert whole.messages == plain
        assert manager.manual_compact("s", messages)


def test_dicts_without_objects_are_the_very_objects() -> None:
    given = dump_objects(chat())
    assert dump_objects(given) is given


def test_an_object_that_cannot_be_dumped_is_named() -> None:
    class Odd(BaseModel):
        value: Any

    class Other:
        def model_dump(self) -> dict[str, str]:
            return {}

    for odd in (Odd(value=object()), Other()):
        with pytest.raises(InvalidConversation, match=f"a {type(odd).__name__} cannot be dumped"):
            compact.parse([odd])


def test_what_is_nested_too_deeply_is_left_alone() -> None:
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    assert dump_objects(deep) is deep
