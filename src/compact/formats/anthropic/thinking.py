"""Thinking blocks: where they must stand, and that they are the model's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compact.formats.anthropic.binding import BINDING
from compact.formats.anthropic.view import (
    THINKING,
    kind_of,
    listed,
    messages,
    parts,
    role_of,
    seal,
    thinking_mode,
)
from compact.formats.format import Finding, Request, Rule
from compact.messages import Json


def _loop_without_thinking(request: Request) -> Iterator[Finding]:
    """The calls since the last user message are one answer, which begins with thinking.

    Adaptive thinking has no such rule: there the model may answer without thinking.
    """
    if thinking_mode(request.body) != "enabled":
        return
    start = _start_of_open_loop(messages(request.body))
    blocks = parts(messages(request.body)[start]) if start is not None else ()
    if blocks and isinstance(blocks[0], dict) and (kind := kind_of(blocks[0])) not in THINKING:
        yield Finding(
            start,
            f"messages.{start}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
            "(preceeding the lastmost set of `tool_use` and `tool_result` blocks). "
            "We recommend you include thinking blocks from previous turns. "
            "To avoid this requirement, disable `thinking`. Please consult our documentation at "
            "https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
        )


def _start_of_open_loop(wires: list[Json]) -> int | None:
    """Where the assistant began the answer that still waits for its tool results; None if none does."""
    start = None
    for index in range(len(wires) - 1, -1, -1):
        role = role_of(wires[index])
        if role == "assistant":
            start = index
        elif role == "user" and not any(kind_of(block) == "tool_result" for block in parts(wires[index])):
            break
    return start if start != len(wires) - 1 else None


def _thinking_though_disabled(request: Request) -> Iterator[Finding]:
    wires = messages(request.body)
    if thinking_mode(request.body) != "disabled" or not wires or role_of(wires[-1]) != "assistant":
        return
    index = len(wires) - 1
    for position, block in enumerate(parts(wires[-1])):
        if kind_of(block) in THINKING:
            yield Finding(
                index,
                f"messages.{index}.content.{position}: When thinking is disabled, an `assistant` message in the final "
                "position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
            )
            return


def _latest_altered(request: Request) -> Iterator[Finding]:
    """The latest assistant message keeps all its thinking or none."""
    if request.origin is None or (index := _latest_assistant(request.body)) is None:
        return
    kept = [
        (position, seal(block))
        for position, block in enumerate(parts(messages(request.body)[index]))
        if kind_of(block) in THINKING
    ]
    if not kept:
        return
    originals = {
        tuple(seal(block) for block in parts(message) if kind_of(block) in THINKING)
        for message in messages(request.origin)
    }
    if tuple(found for _, found in kept) in originals:
        return
    known = {found for original in originals for found in original}
    position = next((position for position, found in kept if found not in known), kept[0][0])
    yield Finding(
        index,
        f"messages.{index}.content.{position}: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original response.",
    )


def _earlier_altered(request: Request) -> Iterator[Finding]:
    if request.origin is None:
        return
    latest = _latest_assistant(request.body)
    known = {seal(block) for _, _, block in listed(request.origin) if kind_of(block) in THINKING}
    for index, position, block in listed(request.body):
        if (kind := kind_of(block)) in THINKING and index != latest and seal(block) not in known:
            yield Finding(index, f"messages.{index}.content.{position}: Invalid `signature` in `{kind}` block")


def _latest_assistant(body: Mapping[str, Json]) -> int | None:
    wires = messages(body)
    return next((index for index in range(len(wires) - 1, -1, -1) if role_of(wires[index]) == "assistant"), None)


THINKING_RULES = (
    Rule(
        id="A17",
        name="open-answer-begins-with-thinking",
        seen="2026-11",
        source="error",
        remedy="Keep the thinking that begins the answer to the last user message, or switch thinking off.",
        find=_loop_without_thinking,
    ),
    Rule(
        id="A17b",
        name="no-final-thinking-when-disabled",
        seen="2026-11",
        source="error",
        remedy="Drop the thinking blocks of the last message, or switch thinking on.",
        find=_thinking_though_disabled,
    ),
    Rule(
        id="A18",
        name="latest-thinking-unchanged",
        seen="2026-11",
        source="error",
        remedy="Send the thinking blocks of the latest assistant message exactly as received, or drop them all.",
        find=_latest_altered,
    ),
    Rule(
        id="A19",
        name="thinking-signature-valid",
        seen="2025-10-07",
        source="error",
        remedy="Send each thinking block exactly as received, or drop it whole.",
        find=_earlier_altered,
    ),
    *BINDING,
)
