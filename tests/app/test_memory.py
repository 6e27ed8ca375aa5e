"""How much memory a condensation takes, beside the conversation itself."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from multiprocessing import get_context

import pytest

from compact import Result, condense
from compact.messages import Json

_SESSION = json.loads(files("compact.cli").joinpath("transcripts/session.openai-chat.json").read_text("utf-8"))
_MESSAGES = 70
"""So many of them, as everything takes several times as long while memory is traced."""
_LEAN = ("v1", "v2", "speed", "truncation")
_OTHERS = ("auto", "native", "layers", "lossless", "smart", "balanced", "quality", "cost", "v3")


@pytest.mark.parametrize("recipe", _LEAN)
def test_cutting_takes_no_more_than_twice_the_messages(recipe: str) -> None:
    assert _alone(_peak, recipe, 1) < 2


@pytest.mark.parametrize("recipe", _OTHERS)
def test_every_recipe_takes_less_than_seven_times_the_messages(recipe: str) -> None:
    assert _alone(_peak, recipe, 1) < 7


@pytest.mark.parametrize("recipe", ["auto", "native", "quality"])
def test_a_longer_conversation_takes_no_greater_share(recipe: str) -> None:
    assert _alone(_peak, recipe, 3) < 7


@pytest.mark.parametrize("recipe", ["v2", "auto", "native", "quality"])
def test_condensing_again_leaves_nothing_behind(recipe: str) -> None:
    assert _alone(_left_behind, recipe) < 0.1


def _alone(measure: Callable[..., float], *given: str | int) -> float:
    """What is measured in a process of its own: what other tests left running would take memory meanwhile."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, *given).result()


def _left_behind(recipe: str) -> float:
    """What stays allocated when the same is condensed again, in sizes of the messages as JSON."""
    messages, size = _messages("again", 1)
    with _traced():
        _condensed(messages, recipe)
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        _condensed(messages, recipe)
        _condensed(messages, recipe)
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - first) / size


def _peak(recipe: str, sessions: int) -> float:
    """The most that condensing takes, in sizes of the messages as JSON, where nothing of them was counted before."""
    _condensed(_messages("warm", 1)[0], recipe)
    messages, size = _messages(f"{recipe} {sessions}", sessions)
    with _traced():
        result = _condensed(messages, recipe)
        peak = tracemalloc.get_traced_memory()[1]
    assert result.report.tokens_after < result.report.tokens_before
    return peak / size


def _condensed(messages: list[Json], recipe: str) -> Result:
    return condense(messages, recipe=recipe, model="gpt-4o")


def _messages(word: str, sessions: int) -> tuple[list[Json], int]:
    """So many recorded sessions in a row, with a word in them that makes their texts new; and their size as JSON."""
    text = json.dumps(_SESSION["messages"][:_MESSAGES])
    told = [text.replace("import", f"{word} {each}").replace('"call_', f'"call_{each}_') for each in range(sessions)]
    messages: list[Json] = [message for each in told for message in json.loads(each)]
    return messages, len(json.dumps(messages).encode())


@contextmanager
def _traced() -> Iterator[None]:
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()
