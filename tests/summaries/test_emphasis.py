"""What a strategy tells first where no model writes the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import pytest

import compact
from compact.formats import parse
from compact.history.reading import read
from compact.history.speech import share_of_reasons
from compact.messages import Message, exchanges
from compact.providers.auto import AutoSettings
from compact.providers.auto.composition import Composition
from compact.summaries.accounts import is_framing
from compact.summaries.model.strategy import NAMES, custom_strategy, find_strategy
from compact.summaries.offline.emphasis import EVEN, Emphasis, emphasis_of
from compact.summaries.offline.lines import LONG, SHORT, tell
from compact.summaries.offline.summarize import summarize_offline
from compact.summaries.offline.worth import weigh_item
from tests.providers.conversations import task_for
from tests.providers.sessions import fill
from tests.summaries.talks import Wire, after, assistant, chat, count, ran, user

ADVICE = "I would go with Postgres, because the shop has it already and Redis would be one more server to look after."
AGREED = "Agreed, we take Postgres because nobody here knows Redis. Never store card numbers in it."
CHANGED_MIND = "I changed my mind about the expiry: 30 days instead of 7, since customers come back monthly."
SMALL_TALK = "I have no window, I am afraid. The logs were sunny, though."
LOADING = "return self.db.fetch(SELECT_BODY, key)"
TABLE = "CREATE TABLE sessions (key text PRIMARY KEY, body jsonb, seen timestamptz)"
UNDEFINED, TOO_LONG = "UndefinedTable", "E501 line too long"
NARROW, WIDE = 130, 4_000


def edited(id: str, path: str, text: str) -> list[Wire]:
    return ran("edit_file", {"path": path, "old_string": "pass", "new_string": text}, "Updated.", id=id)


def session() -> list[Wire]:
    """Talk, decisions with reasons, a changed mind, edits, tests that fail and pass, a plan, and small talk."""
    failed = "FAILED tests/test_sessions.py::test_load - UndefinedTable: no relation named sessions\n1 failed in 0.61s"
    plan = [{"content": "write the table", "status": "in_progress"}, {"content": "expire them", "status": "pending"}]
    return [
        user("Our shop loses sessions when a server restarts. Please find a way to keep them, and tell me first."),
        *ran("read_file", {"path": "shop/sessions.py"}, "class Sessions:\n    store = {}\n    def load(self): pass"),
        assistant(f"There are two ways: Redis, or a table in Postgres. {ADVICE}"),
        user(AGREED),
        *ran("todo_write", {"todos": plan}, "ok", id="t"),
        *edited("1", "shop/sessions.py", f"def load(self, key):\n    {LOADING}"),
        *ran("bash", {"command": "pytest tests/test_sessions.py"}, failed, id="2"),
        *edited("3", "shop/migrations/0042.sql", TABLE),
        *ran("bash", {"command": "pytest tests/test_sessions.py"}, "5 passed in 0.93s", id="4"),
        assistant("Sessions are read from the table now, and all five tests are green. It feels as quick as before."),
        user("Thanks, that looks good. How was the weather up there?"),
        assistant(SMALL_TALK),
        user(CHANGED_MIND),
        *edited("5", "shop/settings.py", "SESSION_DAYS = 30"),
        *ran("bash", {"command": "ruff check shop"}, f"shop/settings.py:3:1: {TOO_LONG}\nFound 1 error.", id="6"),
    ]


def summarize(messages: Sequence[Message], strategy: str, budget: int) -> str:
    return summarize_offline(messages, budget=budget, count=count, emphasis=emphasis_of(strategy))


def told_first(strategy: str, *parts: str) -> list[str]:
    """The parts in the order in which a growing budget brings them in."""
    messages = chat(*session())
    summaries = [summarize(messages, strategy, budget) for budget in range(20, 600, 4)]
    first = {part: next(at for at, text in enumerate(summaries) if part in text) for part in parts}
    return sorted(parts, key=first.__getitem__)


def test_a_log_of_decisions_tells_what_was_decided_and_why() -> None:
    told = summarize(chat(*session()), "decision_log", NARROW)
    assert all(said in told for said in (ADVICE, AGREED, CHANGED_MIND))
    assert not any(done in told for done in (LOADING, TABLE, UNDEFINED, SMALL_TALK))
    assert told_first("decision_log", ADVICE, LOADING, TABLE, UNDEFINED)[0] == ADVICE


def test_a_delta_of_code_tells_what_was_written_and_what_failed() -> None:
    told = summarize(chat(*session()), "code_delta", NARROW)
    assert all(done in told for done in ("shop/sessions.py", "shop/migrations/0042.sql", "SESSION_DAYS = 30", TOO_LONG))
    assert not any(said in told for said in (ADVICE, SMALL_TALK, "planned"))
    assert told_first("code_delta", ADVICE, LOADING, TABLE, UNDEFINED, TOO_LONG)[-1] == ADVICE


@pytest.mark.parametrize("strategy", NAMES)
def test_a_rule_of_the_users_and_a_changed_mind_are_told_by_every_strategy(strategy: str) -> None:
    told = summarize(chat(*session()), strategy, NARROW)
    assert AGREED in told
    assert CHANGED_MIND in told
    assert emphasis_of(strategy).rules == max(astuple(emphasis_of(strategy)))


def test_notes_of_code_and_minutes_differ_as_their_sections_do() -> None:
    parts = (ADVICE, LOADING, TABLE, SMALL_TALK)
    assert set(told_first("code", *parts)[:2]) == {LOADING, TABLE}
    assert set(told_first("general", *parts)[:2]) == {ADVICE, SMALL_TALK}
    assert told_first("brief", "planned", ADVICE, TABLE)[0] == "planned"


def test_the_state_of_a_task_is_told_as_without_a_strategy() -> None:
    messages = chat(*session())
    assert emphasis_of("task_state") == EVEN == Emphasis()
    assert set(astuple(EVEN)) == {1.0}
    for budget in (20, NARROW, WIDE):
        assert summarize(messages, "task_state", budget) == summarize_offline(messages, budget=budget, count=count)


@pytest.mark.parametrize("strategy", NAMES)
def test_the_lines_are_the_same_whatever_the_strategy(strategy: str) -> None:
    messages = chat(*session())
    told = tell(messages, exchanges(messages), read(messages))
    lines = {each.line(room) for each in told for room in (SHORT, LONG)}
    for budget in range(60, 600, 30):
        chosen = summarize(messages, strategy, budget).split("\n")
        assert all(line in lines or is_framing(line) for line in chosen)
    assert summarize(messages, strategy, WIDE) == summarize(messages, "task_state", WIDE)


def test_a_strategy_of_ones_own_has_the_emphasis_of_its_base_and_an_unknown_one_none() -> None:
    custom = custom_strategy("Write for a lawyer.", find_strategy("decision_log"))
    assert emphasis_of(custom.name) == emphasis_of("decision_log") != EVEN
    assert emphasis_of("native") == emphasis_of("") == EVEN


def test_lines_of_an_earlier_account_are_chosen_by_the_strategy_too() -> None:
    earlier = summarize(chat(*session()), "task_state", WIDE)
    messages = after(earlier, chat(user("Please go on.")))
    decided, changed = (summarize(messages, strategy, 160) for strategy in ("decision_log", "code_delta"))
    assert ADVICE in decided
    assert TABLE not in decided
    assert TABLE in changed
    assert ADVICE not in changed
    assert {*decided.split("\n")[1:], *changed.split("\n")[1:]} <= {*earlier.split("\n"), '- user: "Please go on."'}


@pytest.mark.parametrize("strategy", NAMES)
def test_rules_outlast_many_rounds_by_every_strategy(strategy: str) -> None:
    summary, said = "", list[str]()
    for number in range(12):
        said.append(f"Never change module{number} before noon.")
        work = ran("bash", {"command": f"make test_{number}"}, f"error: test_{number} failed", id="b")
        work += edited("e", f"src/m{number}.py", f"LIMIT_{number} = {number}\nRETRIES_{number} = {number}")
        messages = chat(user(said[-1]), *work, assistant("It runs 30 times, because the cache is cold."))
        summary = summarize(after(summary, messages), strategy, 220)
        assert [rule for rule in said if rule not in summary] == []


@pytest.mark.parametrize("line", ['- user: "a" → edited b.py', "## Goals\n- Fix it", "- ran `make`", "- (x", "-", ""])
def test_an_even_emphasis_changes_no_line_of_an_earlier_account(line: str) -> None:
    assert EVEN.of_line(line) == 1.0
    assert weigh_item(line, EVEN) == weigh_item(line)


@pytest.mark.parametrize(
    ("line", "weight"),
    [
        ('- user: "Please go on."', 2),
        ('- user (Ana): "Please go on." → edited a.py', 6),
        ('- (an earlier summary, unverified) user: "Never push."', 8),
        ('- user: "Please go on." → after the steps below, assistant: "We take SQLite, because it is small."', 4),
        ('- user: "Please go on." → in the end: assistant: "We take SQLite, because it is small."', 4),
        ('- assistant: "The tests are green."', 3),
        ('- ran `make`: failed: "boom"', 7),
        ('- planned: "open: write the table"', 5),
        ("- read a.py", 0.5),
        ('- rules of the project, read in AGENTS.md: "No tabs."', 8),
        ("## Goals\n- Fix it", 1),
    ],
)
def test_a_line_of_an_earlier_account_counts_as_its_weightiest_part(line: str, weight: float) -> None:
    emphasis = Emphasis(person=2, rules=8, reasons=4, talk=3, changes=6, runs=7, plans=5, looks=0.5)
    assert emphasis.of_line(line) == weight


def condensed(provider: str, strategy: str) -> str:
    """What the conversation says after a provider, without a model."""
    first, *rest = session()
    messages = [first, *rest, assistant("Done."), user("What is next?")]
    config: dict[str, Any] = {"strategy": strategy}
    config |= {"recent_turns": 1, "tool_pairs": 1} if provider != "native" else {}
    config |= {"max_summary_tokens": 128} if provider != "auto" else {}
    result = compact.condense(messages, provider=provider, config=config, target=330 if provider == "auto" else None)
    return "\n".join(str(message["content"]) for message in result.messages)


@pytest.mark.parametrize("provider", ["auto", "layers", "native"])
def test_every_provider_that_summarizes_follows_the_strategy_without_a_model(provider: str) -> None:
    decided, changed = (condensed(provider, strategy) for strategy in ("decision_log", "code_delta"))
    assert ADVICE in decided
    assert TABLE not in decided
    assert TABLE in changed
    assert ADVICE not in changed


def test_auto_chooses_by_the_strategy_among_lines_of_an_earlier_account() -> None:
    conversation = parse([*session(), assistant("Done."), user("What is next?")])
    settings = AutoSettings(recent_turns=0, tool_pairs=0)
    first = fill(conversation, 400, settings=settings).conversation

    def worth(strategy: str, text: str) -> float:
        chosen = settings.model_copy(update={"strategy": strategy})
        return next(
            each for each in Composition(task_for(first), chosen, 300).ladders if text in each.text
        ).worth.lines[0]

    assert worth("decision_log", ADVICE) > worth("task_state", ADVICE) > worth("code_delta", ADVICE)
    for changed in ("edited shop/sessions.py", "edited shop/migrations/0042.sql"):
        assert worth("code_delta", changed) > worth("task_state", changed) > worth("decision_log", changed)


def test_what_a_user_refused_is_a_decision() -> None:
    refused = ran("bash", {"command": "git push"}, "The user doesn't want to proceed with this tool use.", id="r")
    (action,) = read(chat(user("Please commit."), *refused)).actions
    emphasis = Emphasis(reasons=2.0, runs=0.1)
    assert emphasis.of_deed(action) == 2.0


@pytest.mark.parametrize(
    ("reason", "none"),
    [
        ("We take SQLite because it needs no server.", "The tests are green."),
        ("Wir haben uns für SQLite entschieden.", "Die Tests sind grün."),
        ("On a choisi SQLite.", "Les tests sont verts."),
        ("Usamos SQLite porque no necesita servidor.", "Las pruebas pasan."),
        ("Мы выбрали SQLite.", "Тесты прошли."),
        ("我们决定用 SQLite。", "测试通过。"),
        ("SQLite に決めました。", "テストは通りました。"),
        ("قررنا استخدام SQLite.", "نجحت الاختبارات."),
    ],
)
def test_decisions_and_reasons_are_found_in_many_languages(reason: str, none: str) -> None:
    assert share_of_reasons(reason) == 1.0
    assert share_of_reasons(none) == 0.0
    assert 0.0 < share_of_reasons(f"{reason} {none}") < 1.0
    assert share_of_reasons("") == 0.0
