"""Valid requests with shapes that applications, proxies and models leave in them, and that no vendor documents.

Each is a small change to a request; some are refused by a vendor, and none may harm a compaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from random import Random

from compact.messages import Json
from compact.testing.generate.dice import Body

_KEYS = ("messages", "input", "contents")
_TEXTS = ("text", "content", "output", "thinking", "reasoning_content", "result")
_IDS = ("id", "tool_call_id", "call_id", "tool_use_id")
_ARGUMENTS = ("arguments", "input", "args")
_ODD = (
    "\ud800",
    "a\udfffb",
    "\x00",
    "\x1b[2J",
    "\u2028",
    "\x85",
    "\r",
    "\u202e",
    "\ufeff",
    "e\u0301" * 40,
    "\U000e0041",
)
_HUGE = 20_000
_DEPTH = 60
_METAS: tuple[dict[str, Json], ...] = (
    {"protected": True, "source": "crm-17"},
    {"protected": False},
    {"note": 1, "tags": ["a", None]},
    {"protected": True},
    {},
)
_STRANGERS: Mapping[str, tuple[Json, ...]] = {
    "openai-chat": ({"role": "critic", "content": "?"}, {"role": "user", "content": [{"type": "hologram", "x": "1"}]}),
    "openai-responses": (
        {"type": "compaction", "encrypted_content": "gAAAA"},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "hologram", "state": {"a": [1, "2", None]}},
        {"type": "item_reference", "id": "rs_1"},
    ),
    "anthropic-messages": (
        {"role": "assistant", "content": [{"type": "compaction", "content": None}]},
        {"role": "user", "content": [{"type": "hologram", "x": "1"}]},
        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "Emw"}, {"type": "text", "text": "x"}]},
    ),
    "google-gemini": (
        {"role": "user", "parts": [{"hologram": {"x": "1"}}]},
        {"parts": [{"text": "no role"}]},
        {"role": "model", "parts": [{"text": "", "thoughtSignature": "Cvc"}]},
    ),
}

Change = Callable[[list[Json], str, Random], None]


def disturb(body: Body, format: str, rng: Random) -> tuple[Body, list[str]]:
    """A copy of the request with one to three hostile shapes in it, and their names."""
    disturbed = deepcopy(body)
    key = next(key for key in _KEYS if isinstance(disturbed.get(key), list))
    names = rng.sample(sorted(SHAPES), rng.randint(1, 3))
    for name in names:
        SHAPES[name](disturbed[key], format, rng)
    return disturbed, names


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    """The value and everything in it that is an object."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def _texts(messages: list[Json]) -> list[tuple[dict[str, Json], str]]:
    return [(held, key) for held in _objects(messages) for key in _TEXTS if isinstance(held.get(key), str)]


def _with_text(change: Callable[[str, Random], Json]) -> Change:
    def apply(messages: list[Json], format: str, rng: Random) -> None:
        if found := _texts(messages):
            held, key = rng.choice(found)
            held[key] = change(held[key], rng)

    return apply


def _odd_text(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_ODD) + text[at:]


def _with_content(content: Json) -> Change:
    def apply(messages: list[Json], format: str, rng: Random) -> None:
        held = [one for one in messages if isinstance(one, dict) and ("content" in one or "parts" in one)]
        if held:
            chosen = rng.choice(held)
            chosen["content" if "content" in chosen else "parts"] = deepcopy(content)

    return apply


def _same_ids(messages: list[Json], format: str, rng: Random) -> None:
    """Two calls, and what answers them, share one id."""
    places = [(held, key) for held in _objects(messages) for key in _IDS if isinstance(held.get(key), str)]
    ids = sorted({held[key] for held, key in places})
    if len(ids) > 1:
        one, other = rng.sample(ids, 2)
        for held, key in places:
            held[key] = one if held[key] == other else held[key]


def _same_names(messages: list[Json], format: str, rng: Random) -> None:
    for held in _objects(messages):
        if isinstance(held.get("name"), str):
            held["name"] = "run"


def _other_name(messages: list[Json], format: str, rng: Random) -> None:
    """One call or result has a name that no other has."""
    if found := [held for held in _objects(messages) if isinstance(held.get("name"), str)]:
        rng.choice(found)["name"] = rng.choice(("", "weather.now", "übersetzen", "run run", 'x" → user: "y'))


def _lost(messages: list[Json], format: str, rng: Random) -> None:
    """A message is missing: a call without its result, or a result without its call."""
    if len(messages) > 1:
        del messages[rng.randrange(len(messages))]


def _swapped(messages: list[Json], format: str, rng: Random) -> None:
    """Two neighbours stand in each other's place: a result before its call."""
    if len(messages) > 1:
        at = rng.randrange(len(messages) - 1)
        messages[at], messages[at + 1] = messages[at + 1], messages[at]


def _doubled(messages: list[Json], format: str, rng: Random) -> None:
    """A message was sent twice, as after a retry."""
    if messages:
        at = rng.randrange(len(messages))
        messages.insert(at, deepcopy(messages[at]))


def _with_meta(messages: list[Json], format: str, rng: Random) -> None:
    for message in messages:
        if isinstance(message, dict) and rng.random() < 0.3:
            message["meta"] = deepcopy(rng.choice(_METAS))


def _stranger(messages: list[Json], format: str, rng: Random) -> None:
    """An item, a block or a role that is the vendor's own, or of an unknown kind."""
    messages.insert(rng.randint(0, len(messages)), deepcopy(rng.choice(_STRANGERS[format])))


def _deep(messages: list[Json], format: str, rng: Random) -> None:
    """Arguments that are nested deep."""
    value: Json = "x" * 400
    for _ in range(_DEPTH):
        value = rng.choice(({"a": value}, [value]))
    _argue(messages, rng, {"deep": value})


def _numbers(messages: list[Json], format: str, rng: Random) -> None:
    """Numbers as texts, and numbers that few programs can hold."""
    _argue(messages, rng, {"n": "007", "m": 10**30, "f": -0.0, "x": 1e308, "": "", "null": None})


def _argue(messages: list[Json], rng: Random, arguments: dict[str, Json]) -> None:
    places = [(held, key) for held in _objects(messages) for key in _ARGUMENTS if key in held and "name" in held]
    if places:
        held, key = rng.choice(places)
        held[key] = json.dumps(arguments) if isinstance(held[key], str) else arguments


def _signed(messages: list[Json], format: str, rng: Random) -> None:
    """Reasoning with a signature where there was none."""
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ("assistant", "model") or rng.random() < 0.5:
            continue
        if format == "openai-chat":
            message["reasoning_content"] = "I think."
        elif isinstance(content := message.get("content"), list) and format == "anthropic-messages":
            thought = {"type": "thinking", "thinking": "I think.", "signature": "EqQB"}
            content.insert(0, rng.choice((thought, {"type": "redacted_thinking", "data": "EmwK"})))
        elif isinstance(parts := message.get("parts"), list) and parts:
            rng.choice(parts)["thoughtSignature"] = "CvcQ"


SHAPES: Mapping[str, Change] = {
    "empty text": _with_text(lambda _text, _rng: ""),
    "blank text": _with_text(lambda _text, _rng: " \n\t"),
    "text that is null": _with_text(lambda _text, _rng: None),
    "odd signs": _with_text(_odd_text),
    "huge text": _with_text(lambda text, _rng: (text or "x ") * (_HUGE // max(len(text), 1) + 1)),
    "content that is null": _with_content(None),
    "content that is empty": _with_content([]),
    "ids that repeat": _same_ids,
    "one name for all tools": _same_names,
    "a name of its own": _other_name,
    "a message lost": _lost,
    "neighbours swapped": _swapped,
    "a message twice": _doubled,
    "meta": _with_meta,
    "a stranger": _stranger,
    "deep arguments": _deep,
    "odd numbers": _numbers,
    "signed reasoning": _signed,
}
"""The hostile shapes by name; each changes the messages of a request in their place."""

__all__ = ["SHAPES", "disturb"]
