"""What an application writes under a message's `meta`: it is for Compact, and no vendor knows the key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from copy import deepcopy

from compact.messages.blocks import Json


def meta_of(wire: Json) -> dict[str, Json] | None:
    """The message's `meta`, if it says what is protected; any other is not ours, and stays where it is."""
    meta = wire.get("meta") if isinstance(wire, dict) else None
    return meta if isinstance(meta, dict) and "protected" in meta else None


def without_meta(wire: Json) -> Json:
    """The message as a vendor takes it: the very object where it has no `meta` of ours."""
    return wire if meta_of(wire) is None else {key: value for key, value in wire.items() if key != "meta"}


def merge_meta(*metas: Json) -> dict[str, Json] | None:
    """The `meta` of a message that several are joined in: it is protected if one of them is."""
    found = [meta for meta in metas if isinstance(meta, dict)]
    if not any("protected" in meta for meta in found):
        return found[-1] if found else None
    merged = {key: value for meta in found for key, value in meta.items()}
    return {**merged, "protected": any(bool(meta.get("protected")) for meta in found)}


class Metas:
    """The `meta` of messages that were seen with one, by what is left of them without it.

    Applications are given messages without it, ready to be sent, and hand those back.
    """

    def __init__(self, messages: Iterable[Json] = (), clean: Callable[[Json], Json] | None = None) -> None:
        self._known: dict[bytes, dict[str, Json]] = {}
        self._clean = clean or (lambda wire: wire)  # what is done to messages before they are kept
        for wire in messages:
            self.add(wire)

    def add(self, wire: Json) -> bool:
        """Remember the message's `meta`; whether that is new."""
        meta = meta_of(wire)
        if meta is None:
            return False
        key = _key(self._clean(without_meta(wire)))
        new = self._known.get(key) != meta
        self._known[key] = deepcopy(meta)
        return new

    def copy(self) -> Metas:
        """The same, to be added to without changing these."""
        other = Metas(clean=self._clean)
        other._known.update(self._known)
        return other

    def lacks(self, other: Metas) -> bool:
        """Whether the others know of something that is not known here, or is known otherwise."""
        return any(self._known.get(key) != meta for key, meta in other._known.items())

    def complete(self, wire: Json) -> Json:
        """The message with the `meta` it was seen with; what says something itself stays as it is."""
        if not self._known or not isinstance(wire, dict) or "meta" in wire:
            return wire
        meta = self._known.get(_key(self._clean(wire)))
        return wire if meta is None else {**wire, "meta": deepcopy(meta)}


def _key(wire: Json) -> bytes:
    """Equal for equal messages: databases give keys back in another order."""
    try:
        written = json.dumps(wire, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        written = repr(wire)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).digest()
