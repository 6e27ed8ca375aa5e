"""`compact worker`: condense what stands in a queue."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Annotated, Any

import typer

from compact.app.bulk import Outcome, Totals
from compact.app.bulk.queue import Terms, Worker
from compact.cli.batch import DatabaseUrl, Processes, line_of, open_queue
from compact.cli.console import AsJson, print_json, screen
from compact.cli.options import grouped

EXAMPLES = (
    "Examples: compact worker --database postgresql://host/name · "
    "compact worker --database jobs.db --queue march --jobs 4 --until-empty"
)
_LONGEST = 86_400


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact worker`."""

    database: DatabaseUrl = None
    queue: Annotated[str | None, typer.Option("--queue", "--batch", help="Only this queue; by default any.")] = None
    jobs: Processes = None
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="Leave when nothing is left, instead of waiting for more.")
    ] = False
    lease: Annotated[
        float,
        typer.Option(
            min=1,
            max=_LONGEST,
            help="Seconds of silence after which others take over what a worker had.",
        ),
    ] = 60
    as_json: AsJson = False


@grouped
def worker(options: Options) -> None:
    """Condense the transcripts that `compact batch --queue` has put into a database.

    Any number of workers may run, on any number of machines; each transcript is done once.

    Ctrl-C and SIGTERM let it finish what it has, and it leaves.
    """
    totals, lines = Totals(), screen()

    def tell(outcome: Outcome) -> None:
        totals.add(outcome)
        if not options.as_json:
            lines.print(line_of(outcome), soft_wrap=True)

    with open_queue(options.database) as queue:
        terms = Terms(options.queue, options.jobs or 0, options.until_empty, options.lease)
        working = Worker(queue, terms, tell)
        with _obeying(working):
            working.run()
    if options.as_json:
        print_json({"worker": working.name, "condensed": totals.condensed, "failed": totals.failed})
    else:
        lines.print(f"{totals.condensed:,} condensed, {totals.failed:,} failed")


@contextlib.contextmanager
def _obeying(working: Worker) -> Iterator[None]:
    """The first signal lets the worker finish; a second one does what it usually does."""
    usual: dict[int, Any] = {}

    def stop(number: int, _frame: FrameType | None) -> None:
        working.stop()
        signal.signal(number, usual[number])

    for number in (signal.SIGINT, signal.SIGTERM):
        usual[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for caught, handler in usual.items():
            signal.signal(caught, handler)
