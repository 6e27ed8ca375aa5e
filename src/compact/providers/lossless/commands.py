"""Shell commands: where they run, and how much of what they print is shown."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

_GOES = re.compile(r"(?:^|[;&|\n])[ \t]*(?:cd|pushd|popd)\b")
_INTO = re.compile(r"cd[ \t]+(?P<to>[^\s;&|<>$`~*?\"'()-][^\s;&|<>$`*?\"'()]*)[ \t]*(?:&&|;|$)\s*")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_CUT = re.compile(r"(?P<side>head|tail)(?:\s+(?:-n ?|-|--lines=)(?P<count>\d{1,9}))?")
_MOVES = re.compile(r"cd|p(?:ush|op)d")
_REFUSED = re.compile(r"\bcd ?: |annot find path")
_LOOK = 400
_USUAL = 10
_MERGED = "2>&1"


@dataclass(frozen=True, slots=True)
class Cut:
    """What is shown of an output: its `side` ("" is all), up to `count` lines, errors `merged` into it or not."""

    side: str = ""
    count: int = 0
    merged: bool = False

    def covers(self, other: Cut) -> bool:
        """Whether as much is shown as the other would show of the same output."""
        if not self.side:
            return self.merged >= other.merged
        return self.side == other.side and self.merged == other.merged and self.count >= other.count

    def seen_in(self, answer: str) -> Cut:
        """The cut as the answer shows it to be: one with fewer lines than were asked for is the whole output."""
        return Cut(merged=self.merged) if answer.count("\n") + 1 < self.count else self


UNCUT = Cut()


@dataclass(frozen=True, slots=True)
class Command:
    """What is run, in which folder as far as that can be told, and what of its output is shown."""

    run: str
    folder: str
    cut: Cut


class Shell:
    """The folder in which a tool's next command runs.

    Whether a shell lives on from call to call is not said. So a folder is known by where a living shell would be and
    by where a fresh one would be: two commands run in the same folder if they agree in both. A living shell cannot go
    into `src` when it is there already, so one that does is taken for fresh from then on.
    """

    def __init__(self) -> None:
        self._living = ""
        self._fresh = False
        self._lost = 0

    def lose(self) -> None:
        """Nothing is known any more of where a living shell would be."""
        self._lost += 1
        self._living = f"?{self._lost}"

    def take(self, command: str, answer: str) -> Command:
        """The command as it runs; the answer tells whether it got to its folder."""
        rest, folder = command.strip(), ""
        refused = rest.startswith("cd") and _REFUSED.search(answer[:_LOOK]) is not None
        while found := _INTO.match(rest):
            rest, to = rest[found.end() :], found["to"]
            if not refused and to[0] not in "./" and f"/{self._living}".endswith(f"/{to}"):
                self._fresh = True
            folder, self._living = _join(folder, to), _join(self._living, to)
        known = folder if self._fresh or folder == self._living else f"{self._living}:{folder}"
        run, cut = _shown(rest)
        if refused or (_MOVES.search(rest) and _GOES.search(rest)):
            self.lose()
        return Command(run, known, cut)


def is_absolute(path: str) -> bool:
    return _ABSOLUTE.match(path) is not None


def _join(folder: str, to: str) -> str:
    return to if is_absolute(to) and to[0] != "/" else posixpath.normpath(posixpath.join(folder, to))


def _shown(command: str) -> tuple[str, Cut]:
    """The command without what only cuts its output, and that."""
    run, bar, last = command.rpartition("|")
    found = _CUT.fullmatch(last.strip()) if bar and not run.endswith("|") else None
    run = run.rstrip() if found else command
    merged = run.endswith(_MERGED)
    run = run.removesuffix(_MERGED).rstrip().replace(f" {_MERGED} &&", " &&")
    return run, Cut(found["side"], int(found["count"] or _USUAL), merged) if found else Cut(merged=merged)
