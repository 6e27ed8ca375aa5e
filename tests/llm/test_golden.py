"""Golden summaries: the same session and the same answers give the same bytes, whoever serves the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest
from inline_snapshot import external_file

from compact.app import Result, condense
from compact.formats import render
from compact.messages.seals import is_summary
from compact.policies import Vendor
from compact.summaries.model.strategy import NAMES, Section, find_strategy
from compact.testing.vendors import FakeVendors, Fault, Received, Reply
from tests.llm.lines import ASK, asked, from_openrouter

pytestmark = pytest.mark.usefixtures("sdks")
_SAID = re.compile(r"^--- \w+ message \d+, (user|assistant) ---\n(?!\[calls)(.+)$", re.MULTILINE)
_STANDS = ("Active", "Blocked", "Completed")


@pytest.fixture(scope="module")
def session() -> dict[str, Any]:
    text = (files("compact.cli") / "transcripts" / "session.openai-chat.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        yield running


def scripted(name: str) -> Callable[[Received], Reply]:
    """A model that quotes what it reads under every heading, and once makes something up."""

    def write(request: Received) -> Reply:
        said = _SAID.findall(request.body["messages"][-1]["content"])
        lines = [
            line for at, section in enumerate(find_strategy(name).sections) for line in _written(section, at, said)
        ]
        return Reply("\n".join(lines))

    return write


def _written(section: Section, at: int, said: list[tuple[str, str]]) -> Iterator[str]:
    yield f"## {section.title}"
    theirs = [entry for entry in said if entry[0] == ("user" if section.instructs else "assistant")]
    for turn in range(3):
        _, words = theirs[(at * 5 + turn) % len(theirs)]
        if section.standing:
            yield f"### {_STANDS[turn]}"
        yield f"- {words}"
    if at == 1:
        yield "- The port 48151 is set in src/made/up_by_the_model.py"


def summary_of(result: Result) -> str:
    [summary] = [message for message in result.conversation.messages if is_summary(message)]
    return "\n".join(block.text for block in summary.blocks if hasattr(block, "text"))


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_of_each_strategy_is_golden(name: str, session: dict[str, Any], server: FakeVendors) -> None:
    server.reply(scripted(name))
    with asked(server, "openai") as line:
        first, second = (
            condense(session, provider="native", config={"strategy": name}, ask=line.answer_now) for _ in range(2)
        )
    assert json.dumps(render(first.conversation)) == json.dumps(render(second.conversation))
    assert "src/made/up_by_the_model.py (?)" in summary_of(first)
    assert f"{summary_of(first)}\n" == external_file(f"golden/{name}.txt")
    one, other = (request.body for request in server.requests)
    assert one == other
    assert (one["temperature"], one["seed"]) == (0, 42)
    assert "tools" not in one


@pytest.mark.parametrize("vendor", ["openai", "azure", "compatible", "openrouter", "gemini", "anthropic"])
def test_every_vendor_is_sent_the_temperature_and_the_seed_that_it_takes(vendor: Vendor, server: FakeVendors) -> None:
    if vendor == "openrouter":
        server.fail(Fault("garbled", body=from_openrouter("Fine.")))
    with asked(server, vendor) as line:
        line.answer_now([ASK])
    [request] = server.requests
    settings = request.body["generationConfig"] if vendor == "gemini" else request.body
    # Anthropic's API has no seed, and Bedrock's neither; at temperature 0 they are as repeatable as they can be.
    assert (settings["temperature"], settings.get("seed")) == (0, None if vendor == "anthropic" else 42)
