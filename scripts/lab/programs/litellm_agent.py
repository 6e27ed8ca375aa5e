"""A small agent on LiteLLM, with a shell and a reader of files; it runs in LiteLLM's own environment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import litellm  # type: ignore[import-not-found]  # installed where this runs

litellm.telemetry = False
KIND, STEPS = os.environ["LAB_KIND"], int(os.environ["LAB_STEPS"])
MODEL = {"anthropic": "anthropic/claude-sonnet-4-5", "chat": "openai/gpt-4o"}[KIND]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [
    {"type": "function", "function": {"name": "bash", "description": "Run a shell command.", "parameters": COMMAND}},
    {"type": "function", "function": {"name": "read_file", "description": "Read a file.", "parameters": PATH}},
]


def run(name: str, given: dict[str, str]) -> str:
    """What a tool gives back."""
    if name == "read_file":
        return Path(given["path"]).read_text(encoding="utf-8")
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, timeout=60, check=False)
    return f"{done.stdout}{done.stderr}\nexit code: {done.returncode}"


def mark_newest(messages: list[dict[str, Any]]) -> None:
    """Move the mark of the prompt cache to the newest message, as LiteLLM documents it for Anthropic."""
    for message in messages:
        message.pop("cache_control", None)
    messages[-1]["cache_control"] = {"type": "ephemeral"}


def main() -> None:
    """Run the agent until the model calls no tool any more."""
    rules = Path("AGENTS.md").read_text(encoding="utf-8")
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful engineer."},
        {"role": "user", "content": f"Contents of AGENTS.md:\n\n{rules}\n\n{os.environ['LAB_PROMPT']}"},
    ]
    for _ in range(STEPS + 5):
        if KIND == "anthropic":
            mark_newest(messages)
        pieces = litellm.completion(
            model=MODEL, messages=messages, tools=TOOLS, stream=True, num_retries=0, max_tokens=4000
        )
        said = litellm.stream_chunk_builder(list(pieces), messages=messages).choices[0].message
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in said.tool_calls or []
        ]
        messages.append({"role": "assistant", "content": said.content} | ({"tool_calls": calls} if calls else {}))
        if not calls:
            return
        for call in calls:
            output = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})


main()
