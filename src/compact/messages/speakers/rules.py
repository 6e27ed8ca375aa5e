"""Files of a project's rules that a program gives a model in the user's role, and what such files are called."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from compact.messages.speakers.known import Passage, Speaker, load

FROM_FILE = "rules from a file"
_GIVEN_BY_PROGRAMS = ("contents of files", "where the program runs")
"""The observations with files that a program itself adds. What a command printed may be a page of the web."""
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,60}>")


class GivenRules(NamedTuple):
    """A file of rules that a program gives; `path` is empty where it does not say which file it is."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class _Heading:
    """What stands above a file of rules, and what ends it."""

    above: re.Pattern[str]
    until: str


@dataclass(frozen=True, slots=True)
class _Rules:
    names: re.Pattern[str]
    foreign: re.Pattern[str]
    below: re.Pattern[str]
    headings: tuple[_Heading, ...]


@cache
def _known() -> _Rules:
    data = load()["rules"]
    names = "".join(data["names"].split())
    headings = (
        _Heading(
            re.compile(entry["above"].replace("{names}", names), re.VERBOSE | re.MULTILINE | re.IGNORECASE),
            entry.get("until", ""),
        )
        for entry in data["file"]
    )
    foreign, below = (re.compile(data[key], re.VERBOSE | re.IGNORECASE) for key in ("foreign", "below"))
    return _Rules(re.compile(names, re.IGNORECASE), foreign, below, tuple(headings))


def is_rules_file(path: str) -> bool:
    """True if a file is called as files of rules are."""
    return _known().names.fullmatch(_plain(path).rpartition("/")[2]) is not None


def is_foreign(path: str, project: str = "") -> bool:
    """True if a file lies on the web or in a folder of what others wrote; `project` is a folder of the project."""
    known, plain = _known(), _plain(path)
    above = posixpath.commonpath((project, plain)) if project.startswith("/") and plain.startswith("/") else ""
    return known.foreign.search(plain) is not None or known.below.search(plain[len(above) :]) is not None


def _plain(path: str) -> str:
    return path.replace("\\", "/")


def rules_given(passage: Passage, project: str = "") -> Iterator[GivenRules]:
    """The files of the project's rules in what a program says in the user's role.

    Among other contents, only files that are called as such are; what says that it is from a file is rules in any case.
    """
    rules = passage.speaker is Speaker.RULES
    if passage.label != FROM_FILE and passage.label not in _GIVEN_BY_PROGRAMS:
        return
    found = list(_files(passage.text))
    if rules and not found and (text := _TAG.sub("", passage.text).strip()):
        yield GivenRules("", text)
    for folder, each in found:
        if each.text and not is_foreign(each.path, folder or project) and (rules or is_rules_file(each.path)):
            yield each


def _files(text: str) -> Iterator[tuple[str, GivenRules]]:
    """Every file that stands under a heading, whatever it is, with the project's folder where the heading names it."""
    above = [(found, heading) for heading in _known().headings for found in heading.above.finditer(text)]
    above.sort(key=lambda pair: pair[0].start())
    end = 0
    for at, (found, heading) in enumerate(above):
        if found.start() < end:
            continue
        given = found.groupdict(default="")
        until = f"\n{given['until']}" if "until" in given else heading.until
        closed = text.find(until, found.end()) if until else -1
        following = (other.start() for other, kind in above[at + 1 :] if closed < 0 or kind is heading)
        ends = [next(following, len(text)), *([closed] if closed >= 0 else [])]
        end = max(min(ends), found.end())
        folder = given.get("folder", "").strip().rstrip("/")
        path = given.get("path") or "/".join(filter(None, (folder, given.get("name"))))
        yield folder, GivenRules(path.strip(), text[found.end() : end].strip())
