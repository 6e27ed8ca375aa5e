"""Compactions prepared while the model answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from compact import CompactManager
from compact.engine import AskModel
from compact.formats import parse, violations
from compact.messages import Json
from compact.ports import Answer, Ask, Completion
from tests.app.test_manager import Bench, make, summaries, talk, tokens

__all__ = ["make"]

WINDOW = 20_000
TRIGGER = WINDOW - 1_500 - 8_192  # less the buffer and the answer's room: below 85%
PATIENCE = 20.0
NAP = 1.5


def nearly() -> list[Json]:
    """A history of more than nine tenths of the trigger, and less than all of it."""
    messages = talk(1)
    while tokens(messages) < 0.92 * TRIGGER:
        messages += talk(1, len(messages) // 2)
    assert tokens(messages) < TRIGGER
    return messages


def more(messages: list[Json]) -> list[Json]:
    """What comes after it, so that the trigger is reached."""
    return talk(4, len(messages))


class Model:
    """A summarizer whose word is taken for true; `before` happens before it answers."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before
        self.threads: list[str] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.threads.append(threading.current_thread().name)
        self.before()
        return tuple(Completion("What was said so far, in short.", trusted=True) for _ in asks)


def prepared(make: Bench, ask: AskModel | None = None) -> CompactManager:
    return make(WINDOW, ask, background=True)


def wait_for(make: Bench, name: str) -> None:
    until = time.monotonic() + PATIENCE
    while not make.watcher.named(name):
        assert time.monotonic() < until, f"no {name}: {[event.name for event in make.watcher.events]}"
        time.sleep(0.005)


@pytest.mark.clock
def test_the_preflight_that_triggers_does_not_wait_for_the_summary(make: Bench) -> None:
    model = Model(lambda: time.sleep(NAP))
    manager = prepared(make, model)
    history = nearly()
    began = time.perf_counter()
    assert manager.preflight("s", history) == history
    assert time.perf_counter() - began < NAP
    wait_for(make, "background_prepared")
    asked = len(model.threads)
    assert asked
    assert not list(make.folder.rglob("*"))
    added = more(history)
    began = time.perf_counter()
    sent = manager.preflight("s", [*history, *added])
    assert time.perf_counter() - began < NAP
    assert len(model.threads) == asked
    assert set(model.threads) == {"compact background"}
    assert tokens(sent) < 0.85 * TRIGGER
    assert sent[-len(added) :] == added
    assert not violations(parse(sent))
    assert len(make.watcher.named("condensed")) == 1


def test_what_was_prepared_is_kept_and_survives_a_restart(make: Bench) -> None:
    manager = prepared(make)
    history = nearly()
    manager.preflight("s", history)
    wait_for(make, "background_prepared")
    whole = [*history, *more(history)]
    sent = manager.preflight("s", whole)
    assert len(summaries(sent)) == 1
    assert not make.watcher.named("background_discarded")
    again = make(WINDOW)
    assert json.dumps(again.preflight("s", whole)) == json.dumps(sent)
    assert manager.preflight("s", sent) == sent
    assert manager.undo("s") == whole


def test_a_preflight_that_triggers_waits_for_what_is_under_way_and_asks_nobody_twice(make: Bench) -> None:
    begun, release = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert release.wait(PATIENCE)

    model = Model(hold)
    manager = prepared(make, model)
    history = nearly()
    manager.preflight("s", history)
    assert begun.wait(PATIENCE)
    threading.Timer(0.05, release.set).start()
    sent = manager.preflight("s", [*history, *more(history)])
    assert tokens(sent) < TRIGGER
    assert set(model.threads) == {"compact background"}


@pytest.mark.parametrize("position", [0, 5])
def test_a_changed_history_discards_it(make: Bench, position: int) -> None:
    model = Model()
    manager = prepared(make, model)
    history = nearly()
    manager.preflight("s", history)
    wait_for(make, "background_prepared")
    history[position] = {**history[position], "content": "Something else. " * 100}
    sent = manager.preflight("s", [*history, *more(history)])
    assert make.watcher.last("background_discarded").properties["reason"] == "the history changed"
    assert threading.current_thread().name in model.threads
    assert tokens(sent) < TRIGGER
    assert not violations(parse(sent))


def test_a_client_that_rewrites_its_last_messages_costs_no_other_summary(make: Bench) -> None:
    model = Model()
    manager = prepared(make, model)
    history = nearly()
    for text in ("The files of this chat. ", "The files of this chat, again. ", "Other files. "):
        manager.preflight("s", [*history, {"role": "user", "content": text * 10}])
        wait_for(make, "background_prepared")
    sent = manager.preflight(
        "s", [*history, *more(history), {"role": "user", "content": "The files, once more. " * 10}]
    )
    assert (len(summaries(sent)), len(model.threads)) == (1, 1)
    assert not make.watcher.named("background_discarded")
    assert not violations(parse(sent))


def test_another_system_prompt_does_not_cost_another_summary(make: Bench) -> None:
    model = Model()
    manager = prepared(make, model)
    history = nearly()
    for day in range(3):
        manager.preflight("s", history, system=f"Today is day {day}.")
        wait_for(make, "background_prepared")
    sent = manager.preflight("s", [*history, *more(history)], system="Today is day 4.")
    assert (len(summaries(sent)), len(model.threads)) == (1, 1)
    assert not make.watcher.named("background_discarded")


def test_a_history_that_changes_before_the_trigger_is_prepared_anew(make: Bench) -> None:
    manager = prepared(make)
    history = nearly()
    manager.preflight("s", history)
    wait_for(make, "background_prepared")
    history[3] = {"role": "assistant", "content": history[3]["content"].replace("Answer", "Reply")}
    manager.preflight("s", history)
    assert len(make.watcher.named("background_discarded")) == 1
    until = time.monotonic() + PATIENCE
    while len(make.watcher.named("background_prepared")) < 2 and time.monotonic() < until:
        time.sleep(0.005)
    sent = manager.preflight("s", [*history, *more(history)])
    assert len(make.watcher.named("background_discarded")) == 1
    assert len(summaries(sent)) == 1


def test_what_would_not_be_enough_is_discarded(make: Bench) -> None:
    manager = prepared(make)
    history = nearly()
    manager.preflight("s", history)
    wait_for(make, "background_prepared")
    sent = manager.preflight("s", [*history, *talk(30, 100)])
    assert "it would leave" in make.watcher.last("background_discarded").properties["reason"]
    assert tokens(sent) < TRIGGER


def test_an_error_in_the_background_never_surfaces(make: Bench) -> None:
    def fail() -> None:
        if threading.current_thread().name == "compact background":
            raise ZeroDivisionError("oops")

    manager = prepared(make, Model(fail))
    history = nearly()
    assert manager.preflight("s", history) == history
    wait_for(make, "background_discarded")
    assert "ZeroDivisionError: oops" in str(make.watcher.last("background_discarded").properties["reason"])
    assert tokens(manager.preflight("s", [*history, *more(history)])) < TRIGGER


def test_what_cannot_be_reduced_yet_is_discarded_quietly(make: Bench) -> None:
    history = [{**message, "meta": {"protected": True}} for message in nearly()]
    manager = prepared(make)
    manager.preflight("s", history)
    wait_for(make, "background_discarded")
    sent = manager.preflight("s", [*history, {"role": "user", "content": "Go on."}])
    assert len(sent) == len(history) + 1


@pytest.mark.parametrize(("background", "share"), [(False, 0.95), (True, 0.8)])
def test_nothing_is_prepared_unasked_or_too_early(make: Bench, background: bool, share: float) -> None:
    model = Model()
    history = nearly()
    window = int(tokens(history) / 0.85 / share)
    make(window, model, background=background).preflight("s", history)
    assert not [thread for thread in threading.enumerate() if thread.name == "compact background"]
    assert not model.threads


def test_closing_ends_the_threads_and_nothing_begins_after_it(make: Bench) -> None:
    model = Model(lambda: time.sleep(0.1))
    manager = prepared(make, model)
    history = nearly()
    manager.preflight("s", history)
    manager.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "compact background"]
    asked = len(model.threads)
    assert manager.preflight("t", history) == history
    time.sleep(0.05)
    assert len(model.threads) == asked


def test_sessions_are_prepared_side_by_side(make: Bench) -> None:
    manager = prepared(make, Model(lambda: time.sleep(0.02)))
    histories = {f"s{number}": nearly()[:-2] + talk(1, 1000 + number) for number in range(8)}

    def work(name: str, history: list[Json]) -> None:
        manager.preflight(name, history)
        sent = manager.preflight(name, [*history, *more(history)])
        assert history[-1] in sent
        results.append(tokens(sent))

    results: list[int] = []
    threads = [threading.Thread(target=work, args=item) for item in histories.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(histories)
    assert max(results) < TRIGGER
