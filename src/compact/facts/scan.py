"""Facts in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.facts.amounts import numbers_in
from compact.facts.directives import directives_in
from compact.facts.fact import Fact, Kind, Origin, Source
from compact.facts.failures import failures_in
from compact.facts.words import URL, WORD, Judgement, judge, judge_url

_QUOTED = re.compile(r"`([A-Za-z_$][\w$.-]{1,79})(?:\(\))?`")
_DEFINED = re.compile(
    r"^[ \t]*+(?:\d{1,6}[→:|\t][ \t]*+)?(?:[+-][ \t]*+)?"
    r"(?:(?:export|default|async|pub|public|private|protected|static|final) +){0,4}"
    r"(?:def|class|func|function|fn|interface|struct|enum|type|trait) +"
    r"([A-Za-z_$][\w$]{2,79})(?=[ \t]?[(:{=<\[]| (?:struct|interface)\b)",
    re.MULTILINE,
)
_KEY = re.compile(r'"([\w-]{1,60})"\s?:')
_ANSI = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]")
_FENCE = re.compile(r"^[ \t]*+```[ \t]*+(\w*)", re.MULTILINE)
_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\[\w.-]{2}[\w\\.-]{0,200}")
_DIFF_PATH = re.compile(r"^((?:---|\+\+\+|diff --git) )[ab]/(\S*+ )?(?:b/)?", re.MULTILINE)
_SHELLS = frozenset(("bash", "sh", "shell", "console", "zsh", "terminal"))
_LONGEST_COMMAND = 300
# What does not change which command it is: where it runs, what is done with its output.
_PREFIX = re.compile(r"(?:cd [^&;|]{1,300}(?:&&|;)\s*|(?:export )?[A-Z_]{2,40}=\S{0,200}\s+|timeout \d+\w?\s+)+")
_REDIRECTS = re.compile(r"(?:\s*(?:2>&1|[12]?>\s?/dev/null))+\s*\Z")
_SUFFIX = re.compile(
    r"(?:\s*(?:2>&1|[12]?>\s?/dev/null"
    r"|\|\s*(?:head|tail|grep|cat|sed|less|tee|wc|sort|uniq)\b(?:[^|\"']|\"[^\"]{0,200}\"|'[^']{0,200}'){0,200}))+\s*\Z"
)


def extract(text: str, *, origin: Origin) -> Iterator[Fact]:
    """The facts of a text, each once, kind by kind."""
    for kind, said in dict.fromkeys(_find(text, origin.source)):
        yield Fact(kind, said, origin.message_id)


def normal_command(command: str) -> str:
    """A command on one line, without the text it feeds to a program, bounded."""
    head, heredoc, _ = command[: 4 * _LONGEST_COMMAND].partition("<<")
    return " ".join((head + "<<…" if heredoc else head).split())[:_LONGEST_COMMAND]


def core_command(command: str, *, reads: bool = False) -> str:
    """A command without where it runs and what is done with its output.

    One that `reads` keeps what picks from its output: two searches in one file are not the same.
    """
    line = normal_command(command)
    prefix = _PREFIX.match(line)
    suffix = _REDIRECTS if reads else _SUFFIX
    return suffix.sub("", line[prefix.end() :] if prefix else line).strip() or line


def names_in(text: str, source: Source) -> Iterator[tuple[Kind, str]]:
    """The addresses, paths and names of a text."""
    if source in (Source.CALL, Source.TOOL, Source.SHOWN):
        for name in _DEFINED.findall(text):
            yield Kind.IDENTIFIER, name
    elif "`" in text:
        for name in _QUOTED.findall(text):
            if not judge(name):
                yield Kind.IDENTIFIER, name.rstrip(".-")
    if "://" in text:
        for url in dict.fromkeys(URL.findall(text)):
            yield from judge_url(url)
    if ":\\" in text:
        for match in _WINDOWS_PATH.finditer(text):
            yield Kind.PATH, match[0].rstrip("\\.")
    words = dict.fromkeys(WORD.findall(_plain(text)))
    if text[:1] in ("{", "[") and source is not Source.CALL:
        # Keys are the form of an answer, not what it says.
        for key in _KEY.findall(text):
            words.pop(key, None)
    judged: Iterator[Judgement] = map(judge, words)
    for facts in judged:
        yield from facts


def _plain(text: str) -> str:
    """The text without what would stick to its words: colours, addresses, spelled-out line feeds, sides of a diff."""
    if "\x1b" in text:
        text = _ANSI.sub(" ", text)
    if "://" in text:
        text = URL.sub(" ", text)
    if " a/" in text:
        text = _DIFF_PATH.sub(r"\1\2", text)
    if "\\" in text:
        text = _WINDOWS_PATH.sub(" ", text) if ":\\" in text else text
        text = text.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ")
    return text


def _find(text: str, source: Source) -> Iterator[tuple[Kind, str]]:
    yield from names_in(text, source)
    for number in numbers_in(text):
        yield Kind.NUMBER, number.text
    if source in (Source.USER, Source.ASSISTANT) and "```" in text:
        yield from _commands(text)
    if source is Source.USER:
        for sentence in directives_in(text):
            yield Kind.DIRECTIVE, sentence.text
    if source is Source.TOOL:
        for failure in failures_in(text):
            yield Kind.ERROR, failure.text


def _commands(text: str) -> Iterator[tuple[Kind, str]]:
    """The lines of fenced shell code."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
            continue
        if opened[1].lower() in _SHELLS:
            for line in text[opened.end() : fence.start()].split("\n"):
                command = line.strip().removeprefix("$ ")
                if command and not command.startswith("#"):
                    yield Kind.COMMAND, normal_command(command)
        opened = None
