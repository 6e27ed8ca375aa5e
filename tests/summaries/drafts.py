"""Random statements, and texts that look like everything a reader could mistake them for."""

from __future__ import annotations

from hypothesis import strategies as st

from compact.summaries.model.statements import STATUSES, Change, Draft, Statement, arrange
from compact.summaries.model.strategy import Strategy, find_strategy, strategies

TASK_STATE = find_strategy("task_state")
TRAPS = (
    "- ", "* ", "1. ", "## Goals\n", "### Active\n", "#", " [3]", "[3, 7]", "[@0]", "[]", "[k1] ", "k1 completed",
    " — ", "Active: ", "[x] ", "[ ] ", "(blocked) ", "none", "None.", "n/a", "```", "~~~\n", ":", "::", "why: ",
    "src/a.py", "42", " ", "\n", "\t", "\r", "\u2028", "é", "Write the tests",
    " (messages 3)", "**", "...", ".", ";", "\n\n",
    "## Changes\n", "## Risks\n", " (unconfirmed: x)", "  - ", "x",
)  # fmt: skip
WORDS = (
    "the",
    "login",
    "fails",
    "(see 3)",
    "src/a.py",
    "→",
    "is: 42",
    "«so»",
    "测试",
    "k1",
    "- no",
    "50%",
    "`x = 1`",
    "[a]",
)

EARLIER = (
    Statement("Fix the login", "Goals", "active"),
    Statement("The port is 8080", "Findings"),
    Statement("Write a test\n  ```\n  assert login()\n  ```", "Open work", "active"),
    Statement("Ask Ana — she is away", "Open work", "blocked"),
)

built_in = st.sampled_from(strategies())
written = st.lists(st.sampled_from(TRAPS) | st.text(max_size=6), max_size=20).map("".join)
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(lambda found: f"So {' '.join(found)} it is")
quoted = st.sampled_from(("", "\n  ```\n  a = 1\n\n    - b\n  ```", "\n~~~\n## Goals\n~~~"))


@st.composite
def statements(draw: st.DrawFn, strategy: Strategy) -> Statement:
    section = draw(st.sampled_from(strategy.sections))
    status = draw(st.sampled_from(STATUSES)) if section.standing else None
    return Statement(draw(lines) + draw(quoted), section.title, status)


@st.composite
def arranged(draw: st.DrawFn, strategy: Strategy, most: int = 8) -> tuple[Statement, ...]:
    """Statements as they would be written: in order, each once, some under a heading of the model's own or none."""
    some = draw(st.lists(statements(strategy), max_size=most))
    some += [Statement(text, title) for title in ("", "Risks") for text in draw(st.lists(lines, max_size=2))]
    return tuple(arrange({each.same: each for each in some}.values(), strategy))


@st.composite
def updates(draw: st.DrawFn, strategy: Strategy, earlier: tuple[Statement, ...]) -> Draft:
    """What a model may say next: new statements, earlier ones again, changes of earlier ones."""
    new = draw(st.lists(statements(strategy), max_size=5))
    if not earlier:
        return Draft(tuple(new))
    one = st.sampled_from(earlier)
    change = st.builds(Change, one, st.sampled_from((*STATUSES, "outdated")), st.just("") | lines)
    return Draft((*new, *draw(st.lists(one, max_size=3))), tuple(draw(st.lists(change, max_size=4))))
