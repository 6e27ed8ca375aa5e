"""Which files a shell command writes, and what else it does: read word by word, with its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"<<-?[ \t]*['\"]?(?P<heredoc>\w+)['\"]?"
    r"|(?P<redirect>[\d&]?>{1,2}\|?(?:&[\d-])?)"
    r"|(?P<pipe>\|(?!\|))|(?P<stop>&&|\|\||[;&\n()])"
    r"|(?P<word>(?:[^\s'\"\\;&|<>()]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ASSIGNED = re.compile(r"\w+=")
_SCRIPTED = re.compile(r"-\w*[ef]\Z|--(?:expression|file)\b")
_PATH = re.compile(r"[\w./~@+:-](?:[\w ./~@+:-]{0,298}[\w~-])?")
# What shows text, and so writes a file where its output is sent there.
_SHOWING = frozenset(("cat", "echo", "printf", "tee"))
# What prepares the ground for others, or looks at what they did.
_PREPARING = "cd mkdir export set touch chmod sleep true source echo printf cat ls pwd head tail wc"
_aside = frozenset(_PREPARING.split())
_OUTPUT = (">", ">>", ">|", "1>", "1>>")
_DECIDING = ("&&", "||")
_HEREDOC = re.compile(r"<<-?[ \t]*['\"]?(\w+)['\"]?[^\n]*\n")
_LONGEST = 2000
_MOST_TEXTS = 20


@dataclass(slots=True)
class Simple:
    """One command of a list: its words, where its output goes, where in the text it stands, and what joins it.

    One that is `fed` reads a text that follows it.
    """

    start: int
    end: int
    joint: str = ""
    words: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    appended: list[str] = field(default_factory=list)
    piped: bool = False
    fed: bool = False
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def close(self) -> Simple:
        """The same, with the program that its words call, and what they call it with."""
        called = next((at for at, word in enumerate(self.words) if not _ASSIGNED.match(word)), len(self.words))
        self.name = "".join(self.words[called : called + 1]).rpartition("/")[2]
        self.arguments = self.words[called + 1 :]
        return self


@dataclass(frozen=True, slots=True)
class Shell:
    """What a command does: the files it writes, and the part of it that runs something else.

    Those `anew` are written whole; others are changed. `pipelines` are its commands, those that feed each other
    together; `cut` says that there are more of them. `texts` are those that it feeds to programs.
    """

    written: tuple[str, ...]
    rest: str
    pipelines: tuple[tuple[Simple, ...], ...] = ()
    cut: bool = False
    anew: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()


def read_shell(command: str) -> Shell:
    """Reads the beginning of a command, as far as somebody may have written it by hand."""
    lean, texts = _apart(command)
    head = lean[:_LONGEST]
    written: dict[str, None] = {}
    rest: list[str] = []
    pipelines = tuple(map(tuple, _lines(head)))
    for line in pipelines:
        files = [path for path in _written(line) if _PATH.fullmatch(path) and not path.startswith("/dev/")]
        written.update(dict.fromkeys(files))
        if not files and line[0].name not in _aside:
            rest.append(head[line[0].start : line[-1].end])
    changed = {path for line in pipelines for simple in line for path in _changed_by(simple)}
    anew = frozenset(written) - changed
    return Shell(tuple(written), " && ".join(rest), pipelines, len(lean) > _LONGEST, anew, texts)


def _apart(command: str) -> tuple[str, tuple[str, ...]]:
    """The command without the texts that it feeds to programs, and these: what follows them counts as well."""
    if "<<" not in command:
        return command, ()
    kept: list[str] = []
    texts: list[str] = []
    at = 0
    for _ in range(_MOST_TEXTS):
        begin = _HEREDOC.search(command, at)
        if begin is None:
            break
        end = re.compile(rf"^[ \t]*{begin[1]}[ \t]*$", re.MULTILINE).search(command, begin.end())
        kept.append(command[at : begin.end()])
        at = end.start() if end else begin.end()
        texts.append(command[begin.end() : end.start() if end else None])
    return "".join([*kept, command[at:]]), tuple(texts)


def _lines(text: str) -> Iterator[list[Simple]]:
    """The commands, those that feed each other together."""
    line: list[Simple] = []
    for simple in _commands(text):
        if line and not simple.piped:
            yield line
            line = []
        line.append(simple)
    if line:
        yield line


def _commands(text: str) -> Iterator[Simple]:
    at, piped, joint, target, appends, ends = 0, False, "", False, False, list[str]()
    simple: Simple | None = None
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["stop"] or token["pipe"]:
            if simple:
                yield simple.close()
                piped = bool(token["pipe"])
            if simple or token["stop"] in _DECIDING:
                joint = token[0]
            simple, target = None, False
            if token["stop"] == "\n" and ends:
                at = _behind(text, at, ends)
            continue
        if simple is None:
            simple = Simple(token.start(), at, joint, piped=piped)
        simple.end = at
        if token["heredoc"]:
            ends.append(token["heredoc"])
            simple.fed = True
        elif token["redirect"]:
            target = token["redirect"] in _OUTPUT
            appends = ">>" in token["redirect"]
            if not target and not token["redirect"].endswith(("&", "1", "2", "-")):
                at = _over_word(text, at)
        elif target:
            simple.outputs.append(_bare(token["word"]))
            simple.appended += simple.outputs[-1:] if appends else ()
            target = False
        else:
            simple.words.append(_bare(token["word"]))
    if simple:
        yield simple.close()


def _behind(text: str, at: int, ends: list[str]) -> int:
    """Where the texts end that follow a line and are fed to its commands."""
    while ends:
        end = re.compile(rf"^[ \t]*{re.escape(ends.pop(0))}[ \t]*$", re.MULTILINE).search(text, at)
        at = end.end() if end else len(text)
    return at


def _over_word(text: str, at: int) -> int:
    word = _TOKEN.match(text, len(text) - len(text[at:].lstrip(" \t")))
    return word.end() if word and word["word"] else at


def _bare(word: str) -> str:
    return _QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or quoted[3] or "", word)


def _written(line: Sequence[Simple]) -> Iterator[str]:
    shows = line[0].name in _SHOWING
    for simple in line:
        if simple.name in _SHOWING:
            yield from (path for path in simple.outputs if shows)
        if simple.name == "tee" and shows:
            yield from (word for word in simple.arguments if not word.startswith("-"))
        if simple.name == "sed":
            yield from _edited_in_place(simple.arguments)


def _changed_by(simple: Simple) -> Iterator[str]:
    """The files to which something is added, or in which something is changed."""
    yield from simple.appended
    if simple.name == "tee" and "-a" in simple.arguments:
        yield from simple.arguments
    if simple.name == "sed":
        yield from _edited_in_place(simple.arguments)


def _edited_in_place(words: list[str]) -> Iterator[str]:
    if not any(word.startswith(("-i", "--in-place")) or re.fullmatch(r"-[nErsz]+i", word) for word in words):
        return
    scripted = any(_SCRIPTED.match(word) for word in words)
    after_script = False
    for word in words:
        if after_script:
            after_script = False
        elif _SCRIPTED.match(word):
            after_script = True
        elif word and not word.startswith("-"):
            if scripted:
                yield word
            scripted = True
