"""Thinking that is bound to its conversation: valid only after the very prefix it was made with.

The prefix is the system prompt, the tools and every message before the block, cache breakpoints left out of account.
Earlier thinking is not part of it, but the thinking that is kept must be an unbroken run: dropping the oldest blocks,
the newest or all of them is allowed, a gap is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compact.formats.anthropic.model import binds_thinking
from compact.formats.anthropic.view import THINKING, Block, Seal, kind_of, messages, of_kind, parts, role_of, seal
from compact.formats.format import Finding, Request, Rule
from compact.messages import Json

_SYSTEM = " The `system` prompt differs from the one this block was created with."
_TOOLS = " The `tools` list differs from the one this block was created with."
_GAP = " The `thinking` block that preceded this one when it was created is missing from this request."


def _bound(request: Request) -> Iterator[Finding]:
    return _unbound_blocks(request) if binds_thinking(request.body) else iter(())


def _unbound_blocks(request: Request) -> Iterator[Finding]:
    body, origin = request.body, request.origin
    # After a summary of the vendor's own the prefix begins anew, and the vendor knows what it summarised.
    if origin is None or _drops_silently(body) or any(of_kind(body, "compaction")):
        return
    if not _same(body.get("system"), origin.get("system")):
        yield from _all_thinking(messages(body), _SYSTEM)
    elif not _same_tools(body.get("tools"), origin.get("tools")):
        yield from _all_thinking(messages(body), _TOOLS)
    else:
        yield from _against(messages(body), messages(origin))


def _drops_silently(body: Mapping[str, Json]) -> bool:
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def _all_thinking(wires: Sequence[Json], why: str, start: int = 0) -> Iterator[Finding]:
    for index in range(start, len(wires)):
        for position, _, _ in _thinking(wires[index]):
            yield _finding(index, position, why)


def _against(wires: Sequence[Json], originals: Sequence[Json]) -> Iterator[Finding]:
    """Walks both conversations side by side: from the first difference on, no thinking is valid.

    What was appended since the original is the vendor's to judge.
    """
    passed, last, broken = 0, None, False  # `last` is the number of the thinking block last kept
    for index, (message, original) in enumerate(zip(wires, originals, strict=False)):
        made = [own for _, _, own in _thinking(original)]
        alike = _common(message, original)
        cursor = 0
        for position, before, own in _thinking(message):
            if alike is not None and before > alike:
                yield _finding(index, position, "")
            elif own in made[cursor:]:
                cursor = made.index(own, cursor) + 1
                number = passed + cursor
                broken = broken or (last is not None and number != last + 1)
                last = number
                if broken:
                    yield _finding(index, position, _GAP)
        if alike is not None:
            yield from _all_thinking(wires, "", index + 1)
            return
        passed += len(made)


def _thinking(message: Json) -> Iterator[tuple[int, int, Seal]]:
    """Each thinking block's position, how many other blocks stand before it, and its seal."""
    others = 0
    for position, block in enumerate(parts(message)):
        if kind_of(block) in THINKING:
            yield position, others, seal(block)
        else:
            others += 1


def _finding(index: int, position: int, why: str) -> Finding:
    return Finding(
        index,
        f"messages.{index}.content.{position}: Invalid `signature` in `thinking` block. "
        "The block is bound to a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the '
        f"`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.{why}",
    )


def _common(one: Json, other: Json) -> int | None:
    """How many blocks, thinking not counted, the two begin with alike; None if they are alike to the end."""
    if one is other:
        return None
    if role_of(one) != role_of(other):
        return -1
    ours, theirs = _visible(one), _visible(other)
    if ours == theirs:
        return None
    pairs = zip(ours, theirs, strict=False)
    return next((count for count, (mine, yours) in enumerate(pairs) if mine != yours), min(len(ours), len(theirs)))


def _visible(message: Json) -> list[Json]:
    return [_uncached_block(block) for block in parts(message) if kind_of(block) not in THINKING]


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
    ),
    Rule(
        id="A20b",
        name="thinking-bound-whatever-the-model",
        seen="2026-08-31",
        source="documentation",
        remedy=_REMEDY,
        find=_unbound_blocks,
        optional=True,
    ),
)
