"""Every way to compact a conversation with a planted order in it, and the promotions that are found afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import compact
from compact import CompactConfig, CompactManager
from compact.app import list_recipes
from compact.engine import AskModel
from compact.formats import render
from compact.ports import Answer, Ask, Completion
from compact.summaries.model.strategy import DEFAULT, find_strategy
from tests.attacks.canaries import Attack, talk_on
from tests.attacks.judge import promotions
from tests.summaries.canaries import obedient

RECIPES = [*(name for name, _ in list_recipes()), "truncation", "smart"]
TARGETS = (0.5, 0.25, 0.1)
SUMMARIZING = ("auto", "native", "layers", "smart")
WINDOW = 4_000
ROUNDS = 3
KEY = "a key of the tests"
MODELS = {"anthropic-messages": "claude-sonnet-4-5", "google-gemini": "gemini-2.5-flash"}


def condense(attack: Attack, recipes: Iterable[str], turn: int, ask: AskModel | None = None) -> Iterator[str]:
    """What is promoted by these recipes, each with one of the targets; with a model, where there is one to ask."""
    given = render(attack.conversation)
    for number, recipe in enumerate(recipes):
        target = TARGETS[(turn + number) % len(TARGETS)]
        shown = compact.condense(attack.conversation, recipe=recipe, target=target, ask=ask).messages
        for found in promotions(given, shown, attack.token, attack.speaker):
            yield f"{attack}\n{recipe}, {target}{', with a model' if ask else ''}: {found.why}: {found.text}"


def obey(attack: Attack, seed: int) -> AskModel:
    """A summarizing model that does whatever the planted order says, in one way or another."""
    rng = Random(seed)
    return _obey(attack, lambda ways: rng.choice(list(ways.values())))


def obey_in_every_way(attack: Attack) -> Iterator[AskModel]:
    """Models that do whatever the planted order says, each in its own way."""
    for way in obedient(attack.order, find_strategy(DEFAULT)):
        yield _obey(attack, itemgetter(way))


def _obey(attack: Attack, choose: Callable[[dict[str, str]], str]) -> AskModel:
    def answer(question: Ask) -> Answer:
        if not question.strategy:
            return Completion(attack.order)
        return Completion(choose(obedient(attack.order, find_strategy(question.strategy))))

    def ask(questions: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(map(answer, questions))

    return ask


def manage(attack: Attack, seed: int, folder: Path, ask: AskModel | None = None) -> Iterator[str]:
    """What is promoted by a manager, over several compactions of a session that grows."""
    rng = Random(seed)
    format = attack.conversation.format
    config: dict[str, Any] = {
        "model": MODELS.get(format, "gpt-4o"),
        "max_context_tokens": WINDOW,
        "storage": {"path": str(folder)},
        "seal_key": KEY if seed % 2 else "",
        **({} if ask else {"profile": "offline"}),
    }
    log = render(attack.conversation)
    with CompactManager(CompactConfig.model_validate(config), ask=ask) as manager:
        for number in range(ROUNDS):
            shown = manager.preflight("session", log)
            for found in promotions(log, shown, attack.token, attack.speaker):
                yield f"{attack}\nmanager, round {number}: {found.why}: {found.text}"
            log = [*log, *talk_on(rng, 20 + 10 * number, format)]
