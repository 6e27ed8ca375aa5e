"""Which exchanges come first: the newest ones, and what is being worked on."""

from __future__ import annotations

from collections.abc import Sequence

from compact.facts import Source
from compact.history.actions import CHANGES, subject
from compact.history.plans import plans
from compact.history.reading import Reading
from compact.messages import Exchange, Message
from compact.ports import Measure
from compact.providers.auto.settings import AutoSettings

_MOST_FILES, _LATER_RUNS = 5, 8
"""So many files are worked on at most; a failure is left behind where more commands were run since."""
_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - where others put their files
_SHOWING = ("read", "wrote")
"""What shows a file as it is."""


def recent_exchanges(
    messages: Sequence[Message], groups: Sequence[Exchange], settings: AutoSettings, measure: Measure
) -> set[int]:
    """The exchanges at the end that come first: so many turns without calls, so many calls, and so many tokens."""
    found: set[int] = set()
    heard = called = 0
    room = settings.recent_tokens
    for at in range(len(groups) - 1, -1, -1):
        calls = sum(len(messages[index].calls) for index in groups[at])
        if calls and called < settings.tool_pairs:
            found.add(at)
            called += calls
        elif not calls and heard < 2 * settings.recent_turns:
            found.add(at)
            heard += 1
        if room > 0:
            room -= sum(measure.message(messages[index]) for index in groups[at])
            if room >= 0:
                found.add(at)
    return found


def exchanges_in_focus(reading: Reading, groups: Sequence[Exchange]) -> set[int]:
    """What is being worked on: changed files and those asked for as last shown, the last failure, the plan."""
    owner = {index: at for at, group in enumerate(groups) for index in group}
    changed = {action.subject for action in reading.actions if action.kind in CHANGES}
    # A script for one occasion is not what is being worked on, unless there is nothing else.
    changed = {path for path in changed if not path.startswith(_TEMPORARY)} or changed
    asked = next((said.text for said in reversed(reading.utterances) if said.source is Source.USER), "")
    found: dict[str, int] = {}
    failed: dict[str, tuple[int, int]] = {}
    runs = 0
    for action in reading.actions:
        if action.kind == "edited" and action.subject in found:
            del found[action.subject]  # what was shown of it is no longer so
        if action.kind in _SHOWING and not action.is_command and action.subject and not action.outcome.failed:
            if action.subject in changed or action.subject.rpartition("/")[2] in asked:
                found.pop(action.subject, None)
                found[action.subject] = action.index
        elif action.kind == "ran":
            name = subject(action)
            failed.pop(name, None)
            runs += 1
            if action.outcome.failed:
                failed[name] = (action.index, runs)
    planned = [action.index for action in reading.actions if plans(action)]
    failures = [index for index, run in failed.values() if runs - run <= _LATER_RUNS]
    last = [*list(found.values())[-_MOST_FILES:], *failures[-1:], *planned[-1:]]
    return {owner[index] for index in last}
