"""Anthropic's signatures: a thinking block is bound to its own text and to the conversation it was made in.

The conversation is the system prompt, the tools and what was said before, without cache markers and thinking; each
block also knows the thinking block before it. So thinking may be taken away from either end, never from the middle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from compact.messages import Json
from compact.testing.vendors.seals import DIGEST, digest, seal, unseal
from compact.testing.vendors.wire import ApiError, Body, Headers, Options, Rejected

CONTROLS: Final = "thinking-binding-controls-2026-08-01"

_INVALID: Final = "invalid_request_error"
_THINKING: Final = {"thinking": "signature", "redacted_thinking": "data"}
_NO_BLOCK: Final = bytes(DIGEST)
_ELSEWHERE: Final = (
    "{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the "
    'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_HOW_TO_SET: Final = f" That setting requires the `{CONTROLS}` value in the `anthropic-beta` header."


@dataclass(frozen=True, slots=True)
class _Bond:
    """What a thinking block is bound to beside its own text."""

    system: bytes
    tools: bytes
    said: bytes
    previous: bytes


@dataclass(frozen=True, slots=True)
class _Block:
    """A thinking block, and where it stands."""

    message: int
    part: int
    wire: Json

    @property
    def place(self) -> str:
        return f"messages.{self.message}.content.{self.part}"

    @property
    def own(self) -> bytes:
        """The hash of its text."""
        return digest(str(self.wire.get("thinking", "")).encode("utf-8", "surrogatepass"))


def sign(body: Body, thinking: str) -> str:
    """The signature of thinking that answers the request."""
    *_, (_, bond) = _walk(body)
    own = digest(thinking.encode("utf-8", "surrogatepass"))
    return seal(own, bond.system, bond.tools, bond.said, bond.previous)


def verify(body: Body, headers: Headers, options: Options) -> tuple[Body, tuple[Json, ...] | None]:
    """Rejects thinking that was edited, and thinking of another conversation, or drops the latter if so asked.

    The second value lists what was dropped or would have been; None without the header that asks for it.
    """
    told = CONTROLS in headers.get("anthropic-beta", "")
    behavior = _behavior(body, told=told)
    enforced = options.bind_prefix or behavior is not None
    notes: list[Json] = []
    dropped: set[tuple[int, int]] = set()
    previous: bytes | None = None
    for block, bond in _walk(body) if options.enforces("A19") else ():
        if block is None:
            continue
        changed = _difference(block, bond, previous)
        previous = _identity(block)
        if changed is None and not dropped:
            continue
        if enforced and behavior != "drop_block":
            text = _ELSEWHERE.format(place=block.place) + ("" if told else _HOW_TO_SET) + (changed or "")
            raise Rejected(ApiError(400, text, _INVALID))
        if enforced:
            dropped.add((block.message, block.part))
        kind = "thinking_dropped" if enforced else "thinking_mismatch_allowed"
        notes.append({"type": kind, "path": block.place, "reason": "prefix_binding_mismatch"})
    return _without(body, dropped), tuple(notes) if told else None


def _behavior(body: Body, *, told: bool) -> Json:
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or "block_binding" not in thinking:
        return None
    if not told:
        text = f"thinking.{thinking.get('type')}.block_binding: Extra inputs are not permitted"
        raise Rejected(ApiError(400, text, _INVALID))
    binding = thinking["block_binding"]
    return binding.get("prefix_mismatch_behavior") if isinstance(binding, dict) else None


def _difference(block: _Block, bond: _Bond, previous: bytes | None) -> str | None:
    """What the vendor says differs from when the block was made, empty where it does not say; None if nothing does."""
    kind = block.wire["type"]
    found = unseal(block.wire.get(_THINKING[kind]))
    if found is None or len(found) != 5 or (kind == "thinking" and found[0] != block.own):
        raise Rejected(ApiError(400, f"{block.place}: Invalid `{_THINKING[kind]}` in `{kind}` block", _INVALID))
    made = _Bond(*found[1:])
    if made.system != bond.system:
        return " The `system` prompt differs from the one this block was created with."
    if made.tools != bond.tools:
        return " The `tools` list differs from the one this block was created with."
    gap = previous is not None and made.previous != previous
    return "" if gap or made.said != bond.said else None


def _identity(block: _Block) -> bytes:
    return digest(str(block.wire.get(_THINKING[block.wire["type"]])).encode("utf-8", "surrogatepass"))


def _walk(body: Body) -> Iterator[tuple[_Block | None, _Bond]]:
    """Every thinking block with the bond of one made in its place, and at last the bond of what comes next."""
    system, tools = digest(_canonical(_parts(body.get("system")))), digest(_canonical(_loaded(body.get("tools"))))
    said, previous = blake2b(digest_size=DIGEST), _NO_BLOCK
    messages = body.get("messages")
    for at, message in enumerate(messages if isinstance(messages, list) else []):
        role = message.get("role") if isinstance(message, dict) else None
        for index, part in enumerate(_parts(message.get("content")) if isinstance(message, dict) else []):
            if role == "assistant" and isinstance(part, dict) and part.get("type") in _THINKING:
                block = _Block(at, index, part)
                yield block, _Bond(system, tools, said.digest(), previous)
                previous = _identity(block)
            else:
                said.update(_canonical([role, part]))
    yield None, _Bond(system, tools, said.digest(), previous)


def _parts(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_bare(part) for part in content] if isinstance(content, list) else []


def _loaded(tools: Json) -> list[Json]:
    """The tools a model sees from the start: one that is loaded on demand may be added at any time."""
    found = tools if isinstance(tools, list) else []
    return [_bare(tool) for tool in found if not (isinstance(tool, dict) and tool.get("defer_loading"))]


def _bare(part: Json) -> Json:
    """The part without its cache markers."""
    if not isinstance(part, dict):
        return part
    nested = part.get("content")
    inner = {"content": [_bare(item) for item in nested]} if isinstance(nested, list) else {}
    return {key: value for key, value in part.items() if key != "cache_control"} | inner


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _without(body: Body, dropped: set[tuple[int, int]]) -> Body:
    if not dropped:
        return body
    messages = list(body["messages"])
    for at in {at for at, _ in dropped}:
        kept = [part for index, part in enumerate(messages[at]["content"]) if (at, index) not in dropped]
        messages[at] = {**messages[at], "content": kept}
    return {**body, "messages": messages}
