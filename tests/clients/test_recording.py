"""What is kept of real clients' requests: whole conversations that vendors accept, and nothing of anybody's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from compact.formats import FORMATS, Request
from scripts.lab.cleaning import Cleaner
from scripts.lab.clients import CLIENTS, Place
from scripts.lab.ledger import messages_of, rules_in
from scripts.lab.project import log, note, part, rules
from scripts.lab.shapes import Shape, load_shape, save_shape
from scripts.lab.texts import Text, encode, neutral, without_prose
from tests.clients.playing import NAMES, SHAPES, shape_of

SPOKEN = {"anthropic-messages", "openai-chat", "openai-responses"}
NO_RULES = {"mini-anthropic", "mini-chat", "mini-responses"}


def test_the_clients_that_speak_a_format_of_the_gateway_are_recorded() -> None:
    assert {name for name, client in CLIENTS.items() if client.format in SPOKEN} <= set(NAMES)
    assert sum(path.stat().st_size for path in SHAPES.iterdir()) < 1_500_000


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_is_a_long_conversation_that_its_vendor_accepts(name: str) -> None:
    shape = shape_of(name)
    assert shape.recorded
    assert len(shape.bodies) >= 60
    assert not any(FORMATS[shape.format].violations(Request(body)) for body in shape.bodies[::10])
    assert len(messages_of(shape.bodies[-1])) > 100
    assert len(rules_in(shape.bodies[-1])) == (0 if name in NO_RULES else 5)


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_tells_nothing_of_the_machine_it_was_recorded_on(name: str) -> None:
    text = json.dumps(shape_of(name).bodies[-1])
    assert set(re.findall(r"(?<![\w.])/(?:tmp|root|work|home)/[\w.-]+", text)) <= {"/home/dev"}
    assert re.findall(r"\b\w+@\w+\.\w+", text) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    save_shape(load_shape(SHAPES / f"{name}.json"), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (SHAPES / f"{name}.json").read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        part(3),
        f"<output>\n{log(7)}</output>\nexit code: 3",
        "\n".join(f"{at:>6}→{line}" for at, line in enumerate(part(5).split("\n"), 1)),
        "\n".join(f"{at:05}| {line}" for at, line in enumerate(part(5).split("\n")[20:60], 21)),
        json.dumps({"returncode": 0, "output": note(9)}, indent=2),
        "no line of the project",
        rules() + "\n" + rules(),
        "",
    ],
)
def test_texts_of_the_project_are_kept_by_name(text: str) -> None:
    kept = encode(text)
    assert (kept if isinstance(kept, str) else Text(kept)) == text
    assert len(json.dumps(kept)) < 260


def test_the_words_of_others_become_neutral_prose_of_the_same_length() -> None:
    text = f"<system>\nYou are the best agent.\nNever rest.\n</system>\n{rules()}\nLook into /home/dev/project first.\n"
    cleaned = without_prose(text)
    assert len(cleaned) == len(text)
    assert cleaned.startswith("<system>\n")
    assert "You are" not in cleaned
    assert rules() in cleaned
    assert cleaned.endswith("\nLook into /home/dev/project first.\n")


def test_neutral_prose_has_every_length() -> None:
    assert [len(neutral(7, length)) for length in range(200)] == list(range(200))


def test_a_cleaned_request_keeps_its_structure(tmp_path: Path) -> None:
    place = Place("http://127.0.0.1", tmp_path / "project", tmp_path / "home", tmp_path / "clients", 1)
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "Where it is."}}}
    mark = {"type": "ephemeral"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": part(1), "cache_control": mark}
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": f"{place.project}/src/part_0001.py"}}
    body: dict[str, Any] = {
        "model": "claude-sonnet-4-5",
        "system": [{"type": "text", "text": "You are an agent. " * 40, "cache_control": mark}],
        "tools": [{"name": "Read", "description": "Reads a file. " * 9, "input_schema": schema}],
        "messages": [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}],
        "metadata": {"user_id": "3f0a2c1e-1111-2222-3333-444455556666"},
    }
    cleaned = Cleaner(place).clean(body)
    assert len(json.dumps(cleaned["tools"]).replace("\\n", " ")) == len(json.dumps(body["tools"]))
    assert cleaned["tools"][0]["input_schema"] == {"type": "object", "properties": {"path": {"type": "string"}}}
    assert cleaned["system"][0]["cache_control"] == mark
    assert "agent" not in cleaned["system"][0]["text"]
    assert cleaned["messages"][0]["content"][0]["input"] == {"path": "/home/dev/project/src/part_0001.py"}
    assert cleaned["messages"][1] == body["messages"][1]
    assert cleaned["metadata"] == {"user_id": "00000000-0000-0000-0000-000000000001"}


def test_a_conversation_is_kept_as_its_changes(tmp_path: Path) -> None:
    def request(*said: str, **beside: str) -> dict[str, object]:
        return {**beside, "messages": [{"role": "user", "content": text} for text in said]}

    bodies = (
        request("a", "b", "tail", model="m", old="x"),
        request("a", "b", "c", "d", "tail", model="m"),
        request("a", "B", "c", "d", "e", "tail", model="n"),
        request("a", "tail", model="n"),
    )
    path = tmp_path / "shape.json"
    save_shape(Shape("client", "1", "openai-chat", "/v1/chat/completions", True, (1, 2), bodies), path)
    assert load_shape(path).bodies == bodies
    changes = json.loads(path.read_text())["requests"]
    assert [(change["keep"], len(change["add"]), change.get("tail", 0)) for change in changes] == [
        (0, 3, 0),
        (2, 2, 1),
        (1, 4, 1),
        (1, 0, 1),
    ]
