"""What the events of a manager say: when, in which session, by whom and how."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Event as Flag
from threading import Timer

from compact.originals import FileOriginals
from compact.ports import Answer, Ask, Completion, Refusal
from tests.app.test_manager import Bench, answering, calls, make, talk, tokens

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
    assert whole.properties["written_by"] == ["gpt-4o-mini"]

    make(ask=answering(Refusal("no")), policy={"provider": "native", "on_summary_failure": "offline"}).preflight(
        "t", talk(20)
    )
    event = make.watcher.last("summary_created")
    assert event.properties["strategy"] == "native"
    assert event.properties["why_offline"] == make.watcher.last("condensed").properties["why_offline"]
    assert make.watcher.last("condensed").properties["written_by"] == []


def test_what_stays_and_goes_is_told_once_it_is_known(make: Bench) -> None:
    task = {"role": "system", "content": "Rules."}
    pinned = {"role": "user", "content": "Never touch src/legacy.", "meta": {"protected": True}}
    given = [task, *talk(8), pinned, *calls(9), *talk(12, 8)]
    manager = make(24_000, policy={"provider": "layers"})
    sent = manager.manual_compact("s", given)
    meant, left = (make.watcher.last(name).properties for name in ("trigger_decision", "pruned_messages"))
    assert meant["policy"].items() >= {"keep_recent_turns": 6, "keep_tool_io_pairs": 4}.items()
    assert meant.keys().isdisjoint(("kept", "pruned_count"))
    assert left["kept"] == {"pinned": 2, "recent_turns": 6, "tool_pairs": 4}
    assert left["layers"] == {"pinned": 2, "first": 1, "summary": 1, "recent": 20}
    assert left["pruned_count"] == len(given) - len(sent) + 1
    assert left["undo"] == "undo('s', 1)"
    condensed = make.watcher.last("condensed")
    report = manager.report("s")
    assert report is not None
    assert condensed.properties == report.facts.to_json()
    assert condensed.properties["removed"] == left["pruned_count"]
    assert condensed.seconds == condensed.properties["seconds"] > 0
    restored = [{name: value for name, value in one.items() if name != "meta"} for one in manager.undo("s", 1)]
    assert restored == [{name: value for name, value in one.items() if name != "meta"} for one in given]


def test_a_compaction_that_is_near_is_told_with_what_is_left(make: Bench) -> None:
    messages = talk(20)
    size = tokens(messages)
    manager = make(int(size / 0.8), policy={"trigger_pct": 0.85, "hard_cap_buffer": 0})
    done = manager.prepare("s", messages)
    near = make.watcher.last("near").properties
    assert (done.left, done.compaction) == (near["left"], 0)
    assert near == {"t_est": size, "trigger_at": size + near["left"], "left": near["left"]}
    assert 0 < near["left"] < 0.1 * near["trigger_at"]
    compacted = manager.compact_now("s", messages)
    assert (compacted.left, compacted.compaction) == (None, 1)
    assert len(make.watcher.named("near")) == 1
    far = make(4 * size).prepare("t", messages)
    assert far.left is None


def test_the_record_is_kept_with_the_compaction_and_stays_when_it_is_built_on(make: Bench) -> None:
    manager = make(8000)
    first = manager.compact_now("s", talk(20))
    second = manager.compact_now("s", [*first.messages, *talk(20, 20)])
    manager.close()
    kept = FileOriginals(make.folder / "originals").records("s")
    assert first.report is not None
    assert second.report is not None
    assert [record.facts for record in kept] == [first.report.facts, second.report.facts]
    assert [record.at for record in kept] == [first.report.facts.ended_at, second.report.facts.ended_at]
    again = make(8000)
    again.undo("s", 2)
    (left,) = FileOriginals(make.folder / "originals").records("s")
    assert left.facts == first.report.facts
