"""Callbacks that pass questions on to another one, and what a callback says of the models that it asks."""

from __future__ import annotations

from collections.abc import Collection

from compact.engine.driver import AskModel
from compact.ports import ReadingLimits


class Relay:
    """Stands before a callback, and asks the same models."""

    def __init__(self, ask: AskModel) -> None:
        self._ask = ask

    @property
    def vendors(self) -> frozenset[str]:
        return vendors_of(self._ask)

    def reader(self, profile: str) -> ReadingLimits | None:
        return find_reader(self._ask, profile)


def vendors_of(ask: AskModel) -> frozenset[str]:
    """The vendors that the callback names; none where it names none."""
    named: object = getattr(ask, "vendors", ())
    if isinstance(named, str | bytes) or not isinstance(named, Collection):
        return frozenset()
    return frozenset(map(str, named))


def find_reader(ask: AskModel | None, profile: str) -> ReadingLimits | None:
    """The model that a question for the profile goes to, the empty name being the usual one; None if not known."""
    find = getattr(ask, "reader", None)
    found = find(profile) if callable(find) else None
    return found if isinstance(found, ReadingLimits) else None
