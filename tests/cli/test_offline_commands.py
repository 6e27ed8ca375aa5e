"""Commands that only foresee, measure or condense in bulk call no model, whatever is configured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compact.testing.vendors import FakeVendors
from tests.cli.conftest import Run
from tests.cli.test_mcp import ask, reads, talk

if TYPE_CHECKING:
    from mcp import Client

SESSION = files("compact.cli") / "transcripts" / "session.openai-chat.json"


@pytest.fixture
def vendors(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVendors]:
    """Vendors that a configured profile asks, and that commands which ask nobody leave alone."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up-0123456789abcdef")
    with FakeVendors() as running:
        options = ["--vendor", "openai", "--model", "gpt-4o-mini", "--url", f"{running.url}/v1", "--set", "attempts=1"]
        assert run("profiles", "add", "mine", *options).status == 0
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes(SESSION.read_bytes())
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["plan", "session.json", "--target", "10%"],
        ["cost", "session.json", "--target", "10%"],
        ["replay", "session.json", "--window", "20000", "--recipe", "native", "--recipe", "auto"],
        ["evaluate", "session.json", "--recipe", "native", "--share", "0.25", "--rounds", "1", "--worlds", "1"],
        ["batch", "session.json", "--recipe", "native", "--target", "10%", "--out", "small", "--jobs", "1"],
    ],
    ids=lambda command: command[0],
)
def test_no_model_is_called(
    run: Run, vendors: FakeVendors, file: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert run(*command).status == 0
    assert vendors.requests == ()


def test_the_profile_would_be_asked_by_condense(run: Run, vendors: FakeVendors, file: Path) -> None:
    run("condense", file, "--recipe", "native", "--output", file.with_name("small.json"))
    assert vendors.requests


def test_no_model_is_called_over_mcp(vendors: FakeVendors, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        for tool in ("plan", "condense"):
            assert json.loads(await ask(client, tool, conversation=reads(12), recipe="native", target="20%"))

    talk(tmp_path, work)
    assert vendors.requests == ()


def test_a_plan_costs_what_cost_says_of_the_conversations_own_model(run: Run, file: Path) -> None:
    planned = json.loads(run("plan", file, "--target", "30%", "--json").out)["recipes"]
    told = json.loads(run("cost", file, "--target", "30%", "--json").out)
    own = {each["way"]: each["condensing"] for each in told["options"] if each["profile"] == told["model"]}
    assert len(own) >= 4
    assert {name: planned[name]["cost"] for name in own} == own
