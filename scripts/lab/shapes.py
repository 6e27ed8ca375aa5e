"""The shape of a client's requests: each as what it changes of the one before, with long texts kept apart."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from compact.messages import Json
from scripts.lab.texts import Text, encode

Body = dict[str, Any]

KEYS: Final = ("messages", "input", "contents")
"""Where the formats keep the conversation."""
_LONG: Final = 90


@dataclass(frozen=True, slots=True)
class Shape:
    """The requests that a client sends in one conversation, in order.

    `recorded` is false where they were made after the client's published source. `windows` are the sizes of context
    window that the shape is played in.
    """

    client: str
    version: str
    format: str
    path: str
    recorded: bool
    windows: tuple[int, ...]
    bodies: tuple[Body, ...] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def key(self) -> str:
        """Where the bodies keep the conversation."""
        return next(key for key in KEYS if key in self.bodies[0])

    @property
    def model(self) -> str:
        """The model that the client asks for."""
        return str(self.bodies[0].get("model") or self.path.rpartition("/")[2].partition(":")[0])


def load_shape(path: Path) -> Shape:
    """The shape in a file."""
    raw = path.read_bytes()
    data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    texts = [text if isinstance(text, str) else Text(text) for text in data.pop("texts")]
    bodies: list[Body] = []
    for change in data.pop("requests"):
        bodies.append(_changed(bodies[-1] if bodies else {}, _with_texts(change, texts)))
    return Shape(**{**data, "windows": tuple(data["windows"])}, bodies=tuple(bodies))


def save_shape(shape: Shape, path: Path) -> None:
    """Write the shape to a file, its texts in pieces."""
    texts = _Texts()
    requests: list[Json] = []
    before: Body = {}
    for body in shape.bodies:
        requests.append(_change(before, body))
        before = body
    data: dict[str, Json] = {
        "client": shape.client,
        "version": shape.version,
        "format": shape.format,
        "path": shape.path,
        "recorded": shape.recorded,
        "note": shape.note,
        "headers": dict(shape.headers),
        "windows": list(shape.windows),
    }
    played = [texts.without(request) for request in requests]
    lines = [f'"{name}": {_line(value)}' for name, value in data.items()]
    lines.append('"texts": [\n' + ",\n".join(map(_line, texts.pieces)) + "\n]")
    lines.append('"requests": [\n' + ",\n".join(map(_line, played)) + "\n]")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _line(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Texts:
    """The long texts of a shape, each once."""

    def __init__(self) -> None:
        self.pieces: list[Json] = []
        self._numbers: dict[str, int] = {}

    def without(self, value: Json) -> Json:
        """The value with a number in place of each long text."""
        if isinstance(value, dict):
            return {key: self.without(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.without(one) for one in value]
        if not isinstance(value, str) or len(value) < _LONG:
            return value
        if value not in self._numbers:
            self._numbers[value] = len(self.pieces)
            self.pieces.append(encode(value))
        return {"text": self._numbers[value], "": 0}


def _with_texts(value: Json, texts: Sequence[str]) -> Json:
    if isinstance(value, dict):
        if value.keys() == {"text", ""}:
            return texts[value["text"]]
        return {key: _with_texts(one, texts) for key, one in value.items()}
    return [_with_texts(one, texts) for one in value] if isinstance(value, list) else value


def _change(before: Body, after: Body) -> Json:
    """What makes one body of another."""
    key = next(key for key in KEYS if key in after)
    change: dict[str, Json] = {"set": {name: value for name, value in after.items() if before.get(name) != value}}
    change["set"].pop(key, None)
    if gone := [name for name in before if name not in after]:
        change["drop"] = gone
    old, new = before.get(key, []), after[key]
    keep = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    tail = 0
    while tail < min(len(old), len(new)) - keep and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    change |= {"key": key, "keep": keep, "add": new[keep : len(new) - tail]}
    if tail:
        change["tail"] = tail
    return {name: value for name, value in change.items() if value != {}}


def _changed(before: Body, change: Json) -> Body:
    body = {name: value for name, value in before.items() if name not in change.get("drop", ())}
    body |= change.get("set", {})
    old, tail = before.get(change["key"], []), change.get("tail", 0)
    body[change["key"]] = [*old[: change["keep"]], *change["add"], *old[len(old) - tail :]]
    return body
