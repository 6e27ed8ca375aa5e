"""Random choices, what messages are filled with, and who writes them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from json import JSONEncoder
from random import Random
from typing import TypeAlias, TypeVar

from compact.messages import Json

Body: TypeAlias = dict[str, Json]
"""A request body, as it is sent."""

T = TypeVar("T")

_CODE = """\
def store(path, text, *, encoding="utf-8"):
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)

    beside = folder / f"{path.name}.new"
    beside.write_text(text, encoding=encoding)
    beside.replace(path)"""
SENTENCES = (
    "Please rename the function and update its callers.",
    "The build fails on line 42: missing semicolon.",
    "Überprüfe bitte die Größe der Datei.",
    "日本語のテキストも含まれています。",
    "مرحبا بالعالم",
    "Done 🎉 all 17 tests pass.",
    "def load(path):\n    with open(path) as file:\n        return file.read()",
    "first\r\nsecond\r\nthird",
    "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n-old\n+new",
    '{"status": "ok", "items": [1, 2, 3]}',
    "\x1b[31mERROR\x1b[0m connection refused",
    "⟨ Content suppressed ⟩",
    "<COMPACT-SUMMARY v1> earlier work </COMPACT-SUMMARY>",
    "aGVsbG8gd29ybGQhIGhlbGxvIHdvcmxkISBoZWxsbw==",
    "     1\timport os\n     2\timport sys\n     3\t\n     4\tprint(os.getcwd())",
    "2026-03-01T12:00:00Z INFO request served in 12 ms\n" * 8,
    "x" * 300,
    _CODE,
    "--- /dev/null\n+++ b/app.py\n@@ -0,0 +1,7 @@\n+" + _CODE.replace("\n", "\n+"),
)
TOOLS = ("read_file", "write_file", "run", "search", "list_dir", "fetch-url")
KEYS = ("path", "content", "query", "limit", "recursive", "options", "größe")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
DOCUMENT = "JVBERi0xLjQKJcfsj6IKMSAwIG9iago8PD4+CmVuZG9iagp0cmFpbGVyCjw8Pj4K"
_ENCODERS = tuple(
    JSONEncoder(separators=separators, ensure_ascii=ascii_only, indent=indent).encode
    for separators, ascii_only, indent in [
        ((", ", ": "), True, None),
        ((", ", ": "), False, None),
        ((",", ":"), True, None),
        ((",", ":"), False, None),
        ((",", ": "), False, 2),
    ]
)


class Dice:
    """A source of random choices and of random content."""

    __slots__ = ("random", "rng")

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.random = rng.random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, pool: Sequence[T]) -> T:
        return pool[int(self.random() * len(pool))]

    def number(self, low: int, high: int) -> int:
        """A whole number between the two, both included."""
        return low + int(self.random() * (high - low + 1))

    def shuffled(self, items: list[T], probability: float) -> list[T]:
        """The items, perhaps in another order."""
        if len(items) > 1 and self.random() < probability:
            self.rng.shuffle(items)
        return items

    def id(self, prefix: str) -> str:
        """An id no other call gives."""
        return f"{prefix}{self.rng.getrandbits(96):024x}"

    def text(self) -> str:
        """Something to say: neither empty nor with blanks at its ends."""
        chosen = f"{self.pick(SENTENCES).strip()} ({self.number(1, 9999)})"
        return chosen if self.random() < 0.7 else f"{chosen}\n\n{self.pick(SENTENCES).strip()}"

    def output(self) -> str:
        """What a tool prints: never empty, often with a line feed at the end."""
        return self.text() + self.pick(("", "", "\n", "\r\n"))

    def arguments(self) -> dict[str, Json]:
        """The arguments of a call."""
        return {self.pick(KEYS): self._value(2) for _ in range(self.pick((0, 1, 1, 2, 2, 3)))}

    def encoded_arguments(self) -> str:
        """The arguments of a call as JSON text, written in one of the ways vendors write it."""
        return self.pick(_ENCODERS)(self.arguments())

    def turns(self, size: int) -> list[list[int]]:
        """The outline of a conversation: for each turn its steps, for each step the number of parallel calls."""
        if self.random() < 0.01:
            return [[self._calls() for _ in range(self.number(10, 20) * size)]]
        turns: list[list[int]] = []
        many = size >= 4 and self.random() < 0.25
        while size > 0:
            steps: list[int] = []
            size -= 2
            for _ in range(size if many else self.pick((0, 0, 0, 1, 1, 2, 3, 5))):
                if size <= 0:
                    break
                steps.append(self._calls())
                size -= 1 + steps[-1]
            turns.append(steps)
        return turns or [[]]

    def schema(self) -> dict[str, Json]:
        """The JSON schema of a tool's arguments."""
        properties = {key: {"type": "string", "description": self.pick(SENTENCES)} for key in KEYS[: self.number(0, 3)]}
        return {"type": "object", "properties": properties, "required": list(properties)[:1]}

    def _calls(self) -> int:
        return self.pick((1, 1, 1, 1, 1, 2, 2, 3, 5))

    def _value(self, depth: int) -> Json:
        roll = self.random()
        if roll < 0.6:
            return self.pick(SENTENCES)
        if roll < 0.7:
            return self.number(-5, 10**9)
        if roll < 0.8:
            return self.pick((True, False, None, 0.25, "", 10**20))
        if depth and roll < 0.9:
            return [self._value(depth - 1) for _ in range(self.number(0, 2))]
        return {self.pick(KEYS): self._value(depth - 1)} if depth else {}


class Writer(Dice):
    """Writes one request for a vendor, as the dice fall."""

    def __init__(self, rng: Random, models: Sequence[str]) -> None:
        super().__init__(rng)
        self.model = self.pick(models)
        self.messages: list[Json] = []

    @abstractmethod
    def body(self) -> Body:
        """A request body that the API accepts."""
