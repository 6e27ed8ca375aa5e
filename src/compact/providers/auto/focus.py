"""Which exchanges show what is being worked on, and what the latest request points at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from compact.facts import Source
from compact.history.actions import CHANGES, Action, subject, written_by
from compact.history.items import items_of, numbers_named
from compact.history.plans import plans
from compact.history.reading import Reading
from compact.messages import Exchange

_MOST_FILES, _LATER_RUNS = 5, 8
"""So many files are worked on at most; a failure is left behind where more commands were run since."""
_FEWEST_REQUESTS = 2
"""The first request has nothing to point at."""
_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - where others put their files
_SHOWING = ("read", "wrote")
"""What shows a file as it is."""
_SMALL = 8_000
"""Characters of a file that a request can point at as a whole."""


def exchanges_pointed_at(reading: Reading, groups: Sequence[Exchange]) -> dict[int, frozenset[str]]:
    """Find what an open request points at: the answer right before it, and the newest list with an item that it names.

    So it does at the last view of a small file that it names. Returns the numbers of those items by exchange, with the
    requests that these answered.
    """
    owner = {index: at for at, group in enumerate(groups) for index in group}
    said = reading.utterances
    by_user = [at for at, spoken in enumerate(said) if spoken.source is Source.USER]
    if len(by_user) < _FEWEST_REQUESTS or any(spoken.closing for spoken in said[by_user[-1] + 1 :]):
        return {}
    last = by_user[-1]
    numbers = numbers_named(said[last].text)
    named = ((at, numbers & items_of(said[at].text)) for at in range(last - 1, -1, -1)) if numbers else iter(())
    listed = dict(islice(((at, items) for at, items in named if items), 1))
    if said[last - 1].source is Source.ASSISTANT and said[last - 1].closing:
        listed.setdefault(last - 1, frozenset())
    found = {said[at].index: items for at, items in listed.items()}
    for path, action in _last_shown(reading.actions).items():
        text = action.answer.text if action.kind == "read" and action.answer else written_by(action)
        if _names(said[last].text, path) and 0 < len(text) <= _SMALL:
            found.setdefault(action.index, numbers & items_of(text))
    asked = [max((said[one].index for one in by_user if said[one].index < at), default=at) for at in found]
    return {owner[at]: found.get(at, frozenset()) for at in (*asked, *found)}


def _names(request: str, path: str) -> bool:
    """Return True if the request has the name of the file as a word of its own; a folder's is also a plain word."""
    name = path.rpartition("/")[2]
    return "." in name and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", request) is not None


def _last_shown(actions: Sequence[Action]) -> dict[str, Action]:
    """Return the last call that showed each file as it still is, the newest last."""
    found: dict[str, Action] = {}
    for action in actions:
        shows = action.kind in _SHOWING and not action.is_command and not action.outcome.failed
        if action.subject in found and (shows or action.kind == "edited"):
            del found[action.subject]  # what was shown of it is no longer so
        if shows and action.subject:
            found[action.subject] = action
    return found


def exchanges_in_focus(reading: Reading, groups: Sequence[Exchange]) -> set[int]:
    """What is being worked on: changed files and those asked for as last shown, the last failure, the plan."""
    owner = {index: at for at, group in enumerate(groups) for index in group}
    changed = {action.subject for action in reading.actions if action.kind in CHANGES}
    # A script for one occasion is not what is being worked on, unless there is nothing else.
    changed = {path for path in changed if not path.startswith(_TEMPORARY)} or changed
    asked = next((said.text for said in reversed(reading.utterances) if said.source is Source.USER), "")
    shown = _last_shown(reading.actions).items()
    found = [action.index for path, action in shown if path in changed or path.rpartition("/")[2] in asked]
    failed: dict[str, tuple[int, int]] = {}
    runs = 0
    for action in reading.actions:
        if action.kind == "ran":
            name = subject(action)
            failed.pop(name, None)
            runs += 1
            if action.outcome.failed:
                failed[name] = (action.index, runs)
    planned = [action.index for action in reading.actions if plans(action)]
    failures = [index for index, run in failed.values() if runs - run <= _LATER_RUNS]
    last = [*found[-_MOST_FILES:], *failures[-1:], *planned[-1:]]
    return {owner[index] for index in last}
