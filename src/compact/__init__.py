"""Compact keeps a conversation within its model's window: every request stays valid, and nothing is lost.

Everything is loaded on first use, so `import compact` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compact.app import Result, condense, count_tokens, restore
    from compact.app.estimating import Estimate, estimate
    from compact.app.manager import CompactManager
    from compact.errors import CompactError, ConversionError, InsufficientBudget, InvalidInput, TokenCountError
    from compact.formats import convert, parse, render
    from compact.messages import Conversation, Message
    from compact.policies import CompactConfig

__all__ = [
    "CompactConfig",
    "CompactError",
    "CompactManager",
    "Conversation",
    "ConversionError",
    "Estimate",
    "InsufficientBudget",
    "InvalidInput",
    "Message",
    "Result",
    "TokenCountError",
    "condense",
    "convert",
    "count_tokens",
    "estimate",
    "parse",
    "render",
    "restore",
]

_HOMES = {
    "compact.app": ("Result", "condense", "count_tokens", "restore"),
    "compact.app.estimating": ("Estimate", "estimate"),
    "compact.app.manager": ("CompactManager",),
    "compact.errors": ("CompactError", "ConversionError", "InsufficientBudget", "InvalidInput", "TokenCountError"),
    "compact.formats": ("convert", "parse", "render"),
    "compact.messages": ("Conversation", "Message"),
    "compact.policies": ("CompactConfig",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'compact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
