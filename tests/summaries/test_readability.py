"""What a person would find odd or useless in an offline summary, and does not find there."""

from __future__ import annotations

from compact.summaries import summarize_offline
from tests.summaries.talks import Wire, assistant, chat, count, ran, section, user


def summary(*messages: Wire, budget: int = 600) -> str:
    return summarize_offline(chat(*messages), budget=budget, count=count)


def test_words_that_only_move_things_on_are_not_directives() -> None:
    told = summary(
        user("/mode"),
        user("Rename the table in schema.sql, please."),
        *ran("bash", {"command": "make rename"}, "ok"),
        user("ok, continue"),
        assistant("The table is renamed."),
        user("Go on."),
        assistant("All of it is done, the views as well."),
        user("Now drop the old one."),
    )
    asked = section(told, "Task and directives")
    assert [line.split('"')[1] for line in asked] == [
        "Rename the table in schema.sql, please.",
        "Now drop the old one.",
    ]


def test_a_directive_stands_there_once_shortened_or_whole() -> None:
    wishes = [
        f"Please make the view number {at} show the totals of the month before, too, in bold." for at in range(12)
    ]
    for budget in range(120, 700, 20):
        asked = section(summary(*map(user, wishes), budget=budget), "Task and directives")
        assert len({line.split(" show")[0] for line in asked}) == len(asked)


def test_a_step_of_long_ago_does_not_pass_for_one_of_the_last() -> None:
    long = [
        step for at in range(6) for step in ran("lookup", {"query": f"{at} " * 60}, f"found {at} " * 40, id=f"c{at}")
    ]
    told = summary(user("Look everything up."), assistant("How can I help you today, then?"), *long, budget=200)
    assert not any("How can I help" in line for line in section(told, "Last steps"))


def test_an_edit_is_told_by_what_it_adds() -> None:
    lines = ("*** Begin Patch", "*** Update File: a.ts", "@@", " const old = 1;", "-const limit = 5;")
    patch = "\n".join((*lines, "+const limit = 50;", "*** End Patch"))
    told = summary(
        user("Raise the limit."),
        *ran("apply_patch", {"patch": patch}, "done", id="a"),
        *ran("write_file", {"path": "b.py", "content": "import sys\n\ndef raise_limit():\n    pass\n"}, "ok", id="b"),
    )
    steps = "\n".join(section(told, "Last steps"))
    assert '"const limit = 50;"' in steps
    assert '"def raise_limit():"' in steps


def test_numbers_without_a_name_are_left_out() -> None:
    told = summary(
        user("What does it say?"),
        *ran("fetch", {"url": "https://example.com/a"}, "there were 42 of them, port: 8080, in order 20230517"),
        assistant("It says a lot."),
    )
    facts = " ".join(section(told, "Key facts"))
    assert "port=8080" in facts
    assert "20230517" in facts
    assert "42" not in facts


def test_quotes_are_not_quoted_again_and_tags_not_left_in_halves() -> None:
    told = summary(
        user('"can you please review it?" is what I asked.'),
        *ran("edit_file", {"path": "a.py", "old": "x", "new": "y"}, f"Error: {'not found ' * 22}</tool_use_error>"),
    )
    assert '""' not in told
    assert "</tool" not in told
