"""Logs of agents are read as the conversations they are of."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from compact.app import read_transcript
from compact.formats import render, violations
from compact.formats.logs import Log, read_log
from compact.messages import Json
from compact.ports import Usage


def claude(kind: str, content: Json, **more: Json) -> dict[str, Json]:
    message: dict[str, Json] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("id", "m1"), "model": "claude-opus-4-6", "type": "message", "usage": {}}
    return {"type": kind, "sessionId": "s", "uuid": "u", "isSidechain": False, "message": message, **more}


def call(id: str) -> Json:
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": f"/{id}"}}


def result(id: str) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": f"what {id} says"}


def read(content: Json) -> Log:
    log = read_log(content)
    assert log is not None
    return log


def test_claude_code_blocks_of_one_message_come_together_and_so_do_their_results() -> None:
    log = read(
        [
            {"type": "file-history-snapshot", "messageId": "x"},
            claude("user", "Fix it."),
            claude("assistant", [{"type": "text", "text": "I look."}]),
            claude("assistant", [call("a")]),
            claude("user", [result("a")]),
            claude("assistant", [call("b")]),
            claude("user", [result("b")]),
            claude("assistant", [{"type": "text", "text": "Done."}], id="m2"),
        ]
    )
    assert (log.agent, log.format, log.model) == ("Claude Code", "anthropic-messages", "claude-opus-4-6")
    assert log.messages == [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call("a"), call("b")]},
        {"role": "user", "content": [result("a"), result("b")]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]


def test_claude_code_side_agents_and_failed_requests_stay_out() -> None:
    log = read(
        [
            claude("user", "Go."),
            claude("user", "Look for it.", isSidechain=True),
            claude("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
            claude("assistant", [{"type": "text", "text": "Here."}]),
        ]
    )
    assert [message["role"] for message in log.messages] == ["user", "assistant"]


def test_claude_code_tells_where_it_compacted() -> None:
    log = read(
        [
            claude("user", "Go."),
            claude("assistant", [{"type": "text", "text": "Yes."}]),
            {"type": "system", "subtype": "compact_boundary", "sessionId": "s"},
            claude("user", "This session is being continued.", isCompactSummary=True),
        ]
    )
    assert (log.boundaries, log.accounts) == ((2,), ("This session is being continued.",))
    assert len(log.messages) == 3


def test_codex_items_are_unwrapped() -> None:
    log = read(
        [
            {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "You are Codex."}}},
            {"type": "turn_context", "payload": {"model": "gpt-5.3-codex"}},
            {"type": "event_msg", "payload": {"type": "user_message", "message": "shown, not sent"}},
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [part("Go.")]}},
            {
                "type": "response_item",
                "payload": {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "shell", "arguments": "{}"},
            },
            {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "ok"}},
            {"type": "compacted", "payload": {"message": "So far: ok."}},
        ]
    )
    assert (log.format, log.model, log.system) == ("openai-responses", "gpt-5.3-codex", "You are Codex.")
    assert [item["type"] for item in log.messages] == ["message", "function_call", "function_call_output", "message"]
    assert "id" not in log.messages[1]
    assert (log.boundaries, log.accounts) == ((3,), ("So far: ok.",))


def test_codex_older_logs_have_bare_items() -> None:
    rows: list[Json] = [
        {"id": "s", "timestamp": "2025-05-01", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [part("Go.")]},
    ]
    log = read(rows)
    assert (log.system, len(log.messages)) == ("Be brief.", 1)


def part(text: str) -> Json:
    return {"type": "input_text", "text": text}


GEMINI: list[dict[str, Json]] = [
    {"id": "1", "timestamp": "2026-01-05T10:00:00.000Z", "type": "user", "content": [{"text": "Why does it fail?"}]},
    {"id": "2", "timestamp": "2026-01-05T10:00:01.000Z", "type": "info", "content": "Using a small model."},
    {
        "id": "3",
        "timestamp": "2026-01-05T10:00:05.000Z",
        "type": "gemini",
        "content": "I read it.",
        "thoughts": [{"subject": "Looking", "description": "The file first.", "timestamp": "2026-01-05T10:00:04.000Z"}],
        "tokens": {"input": 900, "output": 20, "cached": 0, "thoughts": 30, "tool": 0, "total": 950},
        "model": "gemini-2.5-pro",
        "toolCalls": [
            {
                "id": "read-1",
                "name": "read_file",
                "args": {"path": "/app.py"},
                "result": [
                    {"functionResponse": {"id": "read-1", "name": "read_file", "response": {"output": "port = 80"}}}
                ],
                "status": "success",
                "timestamp": "2026-01-05T10:00:06.000Z",
                "resultDisplay": "",
                "displayName": "ReadFile",
            },
            {"id": "shell-2", "name": "shell", "args": {"command": "ls"}, "result": "app.py", "status": "success"},
            {"id": "shell-3", "name": "shell", "args": {"command": "rm"}, "result": None, "status": "cancelled"},
        ],
    },
    {"id": "4", "type": "error", "content": "[API Error: quota]"},
    {"id": "5", "type": "gemini", "content": "The port.", "thoughts": [], "tokens": None, "model": "gemini-2.5-flash"},
    {"id": "6", "type": "user", "content": "Thank you."},
]
READ_FROM_GEMINI: list[Json] = [
    {"role": "user", "parts": [{"text": "Why does it fail?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "Looking\nThe file first.", "thought": True},
            {"text": "I read it."},
            {"functionCall": {"id": "read-1", "name": "read_file", "args": {"path": "/app.py"}}},
            {"functionCall": {"id": "shell-2", "name": "shell", "args": {"command": "ls"}}},
            {"functionCall": {"id": "shell-3", "name": "shell", "args": {"command": "rm"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "read-1", "name": "read_file", "response": {"output": "port = 80"}}},
            {"functionResponse": {"id": "shell-2", "name": "shell", "response": {"output": "app.py"}}},
            {"functionResponse": {"id": "shell-3", "name": "shell", "response": {"error": "cancelled"}}},
        ],
    },
    {"role": "model", "parts": [{"text": "The port."}]},
    {"role": "user", "parts": [{"text": "Thank you."}]},
]


def test_gemini_cli_calls_have_their_results_and_what_the_program_says_stays_out() -> None:
    times = {"startTime": "2026-01-05T10:00:00.000Z", "lastUpdated": "2026-01-05T10:00:09.000Z"}
    log = read({"sessionId": "s", "projectHash": "p", **times, "messages": GEMINI})
    assert (log.agent, log.format, log.model) == ("Gemini CLI", "google-gemini", "gemini-2.5-flash")
    assert log.messages == READ_FROM_GEMINI
    assert violations(read_transcript(json.dumps({"sessionId": "s", "messages": GEMINI}).encode())) == []


def test_gemini_cli_lines_change_what_earlier_ones_say() -> None:
    first: dict[str, Json] = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-05T10:00:00.000Z"}
    unanswered = {**GEMINI[2], "toolCalls": []}
    aside = {"id": "9", "type": "user", "content": "Never mind."}
    changed: dict[str, Json] = {"$set": {"summary": "A port."}}
    lines: list[Json] = [first, *GEMINI[:2], unanswered, aside, {"$rewindTo": "9"}, *GEMINI[2:], changed]
    assert read(lines).messages == READ_FROM_GEMINI
    assert read([first, aside, {"$set": {"messages": GEMINI}}]).messages == READ_FROM_GEMINI
    assert read([first, aside, {"$rewindTo": "gone"}, *GEMINI]).messages == READ_FROM_GEMINI


def test_gemini_cli_images_come_after_the_results_and_a_call_follows_what_is_said() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    response = {"functionResponse": {"id": "a", "name": "read_file", "response": {"output": "An image."}}}
    call = {"id": "a", "name": "read_file", "args": {}, "result": [response, image]}
    rows: list[Json] = [
        {"type": "user", "content": ["Look.", {"text": ""}]},
        {"type": "gemini", "content": "I look."},
        {"type": "gemini", "content": "", "thoughts": [{"subject": "Empty"}]},
        {"type": "gemini", "content": "", "toolCalls": [call]},
        {"type": "user", "content": ""},
    ]
    assert read({"sessionId": "s", "messages": rows}).messages == [
        {"role": "user", "parts": [{"text": "Look."}]},
        {
            "role": "model",
            "parts": [{"text": "I look."}, {"functionCall": {"id": "a", "name": "read_file", "args": {}}}],
        },
        {"role": "user", "parts": [response]},
        {"role": "user", "parts": [image]},
    ]


def test_opencode_steps_become_calls_and_results() -> None:
    tool = {
        "type": "tool",
        "callID": "c",
        "tool": "bash",
        "state": {"status": "completed", "input": {"x": 1}, "output": "ok"},
    }
    failed = {**tool, "state": {"status": "error", "input": {}, "error": "no such file"}}
    log = read(
        {
            "info": {"id": "ses_1"},
            "messages": [
                {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Go."}]},
                {
                    "info": {"role": "assistant", "modelID": "gpt-5.3-codex"},
                    "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}, tool, failed],
                },
                {"info": {"role": "assistant"}, "parts": [{"type": "text", "text": "Done."}]},
            ],
        }
    )
    assert [message["role"] for message in log.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    calls = log.messages[1]["tool_calls"]
    assert [one["id"] for one in calls] == ["c", "c-2"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"x": 1}
    assert [message["content"] for message in log.messages[2:4]] == ["ok", "no such file"]


def test_swe_agent_and_mini_swe_agent_keep_what_was_sent() -> None:
    said = {"role": "assistant", "content": "ls", "thought": "I look.", "action": "ls", "agent": "primary"}
    log = read(
        {"trajectory": [], "history": [{"role": "user", "content": "Go.", "agent": "primary"}, said], "info": {}}
    )
    assert log.messages == [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "ls"}]
    mini = read(
        {
            "trajectory_format": "mini-swe-agent-1",
            "info": {"config": {"model": {"model_name": "deepseek/deepseek-chat"}}},
            "messages": [
                {"role": "user", "content": "Go."},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash"}}],
                },
                {"role": "tool", "tool_call_id": "c", "content": "ok", "extra": {}},
                {"role": "exit", "content": "submitted"},
            ],
        }
    )
    assert [message["role"] for message in mini.messages] == ["user", "assistant", "tool"]
    assert mini.messages[1]["tool_calls"] == [{"type": "function", "id": "c", "function": {"name": "bash"}}]
    assert mini.model == "deepseek/deepseek-chat"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "text",
        [],
        [1, "x", None],
        [{"role": "user", "content": "Hi"}],
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"messages": [{"info": 1, "parts": 2}]},
        [{"type": "user", "sessionId": "s", "message": 5}],
        [{"type": "response_item", "payload": "x"}],
        {"trajectory": {}, "history": 5},
        {"trajectory_format": 5, "messages": {}},
        {"sessionId": "s", "messages": [{"type": "gemini", "content": None, "toolCalls": 5, "thoughts": [7]}]},
        [{"sessionId": "s", "projectHash": "p"}, {"id": 5, "type": "user"}, {"$rewindTo": []}, {"$set": 5}],
    ],
)
def test_what_is_no_log_is_left_alone_or_read_as_an_empty_one(content: Json) -> None:
    log = read_log(content)
    assert log is None or log.messages == []


@pytest.mark.transcripts
def test_real_logs_are_valid_conversations() -> None:
    paths = sorted(Path(os.environ["COMPACT_TRANSCRIPTS"], "originals").iterdir())
    agents = set()
    for path in paths:
        data = path.read_bytes()
        conversation = read_transcript(data)
        assert len(conversation) > 10, path.name
        assert len(render(conversation)) == len(conversation)
        # A run that was submitted ends with a call that nobody answered.
        assert [one.rule for one in violations(conversation)] in ([], ["C1"]), path.name
        content = json.loads(data) if path.suffix != ".jsonl" or data.startswith(b"{\n") else _rows(data)
        log = read_log(content)
        assert log is not None
        agents.add(log.agent)
    assert agents == {"Claude Code", "OpenCode", "SWE-agent", "mini-swe-agent"}


def _rows(data: bytes) -> Json:
    return [json.loads(line) for line in data.splitlines()]


def test_what_the_vendor_reported_stands_beside_the_answer_it_came_with() -> None:
    rows = [
        claude("user", "Fix it."),
        claude("assistant", [{"type": "text", "text": "I look."}]),
        claude("assistant", [call("a")]),
        claude("user", [result("a")]),
        claude("assistant", [{"type": "text", "text": "Done."}], id="m2"),
    ]
    for row, output in zip((rows[1], rows[2], rows[4]), (1, 30, 7), strict=True):
        row["message"]["usage"] = {"input_tokens": 3, "cache_read_input_tokens": 500, "output_tokens": output}
    assert read(rows).usages == {1: Usage(3, 30, 0, 500), 3: Usage(3, 7, 0, 500)}


def test_usage_is_read_from_the_logs_of_other_agents() -> None:
    tokens = {"input": 322, "output": 163, "reasoning": 66, "cache": {"read": 6016, "write": 0}}
    parts = [{"type": "step-start"}, {"type": "text", "text": "Well."}, {"type": "step-finish", "tokens": tokens}]
    said = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Go."}]}
    opencode = read({"messages": [said, {"info": {"role": "assistant", "modelID": "m"}, "parts": parts}]})
    assert opencode.usages == {1: Usage(322, 163, 0, 6016)}
    usage = {"prompt_tokens": 1515, "completion_tokens": 83, "prompt_tokens_details": {"cached_tokens": 320}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Well.", "extra": {"response": {"usage": usage}}},
    ]
    swe = read({"trajectory_format": "mini-swe-agent-1", "messages": messages})
    assert swe.usages == {1: Usage(1195, 83, 0, 320)}
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]}
    last = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 5}
    codex = read(
        [
            {"type": "response_item", "payload": item},
            {"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": last}}},
        ]
    )
    assert codex.usages == {0: Usage(60, 5, 0, 40)}
