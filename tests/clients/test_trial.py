"""The laboratory with a client that needs no installation: a loop of requests in a program of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from compact.testing.vendors import Received
from scripts.lab.clients import CLIENTS, KEY, Client, Place, Start
from scripts.lab.model import SUBMIT, ScriptedModel
from scripts.lab.recorder import NotRecorded, record
from scripts.lab.trial import run_trial

AGENT = """
import json, os, subprocess, sys, urllib.request
url, key, prompt = sys.argv[1:]
tools = [{"type": "function", "function": {"name": "bash", "parameters":
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}]
messages = [{"role": "user", "content": open("AGENTS.md").read() + prompt}]
while True:
    body = json.dumps({"model": "gpt-4o", "max_tokens": 1000, "messages": messages, "tools": tools})
    headers = {"content-type": "application/json", "authorization": "Bearer " + key}
    answer = urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers))
    said = json.load(answer)["choices"][0]["message"]
    messages.append(said)
    if not said.get("tool_calls"):
        break
    for call in said["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        if command.startswith("echo COMPLETE"):
            sys.exit()
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout})
"""


def start(place: Place) -> Start:
    (place.home / "agent.py").write_text(AGENT)
    url = f"{place.url}/v1/chat/completions"
    return Start([sys.executable, str(place.home / "agent.py"), url, KEY, place.prompt])


LOOP = Client("loop", "openai-chat", "py", "loop", ("pytest",), start)


def test_a_client_runs_through_the_gateway_and_its_requests_are_judged(tmp_path: Path) -> None:
    trial = run_trial(LOOP, tmp_path, steps=16, window=8_000, seconds=60)
    assert trial.row | {"cached": "", "prefix": "", "compactions": "", "breaks": ""} == {
        "client": "loop",
        "window": "8,000",
        "steps": "17",
        "sessions": "1",
        "compactions": "",
        "breaks": "",
        "invalid": "0",
        "overflows": "0",
        "rules missing": "0",
        "cached": "",
        "prefix": "",
    }
    assert trial.faults == []
    assert trial.ledger.compactions > 0
    assert trial.ledger.breaks == {"compaction": trial.ledger.compactions}
    assert 0 < trial.cached < trial.read


def test_a_client_that_stops_early_is_not_recorded(tmp_path: Path) -> None:
    def stop(place: Place) -> Start:
        return Start([sys.executable, "-c", "print('no network')"])

    with pytest.raises(NotRecorded, match="made 0 of 5 steps; it said: no network"):
        record(Client("stops", "openai-chat", "py", "stops", ("pytest",), stop), tmp_path, 5, 60)


def test_every_client_has_a_name_of_its_own_and_a_known_format() -> None:
    assert all(name == client.name for name, client in CLIENTS.items())
    assert {client.source for client in CLIENTS.values()} == {"npm", "py"}


SHELL = {"command": {"type": "array"}, "timeout": {"type": "integer"}}
READ = {"file_path": {"type": "string"}, "limit": {"type": "integer"}}


@pytest.mark.parametrize(
    ("tools", "steps", "expected"),
    [
        (
            [{"name": "shell", "parameters": {"properties": SHELL, "required": ["command", "timeout"]}}],
            1,
            [("shell", {"timeout": 60_000, "command": ["bash", "-lc", "cat /p/src/part_0001.py"]})],
        ),
        (
            [{"name": "Read", "input_schema": {"properties": READ, "required": ["file_path", "limit"]}}],
            2,
            [("Read", {"limit": 60_000, "file_path": "/p/src/part_0002.py"})],
        ),
        (
            [{"functionDeclarations": [{"name": "read_file", "parametersJsonSchema": {"properties": READ}}]}],
            3,
            [("read_file", {"file_path": "/p/src/part_0003.py"})],
        ),
        (
            [
                {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}},
                {"name": "read", "parameters": {"properties": {"paths": {"type": "array"}}}},
            ],
            4,
            [("read", {"paths": ["/p/src/part_0004.py"]}), ("bash", {"command": "sh /p/check.sh 4"})],
        ),
    ],
)
def test_the_model_calls_the_tools_that_it_is_offered(tools: Any, steps: int, expected: Any) -> None:
    model = ScriptedModel(Path("/p"), steps)
    request = Received("POST", "/", {}, {"tools": tools})
    assert [model(request) for _ in range(steps)][-1].calls == expected
    assert not model.finished
    model(request)
    assert model.finished


def test_the_model_ends_as_the_client_wants_it() -> None:
    tool = {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}
    assert ScriptedModel(Path("/p"), 0)(Received("POST", "/", {}, {"tools": [tool]})).calls == [
        ("bash", {"command": SUBMIT})
    ]
    assert "title" in ScriptedModel(Path("/p"), 9)(Received("POST", "/", {}, {"messages": []})).text


def test_the_model_edits_one_file_where_a_client_takes_prose() -> None:
    model = ScriptedModel(Path("/p"), 2, prose=True)
    turn = Received("POST", "/", {}, {"messages": [{"role": "user", "content": "TURN-1: SEARCH"}]})
    first, second = model(turn).text, model(turn).text
    assert "<<<<<<< SEARCH\n=======\nvalue = 1\n>>>>>>> REPLACE" in first
    assert "<<<<<<< SEARCH\nvalue = 1\n=======\nvalue = 2\n>>>>>>> REPLACE" in second
    assert model.finished
