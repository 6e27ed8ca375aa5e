"""What is replayed is what a manager sends: the same bytes at every request, and the same requests refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest

from compact.app import read_transcript
from compact.app.counting import count
from compact.app.manager import CompactManager
from compact.app.recipes import resolve_recipe
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.formats import FORMATS, parse, render, request_body
from compact.lab.replaying import Replay, Terms
from compact.messages import Conversation, Json
from compact.models import find_model
from compact.policies import CompactConfig, Policy, StorageSettings
from compact.testing.generate import random_body

RECIPES = ("auto", "balanced", "layers", "v2")
MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-4o",
    "anthropic-messages": "claude-sonnet-4-5",
    "google-gemini": "gemini-2.5-pro",
}
SMALLEST = 1_000
SEEDS = range(6)


def generated(format: str, seed: int) -> Conversation:
    return parse(dict(random_body(Random(f"{format}{seed}"), format, size=60)), format=format)


def bundled() -> Conversation:
    return read_transcript((files("compact.cli") / "transcripts" / "session.openai-chat.json").read_bytes())


def terms(session: Conversation, share: float, trigger: float = 0.7) -> Terms:
    """The session for a window of a share of its tokens; no time passes, as hardly any does in a test."""
    model = find_model(MODELS[session.format])
    window = max(SMALLEST, int(count(session, model=model.id).total * share))
    return Terms(model, window, trigger, 0.35, 0.0, find_model("gpt-4o-mini"))


def sent_by_a_manager(session: Conversation, recipe: str, terms: Terms, upto: Sequence[int], folder: Path) -> list[Any]:
    """What `prepare` gives for each request; None where it raises."""
    policy = Policy(recipe=recipe, trigger_pct=terms.trigger, target_pct=terms.target, hard_cap_buffer=terms.buffer)
    config = CompactConfig(
        model=terms.model.id,
        max_context_tokens=terms.window,
        policy=policy,
        profile="offline",
        background=False,
        storage=StorageSettings(path=str(folder)),
    )
    key, body = FORMATS[session.format].messages_key, request_body(session)
    with CompactManager(config) as manager:
        return [_prepared(manager, {**body, "format": session.format, key: body[key][:end]}) for end in upto]


def _prepared(manager: CompactManager, request: Mapping[str, Json]) -> list[Json] | None:
    try:
        return manager.prepare("s", request).messages
    except (InsufficientBudget, CompactionBlocked):
        return None


def compare(session: Conversation, recipe: str, terms: Terms, folder: Path) -> int:
    """How many compactions there were; every request must be the same, byte for byte."""
    ours = list(Replay(session, resolve_recipe(recipe), terms))
    theirs = sent_by_a_manager(session, recipe, terms, [sent.position for sent, _ in ours], folder)
    for (sent, view), wires in zip(ours, theirs, strict=True):
        assert sent.overflows == (wires is None)
        assert wires is None or json.dumps(render(view)) == json.dumps(wires)
    return sum(sent.before > 0 for sent, _ in ours)


@pytest.mark.laws
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("format", FORMATS)
def test_a_manager_sends_what_is_replayed_in_every_format(format: str, recipe: str, tmp_path: Path) -> None:
    done = 0
    for seed in SEEDS:
        session = generated(format, seed)
        done += compare(session, recipe, terms(session, 0.4), tmp_path / str(seed))
    assert done > 0


@pytest.mark.laws
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("share", [0.6, 0.3, 0.05])
def test_a_manager_sends_what_is_replayed_of_the_bundled_session(recipe: str, share: float, tmp_path: Path) -> None:
    assert compare(bundled(), recipe, terms(bundled(), share), tmp_path) > 0


def stalled() -> Conversation:
    """A protected message above the trigger, small talk that frees nothing, then a listing that would."""
    kept = " ".join(f"protected_{number}" for number in range(500))
    said: list[Json] = [{"role": "user", "content": kept, "meta": {"protected": True}}]
    for number in range(8):
        text = "\n".join(f"line {line} of the listing" for line in range(40)) if number == 4 else f"And {number}?"
        said += [{"role": "assistant", "content": f"Yes, {number}."}, {"role": "user", "content": text}]
    return parse([*said, {"role": "assistant", "content": "Done."}], format="openai-chat")


def test_a_session_that_compacting_does_not_help_is_left_alone_for_a_while(tmp_path: Path) -> None:
    session = stalled()
    window = int(count(session, model="gpt-4o").total * 1.05)
    at_once = Terms(find_model("gpt-4o"), window, 0.6, 0.3, 0.0)
    assert compare(session, "auto", at_once, tmp_path) == 0
    later = Replay(session, resolve_recipe("auto"), replace(at_once, gap=301.0))
    assert any(sent.before for sent, _ in later)
