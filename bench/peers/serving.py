"""The adapter's side of the exchange: a conversation and a budget come in as a JSON line, what is left goes out.

Only what the peer itself does is timed: not the import, not the conversion of messages to the peer's own types and
back, and not the stand-in for a model. This module runs in the peers' environments, so it needs no more than the
standard library and the tokenizer.
"""

from __future__ import annotations

import gc
import heapq
import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any, TextIO, TypeAlias

Wire: TypeAlias = dict[str, Any]
"""A message of Chat Completions."""

SUMMARY_TOKENS = 1_000
_LONGEST_LINE = 300
_NAME = re.compile(r"[A-Za-z_][\w./-]{3,}")
_SPECIAL = "<|"
_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class Tokens:
    """Counts o200k tokens as OpenAI documents it for gpt-4o; it remembers texts, and starts anew with every request."""

    _tokenizer: Any = None

    def __init__(self) -> None:
        if Tokens._tokenizer is None:
            from splintr import Tokenizer

            Tokens._tokenizer = Tokenizer.from_pretrained("o200k_base")
        # It remembers words, which would favour whoever comes second to a conversation.
        Tokens._tokenizer.clear_cache()
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        self._known.clear()
        Tokens._tokenizer.clear_cache()

    def text(self, text: str) -> int:
        if (known := self._known.get(text)) is None:
            known = self._known[text] = self._count(text)
        return known

    def message(self, wire: Wire) -> int:
        calls = [call["function"] for call in wire.get("tool_calls") or ()]
        return (
            3
            + self.text(wire["role"])
            + (1 + self.text(wire["name"]) if wire.get("name") else 0)
            + self.text(text_of(wire))
            + sum(self.text(call["name"]) + self.text(call["arguments"]) for call in calls)
        )

    def messages(self, wires: Sequence[Wire]) -> int:
        return 3 + sum(map(self.message, wires))

    def _count(self, text: str) -> int:
        try:
            # The cheap call reads special tokens, which a text may spell.
            if _SPECIAL in text:
                return len(self._tokenizer.encode_ordinary(text))
            return len(self._tokenizer.encode_flat(text)) // 4
        except UnicodeEncodeError:
            return self._count(text.encode("utf-8", "replace").decode())


@dataclass(slots=True)
class Scribe:
    """Stands in for the model that writes summaries, the same for everyone who asks one.

    It writes `size` tokens by SumBasic: the lines whose names are most frequent, each name counting less once it was
    said. What it was asked and answered is added up, so that it can be charged; its time is nobody's.
    """

    tokens: Tokens
    size: int
    asked: list[tuple[int, int]] = field(default_factory=list)
    seconds: float = 0.0

    def summarize(self, text: str) -> str:
        began = process_time()
        summary = self._extract(text)
        self.asked.append((self.tokens.text(text), self.tokens.text(summary)))
        self.seconds += process_time() - began
        return summary

    def _extract(self, text: str) -> str:
        lines = [line.strip()[:_LONGEST_LINE] for line in dict.fromkeys(text.splitlines())]
        names = [_NAME.findall(line) for line in lines]
        counts = Counter(name for found in names for name in found)
        weights = {name: count / counts.total() for name, count in counts.items()}

        def score(index: int) -> float:
            found = names[index]
            return -sum(weights[name] for name in found) / len(found)

        # Weights only fall, so a score that is still right at the top of the heap is the best there is.
        heap = [(score(index), index) for index in range(len(lines)) if names[index]]
        heapq.heapify(heap)
        chosen, room = [], self.size
        while heap:
            known, index = heapq.heappop(heap)
            if (now := score(index)) > known:
                heapq.heappush(heap, (now, index))
                continue
            if (room := room - self.tokens.text(lines[index]) - 1) < 0:
                break
            chosen.append(index)
            for name in set(names[index]):
                weights[name] *= weights[name]
        return "\n".join(lines[index] for index in sorted(chosen)) or text[: self.size]


@dataclass(frozen=True, slots=True)
class Task:
    """A conversation that is to come down to a budget of tokens."""

    messages: list[Wire]
    budget: int
    tokens: Tokens
    scribe: Scribe


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a conversation, and the texts that the peer itself offers to give back."""

    messages: list[Wire]
    recoverable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task in the peer's own types: `run` is what is timed, `finish` turns its result into messages again."""

    run: Callable[[], Any]
    finish: Callable[[Any], Left]


Way: TypeAlias = Callable[[Task], Prepared]


def serve(ways: Mapping[str, Way], arguments: Sequence[str], lines: TextIO = sys.stdin) -> None:
    """Answer requests for the way that the first argument names, until there are no more."""
    way = ways[arguments[0]]
    # What a peer prints must not get between the answers.
    out, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps({"ready": sorted(ways), "memory": _memory("VmRSS")}), file=out, flush=True)
    for line in lines:
        print(json.dumps(answer(way, json.loads(line))), file=out, flush=True)


def answer(way: Way, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request; an error of the peer is told as such."""
    tokens = Tokens()
    budget = request["budget"]
    scribe = Scribe(tokens, min(SUMMARY_TOKENS, budget // 4))
    try:
        prepared = way(Task(request["messages"], budget, tokens, scribe))
        # What was counted while settings were looked for must not make the timed run cheaper.
        tokens.forget()
        gc.collect()
        _forget_peak()
        began = process_time()
        result = prepared.run()
        seconds = process_time() - began - scribe.seconds
        peak = _memory("VmHWM")
        left = prepared.finish(result)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a peer is part of its result
        where = traceback.extract_tb(error.__traceback__)[-1]
        return {"error": f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:300]}
    return {
        "messages": left.messages,
        "seconds": seconds,
        "peak": peak,
        "asked": scribe.asked,
        "recoverable": left.recoverable if request.get("recoverable", True) else [],
    }


def mildest(task: Task, attempts: Sequence[Callable[[], Prepared]]) -> Prepared:
    """The first of several settings, from mild to hard, whose result fits the budget; the last if none does.

    Looking for it is not timed, and what a model was asked meanwhile is not charged: a user has found it before. The
    attempt that is timed is made anew, so that it remembers nothing.
    """
    for attempt in attempts:
        tried = attempt()
        left = tried.finish(tried.run())
        task.scribe.asked.clear()
        task.scribe.seconds = 0.0
        if task.tokens.messages(left.messages) <= task.budget:
            return attempt()
    return attempts[-1]()


def text_of(wire: Wire) -> str:
    """The text of a message, its parts joined."""
    content = wire.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def texts_of(wire: Wire) -> list[str]:
    """Everything a message says: its text, and the names and arguments of its calls."""
    calls = [call["function"] for call in wire.get("tool_calls") or ()]
    return [text_of(wire), *(f"{call['name']}\n{_plain(call['arguments'])}" for call in calls)]


def _plain(arguments: str) -> str:
    """The strings among the arguments of a call as they were meant, not as JSON writes them."""
    try:
        return "\n".join(_leaves(json.loads(arguments)))
    except ValueError:
        return arguments


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield str(value)


def split_system(messages: Sequence[Wire]) -> tuple[list[Wire], list[Wire]]:
    """The instructions at the start, which many frameworks keep elsewhere, and the rest."""
    at = next((index for index, wire in enumerate(messages) if wire["role"] not in ("system", "developer")), 0)
    return list(messages[:at]), list(messages[at:])


def _memory(key: str) -> int:
    """Bytes of this process, as the kernel knows them; 0 where it does not tell."""
    if not _STATUS.exists():
        return 0
    found = re.search(rf"^{key}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _forget_peak() -> None:
    """Let the kernel measure the peak from here on."""
    if _RESET.exists():
        _RESET.write_text("5")
