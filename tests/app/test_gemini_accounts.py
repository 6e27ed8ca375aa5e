"""Earlier accounts in the middle of a Gemini conversation: requests stay valid, accounts stay in order."""

from __future__ import annotations

import random

import pytest

import compact
from compact.formats import parse, violations
from compact.messages import Fold, Json, frame_account, is_summary

TREES = ["oak", "ash", "elm", "fir", "yew", "bay", "fig", "gum", "box", "may", "tea", "nut"]


def said(role: str, seed: int, count: int = 12) -> Json:
    rng = random.Random(seed)
    return {"role": role, "parts": [{"text": " ".join(rng.choice(TREES) for _ in range(count))}]}


def called(number: int) -> list[Json]:
    result = "\n".join(said("user", 1000 * number + at, 16)["parts"][0]["text"] for at in range(20))
    return [
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": f"m{number}.py"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": result}}}]},
    ]


def account(number: int) -> Json:
    text = frame_account(f"- user: mend part {number}", number)
    return {"role": "model", "parts": [{"text": text}]}


def conversation() -> list[Json]:
    """Turns with steps between them, and two accounts near the beginning, the second one behind a person's words."""
    contents = [said("user", 1, 60), account(3), said("user", 2), account(12), said("user", 3), said("user", 4)]
    for turn in range(6):
        contents += [each for at in range(turn % 3) for each in called(10 * turn + at)]
        contents += [said("model", 50 + turn), said("user", 90 + turn)]
    return [*contents, *called(97), *called(98), said("model", 99), said("user", 100)]


@pytest.mark.parametrize("target", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
@pytest.mark.parametrize("recipe", ["auto", "balanced", "cost", "quality", "native", "layers"])
def test_no_call_follows_words_and_no_account_stands_before_an_older_one(recipe: str, target: float) -> None:
    contents = conversation()
    before = parse(contents, format="google-gemini")
    result = compact.condense(contents, recipe=recipe, model="gemini-2.5-pro", target=target)
    assert violations(before) == violations(result.conversation, origin=before) == []
    given = {message.text for message in before.messages}
    ours = [message.text in given for message in result.conversation.messages if is_summary(message)]
    assert ours == sorted(ours, reverse=True)
    assert compact.restore(result) == contents


def scattered(seed: int) -> list[Json]:
    """Turns with steps, and two accounts somewhere between them."""
    rng, contents = random.Random(seed), [said("user", 1, 60)]
    turns = rng.randint(4, 9)
    accounts = rng.sample(range(turns), 2)
    for turn in range(turns):
        contents += [account(turn + 3), said("user", turn + 500)] if turn in accounts else []
        contents += [each for at in range(rng.randint(0, 3)) for each in called(10 * turn + at)]
        contents += [said("model", 50 + turn, rng.choice((12, 60))), said("user", 90 + turn)]
    return [*contents, *called(97), said("model", 99), said("user", 100)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("recipe", ["auto", "balanced", "cost", "layers"])
def test_no_account_tells_of_messages_on_both_sides_of_another(recipe: str, seed: int) -> None:
    contents = scattered(seed)
    before = parse(contents, format="google-gemini")
    place = {message.id: at for at, message in enumerate(before.messages)}
    for target in (0.2, 0.3, 0.4, 0.5):
        result = compact.condense(contents, recipe=recipe, model="gemini-2.5-pro", target=target)
        assert violations(before) == violations(result.conversation, origin=before) == []
        stand = {place[one.id] for one in result.conversation.messages if one.id in place and is_summary(one)}
        for edit in (edit for step in result.plan for edit in step.edits if isinstance(edit, Fold)):
            places = [place[id] for id in edit.messages if id in place]
            assert not any(min(places) < at < max(places) for at in stand if places)
