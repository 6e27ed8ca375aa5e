"""The exchange with adapters and what is made of their answers, with our own adapters alone: no peer is installed."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from bench.peers.adapters import baselines
from bench.peers.adapters import compact as ours
from bench.peers.catalogue import PACKAGES, WAYS, chosen
from bench.peers.environments import Adapter, versions
from bench.peers.measuring import Cut, judge
from bench.peers.relations import missing_relations, used_together
from bench.peers.report import document
from bench.peers.serving import Left, Prepared, Scribe, Task, Tokens, Way, answer, mildest, serve
from bench.peers.standing import bills, standings
from compact import formats
from compact.app.counting import count
from compact.facts import facts_of
from compact.lab.retention import KINDS
from compact.messages import Message

STEPS = 12
BY_KEY = {way.key: way for way in WAYS}


def step(number: int) -> list[dict[str, Any]]:
    arguments = json.dumps({"path": f"src/part_{number}.py"})
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "read", "arguments": arguments}}
    lines = "\n".join(f"{line}: value_{number}_{line} = compute({line})" for line in range(40))
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": lines},
    ]


MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You mend programs."},
    {"role": "user", "content": "Why does src/part_3.py fail?"},
    *(message for number in range(STEPS) for message in step(number)),
]
BEFORE = formats.parse(MESSAGES, format="openai-chat")
TOKENS = count(BEFORE).total
NEEDED = frozenset(fact for fact in facts_of(BEFORE.messages) if fact.text == "src/part_3.py")


def cut() -> Cut:
    return Cut("tiny", BEFORE, TOKENS, 0, NEEDED, frozenset())


def ask(way: Way, share: float) -> dict[str, Any]:
    return answer(way, {"messages": MESSAGES, "budget": int(TOKENS * share)})


def test_tokens_are_counted_as_the_product_counts_them() -> None:
    assert Tokens().messages(MESSAGES) == TOKENS


@pytest.mark.parametrize("name", ["last", "first-last", "cut-alike", "mask-fit"])
def test_baselines_meet_the_budget_with_valid_messages(name: str) -> None:
    found = judge(cut(), int(TOKENS * 0.5), ask(baselines.WAYS[name], 0.5))
    assert found["met"]
    assert found["valid"]


@pytest.mark.parametrize("name", ["auto", "v2", "balanced", "summary"])
def test_what_compact_takes_out_is_recoverable(name: str) -> None:
    found = judge(cut(), int(TOKENS * 0.5), ask(ours.WAYS[name], 0.5))
    assert found["valid"]
    assert found["after"] < TOKENS
    assert found["lost"] == 0


def test_a_fact_is_lost_where_nothing_says_it_and_nobody_keeps_it() -> None:
    left = [MESSAGES[0], {"role": "user", "content": "Go on."}]
    gone = {"messages": left, "recoverable": [], "seconds": 0.1, "peak": 1, "asked": []}
    assert (judge(cut(), 100, gone)["missing"], judge(cut(), 100, gone)["lost"]) == (1, 1)
    kept = {**gone, "recoverable": ["in src/part_3.py"]}
    assert (judge(cut(), 100, kept)["missing"], judge(cut(), 100, kept)["lost"]) == (1, 0)


def test_a_relation_is_a_name_with_its_value_or_file_on_one_line_before_and_after() -> None:
    def said(role: str, *texts: str) -> Sequence[Message]:
        return formats.parse([{"role": role, "content": text} for text in texts], format="openai-chat").messages

    seen = said("user", "max_retries is 4711 in src/net/client.py", "poll_seconds = 815\ncache_bytes = 2345")
    later = said("assistant", "max_retries: 4711", "set poll_seconds\nto 815", "cache_bytes 2345 in src/net/client.py")
    needed = {fact for fact in facts_of(seen) if fact.kind in KINDS}
    related = used_together(seen, later, needed)
    assert {(name.text, value.text) for name, value in related} == {("max_retries", "4711"), ("cache_bytes", "2345")}
    assert missing_relations(related, "max_retries = 4,711; cache_bytes: 2345") == set()
    ((name, _),) = missing_relations(related, "max_retries = 4711\ncache_bytes\n2345")
    assert name.text == "cache_bytes"
    assert len(missing_relations(related, f"max_retries {'and more ' * 50} 4711; cache_bytes 2345")) == 1


def test_an_orphan_is_not_valid() -> None:
    orphan = {"messages": [MESSAGES[1], MESSAGES[3]], "recoverable": [], "seconds": 0.1, "peak": 1, "asked": []}
    assert not judge(cut(), TOKENS, orphan)["valid"]


def test_an_error_of_a_peer_is_its_result() -> None:
    def fail(task: Task) -> Prepared:
        raise ValueError(f"cannot do {task.budget}")

    found = ask(fail, 0.5)
    assert found["error"].startswith("ValueError: cannot do")
    assert not judge(cut(), 100, found)["valid"]


def test_only_the_run_is_timed_and_the_stand_in_is_not() -> None:
    def slow(task: Task) -> Prepared:
        def run() -> list[dict[str, Any]]:
            task.scribe.summarize("\n".join(f"line {number} of file_{number}.py" for number in range(3_000)))
            return task.messages

        return Prepared(run, Left)

    found = ask(slow, 0.5)
    ((given, written),) = found["asked"]
    assert 0 < written <= 1_000 < given
    assert found["seconds"] < 0.05


def test_the_stand_in_says_the_same_of_the_same_within_its_size() -> None:
    text = "\n".join(f"{name}.py imports {name}_{number}" for number in range(50) for name in ("alpha", "beta"))
    first, second = (Scribe(Tokens(), 60).summarize(text) for _ in range(2))
    assert first == second
    assert "alpha" in first
    assert "beta" in first
    assert Tokens().text(first) <= 60


def test_answers_go_out_as_lines(capsys: pytest.CaptureFixture[str]) -> None:
    serve(baselines.WAYS, ["last"], io.StringIO(json.dumps({"messages": MESSAGES, "budget": TOKENS}) + "\n"))
    ready, answered = map(json.loads, capsys.readouterr().out.splitlines())
    assert "last" in ready["ready"]
    assert answered["messages"] == MESSAGES


def test_an_adapter_is_a_process_of_its_own() -> None:
    with Adapter(BY_KEY["baselines/last"]) as adapter:
        assert adapter.ask(MESSAGES, TOKENS)["messages"] == MESSAGES
        assert len(adapter.ask(MESSAGES, TOKENS // 2)["messages"]) < len(MESSAGES)


def test_every_peer_is_locked() -> None:
    assert set(PACKAGES) == {way.adapter for way in WAYS} - {"compact", "baselines"}
    assert "?" not in versions(list(PACKAGES)).values()
    assert {way.adapter for way in chosen("haystack, langchain")} == {"haystack", "langchain"}
    assert [way.key for way in chosen("langchain/trim")] == ["langchain/trim"]


def row(way: str, *, missing: int, **more: Any) -> dict[str, Any]:
    usual = {"before": 1_000, "after": 250, "met": True, "valid": True, "lost": 0, "seconds": 0.001, "peak": 10**8}
    wanted = {"needed": 10, "missing": missing, "related": 10, "parted": missing}
    return {"way": way, "session": "tiny", "share": 0.25, **wanted, **usual, **more}


def bill(way: str, dollars: float) -> dict[str, Any]:
    counted = {"summaries": 0.0, "compactions": 2, "refused": 0, "requests": 9, "hits": 0.9}
    return {"way": way, "session": "tiny", "model": "gpt-4o", "dollars": dollars, **counted}


def written(*rows: Mapping[str, Any], replays: tuple[dict[str, Any], ...] = (), runs: int = 1) -> str:
    about = {"command": "", "date": "", "python": "", "machine": "", "versions": {}, "notes": [], "transcripts": True}
    more = {"seconds": 60, "runs": runs, "long": [["tiny", 100_001]], "held_out": ["tiny"]}
    return document({"about": {**about, **more}, "rows": list(rows), "replays": list(replays)})


def test_the_document_says_where_compact_loses() -> None:
    won = written(row("compact/v2", missing=1), row("baselines/last", missing=2, lost=2))
    assert "**Holds.** At 25% of the tokens, held out, Compact v2 misses 10.0%" in won
    lost = written(row("compact/v2", missing=2), row("baselines/last", missing=2, lost=2))
    assert "**Does not hold.** At 25% of the tokens, held out, Compact v2 misses 20.0%" in lost


def test_the_document_says_that_times_are_of_several_runs() -> None:
    assert "These are" not in written(row("compact/v2", missing=1))
    assert "These are 3 runs" in written(row("compact/v2", missing=1), runs=3)


def test_facts_are_judged_on_sessions_held_out() -> None:
    fitted = row("compact/v2", missing=0, session="fitted")
    found = written(fitted, row("compact/v2", missing=4), row("baselines/last", missing=5))
    assert "held out, Compact v2 misses 40.0%" in found


def test_the_mildest_setting_that_fits_is_taken_and_not_charged() -> None:
    def attempt(count: int) -> Prepared:
        def run() -> list[dict[str, Any]]:
            task.scribe.summarize("alpha beta gamma")
            return MESSAGES[:count]

        return Prepared(run, Left)

    tokens = Tokens()
    task = Task(MESSAGES, tokens.messages(MESSAGES[:6]), tokens, Scribe(tokens, 60))
    found = mildest(task, [partial(attempt, count) for count in (8, 6, 4)])
    assert task.scribe.asked == []
    assert found.run() == MESSAGES[:6]


def test_a_budget_that_compact_misses_is_told() -> None:
    found = written(row("compact/v2", missing=1, met=False), row("baselines/last", missing=9))
    assert "**Does not hold.** At 25% of the tokens, held out, no way of Compact meets the budget" in found


def test_a_way_above_its_budget_is_not_compared() -> None:
    found = written(row("compact/v2", missing=1), row("headroom/compress", missing=0, met=False))
    assert "At 25% of the tokens," not in found
    assert found.index("Above the budget") < found.index("| headroom compress")


def test_sums_are_over_all_facts_and_tokens() -> None:
    found = standings([row("compact/v2", missing=5), row("compact/v2", missing=0, needed=30, before=3_000, after=250)])
    assert (found[0].missing, found[0].removed) == (5 / 40, 1 - 500 / 4_000)


def test_dollars_are_compared_with_what_is_kept() -> None:
    rows = [row("compact/v2", missing=1, share=0.5), row("baselines/last", missing=2, share=0.5)]
    costs = (bill("compact/v2", 2.0), bill("baselines/last", 1.0))
    assert "For 0 of 1 others" in written(*rows, replays=costs)
    assert "For 1 of 1 others" in written(*rows, replays=(bill("compact/v2", 1.0), costs[1]))
    assert bills(costs)[0].requests == 9
