"""Which calls only look at how things stand, so that the latest answer counts; others do something each time."""

from __future__ import annotations

import re
from functools import lru_cache

from compact.history.outcomes.commands import understand
from compact.history.shell import read_shell
from compact.messages import ToolCall
from compact.providers.lossless.reads import essential, shell_command

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LOOKING = "read view cat show get list ls tree fetch search grep glob find query lookup describe inspect stat status"
_CHECKING = "diff log logs count test tests lint diagnostics typecheck"
_BESIDE = "run web file files code project git check"
"""What may stand before or behind such a word."""
_MAKING = frozenset(("create", "add", "set", "update", "replace", "write", "insert", "delete", "remove", "send"))
_looking = frozenset((*_LOOKING.split(), *_CHECKING.split()))
_beside = frozenset(_BESIDE.split())
_SEARCHING = frozenset(["search", "grep", "glob", "find", "query", "list", "ls", "tree", "dir"])
_SEARCH = re.compile(
    r"(?:\w+=\S+\s+)*(?:git\s+)?(?:grep|[ef]grep|rg|ag|ack|find|fd|locate|ls(?:-files|-tree)?|tree|dir)(?![\w-])"
)
_GOING = re.compile(r"(?:cd\s[^;&|\n]*(?:&&|;)\s*)+")
# What these commands put somewhere stays there, and what they make differs each time.
_DOING = re.compile(
    r"(?i)\b(?:POST|PUT|PATCH|DELETE)\b|\s(?:-d|--data\S*|-F|--form|--json|-T|--upload-file)[\s=]"
    r"|\b(?:create|add|insert|send|publish|push|deploy|upload|apply|uuidgen|pwgen|openssl rand|mktemp)\b"
)


def can_repeat(call: ToolCall) -> bool:
    """Whether a call made again asks the same as before: a command that adds nothing, or a tool that looks."""
    typed = _typed(call)
    if not typed:
        return _looks(call.name)
    run = understand(read_shell(typed))
    return run is not None and not run.adds and (run.shows or _DOING.search(typed) is None)


def is_search(call: ToolCall) -> bool:
    """Whether a call looks for something or lists it, and so may find other things each time."""
    typed = _typed(call)
    if typed:
        return _SEARCH.match(_GOING.sub("", typed.strip(), count=1)) is not None
    return not _SEARCHING.isdisjoint(_words(call.name))


def _typed(call: ToolCall) -> str:
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    return shell_command(essential(arguments))[1]


@lru_cache(maxsize=500)
def _looks(name: str) -> bool:
    """Whether a tool's name says that it looks at something: with its first word, or its last one."""
    words = [word for word in _words(name) if word not in _beside]
    if not words or not _MAKING.isdisjoint(words):
        return False
    return words[0] in _looking or (len(words) < 3 and words[-1] in _looking)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name.rpartition("__")[2].rpartition(".")[2])]
