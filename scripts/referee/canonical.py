"""Outputs in a form that two runs can be compared in: without clocks, random ids and paths."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias

Aspects: TypeAlias = Mapping[str, Any]
"""An output of a case in parts, such as its messages, its plan and its report."""

FOLDER = "golden-"
"""How the names of temporary folders begin."""
_CLOCKS = frozenset(
    {
        "at",
        "created",
        "created_at",
        "date",
        "duration_ms",
        "elapsed",
        "ended_at",
        "milliseconds",
        "ms",
        "seconds",
        "time",
    }
    | {"updated", "updated_at"}
)
"""Keys whose numbers and timestamps come from a clock."""
_RANDOM = (
    (re.compile(r"\bgw-[0-9a-f]{16}\b"), "gw-"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "uuid-"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"), "hex-"),
)
_FOLDER = re.compile(rf"(?:/[\w.+-]+)*/(?:{FOLDER}\w{{8}}\b|\.bench/golden/trees/[0-9a-f]{{16}})")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_PORT = re.compile(r"\b(127\.0\.0\.1|localhost):\d{2,5}\b")
_SECONDS = re.compile(r"\b\d+(?:\.\d+)?(?= (?:seconds?|ms|milliseconds)\b)")
DIGITS = 6


def without_noise(value: Any) -> Any:
    """The value without clocks, and with names in the place of random ids, ports and temporary folders."""
    text = json.dumps(_without_clocks(value))
    text = _FOLDER.sub("<folder>", text)
    text = _PORT.sub(r"\1:<port>", text)
    text = _SECONDS.sub("<time>", text)
    for pattern, prefix in _RANDOM:
        seen: dict[str, str] = {}
        text = pattern.sub(lambda found: seen.setdefault(found[0], f"<{prefix}{len(seen) + 1}>"), text)  # noqa: B023
    return json.loads(text)


def without_empty(value: Any) -> Any:
    """The value without fields that are empty: a tree whose reports have one more of them is no different."""
    if isinstance(value, Mapping):
        items = ((key, without_empty(inner)) for key, inner in value.items())
        return {key: inner for key, inner in items if inner not in (None, "", [], {})}
    return list(map(without_empty, value)) if isinstance(value, list | tuple) else value


def digest(value: Any, *, ordered: bool = True) -> str:
    """A short hash of the value; the order of keys counts where it is `ordered`, as in messages."""
    text = json.dumps(value, sort_keys=not ordered, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:DIGITS]


def digests_of(aspects: Aspects) -> str:
    """The digest of each aspect that is not empty: name=digest, with spaces between."""
    return " ".join(f"{name}={digest(value, ordered=name == 'messages')}" for name, value in aspects.items() if value)


def _without_clocks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_clocks(inner) for key, inner in value.items() if not _is_clock(key, inner)}
    return list(map(_without_clocks, value)) if isinstance(value, list | tuple) else value


def _is_clock(key: str, value: Any) -> bool:
    """Whether a clock gave the value: of messages, too, some have fields of such names."""
    return key in _CLOCKS and (isinstance(value, int | float) or (isinstance(value, str) and bool(_TIME.match(value))))
