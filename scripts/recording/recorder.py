"""Plays the user and the agent, and writes down what happens."""

from __future__ import annotations

import re
from collections.abc import Callable

from compact import count_tokens
from compact.errors import CompactError
from scripts.recording.transcript import Call, Event, Request, Result, Step, anthropic_body
from scripts.recording.workspace import ToolError, Workspace

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class StoryBroken(CompactError):
    """The sources have changed so that the story no longer fits them."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}\nThe story no longer fits the sources: adapt it in scripts/recording.")


class Recorder:
    """Records a conversation whose tool calls are really carried out; `report` gets a line about each step."""

    def __init__(self, workspace: Workspace, report: Callable[[str], None]) -> None:
        self.workspace = workspace
        self.events: list[Event] = []
        self._report = report

    @property
    def tokens(self) -> int:
        """The size of the conversation so far, in tokens of o200k_base."""
        return count_tokens(anthropic_body(self.events), model="gpt-4o")

    def ask(self, text: str) -> None:
        """The user writes."""
        self._add(Request(text), f"user: {text.splitlines()[0]}")

    def answer(self, text: str) -> None:
        """The agent answers, and waits for the user."""
        self._add(Step(text), f"agent: {text.splitlines()[0]}")

    def act(self, text: str, *calls: Call) -> list[str]:
        """The agent uses tools, all at once; what they answer."""
        results = tuple(map(self._result, calls))
        self._add(Step(text, calls, results), ", ".join(map(_described, calls)))
        return [result.text for result in results]

    def read(self, path: str) -> str:
        """A file's text as it is now, for the story's own decisions; nothing is recorded."""
        place = self.workspace.root / path
        if not place.is_file():
            raise StoryBroken(f"{path} is gone.")
        return place.read_text(encoding="utf-8")

    def _add(self, event: Event, line: str) -> None:
        last = self.events[-1] if self.events else None
        agent_waits = last is None or (isinstance(last, Step) and not last.calls)
        if isinstance(event, Request) != agent_waits:
            raise StoryBroken(f"The user and the agent must take turns, but do not at: {line}")
        self.events.append(event)
        self._report(f"{len(self.events):4} {self.tokens:8,} tokens  {line[:160]}")

    def _result(self, call: Call) -> Result:
        try:
            result = Result(self.workspace.use(call.tool, call.arguments))
        except ToolError as error:
            result = Result(str(error), error=True)
        if result.error != call.fails:
            raise StoryBroken(
                f"{_described(call)} should {'fail' if call.fails else 'work'}, but answers: {result.text[:400]}"
            )
        return result


def read(path: str, start: int | None = None, end: int | None = None) -> Call:
    """Reading a file, or some of its lines."""
    lines = {"start": start, "end": end}
    return Call("read_file", {"path": path} | {key: line for key, line in lines.items() if line is not None})


def edit(path: str, old: str, new: str) -> Call:
    """Changing a file at the only place where `old` stands."""
    return Call("edit_file", {"path": path, "old": old, "new": new})


def write(path: str, content: str) -> Call:
    """Writing a whole file."""
    return Call("write_file", {"path": path, "content": content})


def search(pattern: str, path: str) -> Call:
    """Searching below a folder."""
    return Call("search", {"pattern": pattern, "path": path})


def list_files(path: str) -> Call:
    """Listing a folder."""
    return Call("list_files", {"path": path})


def run(command: str) -> Call:
    """Running a command."""
    return Call("run", {"command": command})


def failing(call: Call) -> Call:
    """The call, which the story wants to be answered by an error."""
    return Call(call.tool, call.arguments, fails=True)


def expect(output: str, pattern: str, why: str) -> str:
    """What a pattern finds in an output on which the agent's next words rely: its first group, if it has one."""
    plain = _COLOURS.sub("", output)
    if (found := re.search(pattern, plain, re.MULTILINE)) is None:
        raise StoryBroken(f"{why}, but nothing matches {pattern!r} in\n{plain[-3000:]}")
    return found[1 if found.re.groups else 0]


def line_with(text: str, anchor: str) -> str:
    """The only line that holds the anchor."""
    found = [line for line in text.splitlines() if anchor in line]
    if len(found) != 1:
        raise StoryBroken(f"{anchor!r} stands on {len(found)} lines instead of one.")
    return found[0]


def _described(call: Call) -> str:
    values = [str(value).strip().partition("\n")[0][:60] for value in list(call.arguments.values())[:2]]
    return f"{call.tool}({', '.join(values)})"
