"""Plans of edits.

A condensation is a plan: passes of edits over an immutable conversation. Providers propose edits; they never build
message lists. An edit cannot move a message or remove half of a pair.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from compact.messages.blocks import Path
from compact.messages.conversation import Message


class Where(NamedTuple):
    """A place in a conversation: a tuple, as many are made, and looked up.

    `path` leads into a call's decoded arguments, or is the position of a part of a result. `lines` is a half-open
    span of the text there, split at line feeds.
    """

    message: str
    block: int
    path: Path = ()
    lines: tuple[int, int] | None = None


SUPERSEDED: Final = "superseded"
"""Why a text goes that something further down says anew."""


@dataclass(frozen=True, slots=True)
class Replace:
    """The text, value or span of lines at `where` becomes `with_`."""

    where: Where
    with_: str
    why: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Whole exchanges become one summary message; with `into=None` a marker that says how many went.

    `messages` are the ids of all their messages. `role` is a wish that the vendor's rules may overrule. `count` is how
    many messages went in all, where some of these stood for others; 0 where none did.
    """

    messages: tuple[str, ...]
    into: str | None
    why: str
    role: str = "assistant"
    count: int = 0

    @property
    def handle(self) -> str:
        """The id of what it becomes, derived from what it says: the same fold gives the same bytes."""
        digest = hashlib.sha256(repr((self.messages, self.into, self.role)).encode("utf-8", "surrogatepass"))
        return f"fold-{digest.hexdigest()[:12]}"

    @property
    def text(self) -> str:
        if self.into is not None:
            return self.into
        count = self.count or len(self.messages)
        return f"⟨ {count} earlier message{'s' * (count != 1)} removed, recall {self.handle} ⟩"


@dataclass(frozen=True, slots=True)
class Drop:
    """One block of reasoning goes, whole."""

    where: Where
    why: str


Edit: TypeAlias = Replace | Fold | Drop


@dataclass(frozen=True, slots=True)
class Pass:
    """Edits that are applied and judged together.

    `originals` (positions and messages as they were) and `added` (ids of the messages that folds made) are filled in
    by `apply`; with them a pass can be reverted. With `alone`, nothing else may go for its sake.
    """

    name: str
    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    originals: tuple[tuple[int, Message], ...] = ()
    added: tuple[str, ...] = ()
    alone: bool = False


Plan: TypeAlias = tuple[Pass, ...]
