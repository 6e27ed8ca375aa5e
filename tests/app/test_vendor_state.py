"""What holds tools, settings or state of a vendor stays, and is counted as the vendor counts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app import list_recipes
from compact.app.counting import counter_for
from compact.formats import parse, request_body, tools_of, violations
from compact.messages import Json, untouchable, visible
from tests.vendor_state import (
    ADDITIONAL,
    COMPACTION,
    FUNCTIONS,
    GRAMMAR,
    NAMESPACE,
    QUESTION,
    TOOLS,
    WORDS,
    anthropic_compacted,
    codex_items,
    held,
    openai_compacted,
    turns,
)

RECIPES = [name for name, _ in list_recipes()]
CODEX: dict[str, Any] = {"model": "gpt-5.1-codex", "store": False}
CLAUDE = {"model": "claude-sonnet-5", "max_tokens": 1000}
SESSIONS: dict[str, dict[str, Any]] = {
    "codex": {**CODEX, "input": codex_items(30)},
    "openai": {**CODEX, "input": openai_compacted(12, 20)},
    "anthropic": {**CLAUDE, "messages": anthropic_compacted(12, 20)},
}


def state_in(messages: list[Json]) -> list[Json]:
    blocks = [part for one in messages if isinstance(one.get("content"), list) for part in one["content"]]
    return [*held(messages), *(part for part in blocks if part["type"] == "compaction")]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", SESSIONS)
def test_every_recipe_keeps_it(name: str, recipe: str) -> None:
    body = SESSIONS[name]
    before = parse(body)
    given = body.get("input") or body["messages"]
    result = compact.condense(body, recipe=recipe, target=0.4)
    assert state_in(result.messages) == state_in(given) != []
    assert result.report.tokens_after <= result.report.tokens_before
    assert violations(result.conversation, origin=before) == []
    assert compact.restore(result) == given


@pytest.mark.parametrize(
    "state",
    [
        ADDITIONAL,
        {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {"query": "db"}},
        {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": list(FUNCTIONS)},
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "db", "tools": [{"name": "q", "input_schema": {}}]},
        {"type": "configuration_update", "reasoning": {"effort": "low"}},
        {"type": "compaction_trigger"},
        COMPACTION,
    ],
    ids=lambda state: state["type"],
)
def test_every_kind_of_state_of_openai_stays_where_it_is(state: Json) -> None:
    given = [*turns(6), state, *turns(6, 6), QUESTION]
    for recipe in RECIPES:
        found = compact.condense({**CODEX, "input": given}, recipe=recipe, target=0.3).messages
        assert found.count(state) == 1
        before = [one for one in found[: found.index(state)] if one in given]
        assert all(one in given[:12] for one in before)
        assert all(one in given[13:] for one in found[found.index(state) + 1 :] if one in given)


@pytest.mark.parametrize("window", range(12_000, 40_001, 4_000))
def test_a_manager_keeps_all_tools_of_codex(window: int, tmp_path: Path) -> None:
    settings = {"model": CODEX["model"], "max_context_tokens": window, "storage": {"path": str(tmp_path)}}
    config = CompactConfig.model_validate({**settings, "background": False})
    shrunk = 0
    with CompactManager(config) as manager:
        for count in range(0, window // 250, 10):
            given = codex_items(count)
            out = manager.preflight("a", given)
            assert held(out) == held(given)
            assert compact.count_tokens({**CODEX, "input": out}, model=CODEX["model"]) <= window
            shrunk += out != given
    assert shrunk


@pytest.mark.parametrize("model", ["claude-sonnet-5", "gpt-4o"])
def test_what_anthropic_summarized_costs_nothing(model: str) -> None:
    whole, rest = anthropic_compacted(60, 0), anthropic_compacted(0, 0)[1:]
    parsed = parse(whole)
    assert compact.count_tokens(whole[:-2], model=model) > 20_000
    assert compact.count_tokens(whole, model=model) == compact.count_tokens(rest, model=model) < 60
    assert compact.count_tokens({**CLAUDE, "messages": whole}, model=model) < 60
    assert list(visible(parsed).messages) == list(parsed.messages[-2:])
    assert {message.id for message in parsed.messages[:-2]} <= untouchable(parsed)
    assert not compact.condense(whole, target=60, model=model).plan


def test_nothing_refers_to_what_the_vendor_does_not_read() -> None:
    text = "\n".join(f"line {number} of a file that is shown twice" for number in range(80))
    shown = [{"role": "user", "content": "Show it."}, {"role": "assistant", "content": text}]
    [user, answer, *_] = anthropic_compacted(0, 0)
    for between, refers in (([], True), ([user, answer], False)):
        given = parse([*shown, *between, *shown, QUESTION], format="anthropic-messages")
        found = compact.condense(given, recipe="lossless:verbatim").messages
        assert ("[same as " in str(found)) is refers


def test_counting_goes_on_where_the_summary_is_counted_already() -> None:
    whole = anthropic_compacted(30, 10)
    assert [compact.count_tokens(whole[:end]) for end in range(58, len(whole))] == [
        counter_for("gpt-4o").conversation(parse(whole[:end], format="anthropic-messages")).total
        for end in range(58, len(whole))
    ]


def test_what_stands_before_a_summary_in_its_own_message_costs_nothing() -> None:
    [user, answer] = anthropic_compacted(0, 0)[:2]
    longer = {**answer, "content": [{"type": "text", "text": WORDS}, *answer["content"]]}
    assert compact.count_tokens([user, longer]) == compact.count_tokens([user, answer])


def test_a_summary_that_failed_leaves_nothing_out() -> None:
    [user, answer, *_] = anthropic_compacted(0, 0)
    failed = {**answer, "content": [{"type": "compaction", "content": None}, *answer["content"][1:]]}
    whole = [*turns(5), user, failed, QUESTION]
    assert len(visible(parse(whole, format="anthropic-messages")).messages) == len(whole)
    assert compact.count_tokens([*whole[:-3], QUESTION]) < compact.count_tokens(whole)


def test_openai_reads_what_users_said_before_its_own_compaction() -> None:
    whole = openai_compacted(20, 1)
    read = [one for one in whole[:40] if one["role"] == "user"] + whole[40:]
    assert compact.count_tokens(whole) == compact.count_tokens(read)
    assert compact.count_tokens([COMPACTION, QUESTION]) > compact.count_tokens([QUESTION]) + 50


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.1-codex", "claude-sonnet-5"])
def test_every_form_of_tool_is_counted(model: str) -> None:
    def counted(*tools: Json) -> int:
        return compact.count_tokens({**CODEX, "input": "Hi.", "tools": list(tools)}, model=model)

    words = counter_for(model).text(WORDS)
    assert counted(*FUNCTIONS, GRAMMAR) > counted(*FUNCTIONS) + words
    assert counted(*FUNCTIONS, NAMESPACE) > counted(*FUNCTIONS, *NAMESPACE["tools"])
    offered = counted(*TOOLS)
    found = {"type": "tool_search_output", "call_id": None, "tools": list(TOOLS)}
    for item in (ADDITIONAL, found):
        assert offered - 20 < compact.count_tokens({**CODEX, "input": [item]}, model=model) < offered + 20


def test_a_program_is_counted_and_pinned_though_it_is_called_like_a_tool() -> None:
    program = {"type": "program", "id": "p", "call_id": "c", "code": WORDS, "fingerprint": "f"}
    output = {"type": "program_output", "id": "o", "call_id": "c", "result": WORDS, "status": "completed"}
    assert all(message.pinned for message in parse([program, output]).messages)
    assert compact.count_tokens([program, output]) > 2 * compact.count_tokens([{"role": "user", "content": WORDS}]) - 20


def test_a_namespace_offers_the_tools_in_it() -> None:
    body = {**CODEX, "input": "Hi.", "tools": list(TOOLS)}
    names = [tool.name for tool in tools_of(parse(body))]
    assert names == [*(tool["name"] for tool in FUNCTIONS), "exec", "mcp__db", *(f"query_{at}" for at in range(4))]
    assert request_body(parse(body))["tools"] == list(TOOLS)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("openai-chat", {"role": "user", "content": [{"type": "from_next_year", "state": 1}]}),
        ("openai-responses", {"type": "from_next_year", "state": 1}),
        ("openai-responses", {"type": "from_next_year_call", "call_id": "c", "arguments": "{}"}),
        ("openai-responses", {"type": "compaction_trigger"}),
        ("anthropic-messages", {"role": "user", "content": [{"type": "from_next_year", "state": 1}]}),
        ("anthropic-messages", {"role": "assistant", "content": [{"type": "mcp_tool_listing", "tools": []}]}),
        ("google-gemini", {"role": "user", "parts": [{"thoughtSignature": "s", "fromNextYear": {}}]}),
    ],
)
def test_what_a_format_does_not_know_is_pinned(format: str, message: Json) -> None:
    [read] = parse([message], format=format).messages
    assert read.pinned


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("openai-chat", {"role": "assistant", "content": [{"type": "thinking", "thinking": []}]}),
        ("openai-responses", {"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        ("openai-responses", {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "x"}]}),
        ("anthropic-messages", {"role": "user", "content": [{"type": "container_upload", "file_id": "f"}]}),
        ("google-gemini", {"role": "model", "parts": [{"thoughtSignature": "s", "executableCode": {"code": "1"}}]}),
    ],
)
def test_what_is_said_and_done_is_not(format: str, message: Json) -> None:
    [read] = parse([message], format=format).messages
    assert not read.pinned
