"""What a shell command's status and output can be asked for, and which commands do the same."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from compact.summaries.shell import Shell, Simple

_LONGEST_NAME = 3
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_VERSION = re.compile(r"\d+(?:\.\d+)*\Z")
_LOG = re.compile(r"/(?:tmp|dev)/\S*|\S+\.log")
_MEASURED = frozenset(("timeout", "nice", "ionice", "stdbuf"))
_TEXTS = (["cat"], ["echo"], ["printf"])
"""They only put a text into a file where their output goes there."""
_PASSING = frozenset(("head", "tail", "cat", "less", "tee"))
_SCRIPTS = frozenset(("npm", "pnpm", "yarn", "bun"))


@dataclass(frozen=True, slots=True)
class Habits:
    """What is known of commands, each by its first words."""

    showing: frozenset[str]
    aside: frozenset[str]
    asking: frozenset[str]
    wrapping: frozenset[str]
    compound: frozenset[str]
    telling: frozenset[str]
    bare: frozenset[str]
    silent: frozenset[str]
    adding: frozenset[str]
    closing: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Run:
    """What a command's status and output tell of.

    `honest`: the status is that of all it runs. `shows`: it only shows what others wrote. `asks`: a status of 1 is an
    answer. `silent`: no output means that all is well. `names` are the programs that it runs.
    """

    honest: bool
    shows: bool
    asks: bool
    silent: bool
    names: frozenset[str]


@cache
def habits() -> Habits:
    """The lists that stand beside this module."""
    data = tomllib.loads((files("compact.summaries.outcomes") / "commands.toml").read_text(encoding="utf-8"))

    def names(key: str) -> frozenset[str]:
        return frozenset(word.replace(":", " ") for word in data[key].split())

    return Habits(
        showing=names("showing"),
        aside=names("aside"),
        asking=names("asking"),
        silent=names("silent"),
        wrapping=names("wrapping"),
        compound=names("compound"),
        telling=names("telling"),
        bare=names("bare"),
        adding=names("adding"),
        closing={name: tuple(others) for name, others in data["closing"].items()},
    )


def understand(shell: Shell) -> Run:
    """Whom the status of a command is about, and whose words its output is."""
    known = habits()
    if not shell.pipelines:
        return Run(honest=False, shows=True, asks=False, silent=False, names=frozenset())
    lists = [pipeline for pipeline in shell.pipelines if not _is_aside(pipeline)] or shell.pipelines
    last = shell.pipelines[-1]
    ends = last[-1]
    compound = any(simple.name in known.compound for pipeline in shell.pipelines for simple in pipeline)
    careful = any("pipefail" in word or word in ("-e", "-ex", "-eu") for word in _set_options(shell))
    chained = all(_counts(shell.pipelines, at, careful=careful) for at in range(len(shell.pipelines)))
    honest = chained and not shell.cut and not compound and (careful or len(last) == 1)
    shows = all(_matches(_words(pipeline[0]), known.showing) for pipeline in lists)
    asks = _matches(_words(ends), known.asking)
    names = frozenset(name for pipeline in shell.pipelines for simple in pipeline for name in _names(simple))
    silent = not shell.cut and not compound and all(_speaks(pipeline) for pipeline in lists)
    return Run(honest, shows, asks, silent, names)


def aims(shell: Shell) -> tuple[str, ...]:
    """What a command sets out to do: its commands without flags, messages, logs, and what is beside the point."""
    found = dict.fromkeys(_aim(pipeline[0]) for pipeline in shell.pipelines if not _is_aside(pipeline))
    return tuple(aim for aim in found if aim)


def adds(shell: Shell) -> bool:
    """Whether what a command adds stays, whatever is added later."""
    return any(_matches(_words(pipeline[0]), habits().adding) for pipeline in shell.pipelines)


def _counts(pipelines: Sequence[Sequence[Simple]], at: int, *, careful: bool) -> bool:
    """Whether a failure of this part would be seen in the status of the whole."""
    if at == len(pipelines) - 1:
        return not (_is_aside(pipelines[at]) and at and pipelines[at][0].joint != "&&")
    follows = pipelines[at + 1][0].joint
    if follows == "||" or (len(pipelines[at]) > 1 and not careful):
        return False
    return follows == "&&" or careful or _is_aside(pipelines[at])


def _speaks(pipeline: Sequence[Simple]) -> bool:
    """Whether the command would print something if all were not well, and this would be seen."""
    passes = all(simple.name in _PASSING for simple in pipeline[1:])
    return passes and not any(simple.outputs for simple in pipeline) and _matches(_words(pipeline[0]), habits().silent)


def _is_aside(pipeline: Sequence[Simple]) -> bool:
    words = _words(pipeline[0])
    writes = bool(pipeline[-1].outputs) and words[:1] in _TEXTS
    return not words or writes or _matches(words, habits().aside)


def _set_options(shell: Shell) -> Iterator[str]:
    for pipeline in shell.pipelines:
        for simple in pipeline:
            if simple.name == "set":
                yield from simple.arguments


def _words(simple: Simple) -> list[str]:
    """The words of a command, without those that only run it."""
    wrapping = habits().wrapping
    words = [simple.name, *simple.arguments]
    while words and (size := _matched(words, wrapping)):
        measured = words[0] in _MEASURED
        words = words[size:]
        while words and (words[0].startswith("-") or "=" in words[0] or (measured and _NUMBER.fullmatch(words[0]))):
            words = words[1:]
    if len(words) > 1 and words[0] == "git" and words[1] == "-C":
        words = ["git", *words[3:]]
    return [words[0].rpartition("/")[2], *words[1:]] if words else []


def _names(simple: Simple) -> Iterator[str]:
    yield simple.name
    yield from _words(simple)[:1]


def _aim(simple: Simple) -> str:
    known = habits()
    words = _words(simple)
    if words and words[0].startswith(("python", "pip")):
        words[0] = _VERSION.sub("", words[0])
    if words[:1] and words[0] in _SCRIPTS and words[1:2] == ["run"]:
        del words[1]
    if size := _matched(words, known.bare):
        return " ".join(words[:size])
    kept = words[:1]
    skip = False
    for word in words[1:]:
        if skip or word in known.telling:
            skip = not skip
        elif not word.startswith("-") and not _LOG.fullmatch(word):
            kept.append(word.removeprefix("./"))
    return " ".join(kept)


def _matches(words: Sequence[str], names: frozenset[str]) -> bool:
    return _matched(words, names) > 0


def _matched(words: Sequence[str], names: frozenset[str]) -> int:
    """How many of the first words are one of these names."""
    for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
        if " ".join(words[:size]) in names:
            return size
    return 0
