"""What an application writes under `meta` is never lost, and never sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.formats import convert, render
from compact.messages import Json, meta_of
from compact.policies import StorageSettings
from compact.ports import Event
from tests.app.test_manager import talk

PINNED: Json = {"role": "user", "content": "Never touch src/legacy.", "meta": {"protected": True, "source": "crm-17"}}
BARE: Json = {"role": "user", "content": "Never touch src/legacy."}
NOTED: Json = {"role": "assistant", "content": "Understood."}


def manager(folder: Path, window: int = 6_000, **more: Any) -> CompactManager:
    observe = more.pop("observe", None)
    config = CompactConfig(model="gpt-4o", max_context_tokens=window, storage=StorageSettings(path=str(folder)), **more)
    return CompactManager(config, observe=observe)


def loop(folder: Path, turns: list[Json], **more: Any) -> list[Json]:
    """A loop that keeps only what preflight gives back, as JSON, and is started anew for every turn."""
    held = "[]"
    for turn in turns:
        with manager(folder, **more) as fresh:
            held = json.dumps(fresh.preflight("s", [*json.loads(held), turn]))
    kept: list[Json] = json.loads(held)
    return kept


def test_restore_gives_meta_back() -> None:
    messages = [PINNED, *talk(8)]
    result = compact.condense(messages, target=0.3)
    assert result.plan
    assert compact.restore(result) == messages
    assert BARE in result.messages
    assert result.conversation.messages[0].protected


def test_undo_gives_meta_back(tmp_path: Path) -> None:
    messages = [*talk(3), PINNED, NOTED, *talk(20, 3)]
    with manager(tmp_path) as first:
        assert first.preflight("s", messages) != messages
        assert first.undo("s") == messages
    with manager(tmp_path) as second:
        second.manual_compact("s", messages)
    with manager(tmp_path) as third:
        assert third.undo("s") == messages  # after a restart, too


def test_what_undo_gave_back_is_recognised(tmp_path: Path) -> None:
    messages = [*talk(3), PINNED, NOTED, *talk(3, 3)]
    with manager(tmp_path, 128_000) as one:
        compacted = one.manual_compact("s", messages)
        assert one.preflight("s", compacted) == compacted
        assert one.preflight("s", messages) == compacted
        bare = [BARE if message is PINNED else message for message in messages]
        assert one.preflight("s", bare) == compacted
        assert one.undo("s") == messages
        assert one.preflight("s", messages) == bare


@pytest.mark.parametrize("originals", ["keep", "redact"])
def test_protection_holds_in_a_loop_that_is_started_anew_every_turn(originals: str, tmp_path: Path) -> None:
    held = loop(tmp_path, [*talk(3), PINNED, NOTED, *talk(24, 3)], originals=originals)
    assert held.count(BARE) == 1
    assert not any("meta" in message for message in held)
    assert len(held) < 50  # it was compacted


def test_protection_that_was_lifted_is_lifted_after_a_restart(tmp_path: Path) -> None:
    lifted = {**BARE, "meta": {"protected": False}}
    for last in (lifted, PINNED):
        for given in (PINNED, lifted, last):
            with manager(tmp_path, 128_000) as one:
                one.preflight("s", [*talk(1), given])
        with manager(tmp_path) as again:
            sent = again.preflight("s", [*talk(1), BARE, NOTED, *talk(30, 1)])
        assert (BARE in sent) is (last is PINNED)


def test_protection_by_another_process_is_seen_before_anything_is_pruned(tmp_path: Path) -> None:
    messages = [*talk(3), PINNED, NOTED]
    bare = [*talk(3), BARE, NOTED]
    with manager(tmp_path) as one, manager(tmp_path) as other:
        one.preflight("s", messages[:2])
        other.preflight("s", messages)
        assert BARE in one.preflight("s", [*bare, *talk(30, 3)])


def test_keys_in_another_order_are_the_same_message(tmp_path: Path) -> None:
    with manager(tmp_path) as one:
        one.preflight("s", [*talk(3), PINNED])
    turned = dict(reversed(BARE.items()))
    with manager(tmp_path) as again:
        assert BARE in again.preflight("s", [*talk(3), turned, NOTED, *talk(30, 3)])


def test_what_cannot_be_kept_is_reported_and_tried_again(tmp_path: Path) -> None:
    seen: list[Event] = []
    unwritable: Json = {**BARE, "meta": {"protected": True, "by": {1, 2}}}
    with manager(tmp_path, observe=seen.append) as one:
        for _ in range(2):
            assert one.preflight("s", [*talk(1), unwritable]) == [*talk(1), BARE]
    errors = [event.properties for event in seen if event.name == "compact.error"]
    assert [error["error_type"] for error in errors] == ["InvalidInput"] * 2
    assert errors[0]["fallback"] == "what is protected is known until a restart"


@pytest.mark.parametrize("to", ["anthropic-messages", "google-gemini", "openai-responses"])
def test_conversion_keeps_meta(to: str) -> None:
    there = convert([*talk(1), PINNED, NOTED], to)
    assert [meta_of(message.wire) for message in there.messages] == [None, None, PINNED["meta"], None]
    assert not any("meta" in wire for wire in render(there))
    back = convert(there, "openai-chat")
    assert [message.wire for message in back.messages] == [*talk(1), PINNED, NOTED]


def test_one_of_several_results_in_a_message_lends_it_its_meta() -> None:
    items: list[Json] = [
        {"role": "user", "content": "go"},
        *({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in "ab"),
        {"type": "function_call_output", "call_id": "a", "output": "x", "meta": {"protected": True, "of": "a"}},
        {"type": "function_call_output", "call_id": "b", "output": "y", "meta": {"protected": False, "to": "b"}},
    ]
    there = convert(items, "anthropic-messages")
    assert meta_of(there.messages[-1].wire) == {"protected": True, "of": "a", "to": "b"}
