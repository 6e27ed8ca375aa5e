"""What became of an action later: done again, or mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compact.history.actions import CHANGES, Action, subject
from compact.history.outcomes.commands import closing
from compact.history.outcomes.outcome import Verdict
from compact.history.plans import key_of, plans

_RERUN = 80
_WROTE = "wrote"
_DECIDED = (Verdict.OK, Verdict.FAILED)


def look_ahead(actions: Sequence[Action]) -> None:
    """Notes of each action whether a later one does the same again, and of a failed one whether that mended it.

    Of several later ones the newest counts that says how it went.
    """
    again: set[tuple[str, str]] = set()
    newest: dict[tuple[str, str], Action] = {}
    last: dict[tuple[str, str], Action] = {}
    told: set[tuple[tuple[str, str], ...]] = set()
    for action in reversed(actions):
        keys = list(_keys(action))
        replaced = [(_WROTE, subject(action))] if _changed(action) else keys
        action.superseded = bool(replaced) and all(key in again for key in replaced) and not _stays(action)
        if action.outcome.failed:
            deciding = [newest.get(key) or newest.get(_left_open(key)) for key in keys]
            mended = [later for later in deciding if later is not None and later.outcome.kind is Verdict.OK]
            action.mended_by = mended[-1].index if mended and len(mended) == len(deciding) else None
            latest = [last.get(key) for key in keys]
            if latest and all(each and each.outcome.kind is Verdict.UNKNOWN for each in latest):
                # Of several failures the last says how it went: it is one run.
                again_told = tuple(keys) in told
                told.add(tuple(keys))
                action.rerun = latest[-1].outcome.shorten(_RERUN) if latest[-1] and not again_told else ""
                action.rerun_by = latest[-1].index if latest[-1] else None
        again.update(keys)
        if action.kind == _WROTE and _changed(action):
            again.add((_WROTE, subject(action)))
        for key in keys:
            last.setdefault(key, action)
        if action.outcome.kind in _DECIDED:
            for key in (*keys, *_closed(action, keys)):
                newest.setdefault(key, action)


def mended(actions: Sequence[Action]) -> dict[int, int]:
    """By the positions of failed actions that were mended: the index of the message that mended each."""
    return {at: action.mended_by for at, action in enumerate(actions) if action.mended_by is not None}


def _keys(action: Action) -> Iterator[tuple[str, str]]:
    """What the action was done to, and what was done: equal for two that do the same."""
    if plans(action):
        yield "plan", key_of(action)
    elif action.run is not None and action.kind == "ran":
        yield from (("ran", aim) for aim in action.run.aims or (subject(action),))
    else:
        yield "changed" if action.kind in CHANGES[:2] else action.kind, subject(action)


def _changed(action: Action) -> bool:
    """Whether it changed a file: that stands until the whole file is written anew, whatever else is changed in it."""
    return action.kind in CHANGES[:2] and not plans(action) and not action.outcome.failed


def _stays(action: Action) -> bool:
    return action.run is not None and action.run.adds and action.outcome.kind is Verdict.OK


def _left_open(key: tuple[str, str]) -> tuple[str, str]:
    """What another command may end well, whatever it was given: a merge, by its name alone."""
    what, aim = key
    open_ = (other for others in closing().values() for other in others)
    return what, next((other for other in open_ if aim.startswith(f"{other} ")), aim)


def _closed(action: Action, keys: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    if action.outcome.kind is Verdict.OK:
        for _, aim in keys:
            yield from (("ran", other) for other in closing().get(aim, ()))
