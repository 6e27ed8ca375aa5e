from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from compact.summaries.model.merging import fit, merge
from compact.summaries.model.statements import Change, Draft, Statement, render
from tests.summaries.drafts import EARLIER, TASK_STATE, arranged, built_in, updates
from tests.summaries.talks import COUNTS, count


@given(st.data())
def test_an_open_statement_stays_until_the_update_says_otherwise(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    earlier = merge((), Draft(data.draw(arranged(strategy))))
    update = data.draw(updates(strategy, earlier))
    merged = merge(earlier, update)
    said = {each.same for each in update.statements} | {change.statement.same for change in update.changes}
    for each in earlier:
        if each.same not in said:
            assert each in merged
        elif each.is_open:
            # Whatever was said, it is still there, in its own words.
            assert any(one.section == each.section and one.text.startswith(each.line) for one in merged)


@given(st.data())
def test_what_is_said_twice_stands_once(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    earlier = data.draw(arranged(strategy))
    update = data.draw(updates(strategy, earlier))
    merged = merge(earlier, update)
    assert len({each.same for each in merged}) == len(merged)
    assert merge(merged, Draft()) == merged
    assert merge(merged, Draft(merged)) == merged


@given(st.data())
def test_what_fits_is_within_the_budget_and_in_its_order(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    statements = data.draw(arranged(strategy, most=20))
    budget = data.draw(st.integers(0, 300))
    counts = data.draw(st.sampled_from(COUNTS))
    fitting = fit(statements, strategy, budget, counts)
    assert counts(render(fitting, strategy)) <= budget
    assert not Counter(fitting) - Counter(statements)
    assert list(fitting) == [each for each in statements if each in fitting]
    if counts(render(statements, strategy)) <= budget:
        assert fitting == statements


@given(st.data())
def test_what_is_open_is_never_left_out_while_it_takes_at_most_half_the_budget(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    statements = data.draw(arranged(strategy, most=20))
    open_ones = [each for each in statements if each.is_open]
    alone = count(render(open_ones, strategy))
    budget = data.draw(st.integers(2 * alone, 2 * alone + 200))
    assert set(open_ones) <= set(fit(statements, strategy, budget, count))


def test_completed_ones_go_first_then_the_oldest_then_demands() -> None:
    statements = (
        Statement("fix the login", "Goals", "completed"),
        Statement("fix the logout", "Goals", "completed"),
        Statement("write the docs", "Goals", "active"),
        Statement("never touch the schema", "Constraints"),
        Statement("the oldest finding", "Findings"),
        Statement("the latest finding", "Findings"),
        Statement("read the log", "Open work", "completed"),
    )
    whole = count(render(statements, TASK_STATE))
    order: list[str] = []
    for budget in range(whole, 0, -1):
        fitting = fit(statements, TASK_STATE, budget, count)
        order += sorted(each.text for each in statements if each not in fitting and each.text not in order)
    # The first request outlives every fact, completed as it is: its status keeps others from beginning again.
    assert order == snapshot(
        [
            "read the log",
            "fix the logout",
            "the oldest finding",
            "the latest finding",
            "never touch the schema",
            "fix the login",
            "write the docs",
        ]
    )


def test_nothing_is_kept_in_place_of_something_more_important() -> None:
    findings = [Statement(f"finding number {number} of several", "Findings") for number in range(10)]
    first, short = Statement("begin", "Goals", "completed"), Statement("x", "Goals", "completed")
    statements = (first, short, *findings)
    whole = count(render(statements, TASK_STATE))
    for budget in range(whole // 2, whole - 10):
        fitting = fit(statements, TASK_STATE, budget, count)
        assert list(fitting) == [first, *findings[11 - len(fitting) :]]


def test_one_statement_that_is_too_long_does_not_keep_the_others_out() -> None:
    port, log = Statement("port 8080", "Findings"), Statement("the log\n```\n" + "line\n" * 500 + "```", "Findings")
    assert fit((port, log), TASK_STATE, 50, count) == (port,)


def test_what_changes_do() -> None:
    goal, port, test, ana = EARLIER
    update = Draft(
        (Statement("The port is 9090", "Findings"),),
        (
            Change(test, "completed", "test_login passes"),
            Change(ana, "active"),
            Change(port, "outdated", "it is 9090"),
            Change(goal, "outdated", "the user gave it up"),
        ),
    )
    assert render(merge(EARLIER, update), TASK_STATE) == snapshot("""\
## Goals
### Completed
- Fix the login ⇒ no longer wanted: the user gave it up
## Findings
- The port is 9090
## Open work
### Active
- Ask Ana — she is away
### Completed
- Write a test ⇒ test_login passes\
""")


def test_a_fact_that_is_called_completed_stays() -> None:
    assert merge(EARLIER, Draft(changes=(Change(EARLIER[1], "completed"),))) == EARLIER


def test_a_statement_said_again_stands_once_with_its_latest_status() -> None:
    again = [Statement("Fix the login" + "." * (number % 2), "Goals", "active") for number in range(5)]
    done = Statement("Fix the login", "Goals", "completed")
    assert merge(EARLIER[:1], Draft((*again, done))) == (done,)


def test_what_is_completed_keeps_its_line_and_loses_its_code() -> None:
    _, _, test, _ = EARLIER
    (done,) = merge((test,), Draft(changes=(Change(test, "completed"),)))
    assert done == Statement("Write a test", "Open work", "completed")


def test_only_the_last_outcome_is_told_before_the_code() -> None:
    _, _, test, _ = EARLIER
    kept: tuple[Statement, ...] = (test,)
    for number in range(20):
        kept = merge(kept, Draft(changes=(Change(kept[0], "blocked", f"waits for round {number}"),)))
    assert kept == (replace(test, text=test.text.replace("a test", "a test ⇒ waits for round 19"), status="blocked"),)
