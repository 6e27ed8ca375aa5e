"""Plans of edits.

A condensation is a plan: passes of edits over an immutable conversation. Providers propose edits; they never build
message lists. An edit cannot move a message or remove half of a pair.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from compact.messages.blocks import Path
from compact.messages.conversation import Message
from compact.messages.seals import FOLD


class Where(NamedTuple):
    """A place in a conversation: a tuple, as many are made, and looked up.

    `path` leads into a call's decoded arguments, or is the position of a part of a result. `lines` is a half-open
    span of the text there, split at line feeds.
    """

    message: str
    block: int
    path: Path = ()
    lines: tuple[int, int] | None = None


class EditKind(StrEnum):
    """What an edit does, or why; the values are shown to people, and stand in stored plans.

    A value that is none of these reads as `OTHER`: plans of other versions and providers of others may hold some.
    """

    LAYOUT = "layout"
    SHOWN_BEFORE = "shown before"
    SOURCE_REMOVED = "its source was removed"
    REFERENCE_FOLLOWED = "reference followed"
    SUPERSEDED = "superseded"
    TRUNCATED = "truncated"
    SUPPRESSED = "suppressed"
    SUMMARIZED = "summarized"
    PRUNED = "pruned"
    OVER_LIMIT = "over the limit"
    FACTS_NAMED = "missing facts named"
    BOUND_TO_CHANGED = "bound to what was changed"
    BOUND_TO_SUMMARIZED = "bound to what was summarized"
    OTHER = "changed"

    @classmethod
    def _missing_(cls, value: object) -> EditKind:  # noqa: ARG003 - whatever it is
        return cls.OTHER

    @property
    def shows_all(self) -> bool:
        """Whether all that stood there can still be read: there, or where a reference leads."""
        return self in _SHOWING_ALL

    @property
    def looks_ahead(self) -> bool:
        """Whether the text went because something further down says it anew."""
        return self is EditKind.SUPERSEDED


NEWEST = ""
"""In `refers_to`: the newest message of the conversation, whichever that was."""


_SHOWING_ALL = frozenset({EditKind.LAYOUT, EditKind.SHOWN_BEFORE, EditKind.SOURCE_REMOVED, EditKind.REFERENCE_FOLLOWED})


@dataclass(frozen=True, slots=True)
class Replace:
    """The text, value or span of lines at `where` becomes `with_`.

    `refers_to` are the ids of later messages that the new text speaks of, or that say anew what went.
    """

    where: Where
    with_: str
    kind: EditKind
    refers_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _settle_kind(self)


@dataclass(frozen=True, slots=True)
class AccountItem:
    """One statement of an account, and the ids of the messages that it tells of."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Whole exchanges become one summary message; with `into=None` the marker of earlier versions.

    `messages` are the ids of all their messages. `role` is a wish that the vendor's rules may overrule. `count` is how
    many messages went in all, where some of these stood for others; 0 where none did. `items` are the statements of an
    account, so that a later one can take them over. With `first` it stands where the first of them stood, ahead of
    what is protected among them and of what the system says right before them. `behind` is the id of a kept message
    that it does not come before: the task, where messages that no person wrote came first. `refers_to` are the ids of
    later messages that the summary speaks of: without them it would not be true.
    """

    messages: tuple[str, ...]
    into: str | None
    kind: EditKind
    role: str = "assistant"
    count: int = 0
    items: tuple[AccountItem, ...] = ()
    first: bool = False
    behind: str = ""
    refers_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _settle_kind(self)

    @property
    def handle(self) -> str:
        """The id of what it becomes, derived from what it says: the same fold gives the same bytes."""
        digest = hashlib.sha256(repr((self.messages, self.into, self.role)).encode("utf-8", "surrogatepass"))
        return f"{FOLD}{digest.hexdigest()[:12]}"

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
    kind: EditKind

    def __post_init__(self) -> None:
        _settle_kind(self)


Edit: TypeAlias = Replace | Fold | Drop


def _settle_kind(edit: Edit) -> None:
    given: object = edit.kind  # providers are other people's code
    if not isinstance(given, EditKind):
        object.__setattr__(edit, "kind", EditKind(str(given)))


@dataclass(frozen=True, slots=True)
class Pass:
    """Edits that are applied and judged together.

    `originals` (positions and messages as they were) and `added` (ids of the messages that folds made) are filled in
    by `apply`; with them a pass can be reverted. With `alone`, nothing else may go for its sake. With `merges`,
    messages of one role that come together may be sent as one turn; once it is applied, it says whether some are.
    """

    name: str
    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    originals: tuple[tuple[int, Message], ...] = ()
    added: tuple[str, ...] = ()
    alone: bool = False
    merges: bool = True


Plan: TypeAlias = tuple[Pass, ...]


def references_of(edit: Edit) -> tuple[str, ...]:
    """The ids of later messages that an edit depends on: the newest, if it looks ahead and names none."""
    named = () if isinstance(edit, Drop) else edit.refers_to
    return named or ((NEWEST,) if edit.kind.looks_ahead else ())
