"""Long sessions between an application and a vendor over HTTP, with a manager between them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self

import compact
from compact import CompactConfig, CompactManager
from compact.engine import AskModel
from compact.errors import CompactError
from compact.formats import FORMATS, convert, parse, render
from compact.messages import Conversation, Json
from compact.ports import Answer, Ask, Completion, Event
from compact.summaries.model.strategy import find_strategy
from compact.testing.vendors import FakeVendors

STRATEGIES = ("task_state", "decision_log", "code_delta", "brief", "general", "code")
OFFLINE = "offline"
MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-4o",
    "anthropic-messages": "claude-sonnet-4-5",
    "google-gemini": "gemini-2.5-flash",
}
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
    "google-gemini": "/v1beta/models/gemini-2.5-flash:generateContent",
}
HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer any",
    "x-api-key": "any",
    "x-goog-api-key": "any",
    "anthropic-version": "2023-06-01",
}
TASK = "Please raise every timeout of this project, one module after the other, and keep the tests green."
PIN = "The folder src/legacy is frozen: nobody may change anything in it, note {}."
_SYSTEM = {"role": "system", "content": "You are a careful programmer."}
_TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
_HEADING = re.compile(r"--- \w+ message (\d+), (\w+) ---")
_SHOWN = re.compile(r"^(k\d+) \(([^,)]+), active[^)]*\) ", re.MULTILINE)
_LINE_TOKENS = 10


def turn(rng: random.Random, number: int, tokens: int) -> list[dict[str, Any]]:
    """What a person asks, the model calls and answers, in Chat Completions' words; of about so many tokens."""
    path = f"src/module_{number}.py"
    lines = [f"setting_{number}_{line} = {rng.randrange(10**6)}" for line in range(max(1, tokens // _LINE_TOKENS))]
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    done = f"Noted: {path} has {len(lines)} settings and waits {number} seconds from now on."
    return [
        {"role": "user", "content": f"Please let {path} wait {number} seconds."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": "\n".join(lines)},
        {"role": "assistant", "content": done},
    ]


def scripted(strategy: str) -> AskModel:
    """A summarizer that keeps to the strategy's form, tells what the transcript says, and closes what is done."""
    sections = find_strategy(strategy).sections
    standing = next(section.title for section in sections if section.standing)
    rest = next(section.title for section in reversed(sections) if not section.standing and not section.instructs)

    def answer(ask: Ask) -> Completion:
        demands, facts = [], []
        heading: re.Match[str] | None = None
        for line in ask.material.splitlines():
            heading = _HEADING.match(line) or heading
            if heading is not None and line.startswith("Please ") and heading[2] == "user":
                demands.append(f"- {line}")
            elif heading is not None and line.startswith("Noted: "):
                facts.append(f"- {line.removeprefix('Noted: ')}")
        shown = _SHOWN.findall(ask.instructions.partition("=== earlier items")[2])
        done = [f"- [{key}] completed: done" for key, title in shown if title == standing]
        parts = [f"## {standing}", "### Active", *demands[-3:], f"## {rest}", *(facts[-5:] or ["- Work goes on"])]
        return Completion("\n".join([*parts, *(["## Changes", *done] if done else [])]))

    def ask_all(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(map(answer, asks))

    return ask_all


@dataclass
class Talk:
    """One session: the history as the application holds it, and everything that went wrong."""

    format: str
    window: int
    folder: Path
    strategy: str = OFFLINE
    id: str = "s"
    failures: list[str] = field(default_factory=list)
    requests: int = 0
    compactions: int = 0
    summaries: int = 0

    def __post_init__(self) -> None:
        body = {
            "model": MODELS[self.format],
            "messages": [_SYSTEM, {"role": "user", "content": TASK}],
            "tools": [_TOOL],
        }
        self.frame: Conversation = convert(parse(body, format="openai-chat"), self.format)
        self.log: list[Json] = list(render(self.frame))
        self.first: list[Json] = list(self.log)
        self.pins: list[Json] = []
        self.sent: list[Json] = []
        self.say([{"role": "assistant", "content": "I begin with the first one."}])
        self.manager = self.opened()

    def opened(self) -> CompactManager:
        """A manager that knows of the session only what is on disk."""
        policy = {"strategy": "task_state" if self.strategy == OFFLINE else self.strategy}
        config = {
            "model": MODELS[self.format],
            "max_context_tokens": self.window,
            "policy": {**policy, "summary_tokens": min(2000, self.window // 8)},
            "storage": {"path": str(self.folder)},
            "profile": OFFLINE,
        }
        ask = None if self.strategy == OFFLINE else scripted(self.strategy)
        return CompactManager(CompactConfig.model_validate(config), ask=ask, observe=self._note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.manager.close()

    def say(self, messages: Sequence[dict[str, Any]]) -> None:
        """Add messages, given in Chat Completions' words, to the history and to what was sent."""
        more = self._written(messages)
        self.log, self.sent = [*self.log, *more], [*self.sent, *more]

    def pin(self) -> None:
        text = PIN.format(len(self.pins))
        (plain,) = self._written([{"role": "user", "content": text}])
        pinned = {**plain, "meta": {"protected": True}}
        self.pins.append(plain)
        self.log, self.sent = [*self.log, pinned], [*self.sent, pinned]
        self.say([{"role": "assistant", "content": "Understood."}])

    def ask(self, vendor: HTTPConnection, *, whole: bool) -> None:
        """Send what the manager makes of the history, or of what was sent the last time and what came since."""
        held = json.loads(json.dumps(self.log if whole or not self.requests else self.sent))
        self.requests += 1
        try:
            self.sent = self.manager.preflight(
                self.id, held, system=self._system(), tools=list(self.frame.tools) or None
            )
        except CompactError as error:
            self.failures.append(f"request {self.requests}: {type(error).__name__}: {error}")
            return
        vendor.request("POST", PATHS[self.format], json.dumps(self._body()), HEADERS)
        answer = vendor.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            self.failures.append(f"request {self.requests}: {answer.status} {text[:300]}")
        self._look()

    def _look(self) -> None:
        """Note where the request is too long, or the first task or a pin is gone."""
        if (tokens := self.tokens()) > self.budget:
            self.failures.append(f"request {self.requests}: {tokens} tokens of {self.budget}")
        if self.sent[: len(self.first)] != self.first:
            self.failures.append(f"request {self.requests}: the first task is gone")
        self.failures += [f"request {self.requests}: gone: {pin}" for pin in self.pins if pin not in self.sent]

    def tokens(self) -> int:
        """What the last request takes."""
        return compact.count_tokens(self._body(), model=MODELS[self.format])

    def said(self) -> int:
        """What the whole history would take, as the vendor counts."""
        return compact.count_tokens(self.log, model="gpt-4o")

    @property
    def budget(self) -> int:
        return self.manager.config.policy.threshold.budget(self.window)

    def _written(self, messages: Sequence[dict[str, Any]]) -> list[Json]:
        """The messages in the session's format; some begin with the user only, so those of the model get a start."""
        lead = [] if messages[0]["role"] == "user" else [{"role": "user", "content": "Go on."}]
        return render(convert(parse([*lead, *messages], format="openai-chat"), self.format))[len(lead) :]

    def _system(self) -> Json:
        return self.frame.system.wire if self.frame.system else None

    def _body(self) -> dict[str, Json]:
        format = FORMATS[self.format]
        body: dict[str, Json] = {format.messages_key: self.sent, format.tools_key: list(self.frame.tools)}
        if self._system() is not None:
            body[format.system_key] = self._system()
        if self.format != "google-gemini":
            body["model"] = MODELS[self.format]
        return {**body, "max_tokens": 64} if self.format == "anthropic-messages" else body

    def _note(self, event: Event) -> None:
        self.compactions += event.name == "compact.condensed"
        self.summaries += event.name == "compact.summary_created" and "summary" in event.properties


@dataclass(frozen=True, slots=True)
class Course:
    """How a session goes on: tokens in all, in each turn, how often something is pinned, what is handed back."""

    tokens: int
    each: int
    pins: int = 0
    whole: float = 0.5


def converse(talk: Talk, course: Course, vendor: HTTPConnection, rng: random.Random) -> None:
    """Go on until so many tokens were said; two requests a turn, before and after the tool is called."""
    said = number = 0
    while said < course.tokens:
        size = rng.randint(course.each // 2, course.each * 3 // 2)
        if len(talk.pins) < course.pins and number % 3 == 1:
            talk.pin()
        question, call, result, done = turn(rng, number, size)
        talk.say([question])
        talk.ask(vendor, whole=rng.random() < course.whole)
        talk.say([call, result])
        talk.ask(vendor, whole=rng.random() < course.whole)
        talk.say([done])
        said, number = said + size, number + 1


def connected(server: FakeVendors) -> Iterator[HTTPConnection]:
    connection = HTTPConnection(server.host, server.port, timeout=60)
    yield connection
    connection.close()
