"""What holds for every compaction, whatever the conversation, the recipe and the format."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, note, settings
from hypothesis import strategies as st

import compact
from compact.app import Condensation, Result, list_recipes, resolve_recipe
from compact.formats import FORMATS, parse, render, violations
from compact.messages import Conversation, Text, assuming, exchanges
from compact.providers import Recipe
from compact.providers.truncation.settings import TruncationSettings
from compact.testing.generate import random_body
from tests.untouched import assert_signed, assert_untouched

NAMED = [resolve_recipe(name) for name, _ in list_recipes()]
RECIPES = [
    *NAMED,
    resolve_recipe("truncation", config={"lines": "relevant"}),
    resolve_recipe("truncation", config={"lines": "relevant", "mode": "mechanical", "markers": "s0"}),
    *(recipe.with_handles() for recipe in NAMED),
]
TARGETS = (None, 0.8, 0.5, 0.2)


def condense(conversation: Conversation, recipe: Recipe, target: float | None) -> Result:
    return Condensation(conversation, "gpt-4o", target, variant=conversation.variant).run(recipe)


def try_laws(format: str, number: int, conversations: int) -> None:
    """Try the laws on so many conversations; each number means other ones."""

    variants = st.sampled_from(("", *FORMATS[format].variants))

    @settings(max_examples=conversations, database=None)
    @given(
        st.integers(0, 2**64),
        st.sampled_from((3, 4, 6, 8, 20)),
        st.sampled_from(RECIPES),
        st.sampled_from(TARGETS),
        variants,
    )
    def hold(seed: int, size: int, recipe: Recipe, target: float | None, variant: str) -> None:
        note(f"{number=} {seed=} {size=} {recipe=} {target=} {variant=}")
        body = random_body(random.Random(f"{number} {seed}"), format, size=size)
        assert_laws(assuming(parse(body, format=format), {"variant": variant}), recipe, target)

    hold()


def assert_laws(before: Conversation, recipe: Recipe, target: float | None) -> None:
    result = condense(before, recipe, target)
    after = result.conversation
    assert result.report.tokens_after <= result.report.tokens_before
    assert {v.rule for v in violations(after, origin=before)} <= {v.rule for v in violations(before)}
    assert compact.restore(result) == render(before)
    assert_order_and_pairs(before, after)
    assert_sent_whole(after)
    again = recipe if target is not None else replace(recipe, when_missed="stop")
    if result.target_met or recipe.provider.id != "layers":  # having missed, that may find more the next time
        assert condense(after, again, _absolute(result, recipe)).plan == ()
    assert condense(before, recipe, target).messages == result.messages


def assert_sent_whole(after: Conversation) -> None:
    """What is sent says all that its messages say, in their order; the turns of some servers hold several of them."""
    sent = parse(render(after), format=after.format)
    assert _said(sent) == _said(after)
    assert len(sent) == len(after) or after.dialect.alternation(after.variant) is not None


def _said(conversation: Conversation) -> list[tuple[str, str]]:
    blocks = ((message.role, block) for message in conversation.messages for block in message.blocks)
    return [(role, block.text) for role, block in blocks if isinstance(block, Text)]


def _absolute(result: Result, recipe: Recipe) -> float | None:
    """The target in tokens: where none was given, some providers set themselves one."""
    settings = recipe.settings
    if result.report.target is None and isinstance(settings, TruncationSettings) and settings.mode == "targeted":
        own = max(1, int(result.report.tokens_before * (1 - settings.target_reduction)))
        # Having missed its own target, it has cut all that is oversized; a target that is given allows more.
        return own if result.report.tokens_after <= own else None
    return result.report.target


def assert_order_and_pairs(before: Conversation, after: Conversation) -> None:
    position = {message.id: index for index, message in enumerate(before.messages)}
    now = {message.id: message for message in after.messages}
    kept = [position[message.id] for message in after.messages if message.id in position]
    assert kept == sorted(kept)
    if before.messages and before.messages[-1].id in now:
        assert after.messages[-1].id == before.messages[-1].id
    assert_untouched(before, after)
    assert_signed(before, after)
    for group in exchanges(before.messages):
        held = [before.messages[index] for index in group if before.messages[index].id in now]
        calls = [message for message in held if message.calls]
        assert len(held) == len(group) or not calls or all(m.id in now for m in held)
