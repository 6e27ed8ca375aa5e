"""Every entry point compacts by the same engine: the same recipe and inputs give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import Random
from typing import TypeAlias

import httpx2
import pytest

from compact.app import Condensation, read_transcript
from compact.app.counting import count, counter_for
from compact.app.manager import CompactManager
from compact.app.recipes import resolve_recipe
from compact.engine import Goal, Inputs, compact
from compact.engine.projection import Projection
from compact.engine.stored.compaction import Job
from compact.engine.stored.context import assemble
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.formats import FORMATS, parse, render, request_body
from compact.lab.replaying import Replay, Terms
from compact.messages import Conversation, Json
from compact.models import find_model
from compact.policies import CompactConfig, Decision, Policy, StorageSettings
from compact.policies.room import read_answer_room
from compact.policies.stored import StoredSettings
from compact.ports import Active, StoredMessage, StoredSession
from compact.providers import Recipe
from compact.providers.provider import PLAIN, TAGGED, AccountStyle
from compact.server.gateway.managers import configured
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.generate import random_body
from tests.lab.test_sending import MODELS, bundled
from tests.server.conftest import VENDOR_KEY, Recorder

RECIPES = ("auto", "balanced", "layers", "v2", "speed", "quality")
CONVERSATIONS, ROUNDS = 50, 10
"""In each of the four formats: 2,000 conversations in all."""
WINDOWS = (1_500, 4_000, 8_000)
TRIGGER, TARGET = 0.15, 0.08
STORED = AccountStyle(StoredSettings().summary_role)

Sent: TypeAlias = str | None
"""The messages as JSON; None where the request is refused."""
Managers: TypeAlias = Callable[[str, Terms], CompactManager]


@dataclass(frozen=True, slots=True)
class Request:
    """The request of a session at which it is first compacted, and what a replay sends there."""

    session: Conversation
    body: Mapping[str, Json]
    replayed: Sent

    @property
    def conversation(self) -> Conversation:
        return parse(self.body, format=self.session.format)


def first_compaction(session: Conversation, recipe: str, terms: Terms) -> Request | None:
    """The request at which a replay first compacts, or is refused; None where it never does."""
    key, body = FORMATS[session.format].messages_key, request_body(session)
    for sent, view in Replay(session, resolve_recipe(recipe), terms):
        if sent.before or sent.overflows:
            replayed = None if sent.overflows else json.dumps(render(view))
            return Request(session, {**body, key: body[key][: sent.position]}, replayed)
    return None


def by_condense(conversation: Conversation, recipe: str, terms: Terms, account: AccountStyle, handles: bool) -> Sent:
    """What `condense` does, with the goal and the named inputs of another entry point."""
    condensation = Condensation(conversation, terms.model.id, None, handles=handles)
    inputs = replace(condensation.inputs, window=terms.window, account=account)
    try:
        goal = goal_for(condensation.tokens, terms, conversation)
        done = compact(condensation.conversation, resolve_recipe(recipe), goal, inputs)
    except InsufficientBudget:
        return None
    fits = goal.budget is None or inputs.gauge.conversation(done.conversation) <= goal.budget
    return json.dumps(render(done.conversation)) if fits else None


def decision_for(tokens: int, terms: Terms, conversation: Conversation) -> Decision:
    answer = read_answer_room(FORMATS[conversation.format], conversation.options)
    return terms.compactor(resolve_recipe("auto")).judge(tokens, answer)


def goal_for(tokens: int, terms: Terms, conversation: Conversation) -> Goal:
    return terms.compactor(resolve_recipe("auto")).goal(decision_for(tokens, terms, conversation))


def by_manager(request: Request, manager: CompactManager, session: str) -> Sent:
    try:
        return json.dumps(manager.prepare(session, {**request.body, "format": request.session.format}).messages)
    except (InsufficientBudget, CompactionBlocked):
        return None


def job_for(conversation: Conversation, recipe: str, terms: Terms) -> Job:
    """The same conversation as a stored session; such a one knows nothing of a request but its model."""
    model, counter = terms.model.id, counter_for(terms.model.id)
    system = conversation.system.wire if conversation.system else None
    session = StoredSession("s", model, conversation.format, system=system, tools=list(conversation.tools) or None)
    stored = tuple(
        StoredMessage(at, "s", at, json.dumps(message.wire).encode(), message.role, 0, "", message.protected)
        for at, message in enumerate(conversation.messages)
    )
    assembled = assemble(Active(session, None, (), stored), None, counter)
    decision = decision_for(assembled.tokens, terms, conversation)
    goal = goal_for(assembled.tokens, terms, conversation)
    return Job(assembled, resolve_recipe(recipe), StoredSettings(), counter, decision, 0, goal.target)


def by_stored_session(job: Job) -> Sent:
    try:
        done = compact(job.assembled.conversation, job.recipe, job.goal, job.inputs)
    except InsufficientBudget:
        return None
    fits = job.inputs.gauge.conversation(done.conversation) <= job.decision.budget
    return json.dumps(render(done.conversation)) if fits else None


def config_for(recipe: str, terms: Terms, folder: Path) -> CompactConfig:
    return CompactConfig(
        model=terms.model.id,
        max_context_tokens=terms.window,
        policy=Policy(recipe=recipe, trigger_pct=terms.trigger, target_pct=terms.target, hard_cap_buffer=0),
        profile="offline",
        background=False,
        storage=StorageSettings(path=str(folder)),
    )


@contextmanager
def managers(folder: Path) -> Iterator[Managers]:
    """One manager for each recipe and window; each request is a session of its own."""
    made: dict[tuple[str, int], CompactManager] = {}
    with ExitStack() as opened:

        def manager(recipe: str, terms: Terms) -> CompactManager:
            key = (recipe, terms.window)
            if key not in made:
                made[key] = opened.enter_context(CompactManager(config_for(recipe, terms, folder / f"{len(made)}")))
            return made[key]

        yield manager


def assert_one_engine(session: Conversation, recipe: str, terms: Terms, find: Managers, name: str) -> bool:
    """Whether there was something to compare: the request at which the session is first compacted."""
    request = first_compaction(session, recipe, terms)
    if request is None:
        return False
    assert by_manager(request, find(recipe, terms), name) == request.replayed
    assert by_condense(request.conversation, recipe, terms, TAGGED, handles=False) == request.replayed
    bare = replace(request.conversation, options={})
    stored = by_stored_session(job_for(bare, recipe, terms))
    assert by_condense(bare, recipe, terms, STORED, handles=False) == stored
    return request.replayed is not None


@pytest.mark.laws
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_entry_point_gives_the_same_bytes(format: str, number: int, tmp_path: Path) -> None:
    compared = 0
    with managers(tmp_path) as find:
        for at in range(CONVERSATIONS):
            rng = Random(f"{format} {number} {at}")
            recipe, window, size = rng.choice(RECIPES), rng.choice(WINDOWS), rng.choice((12, 24, 40))
            session = parse(random_body(rng, format, size=size), format=format)
            terms = Terms(find_model(MODELS[format]), window, TRIGGER, TARGET, 0.0)
            compared += assert_one_engine(session, recipe, terms, find, f"s{at}")
    assert compared > CONVERSATIONS // 5  # some windows are too small for the answers that are asked for


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_entry_point_gives_the_same_bytes_for_real_transcripts(
    recipe: str, transcripts: list[Path], tmp_path: Path
) -> None:
    for number, path in enumerate(transcripts):
        session = read_transcript(path.read_bytes(), name=path.name)
        model = find_model(MODELS[session.format])
        window = max(WINDOWS[0], int(count(session, model=model.id).total * 0.6))
        with managers(tmp_path / str(number)) as find:
            assert_one_engine(session, recipe, Terms(model, window, 0.7, 0.35, 0.0), find, "s")


def test_the_gateway_sends_what_a_manager_prepares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window = int(count(bundled(), model="gpt-4o").total * 0.6)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    for name, value in (("HOME", str(home)), ("PROFILE", "offline"), ("MAX_CONTEXT_TOKENS", str(window))):
        monkeypatch.setenv(f"COMPACT_{name}", value)
    monkeypatch.setenv("OPENAI_API_KEY", VENDOR_KEY)
    body = {**request_body(bundled()), "model": "gpt-4o"}
    vendor = Recorder()
    try:
        state = ServerState(home, settings=ServerSettings(upstream_openai=f"{vendor.url}/v1"))
        with running(state) as url:
            headers = {"authorization": f"Bearer {state.token}"}
            answer = httpx2.post(f"{url}/v1/chat/completions", json=body, headers=headers, timeout=60)
        (arrived,) = vendor.arrived
    finally:
        vendor.stop()
    assert answer.headers["x-compact-compaction"] == "applied"
    with CompactManager(configured(tmp_path / "elsewhere", "gpt-4o", None)) as manager:
        prepared = manager.prepare("s", {**body, "format": "openai-chat"})
    assert prepared.compacted
    assert json.loads(arrived.body)["messages"] == json.loads(json.dumps(prepared.messages))


def inputs_of(conversation: Conversation) -> dict[str, Inputs]:
    """The inputs with which each entry point calls the engine, for a session that was never compacted."""
    terms = Terms(find_model("gpt-4o"), 4_000)
    recipe: Recipe = resolve_recipe("auto")
    condensation = Condensation(conversation, "gpt-4o", None)
    log = Projection(conversation.with_messages(())).extended([message.wire for message in conversation.messages])
    with CompactManager(CompactConfig(model="gpt-4o", max_context_tokens=4_000, profile="offline")) as manager:
        managed = manager._inputs(log, condensation.inputs.gauge)
    return {
        "condense": condensation.inputs,
        "manager": managed,
        "replay": terms.compactor(recipe).inputs(log, condensation.inputs.gauge),
        "stored": job_for(conversation, "auto", terms).inputs,
    }


ENTRY_POINTS = {
    #            condense, manager and gateway, replay, stored sessions
    "window": (128_000, 4_000, 4_000, 4_000),
    "account": (PLAIN, TAGGED, TAGGED, AccountStyle("system")),
    "handles": (False, False, False, False),
    "originals": (0, 3, 3, 3),
    "items": (0, 0, 0, 0),
    "observe": (None, None, None, None),
    "vendor": ("openai", "openai", "", "openai"),
    "redactor": ("Redactor", "Redactor", "Redactor", "Redactor"),
}
"""Everything in which entry points differ; for the originals and the items, how many there are."""


def shown(value: object) -> object:
    if isinstance(value, Mapping):
        return len(value)
    return type(value()).__name__ if callable(value) else value


def test_entry_points_differ_in_these_inputs_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[Json] = [{"role": role, "content": f"{role} speaks"} for role in ("user", "assistant", "user")]
    conversation = parse(said, format="openai-chat")
    found = inputs_of(conversation)
    # The origin is for the record of the compaction alone.
    assert {one.name for one in fields(Inputs)} == {"gauge", "origin", *ENTRY_POINTS}
    for name, expected in ENTRY_POINTS.items():
        values = [shown(getattr(inputs, name)) for inputs in found.values()]
        assert (name, *values) == (name, *expected)
    assert len({inputs.gauge.conversation(conversation) for inputs in found.values()}) == 1
