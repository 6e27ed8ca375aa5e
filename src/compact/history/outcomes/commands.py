"""What a shell command's status and output can be asked for, and which commands do the same."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from compact.history.shell import Shell, Simple

_LONGEST_NAME = 3
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_VERSION = re.compile(r"\d+(?:\.\d+)*\Z")
_LOG = re.compile(r"/(?:tmp|dev)/\S*|\S+\.log")
_MEASURED = frozenset(("timeout", "nice", "ionice", "stdbuf"))
_TEXTS = (["cat"], ["echo"], ["printf"])
"""They only put a text into a file where their output goes there."""
_PASSING = frozenset(("head", "tail", "cat", "less", "tee"))
_ENDING = frozenset(("tail", "cat", "less", "tee"))
_SCRIPTS = frozenset(("npm", "pnpm", "yarn", "bun"))
_CAREFUL = ("-e", "-ex", "-eu", "-euo", "-eux")


class _Names:
    """Names of commands, each of one word or of several."""

    __slots__ = ("_first", "_names")

    def __init__(self, words: str) -> None:
        self._names = frozenset(word.replace(":", " ") for word in words.split())
        self._first = frozenset(name.partition(" ")[0] for name in self._names)

    def __contains__(self, word: object) -> bool:
        return word in self._names

    def match(self, words: Sequence[str]) -> int:
        """How many of the first words are one of the names."""
        if words and words[0] in self._first:
            for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
                if " ".join(words[:size]) in self._names:
                    return size
        return 0


class _Habits(NamedTuple):
    """What is known of commands, each by its first words."""

    showing: _Names
    aside: _Names
    asking: _Names
    silent: _Names
    wrapping: _Names
    compound: _Names
    telling: _Names
    bare: _Names
    adding: _Names


@dataclass(frozen=True, slots=True)
class Run:
    """What a command's status and output tell of, and what it is run for.

    `honest`: the status is that of all it runs. `shows`: it only shows what others wrote. `asks`: a status of 1 is an
    answer. `silent`: no output means that all is well. `whole`: the end of the output is seen. `adds`: what it adds
    stays, whatever is added later. `names` are the programs that it runs, `aims` its commands without flags, messages,
    logs, and what is beside the point. `script` is what programs are told to do in a text that is fed to them.
    """

    honest: bool
    shows: bool
    asks: bool
    silent: bool
    whole: bool
    adds: bool
    names: frozenset[str]
    aims: tuple[str, ...]
    script: str = ""


class _Part(NamedTuple):
    """A pipeline: the words of its first command without those that only run it, and whether it is beside the point."""

    pipeline: Sequence[Simple]
    words: list[str]
    aside: bool


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("compact.history.outcomes") / "commands.toml").read_text(encoding="utf-8"))


@cache
def _habits() -> _Habits:
    return _Habits(*(_Names(_data()[key]) for key in _Habits._fields))


@cache
def closing() -> dict[str, list[str]]:
    """By what a command is run for: what else it ends well."""
    found: dict[str, list[str]] = _data()["closing"]
    return found


def understand(shell: Shell) -> Run | None:
    """Whom the status of a command is about, and whose words its output is; None where nothing is run."""
    if not shell.pipelines:
        return None
    known = _habits()
    parts = [_part(pipeline) for pipeline in shell.pipelines]
    main = [part for part in parts if not part.aside] or parts
    last = parts[-1].pipeline
    simples = [simple for part in parts for simple in part.pipeline]
    plain = not shell.cut and not any(simple.name in known.compound for simple in simples)
    options = [word for simple in simples if simple.name == "set" for word in simple.arguments]
    careful = any("pipefail" in word or word in _CAREFUL for word in options)
    script = "\n".join(shell.texts) if any(simple.fed for part in main for simple in part.pipeline) else ""
    return Run(
        honest=plain and (careful or len(last) == 1) and all(_counts(parts, at, careful) for at in range(len(parts))),
        shows=all(known.showing.match(part.words) for part in main),
        asks=known.asking.match(parts[-1].words if len(last) == 1 else _words(last[-1])) > 0,
        silent=plain and all(_speaks(part) for part in main),
        whole=all(simple.name in _ENDING for simple in last[1:]),
        adds=any(known.adding.match(part.words) for part in parts),
        names=frozenset([*(simple.name for simple in simples), *(word for part in parts for word in part.words[:1])]),
        aims=tuple(
            # The same program may be fed with anything.
            dict.fromkeys(
                _folder(parts) + aim + (f" {script}" if any(simple.fed for simple in part.pipeline) else "")
                for part in parts
                if not part.aside and (aim := _aim(part.words))
            )
        ),
        script=script,
    )


def _part(pipeline: Sequence[Simple]) -> _Part:
    words = _words(pipeline[0])
    writes = bool(pipeline[-1].outputs) and words[:1] in _TEXTS
    return _Part(pipeline, words, not words or writes or _habits().aside.match(words) > 0)


def _counts(parts: Sequence[_Part], at: int, careful: bool) -> bool:  # noqa: FBT001 - told by its name
    """Whether a failure of this part would be seen in the status of the whole."""
    if at == len(parts) - 1:
        return not (parts[at].aside and at and parts[at].pipeline[0].joint != "&&")
    follows = parts[at + 1].pipeline[0].joint
    if follows == "||" or (len(parts[at].pipeline) > 1 and not careful):
        return False
    return follows == "&&" or careful or parts[at].aside


def _speaks(part: _Part) -> bool:
    """Whether the command would print something if all were not well, and this would be seen."""
    passes = all(simple.name in _PASSING for simple in part.pipeline[1:])
    return passes and not any(each.outputs for each in part.pipeline) and _habits().silent.match(part.words) > 0


def _words(simple: Simple) -> list[str]:
    """The words of a command, without those that only run it."""
    wrapping = _habits().wrapping
    words = [simple.name, *simple.arguments]
    while size := wrapping.match(words):
        measured = words[0] in _MEASURED
        words = words[size:]
        while words and (words[0].startswith("-") or "=" in words[0] or (measured and _NUMBER.fullmatch(words[0]))):
            words = words[1:]
    if words[:2] == ["git", "-C"]:
        words = ["git", *words[3:]]
    return [words[0].rpartition("/")[2], *words[1:]] if words else []


def _folder(parts: Sequence[_Part]) -> str:
    """The folder below the current one that a command enters first: there it may do something else."""
    words = parts[0].words
    return (
        f"{words[1]}: " if words[:1] == ["cd"] and len(words) > 1 and words[1][:1] not in ("/", "~", "$", ".") else ""
    )


def _aim(given: Sequence[str]) -> str:
    known, words = _habits(), list(given)
    if words and words[0].startswith(("python", "pip")):
        words[0] = _VERSION.sub("", words[0])
    if words[:1] and words[0] in _SCRIPTS and words[1:2] == ["run"]:
        del words[1]
    if size := known.bare.match(words):
        return " ".join(words[:size])
    kept = words[:1]
    skip = False
    for word in words[1:]:
        if skip or word in known.telling:
            skip = not skip
        elif not word.startswith("-") and not _LOG.fullmatch(word):
            kept.append(word.removeprefix("./"))
    return " ".join(kept)
