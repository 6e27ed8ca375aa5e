"""The compaction manager, scenario by scenario."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from time import process_time

import pytest

import compact
from compact import CompactConfig, CompactManager, InsufficientBudget
from compact.engine import AskModel
from compact.errors import CompactionBlocked, InvalidInput
from compact.formats import parse, violations
from compact.messages import Json
from compact.ports import Answer, Ask, Completion, Event, Failure, Refusal

LAYERS = {"provider": "layers"}
ANSWER = "\n".join(f"Looked at src/shop/part_{number}.py; it holds {number + 100} lines." for number in range(30))


def talk(turns: int, start: int = 0) -> list[Json]:
    messages: list[Json] = []
    for number in range(start, start + turns):
        messages.append({"role": "user", "content": f"Question {number}?"})
        messages.append({"role": "assistant", "content": f"Answer {number}. {ANSWER}"})
    return messages


def calls(count: int) -> list[Json]:
    messages: list[Json] = []
    for number in range(count):
        function = {"name": "read", "arguments": json.dumps({"path": f"src/{number}.py"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"{number}: {ANSWER}"})
    return messages


class Watcher:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == f"compact.{name}"]

    def last(self, name: str) -> Event:
        return self.named(name)[-1]


class Bench:
    """Makes managers that write below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watcher = Watcher()
        self.made: list[CompactManager] = []

    def __call__(self, window: int = 8000, ask: AskModel | None = None, **config: Json) -> CompactManager:
        storage = {"path": str(self.folder), **config.pop("storage", {})}
        whole = {"model": "gpt-4o", "max_context_tokens": window, "storage": storage, "profile": "offline", **config}
        self.made.append(CompactManager(CompactConfig.model_validate(whole), ask=ask, observe=self.watcher))
        return self.made[-1]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    for manager in bench.made:
        manager.close()


def answering(*answers: Answer) -> AskModel:
    """A model that gives these answers in turn, the last one again and again."""
    left = list(answers)

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(left.pop(0) if len(left) > 1 else left[0] for _ in asks)

    return ask


def summaries(messages: list[Json]) -> list[str]:
    return [str(m["content"]) for m in messages if str(m["content"]).startswith("<COMPACT-SUMMARY v")]


def tokens(messages: list[Json]) -> int:
    return compact.count_tokens(messages, model="gpt-4o")


def test_accurate_token_estimation_using_tiktoken(make: Bench) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Use British spelling."},
        *talk(10),
        *calls(5),
    ]
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}]
    manager = make(128_000)
    manager.preflight("s", messages, tools=tools)
    told = make.watcher.last("token_estimate").properties
    assert told["t_est"] == compact.count_tokens(messages, model="gpt-4o", tools=tools)
    assert all(told["breakdown"][part] > 0 for part in ("system", "developer", "tools_schema", "messages"))
    assert sum(told["breakdown"].values()) == told["t_est"]


def test_budget_calculation_with_buffer_reserve() -> None:
    assert CompactConfig(model="gpt-4o").policy.threshold.budget(128_000) == 126_500


@pytest.mark.parametrize(("share", "triggered"), [(0.84, False), (0.86, True)])
def test_automatic_trigger_at_the_threshold(make: Bench, share: float, triggered: bool) -> None:
    messages = talk(20)
    sent = make(int(tokens(messages) / share)).preflight("s", messages)
    assert make.watcher.named("trigger_decision")[0].properties["triggered"] is triggered
    assert (sent == messages) is not triggered


def test_manual_compaction_via_api(make: Bench) -> None:
    messages = talk(20)
    sent = make(128_000).manual_compact("s", messages, note="user-requested")
    assert make.watcher.last("trigger_decision").properties["reason"] == "user-requested"
    assert tokens(sent) < tokens(messages)


def test_protected_message_never_pruned(make: Bench) -> None:
    pinned = {"role": "user", "content": "Never touch src/legacy.", "meta": {"protected": True}}
    messages = [*talk(5), pinned, {"role": "assistant", "content": "Understood."}, *talk(20, 5)]
    asked: list[Ask] = []

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Failure("no") for _ in asks)

    sent = make(ask=ask).preflight("s", messages)
    assert {"role": "user", "content": "Never touch src/legacy."} in sent
    assert any(" stays ---\nNever touch src/legacy." in question.material for question in asked)


def test_role_based_protection(make: Bench) -> None:
    messages = [{"role": "system", "content": "Rules."}, *talk(10), {"role": "developer", "content": "More rules."}]
    sent = make().preflight("s", [*messages, *talk(20, 10)])
    assert messages[0] in sent
    assert messages[-1] in sent


def test_budget_exhaustion_with_protected_only_messages(make: Bench) -> None:
    pinned = [{"role": "user", "content": ANSWER, "meta": {"protected": True}}] * 20
    with pytest.raises(InsufficientBudget, match=r"Protect fewer or shorter messages.*larger context window") as caught:
        make(4000).preflight("s", [*pinned, *talk(10)])
    assert caught.value.needed > caught.value.budget
    assert make.watcher.last("error").properties["error_type"] == "InsufficientBudget"


def test_keep_recent_turns_policy(make: Bench) -> None:
    messages = talk(20)
    sent = make(128_000, policy={**LAYERS, "keep_recent_turns": 6}).manual_compact("s", messages)
    assert sent[0] == messages[0]
    assert sent[-12:] == messages[-12:]
    assert len(sent) == 14


def test_keep_tool_io_pairs_policy(make: Bench) -> None:
    messages = [{"role": "user", "content": "Read them all."}, *calls(10)]
    sent = make(128_000, policy={**LAYERS, "keep_tool_io_pairs": 4}).manual_compact("s", messages)
    assert sent[-8:] == messages[-8:]
    assert sum(message["role"] == "tool" for message in sent) == 4


def test_incremental_reduction_on_budget_overflow(make: Bench) -> None:
    messages = talk(20)
    sent = make(6000, policy={**LAYERS, "keep_recent_turns": 12, "summary_tokens": 500}).preflight("s", messages)
    assert 2 < sum(message in messages for message in sent) < 24
    assert tokens(sent) <= 4500


def test_three_layer_output_structure(make: Bench) -> None:
    messages = [{"role": "system", "content": "Rules."}, *talk(20)]
    sent = make(policy=LAYERS).preflight("s", messages)
    assert (sent[0], sent[1]) == (messages[0], messages[1])
    assert summaries(sent) == [sent[2]["content"]]
    assert sent[3:] == messages[-len(sent[3:]) :]
    layers = make.watcher.last("pruned_messages").properties["layers"]
    assert layers == {"pinned": 1, "first": 1, "summary": 1, "recent": len(sent) - 3}


def test_rolling_session_summary_replacement(make: Bench) -> None:
    manager = make()
    sent = manager.preflight("s", [*talk(1), {"role": "user", "content": "Always use tabs."}, *talk(20, 1)])
    for number in range(2, 6):
        sent = manager.preflight("s", [*sent, *talk(20, 30 * number)])
        (summary,) = summaries(sent)
        assert summary.startswith(f"<COMPACT-SUMMARY v{number}>\n")
        assert "Always use tabs." in summary


def test_token_estimate_trigger_decision_and_summary_events_have_their_properties(make: Bench) -> None:
    make().preflight("s", talk(20))
    told = {event.name: event.properties for event in make.watcher.events}
    assert {"model", "t_est", "max_tokens", "usage_pct", "breakdown"} <= set(told["compact.token_estimate"])
    assert {"triggered", "reason", "policy"} <= set(told["compact.trigger_decision"])
    assert {"session_id", "step", "storage_adapter", "file_path"} <= set(told["compact.archival"])
    assert {"pruned_count", "layers", "kept"} <= set(told["compact.pruned_messages"])
    assert {"strategy", "input_messages", "summary_tokens", "compression_ratio", "summary"} <= set(
        told["compact.summary_created"]
    )
    assert {"provider", "trigger", "tokens_before", "tokens_after", "passes"} <= set(told["compact.condensed"])


def test_filesystem_storage_adapter(make: Bench) -> None:
    messages = talk(20)
    make().preflight("s-1", messages)
    folder = make.folder / "archive" / "s-1"
    lines = (folder / "transcript-pre-compact-001.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == messages
    assert json.loads((folder / "summary-001.json").read_text())["summary"].startswith("<COMPACT-SUMMARY v1>")
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert any("compact.archival" in str(event) for event in events)
    places = [event.properties["file_path"] for event in make.watcher.named("archival")]
    assert all(Path(place).exists() for place in places)
    assert places


def test_redaction_before_archival_and_on_by_default(make: Bench) -> None:
    secret = "sk-abc" + "123456"
    messages = [{"role": "user", "content": f"Use api_key={secret} please."}, *talk(20)]
    sent = make().preflight("s", messages)
    assert secret in sent[0]["content"]
    stored = (make.folder / "archive" / "s" / "transcript-pre-compact-001.jsonl").read_text()
    assert "api_key=<REDACTED>" in stored
    assert secret not in stored
    assert not make.watcher.named("redaction_disabled")


def test_a_high_severity_event_when_redaction_is_off(make: Bench) -> None:
    trace = str(make.folder / "spans.jsonl")
    for number, (adapter, jsonl) in enumerate((("fs", ""), ("none", trace))):
        manager = make(redaction={"enabled": False}, storage={"adapter": adapter}, tracing={"jsonl": jsonl})
        manager.preflight("s", talk(20, 100 * number))
        assert len(make.watcher.named("redaction_disabled")) == number + 1
    assert make.watcher.last("redaction_disabled").properties["severity"] == "high"


def test_summarization_api_failure_falls_back_to_pruning(make: Bench) -> None:
    sent = make(ask=answering(Failure("no network")), policy=LAYERS).preflight("s", talk(20))
    assert not summaries(sent)
    assert any("earlier messages removed here]" in str(message["content"]) for message in sent)
    assert tokens(sent) < 4000
    told = make.watcher.last("error")
    assert (told.failed, told.properties["fallback"]) == (True, "pruning-only")
    assert "no network" in told.properties["message"]


def test_a_failed_summary_blocks_where_the_policy_says_so(make: Bench) -> None:
    messages = talk(24)
    manager = make(ask=answering(Failure("no network")), policy={"on_summary_failure": "block"})
    with pytest.raises(CompactionBlocked, match="no network"):
        manager.preflight("s", messages)
    assert not (make.folder / "archive" / "s").exists()


def test_summary_exceeding_its_budget_is_asked_for_again_and_then_pruned(make: Bench) -> None:
    ask, policy = answering(Completion("word " * 50_000, truncated=True)), {**LAYERS, "summary_tokens": 4_000}
    sent = make(32_000, ask=ask, policy=policy, max_asks=20).preflight("s", talk(160))
    asked = [event.properties["part"] for event in make.watcher.named("summary_retry")]
    assert (summaries(sent), {asked.count(part) for part in asked}) == ([], {2})


def test_model_refusal_is_retried_with_brief_and_then_pruned(make: Bench) -> None:
    sent = make(ask=answering(Refusal("against policy")), policy=LAYERS).preflight("s", talk(20))
    assert not summaries(sent)
    assert make.watcher.named("summary_refused")


def test_property_protected_never_pruned_and_within_budget(make: Bench) -> None:
    rng = random.Random(7)
    for number in range(100):
        messages = talk(rng.randint(1, 40))
        for position in rng.sample(range(len(messages)), min(3, len(messages))):
            messages[position] = {**messages[position], "meta": {"protected": True}}
        pinned = [{k: v for k, v in m.items() if k != "meta"} for m in messages if "meta" in m]
        sent = make(12_000).preflight(f"s{number}", messages)
        assert all(message in sent for message in pinned)
        assert tokens(sent) <= 10_500


def test_the_same_list_or_the_full_history_gives_the_same_bytes(make: Bench) -> None:
    manager, history = make(), talk(20)
    sent = manager.preflight("s", history)
    more = talk(1, 20)
    assert manager.preflight("s", [*copy.deepcopy(sent), *more]) == [*sent, *more]
    assert manager.preflight("s", [*history, *more]) == [*sent, *more]
    assert len(make.watcher.named("condensed")) == 1


def test_state_survives_a_restart(make: Bench) -> None:
    history = talk(20)
    sent = make().preflight("s", history)
    more = talk(1, 20)
    for held in ([*history, *more], [*sent, *more]):
        again = make()
        assert json.dumps(again.preflight("s", held)) == json.dumps([*sent, *more])
        assert again.undo("s") == [*history, *more]
        make().preflight("s", history)  # what was undone stays undone: it is compacted anew
    assert len(make.watcher.named("condensed")) == 3


def test_undo_keeps_later_turns(make: Bench) -> None:
    manager, history = make(), talk(20)
    sent = manager.preflight("s", history)
    more = talk(2, 20)
    manager.preflight("s", [*sent, *more])
    assert manager.undo("s") == [*history, *more]


@pytest.mark.parametrize(
    "later",
    [
        [
            {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "text"},
        ],
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "text"}]},
        ],
    ],
)
def test_a_session_that_begins_with_plain_text_may_turn_out_to_be_in_any_format(make: Bench, later: list[Json]) -> None:
    manager = make()
    messages: list[Json] = [{"role": "user", "content": "Read it."}]
    assert manager.preflight("s", messages) == messages
    assert manager.preflight("s", [*messages, *later]) == [*messages, *later]
    more = [{"role": "user", "content": "Thanks."}]
    assert manager.manual_compact("s", [*messages, *later, *more])[-1] == more[0]
    assert not violations(parse(manager.preflight("s", [*messages, *later, *more])))


def test_sessions_do_not_know_each_other_and_threads_are_safe(make: Bench) -> None:
    manager = make()
    results: dict[str, list[Json]] = {}

    def work(name: str, start: int) -> None:
        messages = talk(20, start)
        for turn in range(3):
            messages = manager.preflight(name, [*messages, *talk(1, start + 20 + turn)])
        results[name] = messages

    threads = [Thread(target=work, args=(f"s{number}", number * 100)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        text = str(results[f"s{number}"])
        assert f"Question {number * 100}?" in text
        assert not violations(parse(results[f"s{number}"]))
        assert not any(f"Question {other * 100 + 22}?" in text for other in range(4) if other != number)


def test_the_async_twins_do_the_same(make: Bench) -> None:
    async def both() -> tuple[list[Json], list[Json]]:
        manager = make()
        sent = await manager.apreflight("a", talk(20))
        return sent, await manager.amanual_compact("b", talk(20), "now")

    sent, manual = asyncio.run(both())
    assert len(summaries(sent)) == len(summaries(manual)) == 1


@pytest.mark.parametrize("id", ["", "a\n", "x" * 257])
def test_what_is_no_session_id_is_refused(make: Bench, id: str) -> None:
    with pytest.raises(InvalidInput, match="session_id"):
        make().preflight(id, talk(1))


@pytest.mark.clock
def test_a_warm_preflight_writes_nothing_and_is_quick(make: Bench) -> None:
    manager = make(1_000_000)
    messages = talk(500)
    manager.preflight("s", messages)
    messages = [*messages, *talk(1, 500)]
    began = process_time()
    sent = manager.preflight("s", messages)
    assert process_time() - began < 0.05  # a busy machine; the benchmark tells the figure
    assert sent == messages
    assert sent[0] is messages[0]
    assert not list(make.folder.rglob("*"))
