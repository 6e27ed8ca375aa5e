"""Cache breakpoints: how many, on what, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from compact.formats.anthropic.view import Block, view
from compact.formats.format import Finding, Request, Rule

Breakpoint: TypeAlias = tuple[int | None, str, Block]
"""The index of the message, if it is in one; where the block stands; and the block."""


def _breakpoints(request: Request) -> Iterator[Breakpoint]:
    """Every block that ends a cached prefix, in the order in which the API reads them."""
    for key in ("tools", "system"):
        blocks = request.body.get(key)
        for position, block in enumerate(blocks if isinstance(blocks, list) else ()):
            if isinstance(block, dict) and isinstance(block.get("cache_control"), dict):
                yield None, f"{key}.{position}", block
    yield from view(request).cached


def _too_many(request: Request) -> Iterator[Finding]:
    count = sum(1 for _ in _breakpoints(request))
    if count > 4:
        yield Finding(None, f"A maximum of 4 blocks with cache_control may be provided. Found {count}.")


def _on_empty_text(request: Request) -> Iterator[Finding]:
    for index, where, block in view(request).cached:
        if block.get("type") == "text" and block.get("text") == "":
            yield Finding(index, f"{where}.text: cache_control cannot be set for empty text blocks")


def _long_after_short(request: Request) -> Iterator[Finding]:
    short = False
    for index, where, block in _breakpoints(request):
        if block["cache_control"].get("ttl") != "1h":
            short = True
        elif short:
            yield Finding(
                index,
                f"{where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block. Note that blocks are processed in the following order: "
                "`tools`, `system`, `messages`.",
            )


CACHE = (
    Rule(
        id="A26",
        name="at-most-four-cache-breakpoints",
        seen="2026-11",
        source="error",
        remedy="Take cache_control off the earliest messages until four blocks carry it.",
        find=_too_many,
    ),
    Rule(
        id="A27",
        name="no-cache-breakpoint-on-empty-text",
        seen="2026-11",
        source="error",
        remedy="Drop the empty text block, or move its cache_control to the block before it.",
        find=_on_empty_text,
    ),
    Rule(
        id="A28",
        name="cache-ttl-never-rises",
        seen="2026-11",
        source="error",
        remedy="Give all breakpoints the same ttl, or the earlier ones (tools, then system) the longer one.",
        find=_long_after_short,
    ),
)
