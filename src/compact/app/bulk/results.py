"""`results.jsonl`: a line for each transcript that was condensed, so that what is done is not done again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from compact.app.bulk.jobs import Outcome, write_result
from compact.app.transcripts import dump_json
from compact.disk import replace_file
from compact.errors import InvalidInput
from compact.ports.closeable import Closeable
from compact.sessions.holding import hold_file

NAME = "results.jsonl"
LOCK = ".results.lock"
_SHOWN = 100


@dataclass(slots=True)
class Totals:
    """What a batch came to; of the errors, the first hundred."""

    condensed: int = 0
    skipped: int = 0
    failed: int = 0
    missed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    errors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def files(self) -> int:
        return self.condensed + self.skipped + self.failed

    @property
    def percent(self) -> float:
        """How much smaller everything together became."""
        return round(100 * (1 - self.tokens_after / self.tokens_before), 1) if self.tokens_before else 0.0

    def add(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed += 1
            if len(self.errors) < _SHOWN:
                self.errors.append((outcome.name, outcome.error))
            return
        self.condensed += not outcome.skipped
        self.skipped += outcome.skipped
        self.missed += not outcome.target_met
        self.tokens_before += outcome.tokens_before
        self.tokens_after += outcome.tokens_after


class Results(Closeable):
    """The lines in a folder of results. Each is written when what it tells of is safe; one that a crash cut is ignored.

    Without `resume` the lines of before are forgotten. The folder is locked until `close`: InvalidInput where another
    batch has it.
    """

    def __init__(self, folder: Path, *, resume: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / NAME
        with ExitStack() as opening:
            if not opening.enter_context(hold_file(folder / LOCK)):
                remedy = "Wait until that is done, or choose another folder for results."
                raise InvalidInput("another batch writes into this folder", field=str(folder), remedy=remedy)
            self._known = _last_lines(self.path) if resume else {}
            self._repeated = False
            _write(self.path, self._known.values())
            self._file = opening.enter_context(self.path.open("ab", buffering=0))
            self._open = opening.pop_all()

    def known(self, name: str, options: str) -> str:
        """The digest of the input that a result with these options is there for; empty where there is none."""
        last = self._known.get(name)
        return last.sha256 if last is not None and last.options == options and not last.error else ""

    def add(self, outcome: Outcome) -> Outcome:
        """Write down what became of a transcript; one that was skipped is returned as it was before."""
        if outcome.skipped:
            return replace(self._known[outcome.name], skipped=True)
        self._repeated |= outcome.name in self._known
        self._file.write(_line(outcome))
        return outcome

    def close(self) -> None:
        """Make the lines durable, one of each transcript."""
        with self._open:
            os.fsync(self._file.fileno())
            self._file.close()
            if self._repeated:
                _write(self.path, _last_lines(self.path).values())


def write_results(folder: Path, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Write what workers have done into a folder: the files that come with outcomes, and a line for each."""
    with Results(folder) as results:
        for outcome in outcomes:
            if outcome.condensed is not None and outcome.plan is not None:
                write_result(folder, outcome.name, outcome.condensed.encode(), outcome.plan)
            yield results.add(outcome)


def _last_lines(path: Path) -> dict[str, Outcome]:
    """The last line of each transcript; what is no line of ours is passed over."""
    found: dict[str, Outcome] = {}
    try:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    outcome = Outcome.from_json(json.loads(line))
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue
                found[outcome.name] = outcome
    except FileNotFoundError:
        pass
    return found


def _write(path: Path, outcomes: Iterable[Outcome]) -> None:
    replace_file(path, b"".join(map(_line, outcomes)))


def _line(outcome: Outcome) -> bytes:
    return (dump_json(outcome.to_json()) + "\n").encode()
