"""Asynchronous twins of methods that block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
R = TypeVar("R")


def in_thread(method: Callable[Concatenate[Owner, P], R]) -> Callable[Concatenate[Owner, P], Coroutine[Any, Any, R]]:
    """The twin of a method: it takes and gives the same, and runs on a thread, so the event loop goes on."""
    name = method.__name__

    @wraps(method)
    async def twin(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        run: Callable[P, R] = getattr(self, name)  # a subclass may have its own
        return await asyncio.to_thread(run, *args, **kwargs)

    twin.__name__ = f"a{name}"
    twin.__qualname__ = method.__qualname__.removesuffix(name) + twin.__name__
    twin.__doc__ = f"The same as `{name}`, without blocking the event loop."
    return twin
