"""Recall: what a manager removed, the model or a person gets back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from compact import CompactConfig, CompactManager
from compact.app.recall_tools import handle_tool_call, recall_tools
from compact.errors import InvalidInput, UnknownFormat
from compact.formats import FORMATS, parse, tools_of, violations
from compact.messages import Json, is_recalled
from compact.providers import presets

LAYERS = {"provider": "layers"}
SHOWN = re.compile(r"compact_recall ((?:fold|sum|cut)-[0-9a-f]+)")
Make: TypeAlias = Callable[..., CompactManager]


def call(number: int, name: str, arguments: dict[str, Json], text: str) -> list[Json]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def source(number: int) -> str:
    return "\n".join(f"def work_{number}_{line}(rows): return rows[{line}:{number}]" for line in range(40))


def reads(start: int, end: int) -> list[Json]:
    found = []
    for number in range(start, end):
        found += call(number, "Read", {"path": f"src/part_{number}.py"}, source(number))
    return found


def work(count: int = 14) -> list[Json]:
    ask = {"role": "user", "content": "Read them all."}
    return [ask, *reads(0, count), {"role": "user", "content": "And now?"}]


def handles(messages: list[Json]) -> list[str]:
    return list(dict.fromkeys(SHOWN.findall(json.dumps(messages, ensure_ascii=False))))


def recalls(messages: list[Json]) -> list[Json]:
    return [message for message in messages if is_recalled(str(message["content"]))]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[CompactManager] = []

    def manager(window: int = 8000, **config: Json) -> CompactManager:
        whole = {"model": "gpt-4o", "max_context_tokens": window, "profile": "offline", "recall": True}
        storage = {"path": str(tmp_path)}
        made.append(CompactManager(CompactConfig.model_validate({**whole, "storage": storage, **config})))
        return made[-1]

    yield manager
    for each in made:
        each.close()


@pytest.mark.parametrize("policy", [{}, *({"preset": preset.name} for preset in presets())], ids=str)
def test_every_marker_names_a_handle_that_leads_back(make: Make, policy: Json) -> None:
    messages = work()
    manager = make(policy=policy)
    sent = manager.preflight("s", messages)
    shown = handles(sent)
    assert shown
    for name in shown:
        recalled = manager.recall(name, "s")
        assert recalled.messages
        assert all(message in messages for message in recalled.messages)
        assert recalled.text
    kept = json.dumps([sent, *(manager.recall(name, "s").messages for name in shown)])
    lost = [message for message in messages if json.dumps(message) not in kept]
    assert lost == [], "what is not sent as it was is behind a handle"


@pytest.mark.parametrize("recipe", ["auto", "layers", "truncation", "native", "smart"])
def test_handles_are_named_only_where_the_request_has_the_tool(make: Make, recipe: str) -> None:
    manager = make(recall=False, policy={"recipe": recipe})
    assert handles(manager.preflight("without", work())) == []
    assert handles(manager.preflight("with", work(), tools=recall_tools("openai-chat"))) != []


def test_recall_and_search_work_after_a_restart(make: Make) -> None:
    messages = work()
    first = make(policy=LAYERS)
    sent = first.preflight("s", messages)
    (name,) = handles(sent)
    hits = first.search("work_2_7 RETURN", "s")
    assert [(hit.handle, hit.tool, hit.path, hit.session) for hit in hits] == [("msg-6", "Read", "src/part_2.py", "s")]
    assert "work_2_7" in hits[0].snippet
    again = make(policy=LAYERS)
    assert again.recall(name, "s") == first.recall(name, "s")
    assert again.recall(name) == first.recall(name, "s"), "of any session"
    assert again.search("work_2_7 RETURN", "s") == hits
    assert [hit.handle for hit in again.search("rEAD ORK_2_7 etur", "s")] == ["msg-6"], "in any case and inside words"
    assert list(again.search("work_2_7 nowhere", "s")) == [], "all the words"
    assert again.recall("msg-6", "s").messages == (messages[6],)
    assert again.preflight("s", messages) == sent


def test_what_was_removed_long_ago_is_behind_the_newest_summary(make: Make) -> None:
    manager = make(policy=LAYERS)
    messages = work()
    manager.preflight("s", messages)
    messages += [*reads(20, 34), {"role": "user", "content": "Go on."}]
    sent = manager.preflight("s", messages)
    summary = handles(sent)[0]
    assert summary.startswith("sum-")
    removed = manager.recall(summary, "s").messages
    assert messages[2] in removed
    assert messages[40] in removed
    assert all(message in sent or message in removed for message in messages)


def test_an_unknown_handle_is_told_with_near_ones(make: Make) -> None:
    manager = make(policy=LAYERS)
    with pytest.raises(InvalidInput, match="Nothing was removed so far"):
        manager.recall("cut-00000000")
    (name,) = handles(manager.preflight("s", work()))
    with pytest.raises(InvalidInput, match=f"Did you mean one of these: .*{name}"):
        manager.recall(f"{name[:-1]}x", "s")
    with pytest.raises(InvalidInput, match="Nothing was removed"):
        manager.recall(name, "another-session")


def test_a_position_is_ambiguous_without_a_session(make: Make) -> None:
    manager = make()
    manager.preflight("a", work())
    manager.preflight("b", work())
    assert {hit.session for hit in manager.search("work_1_1")} == {"a", "b"}
    with pytest.raises(InvalidInput, match="Name one of these: a, b"):
        manager.recall("msg-2")


def test_what_is_undone_is_no_longer_removed(make: Make) -> None:
    manager = make(policy=LAYERS)
    (name,) = handles(manager.preflight("s", work()))
    manager.undo("s")
    assert manager.search("work_1_1", "s") == []
    with pytest.raises(InvalidInput):
        manager.recall(name, "s")


def test_without_originals_it_works_as_long_as_the_manager_lives(make: Make) -> None:
    manager = make(originals="none", allow_loss=True, policy=LAYERS)
    (name,) = handles(manager.preflight("s", work()))
    assert manager.recall(name).messages
    with pytest.raises(InvalidInput):
        make(originals="none", allow_loss=True, policy=LAYERS).recall(name, "s")


@pytest.mark.parametrize("policy", [{}, {"preset": "v2"}], ids=str)
def test_redacted_originals_are_found_by_the_same_handles(make: Make, policy: Json) -> None:
    messages = work()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    messages[2] = {**messages[2], "content": f"token = {token}\n{messages[2]['content']}"}
    first = make(originals="redact", policy=policy)
    sent = first.preflight("s", messages)
    again = make(originals="redact", policy=policy)
    texts = [again.recall(name, "s").text for name in handles(sent)]
    assert any("work_0_5" in text for text in texts)
    assert not any(token in text for text in texts)
    assert any(token in first.recall(name, "s").text for name in handles(sent)), "memory has it as it was"


def test_a_model_looks_up_what_was_removed(make: Make) -> None:
    manager = make(policy=LAYERS)
    sent = manager.preflight("s", work())
    found = handle_tool_call(manager, "s", "compact_search", '{"text": "work_3_9"}')
    assert found.startswith("msg-8 (tool Read src/part_3.py): …")
    (name,) = handles(sent)
    page = handle_tool_call(manager, "s", "compact_recall", {"handle": name})
    assert is_recalled(page)
    assert len(page) < 2000, "a twentieth of the window"
    start = re.search(r"start=(\d+)", page)
    assert start
    more = handle_tool_call(manager, "s", "compact_recall", {"handle": name, "start": int(start[1])})
    assert is_recalled(more)
    assert more != page
    assert "Nothing that was removed contains" in handle_tool_call(manager, "other", "compact_search", {"text": "work"})


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("compact_recall", {"handle": "sum-12345678"}, "Did you mean one of these: "),
        ("compact_recall", {}, "handle: is missing"),
        ("compact_recall", {"handle": "x", "start": "2"}, "start: must be of type integer"),
        ("compact_search", {"text": ""}, "text: must hold a word"),
        ("compact_search", "{", "arguments: must be a JSON object"),
        ("compact_search", "[]", "arguments: must be a JSON object"),
        ("compact_search", {"text": ["a"]}, "text: must be of type string"),
    ],
)
def test_mistakes_of_a_model_are_told_to_it(make: Make, name: str, arguments: Json, told: str) -> None:
    manager = make()
    manager.preflight("s", work())
    answer = handle_tool_call(manager, "s", name, arguments)
    assert answer.startswith("Error: ")
    assert told in answer


def test_a_tool_of_somebody_else_is_not_answered(make: Make) -> None:
    with pytest.raises(InvalidInput, match="none of compact_recall, compact_search"):
        handle_tool_call(make(), "s", "bash", {})


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_definitions_are_valid_in_every_format(format: str) -> None:
    tools = recall_tools(format)
    contents = {"google-gemini": [{"role": "user", "parts": [{"text": "hi"}]}]}
    messages = contents.get(format, [{"role": "user", "content": "hi"}])
    conversation = parse(messages, format=format, tools=tools)
    assert violations(conversation) == []
    assert [tool.name for tool in tools_of(conversation)] == ["compact_recall", "compact_search"]


def test_no_definitions_for_an_unknown_format() -> None:
    with pytest.raises(UnknownFormat, match="openai-chat"):
        recall_tools("morse")


@pytest.mark.parametrize("policy", [{}, {"preset": "v1"}, {"preset": "v2"}, {"preset": "speed"}], ids=str)
def test_what_was_recalled_is_not_condensed_at_once(make: Make, policy: Json) -> None:
    manager = make(policy=policy)
    held = manager.preflight("s", work())
    name = handles(held)[0]
    page = handle_tool_call(manager, "s", "compact_recall", {"handle": name})
    held += [*call(100, "compact_recall", {"handle": name}, page), *reads(40, 46), {"role": "user", "content": "Well?"}]
    before = manager.report("s")
    sent = manager.manual_compact("s", held)
    assert manager.report("s") is not before
    assert recalls(sent) == recalls(held)
    assert make(policy=policy).preflight("s", sent) == sent, "the same bytes after a restart"
    for start in (50, 70):  # what stands at the front may stay once, for the vendor's cache
        later = [*sent, *reads(start, start + 12), {"role": "user", "content": "Done?"}]
        sent = manager.manual_compact("s", later)
    assert recalls(sent) == [], "by now it is old"


def test_four_pages_stay_until_the_model_has_spoken_eight_times_also_after_a_restart(make: Make) -> None:
    manager = make(16_000)
    held = manager.preflight("s", work(60))
    for number, name in enumerate([hit.handle for hit in manager.search("return rows", "s")][:6]):
        page = handle_tool_call(manager, "s", "compact_recall", {"handle": name})
        held += call(100 + number, "compact_recall", {"handle": name}, page)
    pages = recalls(held)[-4:]
    soon = [*held, *reads(70, 74), {"role": "user", "content": "Well?"}]  # three other pages, then four answers
    assert [page for page in recalls(make(16_000).manual_compact("s", soon)) if page in pages] == pages
    late = [*held, *reads(70, 100), {"role": "user", "content": "Well?"}]
    assert [page for page in recalls(make(16_000).manual_compact("s", late)) if page in pages] != pages


def test_recalls_alone_never_exhaust_the_budget(make: Make) -> None:
    manager = make(4000)
    held = manager.preflight("s", work())
    name = handles(held)[0]
    for number in range(40):
        page = handle_tool_call(manager, "s", "compact_recall", {"handle": name, "start": number * 500})
        held += [*call(200 + number, "compact_recall", {"handle": name}, page)]
        held = manager.preflight("s", held)
    assert recalls(held)
