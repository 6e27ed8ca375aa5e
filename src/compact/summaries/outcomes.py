"""How a call went, by what its result says: that it failed, that it succeeded, or nothing of the kind."""

from __future__ import annotations

import re

from compact.facts import command_of, failures_in
from compact.messages import ToolResult
from compact.summaries.actions import CHANGES, Action
from compact.summaries.marks import unmarked

_EXIT = re.compile(r"(?:exit(?:ed with)? (?:code|status)|return ?code)>?[ :=]{0,3}(-?\d{1,5})\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\s{0,9}(?:<[\w-]{1,40}>\s{0,9})?(?:(?:Tool )?[Ee]rror|ERROR|[Ff]ailed|Exception|Traceback|Unable to)\b"
)
# What editors say when they did nothing.
_UNCHANGED = re.compile(
    r"\bno (?:match(?:es)?|occurrences?|replacements?|changes?|edits?)\b|\bunchanged\b"
    r"|\bnothing (?:was |to )?(?:change|replace)d?\b"
    r"|\bnot (?:found|changed|modified|updated|edited|applied|written|unique|exist|match|appear)\b"
    r"|(?:n't|n’t) (?:found|find|exist|match|appear)\b|\bmultiple (?:matches|occurrences)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"^[ \t]*+! \[(?:remote )?rejected\].*$", re.MULTILINE)
_OWN_COMPLAINT = re.compile(r"^(?:sed|cat|tee|(?:ba|z)?sh)(?::| error).{1,200}$", re.MULTILINE)
# A key of an object says nothing by itself: `"deleted": false`.
_POSITIVE = re.compile(
    r"(?<!not )(?<!not be )(?<!not yet )(?<!n't )(?<!n’t )(?<!nothing )(?<!never )(?<!\b0 )"
    r"\b(?:ok|pass(?:ed|es|ing)?|success(?:ful(?:ly)?)?|succeeded|done|complete[ds]?|finished|created|updated|saved"
    r"|deleted|removed|added|applied|installed|built|compiled|deployed|published|sent|booked|up[- ]to[- ]date"
    r"|files? changed|(?:no|0|zero) (?:errors?|issues?|problems?|failures?|failed|warnings?))\b"
    r"(?!\s?[:=]\s?(?:false|0|no)\b)(?![\"']\s?:\s?+(?!true\b))"
    r"|[✓✔✅]|\b[0-9a-f]{7,40}\.\.[0-9a-f]{7,40}\b|\[new (?:branch|tag)\]|成功|通过|完成",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"Traceback \(|exit (?:code|status)|returncode|exited with code|^FAIL$|^error: script|^</?output>", re.IGNORECASE
)
_LONGEST_ERROR = 240
_HEAD, _TAIL = 300, 600
_ERRORS = 2


def conclude(action: Action, message_id: str, result: ToolResult, *, alone: bool) -> None:
    """Notes how a call went; `alone` says that it did nothing beside this action."""
    text = unmarked(result.text)
    action.result, action.result_id = text, message_id
    if result.text.strip() and not text.strip():
        action.failed = True if result.error else None
    elif action.kind == "read":
        action.failed = result.error
    elif action.kind == "ran":
        _conclude_run(action, text, error=result.error)
    elif command_of(action.call) is not None:
        _conclude_shell_edit(action, text, error=result.error, alone=alone)
    else:
        _conclude_call(action, text, error=result.error)
    if action.failed is None and text != result.text:
        action.result_id = ""  # what would say it was taken out


def _conclude_run(action: Action, text: str, *, error: bool) -> None:
    status = _EXIT.search(text[:_HEAD]) or _EXIT.search(text[-_HEAD:])
    errors = _errors(text)
    if error or errors or (status is not None and int(status[1]) != 0):
        action.failed = True
        telling = [line for line in errors if not _GENERIC.search(line)]
        last = [line for line in text[-2000:].split("\n") if line.strip() and not _GENERIC.search(line)]
        action.errors = tuple(telling[:_ERRORS] or last[-_ERRORS:])
    elif status is not None or _POSITIVE.search(text[:_HEAD]) or _POSITIVE.search(text[-_TAIL:]):
        action.failed = False


def _conclude_shell_edit(action: Action, text: str, *, error: bool, alone: bool) -> None:
    """What runs beside the edit may fail by itself; only the shell's own complaints are about the edit."""
    complaints = [found[0] for found in _OWN_COMPLAINT.finditer(text)]
    errors = complaints or (_errors(text) if alone else [])
    if errors or (error and alone):
        action.failed, action.errors = True, tuple(errors or [text[:_LONGEST_ERROR]])[:_ERRORS]
    elif alone:
        action.failed = False


def _conclude_call(action: Action, text: str, *, error: bool) -> None:
    """Editors show the file, other tools tell of anything: they fail where they say so at once."""
    first = "\n".join(text.lstrip()[:_HEAD].split("\n")[:2])
    said = _POSITIVE.search(first)
    # A file that is written need not have been there.
    undone = _UNCHANGED.search(first) if action.kind in CHANGES and action.kind != "wrote" else None
    if error or _REFUSAL.match(text) or (undone and not (said and said.start() < undone.start())):
        action.failed, action.errors = True, (text[:_LONGEST_ERROR],)
    elif said or action.kind in CHANGES:
        action.failed = False


def _errors(text: str) -> list[str]:
    found = [failure.text for failure in failures_in(text)]
    return list(dict.fromkeys([*found, *(" ".join(one[0].split()) for one in _REJECTED.finditer(text))]))
