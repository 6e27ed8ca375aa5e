"""The commands read the logs that agents write of their own sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SAID = [("user", "Where is the port set?"), ("assistant", "In config.py."), ("user", "Thank you.")]
CODEX = [
    {"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}}
    for (role, text), kind in zip(SAID, ("input_text", "output_text", "input_text"), strict=True)
]
PLAIN = [{"role": role, "content": text} for role, text in SAID]
LOGS: dict[str, tuple[str, Any]] = {
    "Claude Code": (
        "anthropic-messages",
        [{"type": each["role"], "sessionId": "s", "uuid": each["content"], "message": each} for each in PLAIN],
    ),
    "Codex CLI": ("openai-responses", [{"type": "session_meta", "payload": {"id": "s"}}, *CODEX]),
    "Gemini CLI": (
        "google-gemini",
        {
            "sessionId": "s",
            "projectHash": "p",
            "messages": [
                {"type": "info", "content": "A new version is there."},
                *(
                    {"type": {"assistant": "gemini"}.get(role, role), "content": [{"text": text}]}
                    for role, text in SAID
                ),
            ],
        },
    ),
    "OpenCode": (
        "openai-chat",
        {
            "info": {"id": "ses_1"},
            "messages": [{"info": {"role": role}, "parts": [{"type": "text", "text": text}]} for role, text in SAID],
        },
    ),
    "SWE-agent": ("openai-chat", {"trajectory": [], "history": PLAIN, "info": {}}),
    "mini-swe-agent": ("openai-chat", {"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": PLAIN}),
}


@pytest.mark.parametrize("agent", LOGS)
def test_the_log_of_an_agent_is_read_as_the_conversation_it_was(run: Run, tmp_path: Path, agent: str) -> None:
    format, content = LOGS[agent]
    text = "\n".join(map(json.dumps, content)) if isinstance(content, list) else json.dumps(content)
    file = tmp_path / "log.jsonl"
    file.write_text(text)
    counted = json.loads(run("tokens", file, "--json").out)
    assert (counted["format"], counted["messages"]) == (format, 3)
    assert run("check", file).status == 0
    told = json.loads(run("convert", file, "--to", "openai-chat").out)
    messages = told["messages"] if isinstance(told, dict) else told
    assert [(each["role"], each["content"]) for each in messages] == SAID
    assert run("replay", file, "--window", "8000", "--recipe", "v2").status == 0
