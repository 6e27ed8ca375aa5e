"""What Anthropic Messages rejects about thinking and cache breakpoints, provoked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import Spoiler, at, blocks, blocks_of, of_kind, text_block
from compact.testing.generate.anthropic import BINDING, OTHERS, PREFILLED, STEERED
from compact.testing.generate.dice import Body

_SEALED = ("thinking", "redacted_thinking")
_SHORT, _LONG = ({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h"))


def _forget_thinking(body: Body, rng: Random) -> bool:
    if body.get("thinking", {}).get("type") != "enabled" or not of_kind(body["messages"][-1], "tool_result"):
        return False
    for message in body["messages"]:
        if len(blocks(message)) > len(of_kind(message, *_SEALED)):
            message["content"] = [block for block in message["content"] if block["type"] not in _SEALED]
    return True


def _end_with_thinking(body: Body, rng: Random) -> bool:
    if body.get("thinking", {"type": "disabled"})["type"] != "disabled" or body["messages"][-1]["role"] == "assistant":
        return False
    body["thinking"] = {"type": "disabled"}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "EqQBhm"}
    body["messages"].append({"role": "assistant", "content": [thought, text_block("So")]})
    return True


def _thoughts(body: Body, *, latest: bool) -> list[Json]:
    """The sealed blocks of the last assistant message, or those of all others."""
    answers = [message for message in body["messages"] if message["role"] == "assistant"]
    return [block for message in (answers[-1:] if latest else answers[:-1]) for block in of_kind(message, *_SEALED)]


def _alter_thinking(*, latest: bool) -> Spoiler:
    """Rewrites what a sealed block says, or its seal, or takes that off."""

    @at(lambda body: _thoughts(body, latest=latest))
    def alter(body: Body, rng: Random, block: Json) -> None:
        key = rng.choice([key for key in ("thinking", "signature", "data") if key in block])
        if key == "thinking" or rng.random() < 0.5:
            block[key] += " altered"
        else:
            block[key] = ""

    return alter


def _change_prefix(models: Collection[str]) -> list[Spoiler]:
    """Changes something that stands before thinking of these models."""

    def bound(body: Body) -> bool:
        return body["model"] in models and bool(blocks_of(body, *_SEALED))

    def change_system(body: Body, rng: Random) -> bool:
        body["system"] = "You are someone else now."
        return bound(body)

    def change_tools(body: Body, rng: Random) -> bool:
        new = {"name": "new", "description": "", "input_schema": {"type": "object"}}
        body["tools"] = [*body.get("tools", ()), new]
        return bound(body)

    def change_beginning(body: Body, rng: Random) -> bool:
        body["messages"][0]["content"] = "Something else entirely."
        return bound(body)

    return [change_system, change_tools, change_beginning]


def _markable(body: Body) -> list[Json]:
    """Everything that may carry a breakpoint, in the order the vendor reads it."""
    system = body.get("system")
    parts = system if isinstance(system, list) else []
    found = [block for message in body["messages"] for block in blocks(message) if block["type"] not in _SEALED]
    return [*body.get("tools", ()), *parts, *found]


def _mark_fifth(body: Body, rng: Random) -> bool:
    places = _markable(body)
    if len(places) < 5:
        return False
    for place in places:
        place.pop("cache_control", None)
    for place in rng.sample(places, 5):
        place["cache_control"] = {"type": "ephemeral"}
    return True


@at(lambda body: blocks_of(body, "text"))
def _mark_empty_text(body: Body, rng: Random, block: Json) -> None:
    block |= {"text": "", "cache_control": {"type": "ephemeral"}}


def _swap_lifetimes(body: Body, rng: Random) -> bool:
    places = _markable(body)
    if len(places) < 2:
        return False
    for place in places:
        place.pop("cache_control", None)
    first, second = sorted(rng.sample(range(len(places)), 2))
    places[first]["cache_control"], places[second]["cache_control"] = dict(_SHORT), dict(_LONG)
    return True


@at(lambda body: blocks_of(body, *_SEALED))
def _mark_thinking(body: Body, rng: Random, block: Json) -> None:
    block["cache_control"] = {"type": "ephemeral"}


SPOILERS: Mapping[str, Sequence[Spoiler]] = {
    "A17": [_forget_thinking],
    "A17b": [_end_with_thinking],
    "A18": [_alter_thinking(latest=True)],
    "A19": [_alter_thinking(latest=False)],
    "A20": _change_prefix([BINDING]),
    "A20b": _change_prefix([*PREFILLED, *STEERED, *OTHERS]),
    "A26": [_mark_fifth],
    "A27": [_mark_empty_text],
    "A28": [_swap_lifetimes],
    "A29": [_mark_thinking],
}
