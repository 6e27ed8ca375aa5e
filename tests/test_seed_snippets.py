"""The examples of the requirements, run as they are written there wherever they are Python or YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from textwrap import dedent
from typing import Any

import agents
import pytest
import yaml

from compact import CompactConfig, CompactManager
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.models import Usage, cost
from compact.models.model import Prices
from compact.policies import Policy, threshold
from compact.redaction import Redactor
from compact.summaries.model.strategy import custom_strategy, find_strategy
from tests.app.test_manager import talk

MINIMAL = """
from compact import CompactConfig, CompactManager

cfg = CompactConfig(model="gpt-4", max_context_tokens=128_000)
manager = CompactManager(cfg)

def before_model_call(ctx):
    ctx.messages = manager.preflight(ctx.session_id, ctx.messages)

runner = Runner(agent, hooks={"before_model_call": before_model_call})
"""


@dataclass
class Context:
    session_id: str
    messages: list[Json]


def test_the_minimal_integration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the archive is below the current folder
    assert len(MINIMAL.split("\n\n")) < 10
    enabled, last = MINIMAL.rsplit("runner =", 1)
    names: dict[str, Any] = {"Runner": agents.Runner, "agent": agents.Agent(name="mine")}
    exec(enabled, names)
    # The SDK's Runner takes neither an agent nor hooks: its call_model_input_filter is used instead.
    with pytest.raises(TypeError):
        exec(f"runner ={last}", names)
    with names["manager"] as manager:
        short = Context("one", talk(3))
        names["before_model_call"](short)
        assert short.messages == talk(3)
        long = Context("two", talk(260))
        names["before_model_call"](long)
        assert long.messages != talk(260)
        assert manager.report("two").tokens_after < 0.85 * 128_000


MANUAL = 'manager.manual_compact(session_id, messages, note="user-requested")'
PLACES = """
.compact/archive/{session_id}/transcript-pre-compact-{step:03d}.jsonl
.compact/archive/{session_id}/summary-{step:03d}.json
.compact/archive/{session_id}/events.jsonl
"""


def test_a_manual_compaction_and_the_files_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with CompactManager(CompactConfig(model="gpt-4o", profile="offline")) as manager:
        messages = talk(20)
        sent = eval(MANUAL, {"manager": manager, "session_id": "s", "messages": messages})
    assert sent != messages
    for place in PLACES.split():
        path = Path(place.format(session_id="s", step=1))
        assert path.is_file(), path
        assert place.endswith("events.jsonl") or path.stat().st_size > 0
    assert '"user-requested"' in Path(".compact/archive/s/events.jsonl").read_text()


DEFAULTS = """
  - trigger_pct: 0.85
  - hard_cap_buffer: 1500
  - keep_recent_turns: 6
  - keep_tool_io_pairs: 4
  - roles_never_prune: ["system", "developer"]
  - strategy: "task_state"
"""


def test_the_defaults() -> None:
    given = {name: value for entry in yaml.safe_load(DEFAULTS) for name, value in entry.items()}
    assert Policy().model_dump(mode="json", include=set(given)) == given


def test_a_variable_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "compact.yaml"
    # `policy.trigger_pct` is the path of the setting; in YAML that is one key below another.
    path, value = ["policy.trigger_pct", "0.85"]
    group, name = path.split(".")
    file.write_text(f"model: gpt-4o\n{group}:\n  {name}: {value}\n")
    assert CompactConfig.load(file).policy.trigger_pct == 0.85
    variable, _, value = "COMPACT_TRIGGER_PCT=0.9".partition("=")
    monkeypatch.setenv(variable, value)
    assert CompactConfig.load(file).policy.trigger_pct == 0.9
    monkeypatch.delenv(variable)
    file.write_text(f"model: gpt-4o\n{group}:\n  {name}: 1.85\n")
    with pytest.raises(InvalidConfiguration, match=r"policy\.trigger_pct"):
        CompactConfig.load(file)


PATTERNS = (r"(?i)api[_-]?key\s*[:=]\s*\S+", r"(?i)password\s*[:=]\s*\S+")


def test_what_the_usual_patterns_of_secrets_match_is_redacted() -> None:
    redactor = Redactor()
    assert redactor.json("api_key=sk-abc123") == "api_key=<REDACTED>"
    for text in ("API-KEY: k3y-of-mine", "apikey = zzz9", "password: correct-horse-7", "PASSWORD=hunter2"):
        (found,) = (match[0] for pattern in PATTERNS if (match := re.search(pattern, text)))
        secret = re.split(r"\s*[:=]\s*", found)[1]
        assert secret not in redactor.json(f"set {text}\n")


CONSTANTS = """
export const MIN_CONDENSE_THRESHOLD = 5    // 5% minimum
export const MAX_CONDENSE_THRESHOLD = 100  // 100% maximum
export const TOKEN_BUFFER_PERCENTAGE = 0.1 // 10% safety buffer
"""


def test_the_constants_of_thresholds() -> None:
    # TypeScript; without `export const` and with # for // it is Python.
    names: dict[str, Any] = {}
    exec(CONSTANTS.replace("export const ", "").replace("//", "#"), names)
    names.pop("__builtins__")
    assert {name: getattr(threshold, name) for name in names} == names


COST = """
  const cacheWritesCost = ((modelInfo.cacheWritesPrice || 0) / 1_000_000)
                        * cacheCreationInputTokens
  const cacheReadsCost = ((modelInfo.cacheReadsPrice || 0) / 1_000_000)
                       * cacheReadInputTokens
  const baseInputCost = ((modelInfo.inputPrice || 0) / 1_000_000)
                      * inputTokens
  const outputCost = ((modelInfo.outputPrice || 0) / 1_000_000)
                   * outputTokens

  return cacheWritesCost + cacheReadsCost + baseInputCost + outputCost
"""


@dataclass
class ModelInfo:
    inputPrice: float = 3.0  # noqa: N815 - as it is called there
    outputPrice: float = 15.0  # noqa: N815
    cacheWritesPrice: float = 3.75  # noqa: N815
    cacheReadsPrice: float = 0.3  # noqa: N815


def test_the_cost_of_a_request() -> None:
    # TypeScript again: `const`, `||` and `return` are put in Python's words, and lines that go on are joined.
    text = re.sub(r"\n +\*", " *", COST).replace("const ", "").replace("||", "or").replace("return ", "total = ")
    names: dict[str, Any] = {"modelInfo": ModelInfo(), "inputTokens": 1000, "outputTokens": 500}
    names |= {"cacheCreationInputTokens": 100, "cacheReadInputTokens": 2000}
    exec(dedent(text), names)
    prices = Prices(Decimal("3.0"), Decimal("15.0"), Decimal("3.75"), Decimal("0.3"))
    found = cost(Usage(input=1000, output=500, cache_write=100, cache_read=2000), prices)
    assert float(found or 0) == pytest.approx(names["total"])


PROMPT = """
Summarize the following programming conversation. Focus on:
- Problem being solved
- Code changes made (with brief snippets if critical)
- Technical decisions and rationale
- Bugs identified and fixes applied
- Next steps or TODO items

Conversation:
{conversation_history}
"""


def test_the_prompt_for_programming() -> None:
    # The conversation is added by itself, so the nearest form ends before the placeholder for it.
    nearest = PROMPT.split("\nConversation:", maxsplit=1)[0].strip()
    strategy = custom_strategy(nearest, find_strategy("task_state"))
    assert "Bugs identified and fixes applied" in strategy.prompt


def test_the_budget_with_its_reserve() -> None:
    # "max context of 128,000 tokens and hard_cap_buffer is configured as 1,500": available are 126,500.
    decision = threshold.should_condense(126_501, 128_000, Policy(trigger_pct=1.0).threshold)
    assert decision.budget == 126_500
    assert decision.triggered
    # "108,800 tokens (85% of 128,000)" and "96,000 tokens (75% of 128,000)".
    policy = Policy(**yaml.safe_load(dedent("trigger_pct: 0.85")))
    assert threshold.should_condense(108_800, 128_000, policy.threshold).triggered
    assert not threshold.should_condense(96_000, 128_000, policy.threshold).triggered
