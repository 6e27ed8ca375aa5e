"""Holds what was sent against what the client wrote, request by request.

The law of a conversation: what stands before the first message that the client changed is sent as it was the last time.
Where it is not, the prefix breaks, the vendor's cache is lost from there on, and there must be a cause for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import Any, Final, Literal, TypeAlias

from compact.formats import parse
from compact.messages import Json
from compact.testing.vendors.prompt import read
from compact.tokens.cache import CountCache
from compact.tokens.encodings import load
from scripts.lab.project import NONCES
from scripts.lab.shapes import KEYS, Body

Cause: TypeAlias = Literal["compaction", "client_rewrote", "undo", "none"]

TAIL: Final = 8
"""Messages at the end that a client may exchange without being said to have rewritten the conversation."""
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode
_COUNT: Final = CountCache(load("o200k_base").count)
_FRAME: Final = ("system", "instructions", "systemInstruction", "tools")


@dataclass(frozen=True, slots=True)
class Entry:
    """A request as its client wrote it and as it was sent on, with its size as Compact counts it."""

    written: Body = field(repr=False)
    sent: Body = field(repr=False)
    tokens: int
    compacted: bool = False
    claimed: str = ""
    """The cause of a break as Compact names it, if it does."""


@dataclass(slots=True)
class Ledger:
    """What became of one conversation."""

    entries: list[Entry] = field(default_factory=list)
    breaks: Counter[Cause] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    """The breaks that have no cause, and those whose cause is told wrongly."""
    shared: int = 0
    """The characters that requests have in common with the one before each."""
    sized: int = 0
    _last: tuple[list[str], list[str]] | None = None
    """The last request as it was written and as it was sent, message by message."""

    def add(self, entry: Entry) -> None:
        """Take up the next request."""
        written, sent = canonical(entry.written), canonical(entry.sent)
        self.sized += sum(map(len, sent))
        if self._last:
            before, told = self._last
            same, changed = _common(told, sent), len(before) - _common(before, written)
            self.shared += sum(map(len, sent[:same]))
            if same < len(told) - changed:
                self._break(entry, changed, f"{same} of {len(told)} messages, of which the client changed {changed}")
            elif entry.claimed == "compaction":
                self._remark("is said to break by a compaction, and does not break")
        self.entries.append(entry)
        self._last = written, sent

    def _break(self, entry: Entry, changed: int, found: str) -> None:
        cause: Cause = "none"
        if entry.compacted:
            cause = "compaction"
        elif entry.claimed == "undo" or changed > TAIL or (changed and entry.claimed == "client_rewrote"):
            cause = "undo" if entry.claimed == "undo" else "client_rewrote"
        self.breaks[cause] += 1
        if cause == "none":
            self._remark(f"repeats {found}")
        elif (cause == "compaction") != (entry.claimed == "compaction"):
            self._remark(f"breaks by {cause}, and is said to by {entry.claimed or 'nothing'}")

    def _remark(self, found: str) -> None:
        self.remarks.append(f"request {len(self.entries)} {found}")

    @property
    def compactions(self) -> int:
        """How many requests were compacted anew."""
        return sum(entry.compacted for entry in self.entries)

    @property
    def prefix(self) -> float:
        """The share of what was sent that the request before had, too."""
        return self.shared / self.sized if self.sized else 1.0

    def due(self, grown: int) -> int:
        """The compactions that a conversation which grew by so many tokens needs at most.

        Each makes room for what lies between the size it left and the trigger, which is at least the size of the last
        request before the first compaction.
        """
        first = next((at for at, entry in enumerate(self.entries) if entry.compacted), 0)
        left = [entry.tokens for entry in self.entries if entry.compacted]
        if not first:
            return len(left)
        room = self.entries[first - 1].tokens - sum(left) / len(left)
        return ceil(grown / room) + 1 if room > 0 else len(self.entries)

    def size(self, format: str, body: Body) -> int:
        """The size of a request as Compact counts it, which for Claude is not as the fake vendors do."""
        last = self.entries[-1]
        return int(tokens(format, body) * last.tokens / tokens(format, last.sent))

    def grown(self, format: str) -> int:
        """The tokens that the client added between its first and its last request."""
        return self.size(format, self.entries[-1].written) - self.size(format, self.entries[0].written)

    def missing_rules(self) -> int:
        """The requests that lack a rule which the client wrote in them."""
        return sum(bool(rules_in(entry.written) - rules_in(entry.sent)) for entry in self.entries)


def tokens(format: str, body: Body) -> int:
    """The size of a request as the fake vendors count it."""
    return read(parse(body, format=format), _COUNT).tokens


def rules_in(body: Body) -> set[str]:
    """The rules of the project whose words stand in the body."""
    text = json.dumps(body)
    return {nonce for nonce in NONCES if nonce in text}


def messages_of(body: Body) -> list[Any]:
    """The conversation of a request in any format."""
    found: Json = next((body[key] for key in KEYS if key in body), [])
    return found if isinstance(found, list) else [{"role": "user", "content": found}]


def canonical(body: Body) -> list[str]:
    """What stands before the messages, and each message, as a model reads it: without marks for the cache."""
    frame = {name: body[name] for name in _FRAME if name in body}
    return [_written(frame), *map(_written, messages_of(body))]


def without_marks(value: Json) -> Json:
    """The value with no mark for the cache in it; a tool's input is nobody's to change."""
    if isinstance(value, list):
        return [without_marks(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: one if key in ("input", "arguments") and not isinstance(one, list) else without_marks(one)
        for key, one in value.items()
        if key != "cache_control"
    }


def plain(body: Body) -> Body:
    """The request as a client would write it that knows of no marks, nor of the blocks that are there to bear them."""
    key = next(key for key in KEYS if key in body)
    return {**without_marks(body), key: [_unwrapped(without_marks(message)) for message in body[key]]}


def _written(value: Json) -> str:
    return _canonical(_encode(value))


@lru_cache(4096)
def _canonical(written: str) -> str:
    return _encode(_unwrapped(without_marks(json.loads(written))))


def _unwrapped(value: Json) -> Json:
    """The message with a string in place of a lone text block, also inside a tool's result."""
    if not isinstance(value, dict) or "content" not in value:
        return value
    content = value["content"]
    if isinstance(content, list):
        content = [_unwrapped(one) for one in content]
        if len(content) == 1 and isinstance(content[0], dict) and content[0].keys() == {"type", "text"}:
            content = content[0]["text"]
    return {**value, "content": content}


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    return next(
        (at for at, (one, two) in enumerate(zip(first, second, strict=False)) if one != two),
        min(len(first), len(second)),
    )
