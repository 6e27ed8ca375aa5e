"""What the events of a manager say: when, in which session, by whom and how."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Event as Flag
from threading import Timer

from compact.ports import Answer, Ask, Completion, Refusal
from tests.app.test_manager import Bench, answering, calls, make, talk

__all__ = ["make"]


def test_every_event_has_a_time_and_its_session(make: Bench) -> None:
    before = datetime.now(UTC).isoformat(timespec="milliseconds")
    manager = make()
    manager.preflight("one", talk(20))
    sent = manager.prepare("two", talk(2))
    manager.close()
    events = make.watcher.events
    assert {event.session_id for event in events} == {"one", "two"}
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert before <= events[0].at.replace("Z", "+00:00") <= datetime.now(UTC).isoformat()
    assert {event.session_id for event in sent.events} == {"two"}
    lines = (make.folder / "archive" / "one" / "events.jsonl").read_text().splitlines()
    assert [(line["at"], line["session_id"], line["name"]) for line in map(json.loads, lines)] == [
        (event.at, "one", event.name) for event in events if event.session_id == "one"
    ]
    assert all(event.name.startswith("compact.") for event in events)


def test_a_summary_says_who_wrote_it_by_which_strategy_and_how_long_that_took(make: Bench) -> None:
    said = "## Overview\n- Questions 0 to 9 were asked and answered. [0]"
    wrote = answering(Refusal("no"), Completion(said, model="gpt-4o-mini"))

    def slowly(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        Timer(0.05, gate.set).start()
        gate.wait()
        gate.clear()
        return wrote(asks)

    gate = Flag()
    make(ask=slowly, max_asks=9, policy={"provider": "native"}).preflight("s", talk(20))
    event = make.watcher.last("summary_created")
    assert (event.properties["strategy"], event.properties["written_by"]) == ("brief", ["gpt-4o-mini"])
    assert "why_offline" not in event.properties
    whole = make.watcher.last("condensed")
    assert 0.1 <= event.seconds < whole.seconds
    assert whole.properties["custom_handler"] is True

    make(ask=answering(Refusal("no")), policy={"provider": "native", "on_summary_failure": "offline"}).preflight(
        "t", talk(20)
    )
    event = make.watcher.last("summary_created")
    assert event.properties["strategy"] == "native"
    assert event.properties["why_offline"] == make.watcher.last("condensed").properties["why_offline"]
    assert make.watcher.last("condensed").properties["custom_handler"] is False


def test_the_decision_and_what_came_of_it_are_one_truth(make: Bench) -> None:
    task = {"role": "system", "content": "Rules."}
    pinned = {"role": "user", "content": "Never touch src/legacy.", "meta": {"protected": True}}
    make(24_000, policy={"provider": "layers"}).manual_compact("s", [task, *talk(8), pinned, *calls(9), *talk(12, 8)])
    meant, left = (make.watcher.last(name).properties for name in ("trigger_decision", "pruned_messages"))
    assert meant["kept"] == left["kept"] == {"pinned": 2, "recent_turns": 6, "tool_pairs": 4}
    assert meant["pruned_count"] == left["pruned_count"]
    assert left["layers"] == {"pinned": 2, "first": 1, "summary": 1, "recent": 20}
