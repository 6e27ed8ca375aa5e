"""Thinking blocks: where they must stand, and that they are the model's own."""

from __future__ import annotations

from collections.abc import Iterator

from compact.formats.anthropic.binding import BINDING
from compact.formats.anthropic.view import THINKING, View, kind_of, origin_view, parts, seal, thinking_mode, view
from compact.formats.format import Finding, Request, Rule


def _loop_without_thinking(request: Request) -> Iterator[Finding]:
    """The calls since the last user message are one answer, which begins with thinking.

    Adaptive thinking has no such rule: there the model may answer without thinking.
    """
    if thinking_mode(request.body) != "enabled":
        return
    start = _start_of_open_loop(view(request))
    blocks = parts(view(request).messages[start]) if start is not None else ()
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


def _start_of_open_loop(read: View) -> int | None:
    """Where the assistant began the answer that still waits for its tool results; None if none does."""
    start = None
    for index in range(len(read.roles) - 1, -1, -1):
        if read.roles[index] == "assistant":
            start = index
        elif read.roles[index] == "user" and not any(
            kind_of(block) == "tool_result" for block in parts(read.messages[index])
        ):
            break
    return start if start != len(read.roles) - 1 else None


def _thinking_though_disabled(request: Request) -> Iterator[Finding]:
    if thinking_mode(request.body) != "disabled" or view(request).roles[-1:] != ["assistant"]:
        return
    final = len(view(request).roles) - 1
    for index, position, _ in view(request).thinking:
        if index == final:
            yield Finding(
                index,
                f"messages.{index}.content.{position}: When thinking is disabled, an `assistant` message in the final "
                "position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
            )
            return


def _latest_altered(request: Request) -> Iterator[Finding]:
    """The latest assistant message keeps all its thinking, or none."""
    read, origin = view(request), origin_view(request)
    kept = read.seals.get(read.latest_assistant)
    if origin is None or kept is None or kept in origin.seals.values():
        return
    known = {own for seals in origin.seals.values() for own in seals}
    spots = [spot for spot in read.thinking if spot[0] == read.latest_assistant]
    index, position, _ = next((spot for spot in spots if seal(spot[2]) not in known), spots[0])
    yield Finding(
        index,
        f"messages.{index}.content.{position}: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original response.",
    )


def _altered(request: Request) -> Iterator[Finding]:
    origin = origin_view(request)
    if origin is None:
        return
    known = {own for seals in origin.seals.values() for own in seals}
    for index, position, block in view(request).thinking:
        if (own := seal(block)) not in known:
            sealed = "signature" if own[0] == "thinking" else "data"
            yield Finding(index, f"messages.{index}.content.{position}: Invalid `{sealed}` in `{own[0]}` block")


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
        compares=True,
    ),
    Rule(
        id="A19",
        name="thinking-signature-valid",
        seen="2025-10-07",
        source="error",
        remedy="Send each thinking block exactly as received, or drop it whole.",
        find=_altered,
        compares=True,
    ),
    *BINDING,
)
