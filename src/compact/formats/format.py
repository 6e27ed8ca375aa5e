"""What a wire format is made of: a bundle of functions, one module a vendor.

A `Format` satisfies `compact.messages.Dialect`, so the core edits conversations without knowing the vendor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal, TypeAlias, TypeVar

from compact.errors import InvalidConversation
from compact.formats.identity import identify_blocks, key_of
from compact.messages import (
    ROLES_NEVER_PRUNED,
    Alternation,
    Attachment,
    Block,
    Image,
    Json,
    Message,
    Neighbours,
    Opaque,
    Path,
    State,
    Text,
    Tool,
    ToolResult,
    Violation,
    merge_meta,
    meta_of,
)
from compact.messages.paths import with_values


@dataclass(frozen=True, slots=True)
class Request:
    """A request body as it would be sent, and the one it was condensed from, if any."""

    body: Mapping[str, Json]
    origin: Mapping[str, Json] | None = None
    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a format's rules have read of the body and found in it, once for all of them."""
    origin_memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """The same of the origin's body."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach of a rule: the position of the message, and the vendor's own words."""

    index: int | None
    text: str
    param: str | None = None
    code: str | None = None
    status: int = 400


Source: TypeAlias = Literal["error", "documentation", "code", "unsourced"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing a vendor rejects: known from where and since when, how to find it, and what to do about it.

    `variants` are the deployments that enforce it; empty means all of the format's. `optional` rules apply only when
    switched on. One that `compares` looks at the request's origin as well; what the others find depends on the body
    alone.
    """

    id: str
    name: str
    seen: str
    source: Source
    remedy: str
    find: Callable[[Request], Iterable[Finding]]
    variants: frozenset[str] = frozenset()
    optional: bool = False
    compares: bool = False

    def violations(self, request: Request) -> tuple[Violation, ...]:
        """What it finds; where that depends on the body alone it is kept: what one pass left, the next begins with."""
        known = None if self.compares else request.memo.get(self.id)
        if isinstance(known, tuple):
            return known
        found = tuple(
            Violation(self.id, hit.index, hit.text, self.remedy, hit.param, hit.code, hit.status)
            for hit in self.find(request)
        )
        if not self.compares:
            request.memo[self.id] = found
        return found


@dataclass(frozen=True, slots=True)
class Turn:
    """A message on its way from one format to another: paired, with unique call ids."""

    role: str
    blocks: tuple[Block, ...]
    name: str = ""
    meta: Mapping[str, Json] | None = None


class Evidence(IntEnum):
    """How much a message says about the format it is in."""

    NOTHING = 0
    HINT = 1
    """Usual here, and seen elsewhere."""
    SIGN = 2
    """Only here by the vendors' documents, and written elsewhere by some client."""
    PROOF = 3


Lack: TypeAlias = Literal[
    "error flags", "file addresses", "free arguments", "instructions midway", "media in results", "names"
]
"""What some formats have no place for."""

NO_PARAMETERS: Json = {"type": "object", "properties": {}}
"""The schema of a function that takes nothing."""


def _as_it_is(value: Json) -> Json:
    return value


def _text_part(text: str, role: str) -> Json:
    return {"type": "text", "text": text}


def _summary(text: str, role: str, neighbours: Neighbours) -> Sequence[Json]:
    return [{"role": role, "content": text}]


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format."""

    name: str
    title: str
    messages_key: str
    system_key: str
    tools_key: str
    variants: tuple[str, ...]
    """The deployments whose rules differ; the first is the vendor's own API."""
    parse_message: Callable[[Json, str], Message] = field(repr=False)
    parse_system: Callable[[Json], Message] = field(repr=False)
    read_tools: Callable[[Sequence[Json]], tuple[Tool, ...]] = field(repr=False)
    evidence: Callable[[Mapping[str, Json]], Evidence] = field(repr=False)
    """How sure a message makes it that this is its format."""
    owns_tool: Callable[[Mapping[str, Json]], bool] = field(repr=False)
    """Whether a tool definition can be of this format only."""
    compose: Callable[[Sequence[Turn]], list[Json]] = field(repr=False)
    compose_tools: Callable[[Sequence[Tool]], list[Json]] = field(repr=False)
    rules: tuple[Rule, ...] = field(repr=False)
    compose_system: Callable[[str], Json] = field(default=_as_it_is, repr=False)
    text_part: Callable[[str, str], Json] = field(default=_text_part, repr=False)
    summary: Callable[[str, str, Neighbours], Sequence[Json]] = field(default=_summary, repr=False)
    edited: Callable[[Json], Json] = field(default=_as_it_is, repr=False)
    identity: Callable[[Json], Json] = field(default=identify_blocks, repr=False)
    """The form of a message in which two are the same: without what clients move or write in two ways."""
    lacks: frozenset[Lack] = frozenset()
    """What conversations in other formats may hold and this one cannot."""
    forgets_reasoning: bool = False
    """Whether the vendor takes earlier turns without what the model thought in them."""
    alternations: Mapping[str, Alternation] = field(default_factory=dict, repr=False)
    """How the variants want turns to follow each other that care about it."""
    answer_paths: tuple[Path, ...] = ()
    """Where a request may say how many tokens its answer may have, the name that counts first."""
    thinking_path: Path = ()
    """Where it says how many of them are for reasoning, if the vendor wants its answer to be longer than that."""

    def answer_limit(self, body: Mapping[str, Json]) -> int | None:
        """Return the most tokens that the request allows its answer; None where it sets no limit."""
        return next((limit for path in self.answer_paths if (limit := _tokens(body, path))), None)

    def with_answer_limit(self, body: Mapping[str, Json], limit: int) -> dict[str, Json]:
        """Return the request with a lower limit of its answer, under each name by which it sets one."""
        given = {path: _tokens(body, path) for path in self.answer_paths}
        lower = {path: min(tokens, limit) for path, tokens in given.items() if tokens}
        changed: dict[str, Json] = with_values(dict(body), lower)
        return changed

    def thinking_budget(self, body: Mapping[str, Json]) -> int:
        """Return how many tokens of the answer are set aside for reasoning; 0 where none are."""
        return _tokens(body, self.thinking_path) if self.thinking_path else 0

    def alternation(self, variant: str) -> Alternation | None:
        return self.alternations.get(variant)

    def key(self, wire: Json) -> bytes:
        """A short name of the message, equal for two that are the same; it holds on every machine."""
        return key_of(self.identity(wire))

    def violations(
        self, request: Request, variant: str = "", switch: Mapping[str, bool] | None = None
    ) -> list[Violation]:
        """Everything the variant would reject, in the order it checks; `switch` turns rules on or off by id."""
        chosen = variant or self.variants[0]
        if chosen not in self.variants:
            raise InvalidConversation(
                f"{self.name} has no variant {chosen!r}", field="variant", remedy=f"Known: {', '.join(self.variants)}."
            )
        found: list[Violation] = []
        for rule in self.rules:
            applies = not rule.optional and (not rule.variants or chosen in rule.variants)
            if (switch or {}).get(rule.id, applies):
                found += rule.violations(request)
        return found


def _tokens(body: Mapping[str, Json], path: Path) -> int:
    """The number of tokens at a path of a request; 0 where there is none."""
    value: Json = body
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def read_message(
    wire: Mapping[str, Json], id: str, role: str, blocks: Iterable[Block], *, pinned: bool = False
) -> Message:
    """The message, protected if it says so (`meta["protected"]`) or if its role is never pruned.

    It is pinned where one of its blocks holds state, or by what kind of item it is.
    """
    flagged = bool((meta_of(wire) or {}).get("protected"))
    name = text_of(wire.get("name"))
    protected = flagged or role in ROLES_NEVER_PRUNED
    held = tuple(blocks)
    forgets: frozenset[str] = frozenset()
    for state in _states(held):
        pinned, forgets = True, forgets | state.forgets
    return Message(id, role, held, wire, protected, name, pinned, forgets)


def _states(blocks: Iterable[Block]) -> Iterator[State]:
    """The state in the blocks, and in what tools answered."""
    for block in blocks:
        if isinstance(block, Opaque):
            if block.state is not None:
                yield block.state
        elif isinstance(block, ToolResult):
            yield from _states(block.parts)


def opaque(kind: str, value: Json, path: Path, ordinary: Collection[str]) -> Opaque:
    """A block that is passed on as it is: there is no telling what state one of no ordinary kind holds."""
    return Opaque(kind, value, path, None if kind in ordinary else State())


def system_message(wire: Json, blocks: Iterable[Block]) -> Message:
    """A system prompt that stands outside the messages."""
    return Message(id="system", role="system", blocks=tuple(blocks), wire=wire, protected=True)


def require_object(wire: Json, id: str) -> dict[str, Json]:
    """The wire object, if it is one."""
    if isinstance(wire, dict):
        return wire
    raise InvalidConversation(
        f"a message must be a JSON object, not {type(wire).__name__}",
        field=f"messages[{id}]",
        remedy="Pass a list of message objects.",
    )


def require_role(wire: Mapping[str, Json], id: str) -> str:
    """The message's role, if it has one."""
    role = wire.get("role")
    if isinstance(role, str) and role:
        return role
    raise InvalidConversation(
        "is missing" if role is None else f"must be a string, not {type(role).__name__}",
        field=f"messages[{id}].role",
        remedy='Give each message a role such as "user" or "assistant".',
    )


PartT = TypeVar("PartT")


def read_parts(content: Json, path: Path, read: Callable[[Json, Path], PartT]) -> Iterator[PartT | Text | Opaque]:
    """What a content holds: parts, which `read` knows, or a text in their place."""
    if isinstance(content, str):
        yield Text(content, path)
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield read(part, (*path, index))
    elif content is not None:
        yield Opaque("content", content, path)


def part_kinds(wire: Mapping[str, Json]) -> set[str]:
    """The types of the message's content parts."""
    content = wire.get("content")
    if not isinstance(content, list):
        return set()
    return {text_of(part.get("type")) for part in content if isinstance(part, dict)}


def marked(wire: dict[str, Json], turn: Turn) -> dict[str, Json]:
    """The wire object with the turn's `meta`, joined to its own where it has one."""
    return wire if turn.meta is None else wire | {"meta": merge_meta(wire.get("meta"), turn.meta)}


def shortest(parts: list[Json]) -> Json:
    """The parts as a content; a single text needs none around it."""
    if not parts:
        return ""
    return parts[0]["text"] if len(parts) == 1 and "text" in parts[0] else parts


EACH_IN_TURN: Mapping[tuple[str, str], str] = {("user", "user"): "assistant", ("assistant", "assistant"): "user"}
"""Whose turn is missing where user and assistant alternate."""


def summary_role(wish: str, neighbours: Neighbours) -> str:
    """The wished role where turns must alternate and a conversation may neither begin nor end with the model."""
    earlier, later = neighbours
    if wish == "assistant" and earlier is not None and later is not None:
        if earlier.role != "assistant" and later.from_user:
            return "assistant"
    return "user"


def text_of(value: Json) -> str:
    """The value if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def image(url: str, detail: Json, path: Path) -> Image:
    """The picture behind a URL, which may carry it by value (`data:image/png;base64,…`)."""
    media_type, data = split_data_url(url)
    return Image(media_type, data, None if data else url, text_of(detail) or None, path)


def attachment(name: str, media_type: str, source: tuple[Json, Json], path: Path) -> Attachment:
    """A file given by base64 data (or a data URL) or by address."""
    data, url = text_of(source[0]), text_of(source[1])
    inner_type, inner = split_data_url(data)
    data = inner or data
    size = len(data) * 3 // 4 if data else None
    return Attachment(name, media_type or inner_type, size, data or None, url or None, path)


def split_data_url(url: str) -> tuple[str, str | None]:
    """Media type and base64 data of a data URL; ("", None) for any other text."""
    if not url.startswith("data:"):
        return "", None
    head, comma, data = url.partition(",")
    if not comma or not head.endswith(";base64"):
        return "", None
    return head[len("data:") : -len(";base64")].split(";")[0], data


def data_url(media_type: str, data: str) -> str:
    return f"data:{media_type or 'application/octet-stream'};base64,{data}"
