"""Compactions made ready on threads of their own: what is told of them, and what is never applied."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag

import pytest

from compact.app import Condensation
from compact.app.recipes import resolve_recipe
from compact.engine import Outcome
from compact.engine.preparing import MOST, Background
from compact.engine.projection import Projection
from compact.ports import Event
from tests.engine.test_projection import empty, given, talk
from tests.providers.conversations import gauge_for

PATIENCE = 20.0


class Watcher:
    def __init__(self) -> None:
        self.events: list[tuple[str, Event]] = []
        self.told = Flag()

    def __call__(self, session: str, event: Event) -> None:
        self.events.append((session, event))
        self.told.set()

    def reasons(self) -> list[object]:
        return [event.properties.get("reason") for _, event in self.events]


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


def outcome_of(projection: Projection) -> Outcome:
    result = Condensation(projection.conversation, "gpt-4o", None).run(resolve_recipe("native"))
    return Outcome(result.conversation, result.plan, result.report.passes)


def working(outcome: Outcome) -> Callable[[], Outcome]:
    return lambda: outcome


def test_what_was_prepared_is_told_and_taken_once(watcher: Watcher) -> None:
    basis = given(empty(), talk(0, 12))
    outcome = outcome_of(basis)
    background = Background(watcher)
    background.prepare("s", basis, working(outcome))
    assert watcher.told.wait(PATIENCE)
    (session, event), *_ = watcher.events
    assert (session, event.name, event.properties["messages"]) == ("s", "compact.background_prepared", 24)
    background.prepare("s", basis, lambda: pytest.fail("it fits still"))
    grown = given(basis, talk(0, 13))
    gauge = gauge_for(grown.conversation)
    assert background.take("t", grown, gauge) is None
    taken = background.take("s", grown, gauge)
    assert taken is not None
    assert len(taken.conversation) == len(outcome.conversation) + 2
    assert background.take("s", grown, gauge) is None
    assert len(watcher.events) == 1
    background.close()


def test_what_does_not_go_with_what_came_since_is_discarded(watcher: Watcher) -> None:
    basis = given(empty(), talk(0, 12))
    outcome = outcome_of(basis)
    background = Background(watcher)
    background.prepare("s", basis, working(outcome))
    assert watcher.told.wait(PATIENCE)
    other = given(empty(), talk(1, 12))
    assert background.take("s", other, gauge_for(other.conversation)) is None
    assert watcher.reasons()[1:] == ["the history changed"]
    watcher.told.clear()
    background.prepare("s", basis, working(outcome))
    assert watcher.told.wait(PATIENCE)
    background.prepare("s", other, working(outcome_of(other)))
    assert "the history changed" in watcher.reasons()[3:]
    background.close()


def test_what_fails_or_finds_nothing_is_told_and_not_taken(watcher: Watcher) -> None:
    basis = given(empty(), talk(0, 12))
    nothing = Outcome(basis.conversation, (), outcome_of(basis).passes)
    background = Background(watcher)
    for work, reason in (
        (working(nothing), "there was nothing to remove"),
        (lambda: 1 // 0, "ZeroDivisionError: integer division or modulo by zero"),
    ):
        watcher.told.clear()
        background.prepare("s", basis, work)  # type: ignore[arg-type]
        assert watcher.told.wait(PATIENCE)
        assert watcher.reasons()[-1] == reason
        assert background.take("s", basis, gauge_for(basis.conversation)) is None
    background.close()


def test_what_is_forgotten_is_not_told_and_no_more_than_so_many_run_at_once(watcher: Watcher) -> None:
    basis = given(empty(), talk(0, 12))
    outcome, go, running = outcome_of(basis), Flag(), []

    def work() -> Outcome:
        running.append(1)
        assert go.wait(PATIENCE)
        return outcome

    background = Background(watcher)
    for number in range(MOST + 1):
        background.prepare(f"s{number}", basis, work)
    background.forget("s0")
    background.forget("nobody")
    go.set()
    gauge = gauge_for(basis.conversation)
    taken = [background.take(f"s{number}", basis, gauge) is not None for number in range(MOST + 1)]
    assert taken == [False, *[True] * (MOST - 1), False]
    background.close()
    assert (len(running), MOST) == (MOST, 4)
    assert "s0" not in [session for session, _ in watcher.events]
    background.prepare("late", basis, work)
    assert background.take("late", basis, gauge) is None
