"""Thinking that is bound to what precedes it goes with it, wherever the model is named."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.formats import parse, violations
from compact.messages import Conversation, Json, assuming, is_summary

BOUND = "claude-fable-5-1"
MODELS = ("claude-sonnet-4-5", "claude-fable-5", BOUND)
DROPS = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
MODES: tuple[dict[str, Any] | None, ...] = (
    {"type": "enabled", "budget_tokens": 1000},
    {"type": "adaptive"},
    DROPS,
    None,
)
LONG = {number: " ".join(f"w{number}x{at}" for at in range(150)) for number in range(20)}


def steps(count: int, *, closed: bool = False) -> list[Json]:
    messages: list[Json] = [{"role": "user", "content": "start"}]
    for number in range(count):
        thought = {"type": "thinking", "thinking": f"t{number}", "signature": f"s{number}"}
        call = {"type": "tool_use", "id": f"a{number}", "name": "Read", "input": {"path": "x"}}
        result = {"type": "tool_result", "tool_use_id": f"a{number}", "content": LONG[number]}
        messages += [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]
    if closed:
        thought = {"type": "thinking", "thinking": "z", "signature": "zz"}
        messages.append({"role": "assistant", "content": [thought, {"type": "text", "text": "done"}]})
        messages.append({"role": "user", "content": "more"})
    return messages


def request(messages: list[Json], model: str, thinking: Json) -> dict[str, Json]:
    body = {"model": model, "system": "s", "max_tokens": 2000, "messages": messages}
    return body if thinking is None else {**body, "thinking": thinking}


def sent(messages: list[Json], thinking: Json = None) -> Conversation:
    return parse(request(messages, BOUND, thinking), format="anthropic-messages")


def thoughts(messages: list[Json]) -> int:
    return sum(
        block["type"] == "thinking" for one in messages if one["role"] == "assistant" for block in one["content"]
    )


@pytest.mark.parametrize("target", [0.3, 0.15])
@pytest.mark.parametrize("recipe", ["auto", "truncation"])
@pytest.mark.parametrize(("model", "thinking", "closed"), list(product(MODELS, MODES, (False, True))))
def test_a_request_is_condensed_and_stays_valid(
    model: str, thinking: Json, closed: bool, recipe: str, target: float
) -> None:
    body = request(steps(20, closed=closed), model, thinking)
    result = compact.condense(body, recipe=recipe, target=target, model=model)
    assert violations(result.conversation, origin=parse(body)) == []
    assert result.target_met
    assert compact.restore(result) == body["messages"]


@pytest.mark.parametrize(("model", "thinking", "closed"), list(product(MODELS, MODES, (False, True))))
def test_an_account_may_stand_before_the_current_step_unless_its_thinking_is_bound(
    model: str, thinking: Json, closed: bool
) -> None:
    body = request(steps(20, closed=closed), model, thinking)
    result = compact.condense(body, recipe="layers", target=0.3, model=model)
    assert violations(result.conversation, origin=parse(body)) == []
    # A summary ends the answer that must begin with thinking: there, `auto` cuts what tools answered.
    bound = (model, closed) == (BOUND, False) and thinking == MODES[0]
    assert result.target_met
    assert any(map(is_summary, result.conversation.messages)) is not bound
    assert compact.restore(result) == body["messages"]


def test_the_report_says_who_did_the_work_of_layers() -> None:
    report = compact.condense(request(steps(20), BOUND, MODES[0]), recipe="layers", target=0.3, model=BOUND).report
    assert report.provider == "Auto"
    assert report.failure == "a rule of the vendor forbids what Layers would do; auto did the work"
    assert str(report).startswith(f"Context condensed using Auto strategy:\n - {report.failure}\n")
    own = compact.condense(request(steps(20, closed=True), BOUND, MODES[0]), recipe="layers", target=0.3, model=BOUND)
    assert (own.report.provider, own.report.failure) == ("Layers", "")


@pytest.mark.parametrize("recipe", ["layers", "auto"])
def test_an_open_loop_with_bound_thinking_fits_its_window(recipe: str, tmp_path: Path) -> None:
    config = CompactConfig.model_validate(
        {
            "model": BOUND,
            "max_context_tokens": 10_000,
            "storage": {"path": str(tmp_path)},
            "profile": "offline",
            "policy": {"recipe": recipe},
        }
    )
    with CompactManager(config) as manager:
        for count in (5, 10, 15, 20):
            body = request(steps(count), BOUND, MODES[0])
            done = manager.prepare("s", body)
            assert compact.count_tokens(done.messages, model=BOUND, system="s") <= 8_500
            assert violations(parse(request(done.messages, BOUND, MODES[0])), origin=parse(body)) == []


def turn_then_loop(finished: int, count: int) -> list[Json]:
    """A turn of so many steps that has ended, then so many steps of an open one."""
    first = steps(finished, closed=True)
    return [*first[:-1], {"role": "user", "content": "Next, please."}, *steps(finished + count)[1 + 2 * finished :]]


@pytest.mark.parametrize("finished", [1, 3, 5])
@pytest.mark.parametrize("recipe", ["auto", "layers", "balanced"])
def test_what_stands_before_the_first_thought_of_an_open_turn_holds_still(
    recipe: str, finished: int, tmp_path: Path
) -> None:
    settings = {"model": BOUND, "max_context_tokens": 9_000, "storage": {"path": str(tmp_path)}, "profile": "offline"}
    config = CompactConfig.model_validate({**settings, "policy": {"recipe": recipe}})
    bound: dict[str, list[Json]] = {}
    compactions = 0
    with CompactManager(config) as manager:
        for count in range(20 - finished):
            done = manager.prepare("s", request(turn_then_loop(finished, count), BOUND, MODES[0]))
            assert compact.count_tokens(done.messages, model=BOUND, system="s") <= 6_500
            assert violations(parse(request(done.messages, BOUND, MODES[0]))) == []
            for at, message in enumerate(done.messages):
                for block in filter(is_thought, message["content"]):
                    assert bound.setdefault(block["signature"], bare(done.messages[:at])) == bare(done.messages[:at])
            bound[f"s{finished + count}"] = bare(done.messages)
            compactions += done.compacted
    assert compactions


@pytest.mark.parametrize("recipe", ["auto", "layers", "truncation"])
def test_a_target_is_met_behind_the_first_thought_of_an_open_turn(recipe: str) -> None:
    body = request(turn_then_loop(3, 15), BOUND, MODES[0])
    result = compact.condense(body, recipe=recipe, target=0.4, model=BOUND)
    assert violations(result.conversation, origin=parse(body)) == []
    assert result.messages[:9] == body["messages"][:9]
    assert result.target_met
    assert compact.restore(result) == body["messages"]


def test_where_no_account_may_stand_auto_cuts_as_far_as_it_goes() -> None:
    body = request(steps(20), BOUND, MODES[0])
    result = compact.condense(body, recipe="auto", target=0.02, model=BOUND)
    assert violations(result.conversation, origin=parse(body)) == []
    assert len(result.messages) == len(body["messages"])
    assert result.report.tokens_after < 0.1 * result.report.tokens_before
    assert not compact.condense({**body, "messages": result.messages}, target=0.02, model=BOUND).plan


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("provider", ["layers", "truncation", "native"])
def test_a_list_is_condensed_for_the_model_that_is_named(provider: str, closed: bool) -> None:
    given = steps(20, closed=closed)
    result = compact.condense(given, provider=provider, target=0.3, model=BOUND)
    assert result.target_met
    assert violations(sent(result.messages), origin=sent(given)) == []
    assert compact.restore(result) == given
    free = compact.condense(given, provider=provider, target=0.3, model="claude-fable-5")
    assert thoughts(free.messages) > thoughts(result.messages)


def test_the_current_step_loses_nothing_but_its_thinking() -> None:
    given = steps(20)
    result = compact.condense(given, provider="layers", target=0.3, model=BOUND)
    assert result.messages[-1] == given[-1]
    assert result.messages[-2] == {"role": "assistant", "content": given[-2]["content"][1:]}


def test_what_was_protected_on_purpose_keeps_its_thinking_and_the_report_says_so() -> None:
    given = steps(20)
    given[-2] = {**given[-2], "meta": {"protected": True}}
    result = compact.condense(given, provider="layers", target=0.3, model=BOUND)
    assert thoughts(result.messages) == 20
    assert "A20" in result.report.passes[0].skipped


def test_what_the_vendor_drops_itself_is_kept() -> None:
    body = request(steps(20), BOUND, DROPS)
    result = compact.condense(body, provider="truncation", target=0.3, model=BOUND)
    assert thoughts(result.messages) == 20


def test_what_is_assumed_is_neither_sent_nor_compared() -> None:
    bare = parse(steps(2))
    known = assuming(bare, {"model": BOUND})
    assert known == bare
    assert compact.formats.request_body(known) == compact.formats.request_body(bare)
    named = assuming(parse(request(steps(2), "claude-fable-5", None)), {"model": BOUND})
    assert compact.formats.request_body(named)["model"] == "claude-fable-5"


def bare(messages: list[Json]) -> list[Json]:
    """The messages as thinking is bound to them: without thinking."""
    return [
        one if isinstance(one["content"], str) else {**one, "content": [b for b in one["content"] if not is_thought(b)]}
        for one in messages
    ]


def is_thought(block: Json) -> bool:
    return isinstance(block, dict) and block["type"] == "thinking"


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("thinking", MODES)
def test_a_manager_sends_each_thought_behind_what_it_was_made_with(thinking: Json, whole: bool, tmp_path: Path) -> None:
    settings = {"model": BOUND, "max_context_tokens": 12_000, "storage": {"path": str(tmp_path)}, "background": False}
    config = CompactConfig.model_validate(settings)
    bound: dict[str, list[Json]] = {}
    shrunk = 0
    with CompactManager(config) as manager:
        for count in range(21):
            given = steps(count)
            out = manager.preflight("a", request(given, BOUND, thinking) if whole else given)
            shrunk += out != given
            for at, message in enumerate(out):
                for block in filter(is_thought, message["content"]):
                    behind = bound[block["signature"]] == bare(out[:at])
                    assert behind or (whole and thinking is DROPS), (count, block)
            bound[f"s{count}"] = bare(out)
    assert shrunk
