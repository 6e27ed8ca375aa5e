from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from compact.summaries.model.merging import merge
from compact.summaries.model.statements import (
    STATUSES,
    Change,
    Draft,
    Statement,
    arrange,
    parse,
    render,
    without_citations,
)
from tests.summaries.drafts import EARLIER, TASK_STATE, arranged, built_in, written


def read(text: str) -> list[Statement]:
    return list(parse(text, TASK_STATE).statements)


@given(st.data())
def test_what_is_written_is_read_back(data: st.DataObject) -> None:
    strategy = data.draw(built_in)
    statements = data.draw(arranged(strategy))
    assert parse(render(statements, strategy), strategy) == Draft(statements)


@given(st.data())
def test_what_one_strategy_writes_another_one_reads(data: st.DataObject) -> None:
    writer, reader = data.draw(built_in), data.draw(built_in)
    statements = data.draw(arranged(writer))
    assert parse(render(statements, writer), reader).statements == statements


@given(written | st.text())
def test_whatever_was_read_stays_the_same(text: str) -> None:
    once = parse(text, TASK_STATE, EARLIER).statements
    assert all(each.text.strip() for each in once)
    assert list(parse(render(once, TASK_STATE), TASK_STATE).statements) == arrange(once, TASK_STATE)


def test_statements_as_they_stand_in_a_conversation() -> None:
    statements = (
        Statement("Deploy — needs the password", "Open work", "blocked"),
        Statement("Fix the login", "Goals", "active"),
        Statement("The cause is line 3\n  ```\n  def ttl():\n      return 30\n  ```", "Findings"),
        Statement("nobody knows", "Findings"),
        Statement("kept under its own heading", "Steps of another strategy"),
        Statement("The login was broken."),
    )
    assert render(statements, TASK_STATE) == snapshot("""\
The login was broken.
## Goals
### Active
- Fix the login
## Findings
- The cause is line 3
  ```
  def ttl():
      return 30
  ```
- nobody knows
## Open work
### Blocked
- Deploy — needs the password
## Steps of another strategy
- kept under its own heading\
""")


SLOPPY = """\
Here is the summary:

```markdown
# 1. GOALS:
**Active**
* Fix the login test [messages 1 and 3-5]
* [x] Find the cause [#4][m6]
**In progress**
1) Deploy it
   to staging
   [7] — waits for Ana

## Constraints
"never touch the schema" [1].

## Findings
- Files read:
  - src/a.py [2]
  - src/b.py (message 3)
- Port 8080 is taken [see below]

  ```python
  listen(8080)
  ```
### src/c.py
- has no tests [9]
## Environment
- Python 3.11 [5]
## Decisions
retry = 3
## Names
None.
## Open work
- BLOCKED: the release [8]
- **Done**: the build [6]
- [ ] tell Ana
```
"""


def test_a_sloppy_answer_is_read_all_the_same() -> None:
    assert read(SLOPPY) == snapshot(
        [
            Statement(text="Fix the login test", section="Goals", status="active"),
            Statement(text="Find the cause", section="Goals", status="completed"),
            Statement(text="Deploy it to staging — waits for Ana", section="Goals", status="active"),
            Statement(text='"never touch the schema".', section="Constraints"),
            Statement(text="Files read: src/a.py", section="Findings"),
            Statement(text="Files read: src/b.py", section="Findings"),
            Statement(
                text="""\
Port 8080 is taken [see below]
  ```python
  listen(8080)
  ```\
""",
                section="Findings",
            ),
            Statement(text="src/c.py: has no tests", section="Findings"),
            Statement(text="Python 3.11", section="Environment"),
            Statement(text="retry = 3", section="Decisions"),
            Statement(text="the release", section="Open work", status="blocked"),
            Statement(text="the build", section="Open work", status="completed"),
            Statement(text="tell Ana", section="Open work", status="active"),
        ]
    )


@pytest.mark.parametrize(
    "answer",
    [
        "## Findings\n- The port is 8080 [3].",
        "## Findings\n- The port is 8080 [3]",
        "## Findings\n- The port is 8080 [3] [4].",
        "## Findings\n- The port is 8080 [@fold-3f9a, @7]",
        "## Findings\n- The port is 8080 (messages 3-5)",
        "## Findings\n- The port is 8080 []",
        "## Findings\n- The port is 8080",
        "## Findings:\n* The port is 8080",
        "**Findings**\n1. The port is 8080",
        "### 3. FINDINGS ##\n• The port is 8080",
    ],
)
def test_no_form_costs_a_statement(answer: str) -> None:
    (found,) = read(answer)
    assert (found.section, found.line.rstrip(".")) == ("Findings", "The port is 8080")


def test_headings_may_come_in_any_order_and_with_any_name() -> None:
    answer = (
        "## Open work\n### Blocked\n- Deploy\n## Risks\n- The disk is full\n## Goals\n- Fix it\n## Open work\n- Test"
    )
    assert [(each.section, each.status, each.text) for each in read(answer)] == [
        ("Open work", "blocked", "Deploy"),
        ("Risks", None, "The disk is full"),
        ("Goals", "active", "Fix it"),
        ("Open work", "active", "Test"),
    ]


def test_free_prose_is_read_line_by_line() -> None:
    prose = "The user wanted a fix, and got it.\n\n1. First the test, [so to say]\n2. Then the code."
    assert [each.text for each in read(prose)] == [line for line in prose.split("\n") if line]
    assert render(read(prose), TASK_STATE) == prose.replace("\n\n", "\n")


def test_headings_with_nothing_below_say_nothing() -> None:
    assert read("Here is the summary:\n\n## Goals\nnone\n## Open work\n- None.\n- n/a\n## Findings\n- —") == []


def test_numbers_in_a_statement_stay() -> None:
    for text in ("see [3] for more", "a[3] = 4", "It took (3) attempts", "[1] Use Decimal :: floats :: a.py :: edited"):
        assert without_citations(text) == text
        assert [each.text for each in read(f"## Decisions\n- {text}")] == [text]


def test_changes_name_earlier_statements_by_their_keys() -> None:
    answer = """\
## Changes
- [k3] completed: test_login passes [14]
- k4 -> active
- **k2**: outdated, it is 9090 [15, 16]
- [k1, k4] blocked: no network
- [k9] completed
- k3 and k9: done
- whatever
- none
"""
    goal, port, test, ana = EARLIER
    assert parse(answer, TASK_STATE, EARLIER) == Draft(
        changes=(
            Change(test, "completed", "test_login passes"),
            Change(ana, "active"),
            Change(port, "outdated", "it is 9090"),
            Change(goal, "blocked", "no network"),
            Change(ana, "blocked", "no network"),
            Change(test, "completed"),
        )
    )


def test_an_earlier_statement_said_again_by_its_key_keeps_its_words() -> None:
    answer = "## Open work\n### Completed\n- [k3] I have written the tests [14]"
    merged = merge(EARLIER, parse(answer, TASK_STATE, EARLIER))
    assert merged == (*EARLIER[:2], EARLIER[3], Statement("Write a test", "Open work", "completed"))


def test_a_ticked_box_before_a_key_completes_the_statement() -> None:
    update = parse("## Open work\n- [x] [k4] Ask Ana [14]\n- [ ] [k2] 8080", TASK_STATE, EARLIER)
    assert update == Draft(changes=(Change(EARLIER[3], "completed"),))


def test_a_name_that_looks_like_a_key_is_none() -> None:
    found = parse("## Findings\n- K2 is a mountain [1]\n- k1: a road", TASK_STATE, EARLIER)
    assert [each.text for each in found.statements] == ["K2 is a mountain", "k1: a road"]


def test_statements_are_arranged_by_section_and_status() -> None:
    given_order = [Statement(status, "Open work", status) for status in reversed(STATUSES)]
    ordered = arrange([*given_order, Statement("a", "Goals", "active"), Statement("b")], TASK_STATE)
    assert [each.text for each in ordered] == ["b", "a", "active", "blocked", "completed"]
