"""One session under one policy through every entry point: the same messages, and the same record of the compaction.

What differs by design is in `_DIFFERS`, and what differs because chat and manager are still two engines.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2
import pytest

import compact
from compact import CompactConfig, CompactManager, count_tokens, parse, render
from compact.app.recipes import resolve_recipe
from compact.app.stored import StoredSessions
from compact.cli.main import main
from compact.lab.replaying import Replay, Terms
from compact.messages import Json
from compact.models import find_model, saved_dollars
from compact.policies import Profile, Profiles
from compact.ports import CompactionFacts, ModelConfig, StoredSession
from compact.server.ingest import store_of
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.profiles import save_profiles
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors, Received, Reply

MODEL, WINDOW, TRIGGER, TARGET, ANSWER = "gpt-4o", 16_000, 0.85, 0.5, 500
RECIPE, STRATEGY = "auto", "task_state"
SUMMARY = "## Overview\n- Bugs were mended in order, each in its own module. [0]"

_DIFFERS = {
    "source": "the entry point itself",
    "trigger": "library and command line compact when they are called, the others when the trigger is reached",
    "tag": "manager, gateway and replay put a tag before the account, which has that many tokens less for its words",
    "role": "chat and manager are two engines: the account of a chat is in the system's role",
    "cost": "chat and manager are two engines: a chat asks for a shorter summary, of parts that fit into its window",
    "replay": "it calls no model: summaries are made offline",
}
"""What may differ, and why."""

_ACCOUNT = re.compile(r"(<COMPACT-SUMMARY v1>\n)?\[Account [0-9a-f]+: ")
_TAGGED = ("manager", "gateway", "replay")


@dataclass(frozen=True)
class Sent:
    """What an entry point sends, and its record of the compaction."""

    messages: list[Json]
    facts: CompactionFacts

    @property
    def others(self) -> list[Json]:
        """The messages but for the account, for which None stands."""
        return [None if _ACCOUNT.match(str(one["content"])) else one for one in self.messages]

    @property
    def account(self) -> str:
        """The words of the account."""
        (found,) = [text for one in self.messages if _ACCOUNT.match(text := str(one["content"]))]
        return found


def session() -> list[Json]:
    """A conversation whose last question reaches the trigger, which no earlier one does."""
    messages: list[Json] = []
    for number in range(69):
        error = f"src/mod_{number}.py, which fails with ValueError {number * 31} on every tab."
        held = " ".join(f"Line {line} of module {number} holds {number * 100 + line}." for line in range(12))
        messages.append({"role": "user", "content": f"Please mend bug {number} in {error}"})
        messages.append({"role": "assistant", "content": f"The function parse_{number} now skips tabs. {held}"})
    question = "Which module was mended first? "
    while count_tokens([*messages, {"role": "user", "content": question}], model=MODEL) < WINDOW * TRIGGER:
        question += "It matters to me, as I must tell everybody. "
    return [*messages, {"role": "user", "content": question}]


class Bench:
    """Every entry point, with the fake vendor behind; with `profile` its model writes the summary."""

    def __init__(self, folder: Path, vendor: FakeVendors, profile: str, patch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.folder, self.vendor, self.profile, self.patch, self.capsys = folder, vendor, profile, patch, capsys
        self.messages = session()
        self.request: dict[str, Json] = {"model": MODEL, "messages": self.messages, "max_tokens": ANSWER}
        self.policy = {
            "recipe": RECIPE,
            "strategy": STRATEGY,
            "trigger_pct": TRIGGER,
            "target_pct": TARGET,
            "hard_cap_buffer": 0,
        }

    def library(self) -> Sent:
        done = compact.condense(self.request, recipe=RECIPE, target=int(WINDOW * TARGET), ask=self.profile)
        return Sent(done.messages, done.report.facts)

    def command_line(self) -> Sent:
        given = self.folder / "session.json"
        given.write_text(json.dumps(self.request))
        options = ["--recipe", RECIPE, "--target", str(int(WINDOW * TARGET)), "--profile", self.profile, "--json"]
        self.patch.setattr(sys, "argv", ["compact", "condense", str(given), *options])
        main()
        answer = json.loads(self.capsys.readouterr().out)
        return Sent(answer["messages"], CompactionFacts.from_json(answer["report"]))

    def manager(self) -> Sent:
        whole = {"model": MODEL, "max_context_tokens": WINDOW, "profile": self.profile, "policy": self.policy}
        config = CompactConfig.model_validate({**whole, "storage": {"path": str(self.folder / "manager")}})
        with CompactManager(config) as manager:
            done = manager.prepare("one", self.request)
        assert done.report is not None
        return Sent(done.messages, done.report.facts)

    def gateway(self) -> Sent:
        config = {"max_context_tokens": WINDOW, "profile": self.profile, "policy": self.policy}
        (self.folder / "compact.json").write_text(json.dumps(config))
        self.patch.setenv("OPENAI_API_KEY", "sk-the-operators-own-key")
        settings = ServerSettings(upstream_openai=f"{self.vendor.url}/v1", gateway_recall=False)
        state = ServerState(self.folder, settings=settings)
        with running(state) as address:
            headers = {"authorization": f"Bearer {state.token}", "x-compact-session": "one"}
            answer = httpx2.post(f"{address}/v1/chat/completions", json=self.request, headers=headers, timeout=60)
            data = _condensed(state)
        assert answer.status_code == 200
        facts = CompactionFacts.from_json(data)
        told = {name: answer.headers[f"x-compact-{name}"] for name in ("tokens-before", "tokens-after", "saved")}
        sizes = {"tokens-before": facts.tokens_before, "tokens-after": facts.tokens_after, "saved": facts.saved}
        assert told == {name: str(tokens) for name, tokens in sizes.items()}
        assert answer.headers["x-compact-removed"] == str(facts.removed)
        assert answer.headers["x-compact-undo"] == "1"
        sent = [one.body for one in self.vendor.requests if isinstance(one.body, dict) and one.body["model"] == MODEL]
        return Sent(sent[-1]["messages"], facts)

    def chat(self) -> Sent:
        with StoredSessions(self.folder / "chat.db") as sessions:
            sessions.preferences.put_model(ModelConfig("openai", MODEL, WINDOW, ANSWER))
            given = {"recipe": RECIPE, "strategy": STRATEGY, "threshold": TRIGGER, "target": TARGET}
            sessions.preferences.change({**given, "profile": self.profile, "on_summary_failure": "offline"})
            sessions.create(StoredSession(id="one", model=MODEL, format="openai-chat"))
            sessions.append("one", self.messages)
            done = sessions.prepare("one", max_tokens=ANSWER)
            (stored,) = sessions.summaries.standing("one")
        assert done.compression is not None
        facts = CompactionFacts.from_json(stored.content["facts"])
        assert facts == done.compression.report.facts
        return Sent(done.messages, facts)

    def replay(self) -> Sent:
        answered = {**self.request, "messages": [*self.messages, {"role": "assistant", "content": "The first."}]}
        playing = Replay(parse(answered), resolve_recipe(RECIPE), Terms(find_model(MODEL), WINDOW, TRIGGER, TARGET))
        *_, (last, conversation) = playing
        assert playing.played.compactions == 1
        # Replay keeps no records: what it counts of a request is held against them.
        sizes = {"tokens_before": last.before, "tokens_after": last.tokens}
        told = {"recipe": playing.played.recipe, "cost": playing.played.condensing or None, **sizes}
        return Sent(render(conversation), CompactionFacts.from_json({"source": "replay", "model": MODEL, **told}))


def _condensed(state: ServerState) -> dict[str, Json]:
    """The record that the server's traces have, once it is there."""
    until = monotonic() + 20
    while monotonic() < until:
        spans = [span for trace in store_of(state).last(10) for span in trace["spans"]]
        if found := [span["data"] for span in spans if span["name"] == "compact.condensed"]:
            assert {trace["name"] for trace in store_of(state).last(10)} == {"one"}
            data: dict[str, Json] = found[0]
            return data
        sleep(0.02)
    raise AssertionError("no compaction was traced")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    with FakeVendors(window=128_000) as vendor:

        def reply(received: Received) -> Reply:
            body = received.body
            return Reply("The first." if isinstance(body, dict) and body["model"] == MODEL else SUMMARY)

        vendor.reply(reply)
        given: dict[str, Json] = {
            "name": "writer",
            "vendor": "compatible",
            "model": "gpt-4o-mini",
            "url": f"{vendor.url}/v1",
        }
        given |= {"input_price": 0.15, "output_price": 0.6}
        save_profiles(Profiles(profiles=(Profile.model_validate({**given, "attempts": 1}),)))
        yield lambda profile: Bench(tmp_path, vendor, profile, monkeypatch, capsys)


@pytest.mark.parametrize("profile", ["offline", "writer"])
def test_one_session_under_one_policy_is_the_same_at_every_entry_point(
    bench: Callable[[str], Bench], profile: str
) -> None:
    made = bench(profile)
    entries = {"library": made.library, "command line": made.command_line, "manager": made.manager}
    entries |= {"gateway": made.gateway, "chat": made.chat}
    entries |= {"replay": made.replay} if profile == "offline" else {}
    sent = {name: work() for name, work in entries.items()}
    first = sent["library"]
    assert first.facts.removed > 0
    assert bool(first.facts.written_by) is bool(first.facts.cost) is (profile == "writer")
    price = find_model(MODEL).prices
    assert price is not None
    assert price.cache_read is not None
    for name, one in sent.items():
        facts, alike = one.facts, sent["manager" if name in _TAGGED else "library"]
        assert one.others == first.others, name
        assert one.account == alike.account, name
        assert one.account.startswith("<COMPACT-SUMMARY v1>") is (name in _TAGGED)
        assert facts.tokens_before == first.facts.tokens_before
        assert facts.tokens_after == alike.facts.tokens_after == count_tokens(one.messages, model=MODEL), name
        assert saved_dollars(facts) == price.cache_read * facts.saved / 1_000_000
        assert (facts.recipe, facts.model, facts.source) == (RECIPE, MODEL, name)
        assert facts.cost == first.facts.cost or (name, profile) == ("chat", "writer")
        if name != "replay":
            same = ("provider", "strategy", "written_by", "why_offline", "removed", "failure")
            assert [getattr(facts, field) for field in same] == [getattr(first.facts, field) for field in same], name
            assert facts.trigger == ("manual" if name in ("library", "command line") else "automatic")
            assert (bool(facts.id), facts.ended_at.endswith("Z"), facts.seconds > 0) == (True, True, True)
    assert len({one.facts.id for one in sent.values()}) == len(sent)
