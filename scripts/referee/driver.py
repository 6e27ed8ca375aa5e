"""Runs one task: reads it from standard input, and prints the digests of its cases as JSON.

`python -P -m scripts.referee.driver`, with PYTHONPATH leading to the sources of the tree first and then to this
checkout. Only what drives a server over HTTP runs with the sources of this checkout instead.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from scripts.referee import adapter, commands, growing, served
from scripts.referee.canonical import FOLDER, Aspects, digests_of

Outputs: TypeAlias = Iterator[tuple[str, Aspects]]


def condense(task: Mapping[str, Any]) -> Outputs:
    """Every session by every recipe, to every target; those marked so also with a model that answers by a script."""
    for session in task["sessions"]:
        for recipe, target, asks in session["runs"]:
            name = f"{recipe}/{session['name']}@{target:.0%}{' asking' if asks else ''}"
            if not task["show"] or f"{task['area']}/{name}" in task["show"]:
                yield name, _guarded(adapter.condense, session["body"], recipe, target, asks=asks)


def manage(task: Mapping[str, Any]) -> Outputs:
    """Every session, as it grows, by a manager."""
    for session in task["sessions"]:
        with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
            yield session["name"], _guarded(growing.play, session, Path(folder))


def _guarded(run: Callable[..., Aspects], *arguments: Any, **named: Any) -> Aspects:
    """The output of a case; a crash is one, too."""
    try:
        return run(*arguments, **named)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are of interest
        return {"crash": f"{type(error).__name__}: {error}"}


def _inside(kind: Callable[..., Outputs]) -> Callable[..., Outputs]:
    """A kind of task that runs in the process of the tree itself; an error where `compact` is another's."""

    def run(task: Mapping[str, Any]) -> Outputs:
        if not adapter.source().is_relative_to(Path(task["tree"])):
            raise RuntimeError(f"compact was loaded from {adapter.source()}, not from {task['tree']}")
        return kind(task)

    return run


KINDS: Mapping[str, Callable[[Mapping[str, Any]], Outputs]] = {
    "condense": _inside(condense),
    "manage": _inside(manage),
    "commands": _inside(commands.play),
    "help": _inside(commands.describe),
    "relay": served.relay,
    "store": served.store,
    "openapi": served.openapi,
}


def main() -> int:
    """Prints the digests of each case, and the outputs of those to show: all where that is null."""
    task = json.load(sys.stdin)
    digests, outputs = {}, {}
    for name, aspects in KINDS[task["kind"]](task):
        case = f"{task['area']}/{name}"
        digests[case] = digests_of(aspects)
        if task["show"] is None or case in task["show"]:
            outputs[case] = aspects
    json.dump({"digests": digests, "outputs": outputs}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
