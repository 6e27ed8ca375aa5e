"""Random records, with texts that look like everything a reader could mistake them for."""

from __future__ import annotations

from hypothesis import strategies as st

from compact.summaries import Change, Item, Record, Strategy, find_strategy, strategies
from compact.summaries.record import STATUSES, arrange

TASK_STATE = find_strategy("task_state")
TRAPS = (
    "- ", "* ", "1. ", "## Goals", "### Active", "#", "[3]", "[3, 7]", "[@0]", "[]", "[k1]", "k1 completed", " — ", "—",
    "Active: ", "[x] ", "[ ] ", "(blocked) ", "none", "None.", "n/a", "```", "~~~", ":", "::", "why: ", "src/a.py",
    "42", " ", "\n", "\t", "\r", "\u2028", "é", "Write the tests", "messages 3", "**", "...", ".", ";", "## Changes",
)  # fmt: skip

PREVIOUS = Record(
    (
        Item("Goals", "Fix the login", ("0",), "active"),
        Item("Findings", "The port is 8080", ("2",)),
        Item("Open work", "Write a test", ("3",), "active", code="assert login()"),
        Item("Open work", "Ask Ana", ("4",), "blocked", "she is away"),
    )
)

built_in = st.sampled_from(strategies())
words = st.lists(st.sampled_from(TRAPS) | st.text(max_size=6), min_size=1, max_size=6).map("".join)
texts = words.filter(lambda text: bool(text.split()))
ids = st.from_regex(r"[0-9]{1,3}|fold-[0-9a-f]{4}|m[0-9]|system", fullmatch=True)
sources = st.lists(st.integers(0, 500) | ids, max_size=9).map(tuple)


@st.composite
def items(draw: st.DrawFn, strategy: Strategy) -> Item:
    section = draw(st.sampled_from(strategy.sections))
    status = draw(st.sampled_from(STATUSES)) if section.standing else None
    note = draw(st.just("") | words) if section.standing else ""
    return Item(section.title, draw(texts), draw(sources), status, note, draw(st.just("") | words))


@st.composite
def records(draw: st.DrawFn, strategy: Strategy, most: int = 8) -> Record:
    """A record as it would be written: its items in order."""
    return arrange(Record(tuple(draw(st.lists(items(strategy), max_size=most)))), strategy)


@st.composite
def updates(draw: st.DrawFn, strategy: Strategy, previous: Record) -> Record:
    """What a summarizer may say next: new items, earlier ones again, changes of earlier ones."""
    new = draw(st.lists(items(strategy), max_size=5))
    again = draw(st.lists(st.sampled_from(previous.items), max_size=3)) if previous.items else []
    changes = []
    if previous.items:
        became = st.sampled_from((*STATUSES, "outdated"))
        changes = draw(
            st.lists(
                st.builds(Change, st.sampled_from(previous.items), became, st.just("") | words, sources), max_size=4
            )
        )
    return Record((*new, *again), tuple(changes))
