"""What a condensation tells people and programs, and what it says cannot be condensed."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from compact.engine.floor import Floor
from compact.engine.report import PassReport, Report, percent, share
from compact.ports import CompactionFacts

FIRST = PassReport("Dedup", 1000, 600, 3, 0, None, 0.1, ("2 of 3", "1 left"), "")
SECOND = PassReport("Summary", 600, 600, 0, 1, Decimal("0.1"), 0.2, ("unseen",), "no gain")
LAST = ", 6 of them with what tools answered last"
FACTS = CompactionFacts(id="5f", provider="Smart", tokens_before=1000, tokens_after=600, seconds=1.26)
REPORT = Report(FACTS, (FIRST, SECOND), 600, 50)


def known(**facts: Any) -> Report:
    return replace(REPORT, facts=replace(FACTS, **facts))


def test_a_report_tells_each_pass_and_the_whole() -> None:
    assert str(REPORT) == (
        "Context condensed using Smart strategy:\n"
        " - Dedup: 1,000 → 600 tokens (-40%); 2 of 3; 1 left\n"
        " - Summary: skipped, no gain\n"
        " - Total reduction: 40%\n"
        " - Time: 1.3 seconds"
    )


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (REPORT, []),
        (known(cost=Decimal(0)), []),
        (known(cost=Decimal("0.01236")), [" - Cost: $0.0124"]),
        (known(written_by=("a", "b")), [" - Written by a, b"]),
        (known(written_by=("a",), cost=Decimal("0.5")), [" - Written by a for $0.5000"]),
        (known(written_by=("a",), cost=Decimal(0)), [" - Written by a for $0.0000"]),
        (replace(known(why_offline="no key"), notes=("x", "y")), [" - Written offline: no key", " - x", " - y"]),
    ],
)
def test_a_report_tells_who_wrote_and_what_that_cost(report: Report, told: list[str]) -> None:
    assert str(report).splitlines()[4:-1] == told


def test_what_was_saved_stands_beside_the_total() -> None:
    priced = known(model="gpt-4o")
    assert priced.saved == Decimal("0.001")
    assert str(priced).splitlines()[3] == " - Total reduction: 40% (saved $0.0010)"
    assert known(model="nobody's").saved is REPORT.saved is None
    assert str(known(tokens_after=1000)).splitlines()[3] == " - Total reduction: 0%"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "0.0 milliseconds"), (0.00026, "0.3 milliseconds"), (0.0452, "45.2 milliseconds"), (1.0, "1.0 seconds")],
)
def test_short_times_are_told_in_milliseconds(seconds: float, told: str) -> None:
    assert str(known(seconds=seconds)).splitlines()[-1] == f" - Time: {told}"


@pytest.mark.parametrize(("target", "met"), [(None, True), (601, True), (600, True), (599, False)])
def test_a_target_is_met_where_no_more_is_left(target: int | None, met: bool) -> None:
    report = replace(known(cost=Decimal("0.10"), model="gpt-4o"), target=target)
    assert report.target_met is met
    written = report.to_json()
    assert (written["target"], written["target_met"], written["cost"]) == (target, met, "0.10")
    assert written["passes"][0]["notes"] == ["2 of 3", "1 left"]
    facts = report.facts.to_json()
    assert {**written, "passes": facts["passes"]} == {**written, **facts}
    assert (written["saved"], "facts" in written) == ("0.0010", False)


def test_shares_and_percents() -> None:
    assert FIRST.change == share(1000, 600) == -0.4
    assert share(0, 5) == 0
    assert [percent(0.4), percent(0.4, "+"), percent(-0.4, "+"), percent(0.001, "+"), percent(-0.001)] == [
        *("40%", "+40%", "-40%", "0%", "0%"),
    ]


@pytest.mark.parametrize(
    ("floor", "total", "told"),
    [
        (
            Floor(1000, 500, 2),
            "1,500",
            "1,000 of system prompt and tools, 500 in 2 messages that must stay as they are",
        ),
        (Floor(0, 5, 1), "5", "0 of system prompt and tools, 5 in 1 message that must stay as it is"),
        (Floor(0, 10, 0, 5), "10", "0 of system prompt and tools, 10 in 0 messages that must stay as they are"),
        (
            Floor(1, 10, 3, 6),
            "11",
            f"1 of system prompt and tools, 10 in 3 messages that must stay as they are{LAST}",
        ),
    ],
)
def test_a_floor_tells_what_it_is_made_of(floor: Floor, total: str, told: str) -> None:
    assert str(floor) == f"{total} tokens cannot be condensed: {told}"
