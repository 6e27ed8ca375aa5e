from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from compact.summaries import Change, Item, Record, fit, merge, render_record
from tests.summaries.records import PREVIOUS, TASK_STATE, built_in, records, updates
from tests.summaries.talks import COUNTS, count


@given(st.data())
def test_an_open_item_stays_until_the_update_says_otherwise(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    previous = merge(Record(), data.draw(records(strategy)))
    update = data.draw(updates(strategy, previous))
    merged = merge(previous, update)
    said = {item.same for item in update.items} | {change.item.same for change in update.changes}
    for item in previous.items:
        if item.same not in said:
            assert item in merged.items
        elif item.is_open:
            # Whatever was said, it is still there, in its own words.
            assert [one.text for one in merged.items if one.same == item.same] == [item.text]


@given(st.data())
def test_merging_the_same_update_again_changes_nothing(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    previous = data.draw(records(strategy))
    update = data.draw(updates(strategy, previous))
    merged = merge(previous, update)
    assert merge(merged, update) == merged
    assert len({item.same for item in merged.items}) == len(merged.items)


@given(st.data())
def test_a_record_that_fits_is_within_the_budget_and_what_is_left_out_is_named(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    record = data.draw(records(strategy, most=20))
    budget = data.draw(st.integers(0, 300))
    counts = data.draw(st.sampled_from(COUNTS))
    fitting, left_out = fit(record, strategy, budget, counts)
    assert counts(render_record(fitting, strategy)) <= budget
    assert Counter(fitting.items) + Counter(left_out) == Counter(record.items)


@given(st.data())
def test_open_items_are_never_left_out_while_they_take_at_most_half_the_budget(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    record = data.draw(records(strategy, most=20))
    open_items = [item for item in record.items if item.is_open]
    alone = count(render_record(Record(tuple(open_items)), strategy))
    budget = data.draw(st.integers(2 * alone, 2 * alone + 200))
    fitting, left_out = fit(record, strategy, budget, count)
    assert [item for item in left_out if item.is_open] == []
    assert set(open_items) <= set(fitting.items)


def test_completed_items_go_first_then_the_oldest_then_demands() -> None:
    record = Record(
        (
            Item("Goals", "fix the login", ("0",), "completed"),
            Item("Goals", "fix the logout", ("8",), "completed"),
            Item("Goals", "write the docs", ("9",), "active"),
            Item("Constraints", "never touch the schema", ("0",)),
            Item("Findings", "the oldest finding", ("2",)),
            Item("Findings", "the latest finding", ("12",)),
            Item("Open work", "read the log", ("3",), "completed"),
        )
    )
    whole = count(render_record(record, TASK_STATE))
    order: list[str] = []
    for budget in range(whole, 0, -1):
        _, left_out = fit(record, TASK_STATE, budget, count)
        order += sorted(item.text for item in left_out if item.text not in order)
    # The first request outlives every fact, completed as it is: its status keeps others from beginning again.
    assert order == snapshot(
        [
            "fix the logout",
            "read the log",
            "the oldest finding",
            "the latest finding",
            "never touch the schema",
            "fix the login",
            "write the docs",
        ]
    )


def test_nothing_is_kept_in_place_of_something_more_important() -> None:
    findings = [Item("Findings", f"finding number {number} of several", (str(number),)) for number in range(10)]
    first, short = Item("Goals", "begin", ("0",), "completed"), Item("Goals", "x", ("11",), "completed")
    record = Record((first, short, *findings))
    whole = count(render_record(record, TASK_STATE))
    for budget in range(whole // 2, whole - 10):
        fitting, left_out = fit(record, TASK_STATE, budget, count)
        assert short in left_out
        assert list(fitting.items) == [first, *findings[11 - len(fitting.items) :]]


def test_one_item_that_is_too_long_does_not_keep_the_others_out() -> None:
    quoted = Item("Findings", "the log", ("3",), code="line\n" * 500)
    record = Record((Item("Findings", "port 8080", ("1",)), quoted))
    assert fit(record, TASK_STATE, 50, count) == (Record(record.items[:1]), (quoted,))


def test_what_changes_do() -> None:
    goal, port, test, ana = PREVIOUS.items
    update = Record(
        (Item("Findings", "The port is 9090", ("15",)),),
        (
            Change(test, "completed", "test_login passes", ("14",)),
            Change(ana, "active"),
            Change(port, "outdated", "it is 9090"),
            Change(goal, "outdated", "the user gave it up", ("16",)),
        ),
    )
    assert render_record(merge(PREVIOUS, update), TASK_STATE) == snapshot("""\
## Goals
### Completed
- Fix the login [@0, @16] — the user gave it up
## Findings
- The port is 9090 [@15]
## Open work
### Active
- Ask Ana [@4]
### Completed
- Write a test [@3, @14] — test_login passes\
""")


def test_a_fact_that_is_called_completed_stays() -> None:
    _, port, *_ = PREVIOUS.items
    assert merge(PREVIOUS, Record(changes=(Change(port, "completed"),))) == PREVIOUS


def test_items_said_again_stand_once_with_a_few_sources() -> None:
    record = Record()
    for number in range(30):
        record = merge(record, Record((Item("Findings", "The port is 8080" + "." * (number % 2), (str(number),)),)))
    assert record.items == (Item("Findings", "The port is 8080", ("0", "25", "26", "27", "28", "29")),)
