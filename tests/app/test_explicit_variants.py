"""Every entry point that takes a model takes the deployment, too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import compact
from compact.app.bulk import JobOptions, options_for
from compact.app.recipes import resolve_recipe
from compact.cli.main import app
from compact.errors import InvalidConfiguration
from compact.formats import parse
from compact.lab.replaying import replay, terms_for
from tests.app.test_variants import found, talk

REFUSED = "openai-chat has no variant 'bedrock'"


@pytest.fixture(name="chat")
def write_chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(talk(12)))
    return path


@pytest.mark.parametrize("command", ["plan", "cost", "replay", "condense"])
def test_commands_refuse_a_deployment_that_the_format_does_not_have(command: str, chat: Path) -> None:
    done = CliRunner().invoke(app, [command, str(chat), "--variant", "bedrock"])
    assert done.exit_code != 0
    assert REFUSED in f"{done.output} {done.exception}"


def test_an_evaluation_is_refused_in_the_same_way() -> None:
    session = Path(compact.__file__).parent / "cli" / "transcripts" / "session.openai-chat.json"
    options = ["--recipe", "v1", "--rounds", "0", "--worlds", "0", "--variant", "bedrock"]
    done = CliRunner().invoke(app, ["evaluate", str(session), *options])
    assert REFUSED in f"{done.output} {done.exception}"


def test_a_batch_keeps_the_rules_of_the_deployment(chat: Path, tmp_path: Path) -> None:
    small = {}
    for variant in ("", "vllm"):
        out = tmp_path / f"out-{variant}"
        arguments = ["batch", str(chat), "--recipe", "balanced", "--target", "0.5", "--jobs", "1", "--out", str(out)]
        done = CliRunner().invoke(app, [*arguments, *(["--variant", variant] if variant else [])])
        assert done.exit_code == 0, done.output
        small[variant] = json.loads((out / "chat.json").read_text())
    assert "C9b" in found(small[""], "openai-chat", "vllm")
    assert found(small["vllm"], "openai-chat", "vllm") == []


def test_what_a_batch_did_without_a_deployment_is_still_done() -> None:
    recipe = resolve_recipe("balanced")
    known = JobOptions("balanced", "native", {"a": 1}, "continue", 0.5, "gpt-4o")
    assert known.digest == "af5edcebc630dacd"
    assert options_for(recipe).digest != options_for(recipe, variant="vllm").digest


def test_an_estimate_keeps_the_rules_of_the_deployment() -> None:
    with pytest.raises(InvalidConfiguration, match=REFUSED):
        compact.estimate(talk(3), variant="bedrock")
    done = compact.condense(talk(30), recipe="balanced", target=0.5, variant="vllm")
    told = compact.estimate(talk(30), model="gpt-4o", recipe="balanced", target=0.5, variant="vllm")
    assert told.tokens_before == done.report.tokens_before
    assert told.target_met


def test_a_replay_is_refused_or_played_by_the_rules_of_the_deployment() -> None:
    conversation = parse(talk(30), format="openai-chat")
    terms = terms_for("gpt-4o", 3000)
    with pytest.raises(InvalidConfiguration, match=REFUSED):
        replay(conversation, resolve_recipe("balanced"), replace(terms, variant="bedrock"))
    played = replay(conversation, resolve_recipe("balanced"), replace(terms, variant="vllm"))
    assert played.sent
