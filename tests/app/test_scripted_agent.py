"""An agent that knows nothing but what it is sent goes on through ten compactions as if there had been none.

At each step it reads from the request which steps are finished, which approval is pending and which sub-agent runs.
Where it cannot find that, it does a step again or forgets who works for it, as a model would.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.messages import Json
from compact.ports import Event

STEPS = (
    "billing", "invoices", "refunds", "ledger", "payouts", "taxes", "orders", "carts", "coupons", "stock",
    "shipping", "returns", "accounts", "sessions", "mails", "search", "reviews", "images", "reports", "exports",
    "webhooks", "audit", "quotas", "backups",
)  # fmt: skip
COMPACTIONS = 10
APPROVAL = "APR-4471"
SUB_AGENT = "agent-7f3c"
_FINISHED = re.compile(r"Step (\d+) \((\w+)\) is finished")
_PENDING = re.compile(rf"{APPROVAL}[^\"]{{0,40}} pending")
_RUNNING = re.compile(rf"{SUB_AGENT}[^\"]{{0,40}} run")
_RAN = re.compile(r"migrate\.py --module (\w+)")


@dataclass
class Agent:
    """A program in the place of a model: `history` is what its application stores."""

    listed: bool
    history: list[Json] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    calls: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(7))

    def begin(self) -> None:
        steps = "\n".join(f"{at}. {name}" for at, name in enumerate(STEPS, 1))
        asked = f"Migrate these modules, one after the other, each exactly once:\n{steps}\nDeploy only after approval."
        self.history.append({"role": "user", "content": asked})
        self.call(
            "start_sub_agent", {"task": "watch the error rate", "background": True}, f"started {SUB_AGENT}, running"
        )
        text = f"The sub-agent {SUB_AGENT} runs in the background and watches the error rate."
        self.history.append({"role": "assistant", "content": text})
        self.call("request_approval", {"for": "the deployment"}, f"{APPROVAL}: pending, nobody has answered yet")
        self.history.append({"role": "assistant", "content": f"The approval {APPROVAL} for the deployment is pending."})
        self.history.append({"role": "user", "content": "Good. Begin with the modules meanwhile."})

    def call(self, name: str, arguments: Json, result: str) -> None:
        self.calls += 1
        id = f"call_{self.calls}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": id, "type": "function", "function": function}
        self.history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        self.history.append({"role": "tool", "tool_call_id": id, "content": result})

    def step(self, number: int, name: str) -> None:
        """Do the step: look around, migrate, test, and say that it is finished."""
        for file in ("models", "views"):
            lines = [f"{name}_{file}_{line} = {self.chance.randrange(10**6)}" for line in range(60)]
            self.call("read_file", {"path": f"shop/{name}/{file}.py"}, "\n".join(lines))
        self.call("bash", {"command": f"python migrate.py --module {name}"}, f"{name}: 2 files migrated")
        self.call("bash", {"command": f"pytest tests/{name}"}, f"{self.chance.randrange(5, 60)} passed in 1.2s")
        self.done.append(name)
        if self.listed:
            states = ["completed" if each in self.done else "pending" for each in STEPS]
            todos = [{"content": f"migrate {each}", "status": state} for each, state in zip(STEPS, states, strict=True)]
            self.call("todo_write", {"todos": todos}, "ok")
        self.history.append(
            {"role": "assistant", "content": f"Step {number} ({name}) is finished: the tests are green."}
        )
        self.history.append({"role": "user", "content": "Go on with the next one."})


def text_of(messages: list[Json]) -> str:
    """What the model reads, with strings in arguments as they are."""
    return json.dumps(messages, ensure_ascii=False).replace('\\\\"', '"').replace('\\"', '"')


def finished_in(text: str) -> set[str]:
    """The modules of which the request says that they are migrated, in one way or another."""
    found = {name for _, name in _FINISHED.findall(text)} | set(_RAN.findall(text))
    found |= set(re.findall(r'"content": "migrate (\w+)", "status": "completed"', text))
    for listed in re.findall(r"\bdone: ([^\"\n]{0,2000})", text):
        found |= set(re.findall(r"migrate (\w+)", listed.partition("open:")[0]))
    return found & set(STEPS)


@pytest.mark.parametrize("listed", [False, True], ids=["without a list", "with a list of tasks"])
def test_a_scripted_agent_repeats_no_finished_step_and_loses_nobody(tmp_path: Path, listed: bool) -> None:
    config = CompactConfig.model_validate(
        {
            "model": "gpt-4o",
            "max_context_tokens": 5_000,
            "policy": {"hard_cap_buffer": 500, "trigger_pct": 0.8, "target_pct": 0.4},
            "storage": {"path": str(tmp_path)},
            "profile": "offline",
        }
    )
    events: list[Event] = []
    agent = Agent(listed)
    agent.begin()
    with CompactManager(config, observe=events.append) as manager:
        for number in range(1, len(STEPS) + 1):
            sent = text_of(manager.preflight("agent", agent.history))
            finished = finished_in(sent)
            following = next(name for name in STEPS if name not in finished)
            assert following not in agent.done, f"step {number}: {following} would be done again"
            assert _PENDING.search(sent), f"step {number}: the approval that is pending is lost"
            assert _RUNNING.search(sent), f"step {number}: the sub-agent that runs is lost"
            agent.step(number, following)
        compactions = sum(event.name == "compact.condensed" for event in events)
        assert agent.done == list(STEPS)
    assert compactions >= COMPACTIONS
