"""What holds for every compaction of a conversation with hostile shapes in it, valid or not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

import compact
from compact.errors import CompactError, InvalidInput
from compact.formats import FORMATS, parse, violations
from compact.messages import Conversation, assuming, pairs
from compact.providers import Recipe
from compact.testing.generate import random_body
from compact.testing.hostile import disturb
from tests.app.laws import RECIPES, TARGETS, condense

SIZES = (3, 6, 12, 20)


@dataclass(slots=True)
class Tally:
    """How many conversations were condensed, and how many were refused by an error that names a field."""

    condensed: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)


def try_hostile(format: str, first: int, count: int) -> Tally:
    """Condense so many conversations with hostile shapes, one a seed; failures name the seed."""
    tally = Tally()
    for seed in range(first, first + count):
        rng = Random(f"{format} {seed}")
        body, shapes = disturb(random_body(rng, format, size=rng.choice(SIZES)), format, rng)
        recipe, target = rng.choice(RECIPES), rng.choice(TARGETS)
        variant = rng.choice(("", *FORMATS[format].variants))
        try:
            before = assuming(parse(body, format=format), {"variant": variant})
            assert_harmless(before, recipe, target)
            tally.condensed += 1
        except CompactError as error:
            if isinstance(error, InvalidInput) and error.field:
                tally.refused += 1
            else:
                tally.failures.append(f"{format} {seed} {shapes}: {error!r}")
        except Exception as error:  # noqa: BLE001 - a crash of any kind is what this looks for
            told = f"{type(error).__name__}: {str(error)[:300]}"
            tally.failures.append(f"{format} {seed} {shapes} {recipe.name} {target} {variant!r}: {told}")
    return tally


def assert_harmless(before: Conversation, recipe: Recipe, target: float | None) -> None:
    """Nothing is worse than it was, nothing is torn, and everything can be had back, byte for byte."""
    result = condense(before, recipe, target)
    after = result.conversation
    assert result.report.tokens_after <= result.report.tokens_before, "it grew"
    judged = assuming(before, {"variant": after.variant})  # the name of the model may have told which server it is
    broken = {found.rule for found in violations(after, origin=judged)} - {found.rule for found in violations(judged)}
    assert not broken, f"it breaks {broken}"
    given = [message.wire for message in before.messages]
    assert json.dumps(compact.restore(result)) == json.dumps(given), "it cannot be restored"
    kept = {message.id for message in after.messages}
    for (answer, _), (call, _) in pairs(before.messages).items():
        both = before.messages[answer].id in kept, before.messages[call].id in kept
        assert both[0] == both[1], f"messages {call} and {answer} are torn apart"
