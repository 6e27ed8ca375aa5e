"""Files of the project's rules: they bind whoever works on it, and are quoted by path as its rules.

Programs give them in the user's role, or a tool reads them: only a successful read of such a file by itself, inside the
project, counts. A rule in any other result, in a vendored folder or on a web page is something that was read, and
nothing more.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compact.history.actions import CHANGES, Action
from compact.history.shell import read_shell
from compact.messages import Passage, is_foreign, is_rules_file, rules_given

_SHOWING = frozenset(("cat", "head", "tail", "less", "more", "nl", "bat", "type", "Get-Content", "gc", "sed"))
_CUTTING = frozenset(("cat", "head", "tail", "nl", "sed"))
"""Programs that show a file, and those that may take what the others show: what another prints is no rule."""
_NO_FILE = re.compile(r"-.*|\d+|[\d,$]+p|")
_FILE = re.compile(r"[^$`*?<>|;&]{1,300}")
_ELSEWHERE = frozenset(
    ("url", "uri", "owner", "repo", "repository", "reponame", "repo_name", "project_id", "host", "hostname", "server")
)
"""Arguments by which a file is another project's."""
_FOLDERS = ("workdir", "cwd", "directory", "dir_path", "dir", "working_directory", "working_dir")
_TOLD_FOLDER = re.compile(r"(?:\A|\n)(?:\[Current working directory|Directory): (?!\(root\))([^\]\n]{1,300})")
"""The folder of a command, in its arguments and in what wrappers say."""
_PART = (
    *("offset", "limit", "head_limit", "start_line", "end_line", "line_range", "view_range", "lines", "ranges"),
    *("pattern", "query", "regex"),
)
"""Arguments by which a tool shows a part of a file."""
_SHOWS_PART = re.compile(r"\b(?:head|tail|sed)\b")
_EDGE = 400
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


def read_files(actions: Sequence[Action], project: str) -> Iterator[RulesFile]:
    """The files of rules that the actions read; `project` is the project's own folder."""
    folder = ""
    for action in actions:
        folder = _folder_of(action, folder)
        if paths := rules_read(action, folder, project):
            yield RulesFile(", ".join(paths), rules_text(action), action.index, _is_whole(action))


def given_files(passage: Passage, index: int, project: str) -> Iterator[RulesFile]:
    """The files of rules that a program gives in a message in the user's role."""
    return (RulesFile(path, text, index) for path, text in rules_given(passage, project))


def project_folder(actions: Sequence[Action]) -> str:
    """The folder that holds all changed files and all commands that say where they run; empty if none is known."""
    changed = (posixpath.dirname(action.subject) for action in actions if action.kind in CHANGES)
    folders = [each for each in (*changed, *(_folder_of(action) for action in actions)) if each.startswith("/")]
    common = posixpath.commonpath(folders) if folders else ""
    return common if common != "/" else ""


def _folder_of(action: Action, before: str = "") -> str:
    """The folder that a command runs in, as far as it is said; the one `before` where a shell stays in it."""
    given, text = action.call.arguments, action.answer.text if action.answer else ""
    named = (given.get(key) for key in _FOLDERS) if isinstance(given, dict) else ()
    told = _TOLD_FOLDER.search(text[:_EDGE]) or _TOLD_FOLDER.search(text[-_EDGE:])
    folder = next((each for each in named if isinstance(each, str) and each), told[1] if told else before)
    lines = read_shell(action.subject).pipelines if action.is_command and "cd " in action.subject else ()
    for line in lines:
        if line[0].name == "cd" and line[0].arguments:
            folder = posixpath.normpath(posixpath.join(folder, line[0].arguments[0]))
    return folder


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


def rules_read(action: Action, folder: str = "", project: str = "") -> tuple[str, ...]:
    """The paths of the files of rules that the action read in that folder; none for every other action."""
    if action.outcome.failed or not action.result.strip():
        return ()
    paths = _shown_by(action) if action.is_command else _asked_for(action)
    places = [posixpath.join(folder, path) for path in paths] + list(paths)
    if not all(map(is_rules_file, paths)) or any(is_foreign(place, project) for place in places):
        return ()
    return tuple(paths)


def _shown_by(action: Action) -> Sequence[str]:
    """The files that a command shows, where it does nothing else."""
    shell = read_shell(action.subject)
    lines = [line for line in shell.pipelines if line[0].name != "cd"]
    if lines[1:] and [word for simple in lines[-1] for word in simple.words] == ["true"]:
        del lines[-1]
    if len(lines) != 1 or shell.cut or shell.texts or any(simple.outputs for simple in lines[0]):
        return ()
    (shown, *cutting) = lines[0]
    if any(simple.name not in _CUTTING for simple in cutting) or action.result.startswith(f"{shown.name}: "):
        return ()
    words = shown.arguments
    if shown.name == "git" and words[:1] == ["show"]:
        return [
            path for word in words[1:2] for head, _, path in [word.partition(":")] if head == "HEAD" and not words[2:]
        ]
    if shown.name not in _SHOWING or (shown.name == "sed" and "-n" not in words):
        return ()
    files = [word for word in words if not _NO_FILE.fullmatch(word)]
    return files if all(map(_FILE.fullmatch, files)) else ()


def _asked_for(action: Action) -> Sequence[str]:
    """The file that a tool was asked for; none where it is to get that from another place."""
    given = action.call.arguments
    elsewhere = isinstance(given, dict) and any(key.lower() in _ELSEWHERE and value for key, value in given.items())
    return () if elsewhere or action.kind != "read" else (action.subject,)


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
