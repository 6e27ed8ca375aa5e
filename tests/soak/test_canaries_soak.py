"""A thousand planted orders, through every recipe, a manager, and models that obey them: none may gain authority."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.canaries import plant
from tests.attacks.trials import RECIPES, SUMMARIZING, condense, manage, obey

ROUNDS, EACH = 20, 50

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_planted_order_is_promoted(number: int, tmp_path: Path) -> None:
    found: list[str] = []
    for seed in range(number * EACH, (number + 1) * EACH):
        attack = plant(seed)
        found += condense(attack, RECIPES, seed)
        found += condense(attack, SUMMARIZING, seed, obey(attack, seed))
        found += manage(attack, seed, tmp_path / f"{seed}")
    assert found == []


@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_planted_order_is_promoted_by_models_that_obey_again_and_again(number: int, tmp_path: Path) -> None:
    found: list[str] = []
    for seed in range(number * EACH, (number + 1) * EACH):
        attack = plant(seed)
        found += manage(attack, seed, tmp_path / str(seed), obey(attack, seed))
    assert found == []
