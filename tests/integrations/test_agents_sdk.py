"""OpenAI's Agents SDK with its scripted model."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIResponsesCompactionSession,
    RunConfig,
    Runner,
    Session,
    SessionSettings,
    Span,
    SQLiteSession,
    Trace,
    TracingProcessor,
    TResponseInputItem,
    function_tool,
    set_trace_processors,
)
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ScriptedModel, assistant_message, function_call

from compact import InsufficientBudget, count_tokens, parse
from compact.errors import InvalidInput
from compact.formats import violations
from compact.integrations.agents_sdk import CompactedSession, compact_input_filter, recall_function_tools
from compact.integrations.agents_tracing import RedactingProcessor
from compact.ports import Span as CompactSpan
from tests.integrations.conftest import LISTING, Managers


@function_tool
def read(path: str) -> str:
    """Reads a file."""
    return f"{path}\n{LISTING}"


@pytest.fixture
def store() -> Iterator[SQLiteSession]:
    session = SQLiteSession("chat-1")
    yield session
    session.close()


def filtered(asked: Any) -> RunConfig:
    return RunConfig(call_model_input_filter=asked, tracing_disabled=True)


def work(config: RunConfig, session: Session | None, turns: int = 12) -> list[list[TResponseInputItem]]:
    """Have an agent read a file in each turn; gives what its model was asked."""
    model = ScriptedModel()
    agent = Agent("reader", instructions="Be brief.", model=model, tools=[read])

    async def talk() -> None:
        for turn in range(turns):
            call = function_call("read", {"path": f"src/{turn}.py"}, call_id=f"call_{turn}", item_id=f"fc_{turn}")
            model.extend([[call], [assistant_message(f"Read {turn}.", item_id=f"msg_{turn}")]])
            await Runner.run(agent, f"Read file {turn}.", session=session, run_config=config)
        model.assert_complete()

    asyncio.run(talk())
    return [call.input for call in model.calls]


def summaries(items: list[TResponseInputItem]) -> list[str]:
    return [text for item in items if (text := str(item.get("content"))).startswith("<COMPACT-SUMMARY")]


def test_before_model_call_hook_integration(managers: Managers, store: SQLiteSession) -> None:
    manager = managers(14_000)
    asked = work(filtered(compact_input_filter(manager, store)), store, turns=24)
    assert managers.told("condensed") >= 2
    assert max(event.properties["t_est"] for event in managers.events if "t_est" in event.properties) < 14_000
    for items in asked:
        assert len(summaries(items)) <= 1
        assert not violations(parse({"model": "gpt-4o", "input": items}))
    kept = asyncio.run(store.get_items())
    assert len(kept) == 24 * 4
    assert not summaries(kept)


def test_what_was_compacted_stays_the_same_bytes(managers: Managers, store: SQLiteSession) -> None:
    asked = work(filtered(compact_input_filter(managers(), lambda data: data.agent.name)), store)
    assert len(asked) > 10
    changed = sum(two[: len(one)] != one for one, two in pairwise(asked))
    assert 1 <= changed <= managers.told("condensed")


def test_items_that_are_not_changed_are_the_same_objects(managers: Managers) -> None:
    asked = compact_input_filter(managers(100_000), "s")
    items: list[TResponseInputItem] = [{"role": "user", "content": "Hello"}, {"role": "user", "content": "again"}]
    agent: Agent[None] = Agent("a")
    sent = asyncio.run(_filter(asked, CallModelData(ModelInputData(items, None), agent, None)))
    assert all(one is other for one, other in zip(sent.input, items, strict=True))


def test_the_other_filter_gets_what_is_left(managers: Managers, store: SQLiteSession) -> None:
    seen: list[int] = []

    def count(data: CallModelData[Any]) -> ModelInputData:
        seen.append(len(data.model_data.input))
        return replace(data.model_data, instructions="Changed.")

    async def count_later(data: CallModelData[Any]) -> ModelInputData:
        return count(data)

    asked = work(filtered(compact_input_filter(managers(), "s", then=count)), None, turns=1)
    assert seen == [len(items) for items in asked]
    seen.clear()
    asked = work(filtered(compact_input_filter(managers(), "t", then=count_later)), store)
    assert seen == [len(items) for items in asked]
    assert max(seen) < 12 * 4


def test_a_failure_lets_the_input_go_as_it_is(
    managers: Managers, store: SQLiteSession, caplog: pytest.LogCaptureFixture
) -> None:
    asked = work(filtered(compact_input_filter(managers(), "no\nid")), store, turns=3)
    assert [len(items) for items in asked] == [1, 3, 5, 7, 9, 11]
    logged = [record for record in caplog.records if record.name == "compact.integrations"]
    assert {record.levelno for record in logged} == {logging.ERROR}
    assert len(logged) == 6
    assert "session no\nid was not compacted" in caplog.text
    assert "no session id" in caplog.text


def test_a_window_that_is_too_small_is_told_and_ends_no_run(managers: Managers, store: SQLiteSession) -> None:
    asked = work(filtered(compact_input_filter(managers(1000), "s")), store, turns=3)
    assert len(asked) == 6
    assert managers.told("error") > 0


def test_strict_raises(managers: Managers, store: SQLiteSession) -> None:
    with pytest.raises(InsufficientBudget):
        work(filtered(compact_input_filter(managers(1000), "s", strict=True)), store, turns=1)
    with pytest.raises(InvalidInput, match="session_id"):
        work(filtered(compact_input_filter(managers(), "no\nid", strict=True)), store, turns=1)


def history(turns: int) -> list[TResponseInputItem]:
    items: list[TResponseInputItem] = []
    for turn in range(turns):
        items += [{"role": "user", "content": f"{turn}?"}, {"role": "assistant", "content": LISTING}]
    return [*items, {"role": "user", "content": "And?"}]


def limited(managers: Managers, window: int, items: list[TResponseInputItem], strict: bool) -> int:
    """How many tokens of input the model gets beside a limit of 6,000 tokens for its answer."""
    model = ScriptedModel([[assistant_message("Yes.")]])
    agent = Agent("a", model=model, model_settings=ModelSettings(max_tokens=6_000))
    asked = compact_input_filter(managers(window), "s", strict=strict)
    asyncio.run(Runner.run(agent, items, run_config=filtered(asked)))
    [call] = model.calls
    return count_tokens({"model": "gpt-4o", "input": call.input})


def test_the_limit_of_the_answer_has_its_room(managers: Managers) -> None:
    assert 16_000 - 1_500 - 6_000 < count_tokens({"model": "gpt-4o", "input": history(12)}) < 0.85 * 16_000
    assert limited(managers, 16_000, history(12), strict=True) <= 16_000 - 1_500 - 6_000


def test_a_limit_that_would_have_to_be_lowered_is_told(managers: Managers, caplog: pytest.LogCaptureFixture) -> None:
    """A filter cannot change the settings of the model; what it can do is to send what was compacted."""
    with pytest.raises(InsufficientBudget, match="Lower the limit of the answer"):
        limited(managers, 8_000, history(12), strict=True)
    assert limited(managers, 8_000, history(12), strict=False) <= 8_000 - 1_500 - 1_024
    assert "leave no room for an answer of 6,000" in caplog.text


def test_a_session_that_compacts_on_its_own_is_warned_about(managers: Managers, store: SQLiteSession) -> None:
    own = OpenAIResponsesCompactionSession("chat-1", store)
    with pytest.warns(UserWarning, match="OpenAIResponsesCompactionSession rewrites what it stores"):
        compact_input_filter(managers(), own)
    with pytest.warns(UserWarning, match="OpenAIResponsesCompactionSession rewrites what it stores"):
        CompactedSession(own, managers())


class ListSession:
    """Keeps items in memory, as a session of one's own would."""

    session_settings: SessionSettings | None = None

    def __init__(self) -> None:
        self.session_id = "chat-1"
        self.items: list[TResponseInputItem] = []

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        return list(self.items if limit is None else self.items[-limit:])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        self.items += items

    async def pop_item(self) -> TResponseInputItem | None:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()


def test_the_sdk_skips_its_own_compaction_once_the_input_is_changed(
    managers: Managers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fact behind the warning."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)  # so that the attempt ends before the network
    skipped = "Skipped automatic compaction"
    window = {"ours": 8000, "none": 1_000_000}
    for name, size in window.items():
        caplog.clear()
        # It wants to compact once there is more than Compact lets through.
        own = OpenAIResponsesCompactionSession(
            "chat-1", ListSession(), should_trigger_compaction=lambda context: len(context["session_items"]) == 48
        )
        with pytest.raises(openai.OpenAIError) if name == "none" else nullcontext():
            work(filtered(compact_input_filter(managers(size), name)), own)
        assert (skipped in caplog.text) is (name == "ours")


def test_a_session_hands_out_what_is_left_and_keeps_everything(managers: Managers, store: SQLiteSession) -> None:
    session = CompactedSession(store, managers())
    assert isinstance(session, Session)
    asked = work(RunConfig(tracing_disabled=True), session)
    assert managers.told("condensed") >= 1
    assert len(str(asked[-1])) < 0.6 * len(str(asyncio.run(store.get_items())))
    assert len(asyncio.run(store.get_items())) == 12 * 4
    assert asyncio.run(session.get_items(3)) == asyncio.run(store.get_items(3))
    assert asyncio.run(session.pop_item()) is not None
    asyncio.run(session.clear_session())
    assert asyncio.run(session.get_items()) == []


def test_session_and_filter_together_compact_once(managers: Managers, store: SQLiteSession) -> None:
    manager = managers(8000)
    session = CompactedSession(store, manager)
    asked = work(filtered(compact_input_filter(manager, session)), session)
    assert managers.told("condensed") <= 2
    assert all(len(summaries(items)) <= 1 for items in asked)


class Collector(TracingProcessor):
    """Keeps the names of the spans of each trace."""

    def __init__(self) -> None:
        self.names: defaultdict[str, list[str]] = defaultdict(list)

    def on_trace_start(self, trace: Trace) -> None: ...

    def on_trace_end(self, trace: Trace) -> None: ...

    def on_span_start(self, span: Span[Any]) -> None: ...

    def on_span_end(self, span: Span[Any]) -> None:
        self.names[span.trace_id].append(str(span.span_data.export().get("name")))

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    set_trace_processors([made])
    yield made
    set_trace_processors([])


def test_outside_of_a_trace_events_are_no_spans(managers: Managers, collector: Collector) -> None:
    manager = managers()
    manager.preflight("s", [{"role": "user", "content": "Hello"}])
    manager.close()
    assert managers.told("token_estimate") == 1
    assert collector.names == {}


def test_events_are_spans_of_the_trace_in_which_they_happen(
    managers: Managers, store: SQLiteSession, collector: Collector
) -> None:
    manager = managers()
    config = RunConfig(call_model_input_filter=compact_input_filter(manager, store))
    work(config, store)
    manager.close()
    assert len(collector.names) == 12
    told = [name for names in collector.names.values() for name in names if name.startswith("compact.")]
    assert told.count("compact.token_estimate") == 24
    assert told.count("compact.condensed") == managers.told("condensed") > 0


def test_a_streamed_run_is_compacted_too(managers: Managers, store: SQLiteSession) -> None:
    config = filtered(compact_input_filter(managers(), store))
    work(config, store)
    model = ScriptedModel([[assistant_message("Bye.")]])

    async def talk() -> None:
        result = Runner.run_streamed(Agent("a", model=model), "Bye", session=store, run_config=config)
        async for _ in result.stream_events():
            pass

    asyncio.run(talk())
    assert model.last_call is not None
    assert len(summaries(model.last_call.input)) == 1


def test_a_session_may_be_called_anything(managers: Managers) -> None:
    store = SQLiteSession("ada@example.com: chat 1")
    manager = managers()
    asked = work(filtered(compact_input_filter(manager, store)), CompactedSession(store, manager))
    store.close()
    assert managers.told("condensed") > 0
    assert summaries(asked[-1])


def test_an_agent_looks_up_what_was_removed(managers: Managers, store: SQLiteSession) -> None:
    manager = managers()
    config = filtered(compact_input_filter(manager, store))
    work(config, store)
    search = function_call("compact_search", {"text": "src/0.py"}, call_id="s", item_id="s")
    wrong = function_call("compact_recall", {"handle": "sum-00000000"}, call_id="r", item_id="r")
    model = ScriptedModel([[search], [wrong], [assistant_message("Found.", item_id="f")]])
    tools = recall_function_tools(manager, store)
    agent = Agent("reader", model=model, tools=[*tools])
    asyncio.run(Runner.run(agent, "What was in the first file?", session=store, run_config=config))
    answers = [str(item) for item in model.calls[-1].input if item.get("type") == "function_call_output"]
    assert any("msg-" in answer and "src/0.py" in answer for answer in answers)
    assert any("Error: handle" in answer for answer in answers)


class Kept:
    """An exporter that keeps what it is given."""

    def __init__(self) -> None:
        self.spans: list[CompactSpan] = []
        self.closed = False

    def emit(self, span: CompactSpan) -> None:
        self.spans.append(span)

    def flush(self, deadline: float) -> bool:
        return deadline >= 0

    def close(self) -> None:
        self.closed = True


@function_tool
def login() -> str:
    """Tells a secret."""
    return "api_key=" + "sk-abc123def456"


@function_tool
def fail() -> str:
    """Fails."""
    raise ValueError


def test_the_traces_of_the_sdk_go_where_events_go_without_their_secrets(
    managers: Managers, store: SQLiteSession
) -> None:
    kept = Kept()
    processor = RedactingProcessor([kept])
    set_trace_processors([processor])
    manager = managers()
    config = RunConfig(call_model_input_filter=compact_input_filter(manager, store))
    calls = [function_call(name, {}, call_id=name) for name in ("login", "fail")]
    model = ScriptedModel([calls, [assistant_message("Done.")]])
    asyncio.run(Runner.run(Agent("keeper", model=model, tools=[login, fail]), "Log in.", run_config=config))
    manager.close()
    processor.shutdown()
    set_trace_processors([])
    named = {span.name: span for span in kept.spans}
    assert {"keeper", "login", "fail", "compact.token_estimate"} <= named.keys()
    assert len({span.trace_id for span in kept.spans}) == 1
    ids = {span.span_id for span in kept.spans}
    assert all(span.parent_id is None or span.parent_id in ids for span in kept.spans)
    assert (named["login"].status, named["fail"].status) == ("ok", "error")
    assert named["login"].data["output"] == "api_key=<REDACTED>"
    assert "sk-abc123" not in str(kept.spans)
    assert kept.closed


async def _filter(asked: Any, data: CallModelData[Any]) -> ModelInputData:
    found: ModelInputData = await asked(data)
    return found
