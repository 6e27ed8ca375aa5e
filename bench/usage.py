"""Our counts beside the usage that vendors really reported, where agents' own logs record it.

A log tells what each request cost as a whole, system prompt and tools included, which it does not contain. What can
be compared is how much each request grew: the messages that were added since the one before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, TextIO, TypeAlias

from compact.app import counter_for
from compact.formats import parse

Step: TypeAlias = tuple[list[dict[str, Any]], int, int]
"""Messages added since the last request, its input tokens as the vendor reported them, and its output tokens."""


def run(out: TextIO) -> None:
    folder = Path(os.environ.get("COMPACT_TRANSCRIPTS", ""), "originals")
    if not os.environ.get("COMPACT_TRANSCRIPTS") or not folder.is_dir():
        print("no logs found: set COMPACT_TRANSCRIPTS to a folder that has originals/", file=out)
        return
    print(f"{'log':34} {'model':18} {'steps':>5} {'reported':>9} {'counted':>9} {'total':>7} {'median':>7}", file=out)
    for pattern, model, format, read in (
        ("cc-*.jsonl", "claude-opus-4-6", "anthropic-messages", _claude_code),
        ("opencode-*", "gpt-5.3-codex", "openai-chat", _opencode),
        ("mini-swe-agent*", "deepseek-chat", "openai-chat", _mini_swe_agent),
    ):
        for path in sorted(folder.glob(pattern)):
            rows = list(_compare(read(path), model, format))
            reported, counted = sum(row[0] for row in rows), sum(row[1] for row in rows)
            middle = median(abs(ours - theirs) / theirs for theirs, ours in rows)
            off = (counted - reported) / reported
            name = path.name.split("__")[0][:34]
            print(f"{name:34} {model:18} {len(rows):5} {reported:9,} {counted:9,} {off:+7.1%} {middle:7.1%}", file=out)


def _compare(steps: Iterator[Step], model: str, format: str) -> Iterator[tuple[int, int]]:
    """What each request added, as reported and as we count it."""
    counter = counter_for(model)
    before = None
    for added, reported, _ in steps:
        if before is not None and added and reported > before:
            yield reported - before, sum(map(counter.message, parse(added, format=format).messages))
        before = reported


def _claude_code(path: Path) -> Iterator[Step]:
    added: list[dict[str, Any]] = []
    answer: dict[str, Any] | None = None
    id = None
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        message = row.get("message")
        if row.get("type") not in ("user", "assistant") or row.get("isSidechain") or not message:
            continue
        if row["type"] == "assistant" and message.get("id") == id and answer is not None:
            answer["content"] += message["content"]
        elif row["type"] == "assistant":
            usage = message["usage"]
            cached = usage.get("cache_creation_input_tokens", 0) + usage.get("cache_read_input_tokens", 0)
            yield added, usage["input_tokens"] + cached, usage["output_tokens"]
            id, answer = message.get("id"), {"role": "assistant", "content": list(message["content"])}
            added = [answer]
        else:
            added.append({"role": "user", "content": message["content"]})


def _opencode(path: Path) -> Iterator[Step]:
    added: list[dict[str, Any]] = []
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        info, parts = message["info"], message["parts"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        if info["role"] == "user":
            added.append({"role": "user", "content": text})
            continue
        tokens = info["tokens"]
        yield added, tokens["input"] + tokens["cache"]["read"], tokens["output"]
        tools = [part for part in parts if part["type"] == "tool"]
        calls = [
            {"id": part["callID"], "type": "function", "function": {"name": part["tool"], "arguments": _input(part)}}
            for part in tools
        ]
        added = [{"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}]
        added += [{"role": "tool", "tool_call_id": p["callID"], "content": p["state"].get("output", "")} for p in tools]


def _input(part: dict[str, Any]) -> str:
    return json.dumps(part["state"].get("input"), ensure_ascii=False, separators=(",", ":"))


def _mini_swe_agent(path: Path) -> Iterator[Step]:
    added: list[dict[str, Any]] = []
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        usage = message.get("extra", {}).get("response", {}).get("usage")
        if usage:
            yield added, usage["prompt_tokens"], usage["completion_tokens"]
            added = []
        if message["role"] in ("system", "user", "assistant", "tool"):
            kept = ("role", "content", "tool_calls", "tool_call_id")
            added.append({key: message[key] for key in kept if message.get(key) is not None or key == "content"})
