"""Thinking that is bound to its conversation: valid only after the very prefix it was made with.

The prefix is the system prompt, the tools and every message before the block, cache breakpoints left out of account.
Earlier thinking is not part of it, but the thinking that is kept must be an unbroken run: dropping the oldest blocks,
the newest or all of them is allowed, a gap is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from compact.formats.anthropic.model import binds_thinking
from compact.formats.anthropic.view import (
    THINKING,
    Block,
    View,
    grouped,
    kind_of,
    origin_view,
    parts,
    role_of,
    seal,
    view,
)
from compact.formats.format import Finding, Request, Rule
from compact.messages import Json

_SYSTEM = " The `system` prompt differs from the one this block was created with."
_TOOLS = " The `tools` list differs from the one this block was created with."
_GAP = " The `thinking` block that preceded this one when it was created is missing from this request."


def _bound(request: Request) -> Iterator[Finding]:
    return _unbound_blocks(request) if binds_thinking(request.body) else iter(())


def _unbound_blocks(request: Request) -> Iterator[Finding]:
    read, origin = view(request), origin_view(request)
    if origin is None or not read.thinking or _drops_silently(read.body):
        return
    # After a summary of the vendor's own the prefix begins anew, and the vendor knows what it summarised.
    if _compactions(read) != _compactions(origin):
        return
    if not _same(read.body.get("system"), origin.body.get("system")):
        yield from _all_thinking(read, _SYSTEM)
    elif not _same_tools(read.body.get("tools"), origin.body.get("tools")):
        yield from _all_thinking(read, _TOOLS)
    else:
        yield from _against(read, origin)


def _compactions(read: View) -> list[Block]:
    return [block for _, _, block in read.of_kind("compaction")]


def _drops_silently(body: Mapping[str, Json]) -> bool:
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def _all_thinking(read: View, why: str, start: int = 0) -> Iterator[Finding]:
    return (_finding(index, position, why) for index, position, _ in read.thinking if index >= start)


def _against(read: View, origin: View) -> Iterator[Finding]:
    """Walks both conversations side by side: from the first difference on, no thinking is valid.

    What was appended since the original is the vendor's to judge.
    """
    kept = grouped((spot[0], spot) for spot in read.thinking)
    passed, last, broken = 0, None, False  # `last` is the number of the thinking block last kept
    for index, (message, original) in enumerate(zip(read.messages, origin.messages, strict=False)):
        alike = _alike(message, original)
        made = origin.seals.get(index, [])
        cursor = 0
        for _, position, block in kept.get(index, ()):
            if alike is not None and position > alike:
                yield _finding(index, position, "")
            elif (own := seal(block)) in made[cursor:]:
                cursor = made.index(own, cursor) + 1
                broken = broken or (last is not None and passed + cursor != last + 1)
                last = passed + cursor
                if broken:
                    yield _finding(index, position, _GAP)
        if alike is not None:
            yield from _all_thinking(read, "", index + 1)
            return
        passed += len(made)


def _finding(index: int, position: int, why: str) -> Finding:
    return Finding(
        index,
        f"messages.{index}.content.{position}: Invalid `signature` in `thinking` block. "
        "The block is bound to a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the '
        f"`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.{why}",
    )


def _alike(message: Json, original: Json) -> int | None:
    """The position of the first block that differs, thinking not counted; None if the two are alike to the end."""
    if message is original:
        return None
    if role_of(message) != role_of(original):
        return -1
    theirs = deque(_uncached_block(block) for block in parts(original) if kind_of(block) not in THINKING)
    for position, block in enumerate(parts(message)):
        if kind_of(block) not in THINKING and (not theirs or _uncached_block(block) != theirs.popleft()):
            return position
    return len(parts(message)) if theirs else None


def _same(one: Json, other: Json) -> bool:
    return bool(one == other or _uncached(one) == _uncached(other))


def _same_tools(tools: Json, originals: Json) -> bool:
    """Whether the model sees the same tools: one whose loading is deferred may be added at any time."""
    if tools == originals or not isinstance(tools, list) or not isinstance(originals, list):
        return bool(tools == originals)
    known = [_uncached_block(tool) for tool in originals]
    return known == [plain for tool in tools if (plain := _uncached_block(tool)) in known or not _is_deferred(tool)]


def _is_deferred(tool: Json) -> bool:
    return isinstance(tool, dict) and tool.get("defer_loading") is True


def _uncached(value: Json) -> Json:
    """The block, or the list of blocks, without cache breakpoints; those inside a tool result are left out too."""
    if isinstance(value, list):
        return [_uncached_block(item) for item in value]
    return _uncached_block(value)


def _uncached_block(block: Json) -> Json:
    if not isinstance(block, dict):
        return block
    plain = _without_breakpoint(block)
    if kind_of(block) == "tool_result" and isinstance(inner := block.get("content"), list):
        plain["content"] = [_without_breakpoint(part) if isinstance(part, dict) else part for part in inner]
    return plain


def _without_breakpoint(block: Block) -> Block:
    return {key: value for key, value in block.items() if key != "cache_control"}


_REMEDY = (
    "Drop the thinking blocks that come after a change (or all of them), keep the system prompt and the tools as they "
    'were, or have the API drop them: thinking.block_binding.prefix_mismatch_behavior = "drop_block".'
)

BINDING = (
    Rule(
        id="A20",
        name="thinking-bound-to-its-conversation",
        seen="2026-08-31",
        source="documentation",
        remedy=_REMEDY,
        find=_bound,
        compares=True,
    ),
    Rule(
        id="A20b",
        name="thinking-bound-whatever-the-model",
        seen="2026-08-31",
        source="documentation",
        remedy=_REMEDY,
        find=_unbound_blocks,
        compares=True,
        optional=True,
    ),
)
