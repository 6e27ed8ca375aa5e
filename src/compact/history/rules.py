"""Files of rules that a tool read: they bind whoever works on the project, and are quoted by path as its rules.

Only a successful read of such a file inside the project counts. A rule in any other result, in a vendored folder or on
a web page is something that was read, and nothing more.
"""

from __future__ import annotations

import re

from compact.history.actions import Action

_FILE = re.compile(
    r"(?:CLAUDE|AGENTS?|GEMINI|CONVENTIONS|SKILL|copilot-instructions)(?:\.local)?\.md"
    r"|CONTRIBUTING(?:\.(?:md|rst|txt))?|\.(?:cursor|windsurf|cline|roo)rules|[\w.-]+\.mdc",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?:\A|/)(?:node_modules|vendor|third[_-]party|site-packages|dist-packages|\.venv|venv|bower_components|Pods|\.git"
    r"|\.cargo|go/pkg|dist|build|target)/|://",
    re.IGNORECASE,
)
_READ_ALONE = re.compile(
    r"(?:cd +(?P<folder>[^\s;&|<>`$()]+) *(?:&&|;) *)?(?:cat|head|tail|less|nl|sed -n)"
    r"(?: +(?:-[\w=]+|\d+|['\"]?[\d,$]+p['\"]?))* +['\"]?(?P<path>[^\s;&|<>`$()*?'\"]+)['\"]?(?: +2>/dev/null)? *"
)
"""A command that shows one file and nothing else: what another prints beside it is no rule."""
_ELSEWHERE = frozenset(("url", "uri", "owner", "repo", "repository", "host", "server"))
"""Arguments by which a file is another project's."""
_NUMBER = re.compile(r"^[ \t]*\d{1,6}(?:→|\t|:|\|) ?", re.MULTILINE)
_WRAPPER = re.compile(
    r"</?(?:path|type|content|file|system-reminder)[^>\n]{0,200}>|^\(End of file[^\n]*\)$", re.MULTILINE
)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def rules_read(action: Action) -> str:
    """The path of the file of rules that the action read; nothing for every other action."""
    if action.kind != "read" or action.outcome.failed or not action.result.strip():
        return ""
    path, folder = _shown_by(action) if action.is_command else (_asked_for(action), "")
    if not _FILE.fullmatch(path.rpartition("/")[2]) or _FOREIGN.search(f"{folder}/{path}" if folder else path):
        return ""
    return path


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
