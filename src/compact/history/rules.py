"""Files of the project's rules: they bind whoever works on it, and are quoted by path as its rules.

Programs give them in the user's role, or a tool reads them: only a successful read of such a file by itself, inside the
project, counts. A rule in any other result, in a vendored folder or on a web page is something that was read, and
nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from compact.history.actions import Action
from compact.messages import Passage, is_foreign, is_rules_file, rules_given

_READ_ALONE = re.compile(
    r"(?:cd +(?P<folder>[^\s;&|<>`$()]+) *(?:&&|;) *)?(?:cat|head|tail|less|nl|sed -n)"
    r"(?: +(?:-[\w=]+|\d+|['\"]?[\d,$]+p['\"]?))* +['\"]?(?P<path>[^\s;&|<>`$()*?'\"]+)['\"]?(?: +2>/dev/null)? *"
)
"""A command that shows one file and nothing else: what another prints beside it is no rule."""
_ELSEWHERE = frozenset(("url", "uri", "owner", "repo", "repository", "host", "server"))
"""Arguments by which a file is another project's."""
_PART = (
    *("offset", "limit", "head_limit", "start_line", "end_line", "line_range", "view_range", "lines", "ranges"),
    *("pattern", "query", "regex"),
)
"""Arguments by which a tool shows a part of a file."""
_SHOWS_PART = re.compile(r"\b(?:head|tail|sed)\b")
_NUMBER = re.compile(r"^[ \t]*\d{1,6} ?(?:→|\t|:|\|) ?", re.MULTILINE)
_WRAPPER = re.compile(
    r"<(path|type)>[^<\n]{0,300}</\1>|</?(?:path|type|content|file|system-reminder)[^>\n]{0,200}>"
    r"|^\(End of file[^\n]*\)$",
    re.MULTILINE,
)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RulesFile:
    """A file of the project's rules, as the message at `index` has it: its path if that is known, and what it says.

    It is `whole` where all of the file is there. `sources` are the ids of the messages of its exchange.
    """

    path: str
    text: str
    index: int = -1
    whole: bool = True
    sources: tuple[str, ...] = ()


def read_files(actions: Iterable[Action]) -> Iterator[RulesFile]:
    """The files of rules that the actions read."""
    for action in actions:
        if path := rules_read(action):
            yield RulesFile(path, rules_text(action), action.index, _is_whole(action))


def given_files(passage: Passage, index: int) -> Iterator[RulesFile]:
    """The files of rules that a program gives in a message in the user's role."""
    return (RulesFile(path, text, index) for path, text in rules_given(passage))


def newest(files: Iterable[RulesFile]) -> list[RulesFile]:
    """The files, without those that a later one shows anew as a whole: it takes their sources over; in order."""
    kept: list[RulesFile] = []
    for file in files:
        same = [known for known in kept if known.path == file.path and (known.path or known.text == file.text)]
        if same and not file.whole and any(known.whole for known in same):
            continue
        if same and file.whole:
            kept = [known for known in kept if known not in same]
            sources = (id for known in (*same, file) for id in known.sources)
            file = replace(file, sources=tuple(dict.fromkeys(sources)))  # noqa: PLW2901
        kept.append(file)
    return kept


def rules_read(action: Action) -> str:
    """The path of the file of rules that the action read; nothing for every other action."""
    if action.kind != "read" or action.outcome.failed or not action.result.strip():
        return ""
    path, folder = _shown_by(action) if action.is_command else (_asked_for(action), "")
    return path if is_rules_file(path) and not is_foreign(f"{folder}/{path}" if folder else path) else ""


def _shown_by(action: Action) -> tuple[str, str]:
    """The one file that a command shows, and the folder that it goes to for that."""
    found = _READ_ALONE.fullmatch(action.subject.strip())
    return (found["path"], found["folder"] or "") if found else ("", "")


def _asked_for(action: Action) -> str:
    """The file that a tool was asked for; none where it is to get that from another place."""
    given = action.call.arguments
    elsewhere = isinstance(given, dict) and any(key.lower() in _ELSEWHERE and value for key, value in given.items())
    return "" if elsewhere else action.subject


def rules_text(action: Action) -> str:
    """What the file says, without the numbers of its lines and the frame that a tool puts around it."""
    text = _WRAPPER.sub("", _REMINDER.sub("", action.result))
    return _NUMBER.sub("", text) if len(_NUMBER.findall(text)) > text.count("\n") // 2 else text


def _is_whole(action: Action) -> bool:
    """Whether all of the file was asked for."""
    given = action.call.arguments
    if action.is_command:
        return _SHOWS_PART.search(action.subject) is None
    return not (isinstance(given, dict) and any(given.get(key) for key in _PART))
