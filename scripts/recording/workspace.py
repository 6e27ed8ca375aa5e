"""A throw-away copy of the project, and the tools that really work on it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from compact.errors import CompactError

HOME = "/workspace"
"""Where the copy seems to lie."""

COPIED = ("CONTRIBUTING.md", "README.md", "docs", "examples", "pyproject.toml", "scripts", "src", "tests")
# What is recorded must not depend on an earlier recording, nor show the script it follows.
LEFT_OUT = ("scripts/record_demo.py", "scripts/recording", "src/compact/cli/transcripts", "tests/test_record_demo.py")
_MADE_BY_TOOLS = ("__pycache__", ".*", "*.egg-info", "node_modules")

LONGEST_READ = 260
LONGEST_SEARCH = 60
LONGEST_OUTPUT = 14_000
_RUNNABLE = (["-m", "pytest"], ["-m", "ruff"], ["-c"])
_SECONDS = 300

Arguments: TypeAlias = Mapping[str, Any]


class ToolError(CompactError):
    """What a tool answers when it cannot do what was asked."""


class Workspace:
    """The copy of a project below `home`, and the tools an agent has there."""

    def __init__(self, project: Path, home: Path) -> None:
        self.home = home.resolve()
        self.root = self.home / "compact"
        copy_project(project, self.root)
        (self.home / "tmp").mkdir()
        self._tools: dict[str, Callable[..., str]] = {
            "read_file": self.read_file,
            "list_files": self.list_files,
            "search": self.search,
            "edit_file": self.edit_file,
            "write_file": self.write_file,
            "run": self.run,
        }

    def use(self, tool: str, arguments: Arguments) -> str:
        """What the tool answers."""
        return self._tools[tool](**arguments)

    def read_file(self, path: str, start: int = 1, end: int | None = None) -> str:
        lines = self._text(path).splitlines()
        last = min(len(lines), end or len(lines), start + LONGEST_READ - 1)
        shown = _numbered(lines, start, last)
        if last < min(len(lines), end or len(lines)):
            shown += f"\n[lines {start}-{last} of {len(lines)}; read on with start={last + 1}]"
        return shown or f"[{path} has {len(lines)} lines]"

    def list_files(self, path: str) -> str:
        below = self._files(self._place(path))
        return "\n".join(f"{self._name(file)}  {file.stat().st_size:,} bytes" for file in below) or f"[{path} is empty]"

    def search(self, pattern: str, path: str) -> str:
        found = [
            f"{self._name(file)}:{number}: {line}"
            for file in self._files(self._place(path))
            for number, line in enumerate(_lines(file), 1)
            if re.search(pattern, line)
        ]
        more = [f"[{len(found) - LONGEST_SEARCH} more lines match]"] if len(found) > LONGEST_SEARCH else []
        return "\n".join([*found[:LONGEST_SEARCH], *more]) or "[no line matches]"

    def edit_file(self, path: str, old: str, new: str) -> str:
        text = self._text(path)
        if (times := text.count(old)) != 1:
            raise ToolError(f"{path}: `old` occurs {times} times, and must occur exactly once. Nothing was changed.")
        before, _, after = text.partition(old)
        self._place(path).write_text(before + new + after, encoding="utf-8")
        first = before.count("\n") + 1
        lines = (before + new + after).splitlines()
        return f"edited {path}\n" + _numbered(lines, max(1, first - 3), min(len(lines), first + new.count("\n") + 3))

    def write_file(self, path: str, content: str) -> str:
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
        return f"wrote {path}, {len(content.splitlines())} lines"

    def run(self, command: str) -> str:
        words = shlex.split(command)
        if words[:1] != ["python"] or not any(words[1 : 1 + len(start)] == start for start in _RUNNABLE):
            raise ToolError(f"{command}: only python -m pytest, python -m ruff and python -c may be run here.")
        done = subprocess.run(
            [sys.executable, *words[1:]],
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
        output = shortened(normalised(done.stdout.decode("utf-8", "replace"), self.home))
        return f"{output.rstrip()}\n[exit code {done.returncode}]".lstrip("\n")

    def _environment(self) -> dict[str, str]:
        """Nothing of this machine but where programs are; terminals of 100 columns with colours."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "USER": "user",
            "LOGNAME": "user",
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "BUILD_NUMBER": "1",  # else pytest cuts lines, and where depends on how long the real paths are
            "PY_COLORS": "1",
            "CLICOLOR_FORCE": "1",
            "RUFF_NO_CACHE": "true",
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }

    def _place(self, path: str) -> Path:
        place = (self.root / path).resolve()
        if not place.is_relative_to(self.root):
            raise ToolError(f"{path}: is outside the checkout.")
        return place

    def _text(self, path: str) -> str:
        place = self._place(path)
        if not place.is_file():
            raise ToolError(f"{path}: no such file.")
        return place.read_text(encoding="utf-8")

    def _name(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()

    def _files(self, place: Path) -> list[Path]:
        if place.is_file():
            return [place]
        if not place.is_dir():
            raise ToolError(f"{place.relative_to(self.root)}: no such file or folder.")
        return sorted(file for file in place.rglob("*") if file.is_file() and not self._is_hidden(file))

    def _is_hidden(self, file: Path) -> bool:
        return any(part.startswith((".", "__pycache__")) for part in file.relative_to(self.root).parts)


def copy_project(project: Path, target: Path) -> None:
    """Copy a project's sources, without what tools have made and without the recordings."""
    left_out = {project / name for name in LEFT_OUT}
    by_tools = shutil.ignore_patterns(*_MADE_BY_TOOLS)

    def ignore(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if Path(folder, name) in left_out} | by_tools(folder, names)

    target.mkdir(parents=True)
    for name in COPIED:
        if (project / name).is_dir():
            shutil.copytree(project / name, target / name, ignore=ignore)
        elif (project / name).is_file():
            shutil.copyfile(project / name, target / name)


def normalised(text: str, home: Path) -> str:
    """A command's output without what differs from run to run: places, durations, today's date, addresses."""
    places = {str(home): HOME, sys.prefix: f"{HOME}/compact/.venv", sys.base_prefix: "/usr"}
    for place, shown in places.items():
        text = text.replace(place, shown)
    text = re.sub(r"\b\d+\.\d+s\b(?: \(\d+:\d\d:\d\d\))?", "1.00s", text)
    # pytest fills the line with as many signs as the duration leaves room for.
    text = re.sub(r"^.*\b1\.00s\b.*$", lambda line: re.sub("={3,}", "=" * 30, line[0]), text, flags=re.MULTILINE)
    today = datetime.now(UTC).date().isoformat()
    text = re.sub(rf"{today}(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?)?", "2026-01-01", text)
    return re.sub(r"(?<= at )0x[0-9a-f]+", "0x7f0000000000", text)


def shortened(output: str) -> str:
    """The beginning and the end of a long output, cut between lines."""
    if len(output) <= LONGEST_OUTPUT:
        return output
    head = output[: LONGEST_OUTPUT // 3].rpartition("\n")[0]
    tail = output[-(LONGEST_OUTPUT * 2 // 3) :].partition("\n")[2]
    missing = output.count("\n") - head.count("\n") - tail.count("\n") - 1
    return f"{head}\n[{missing} lines left out]\n{tail}"


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))


def _lines(file: Path) -> Iterator[str]:
    try:
        yield from file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return
