"""Conversations as immutable values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from compact.messages.blocks import Block, Json, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from compact.messages.edits import Where
    from compact.messages.turns import Alternation

ROLES_NEVER_PRUNED = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Message:
    """One message: the wire object it came as, and the blocks read from it.

    The blocks are always what its dialect reads from `wire`; there is no state beside the wire object. It is our `own`
    where it carries our seal, and not where it should and does not; None where that was not looked at. It is `pinned`
    where it holds tools, settings or state of the vendor: `protected` is what people and applications ask for, this
    follows from the wire object. `forgets` are the roles whose earlier messages the vendor leaves out from here on. It
    is `joined` where it is sent in one turn with the message before it, as what stood between them was removed.
    """

    id: str
    role: str
    blocks: tuple[Block, ...]
    wire: Json = field(repr=False)
    protected: bool = False
    name: str = ""
    pinned: bool = field(default=False, repr=False, compare=False)
    forgets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    own: bool | None = field(default=None, repr=False, compare=False)
    joined: bool = field(default=False, repr=False)
    kept_texts: tuple[tuple[Where, str], ...] | None = field(default=None, init=False, repr=False, compare=False)
    kept_prints: tuple[str, ...] | None = field(default=None, init=False, repr=False, compare=False)
    kept_marked: bool | None = field(default=None, init=False, repr=False, compare=False)
    kept_passages: Any = field(default=None, init=False, repr=False, compare=False)
    """What `compact.messages.texts` and `.speakers` read of it: it stands in many conversations, and every pass over
    them needs it."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def fixed(self) -> bool:
        """Whether it stays as it is and where it is: it is protected, or pinned by what it holds."""
        return self.protected or self.pinned

    @property
    def from_user(self) -> bool:
        """Whether something is said here in the user's role, by a person or a program; results alone say nothing."""
        return self.role == "user" and not all(isinstance(block, ToolResult) for block in self.blocks)


class Messages(tuple[Message, ...]):  # noqa: SLOT001 - a tuple's slots hold nothing
    """The messages of a conversation, and what was read of all of them, by what read it: it goes when they go."""

    @cached_property
    def memo(self) -> dict[object, Any]:
        return {}


class Dialect(Protocol):
    """What the core needs of a wire format; the formats layer implements it."""

    @property
    def name(self) -> str: ...

    @property
    def forgets_reasoning(self) -> bool:
        """Whether the vendor takes earlier turns without what the model thought in them."""
        ...

    def parse_message(self, wire: Json, id: str, /) -> Message:
        """Read one wire object."""
        ...

    def text_part(self, text: str, role: str, /) -> Json:
        """A content part that holds `text`, for a message of that role."""
        ...

    def summary(self, text: str, role: str, neighbours: Neighbours, /) -> Sequence[Json]:
        """The wire objects of a summary that may stand between its neighbours, in that role if the vendor allows."""
        ...

    def edited(self, wire: Json, /) -> Json:
        """The wire object without what the vendor binds to its unedited form."""
        ...

    @property
    def identity(self) -> Callable[[Json], Json]:
        """Gives the form of a wire object in which two are the same message."""
        ...

    def alternation(self, variant: str, /) -> Alternation | None:
        """How that deployment wants turns to follow each other; None where it does not care."""
        ...


Neighbours: TypeAlias = tuple[Message | None, Message | None]


@dataclass(frozen=True, slots=True)
class Conversation:
    """An immutable conversation in the dialect it came in.

    `options` is the rest of the request it was read from (model, thinking, …), if it was read from one. `assumed` is
    what else is known of that rest: rules read it where the options say nothing, and it is never sent. Its `variant` is
    the deployment whose rules hold, where that is not the vendor's own.
    """

    dialect: Dialect
    messages: tuple[Message, ...]
    system: Message | None = None
    tools: tuple[Json, ...] = ()
    options: Mapping[str, Json] = field(default_factory=dict)
    assumed: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)
    memo: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was read of it, by what read it."""

    def __post_init__(self) -> None:
        if not isinstance(self.messages, Messages):
            object.__setattr__(self, "messages", Messages(self.messages))

    @property
    def format(self) -> str:
        return self.dialect.name

    @property
    def variant(self) -> str:
        """The deployment that the conversation is sent to; empty for the vendor's own."""
        found = self.assumed.get("variant")
        return found if isinstance(found, str) else ""

    def __len__(self) -> int:
        return len(self.messages)

    def with_messages(self, messages: Sequence[Message]) -> Conversation:
        return replace(self, messages=Messages(messages))


def assuming(conversation: Conversation, known: Mapping[str, Json]) -> Conversation:
    """The conversation, with more known of the request it belongs to: the model that the caller names, say."""
    return replace(conversation, assumed={**conversation.assumed, **known})


Of = TypeVar("Of")
Kept = TypeVar("Kept")


def once(read: Callable[[Of], Kept]) -> Callable[[Of], Kept]:
    """Makes a function keep with a conversation, or its messages, what it read of it: every step of a pass asks again.

    What has no memo, such as a list, is read anew.
    """

    @wraps(read)
    def kept(of: Of) -> Kept:
        memo: dict[object, Any] | None = getattr(of, "memo", None)
        if memo is None:
            return read(of)
        if read not in memo:
            memo[read] = read(of)
        found: Kept = memo[read]
        return found

    return kept


@once
def seen(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages that the vendor reads: what a compaction of its own stands for, it leaves out."""
    if not any(message.forgets for message in messages):
        return messages
    forgotten: frozenset[str] = frozenset()
    found = []
    for message in reversed(messages):
        if message.role not in forgotten:
            found.append(message)
        forgotten |= message.forgets
    return tuple(reversed(found))


@once
def visible(conversation: Conversation) -> Conversation:
    """The conversation as the vendor reads it; itself where that is all of it."""
    read = seen(conversation.messages)
    return conversation if read is conversation.messages else conversation.with_messages(read)


Which: TypeAlias = Collection[int] | Callable[[Message], bool] | None


def protect(conversation: Conversation, which: Which, roles: Collection[str] = ()) -> Conversation:
    """The conversation with more messages protected: by position (negative counts from the end), predicate or role."""
    size = len(conversation)
    chosen: Callable[[int, Message], bool]
    if callable(which):
        predicate = which
        chosen = lambda _, message: predicate(message)  # noqa: E731 - three short cases of one function
    else:
        positions = {index + size if index < 0 else index for index in which or ()}
        chosen = lambda index, _: index in positions  # noqa: E731
    return conversation.with_messages(
        [
            replace(message, protected=True)
            if not message.protected and (message.role in roles or chosen(index, message))
            else message
            for index, message in enumerate(conversation.messages)
        ]
    )
