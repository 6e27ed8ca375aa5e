"""What a fake vendor was asked, and what it shall answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from compact.messages import Json


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says, in no vendor's words.

    `calls` are pairs of a tool's name and its arguments. `stop` is why the model stops: "stop", "calls", "length",
    "refusal" or "filter"; left empty, it follows from the calls. Where an API gives a reason, any other value is sent
    as it is.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Json]]] = ()
    reasoning: str = ""
    stop: str = ""

    @property
    def ending(self) -> str:
        return self.stop or ("calls" if self.calls else "stop")


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived, with its keys redacted, and the status it was answered with.

    `headers` have lower-case names. `body` is the decoded JSON, or the text where it was none. `format` is the wire
    format's name, empty where there is no conversation. `status` is 0 while there is no answer.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Json = field(repr=False)
    format: str = ""
    status: int = 0


Answerer: TypeAlias = Callable[[Received], Reply | str]
Line: TypeAlias = Reply | str | Answerer


class Script:
    """The answers to come, in order; a function stays and answers everything from its turn on."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque()
        self._lock = Lock()

    def add(self, lines: Sequence[Line]) -> None:
        with self._lock:
            self._lines += lines

    def next(self, request: Received, default: Callable[[], Reply], *, keep: bool) -> Reply:
        """The next answer; with `keep`, the same one comes again next time."""
        with self._lock:
            line = self._lines[0] if self._lines else None
            if line is not None and not keep and isinstance(line, Reply | str):
                self._lines.popleft()
        if line is None:
            return default()
        said = line if isinstance(line, Reply | str) else line(request)
        return Reply(said) if isinstance(said, str) else said
