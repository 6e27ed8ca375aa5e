"""`compact batch`: condense thousands of transcripts."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from compact.app.bulk import (
    Job,
    JobOptions,
    Outcome,
    Place,
    Results,
    Sources,
    Totals,
    condense_all,
    cores,
    options_for,
    write_results,
)
from compact.app.bulk.queue import enqueue, outcomes
from compact.app.recipes import resolve_recipe
from compact.cli.console import AsJson, busy, print_json, screen
from compact.cli.options import (
    PresetName,
    ProviderName,
    RecipeName,
    Target,
    VariantName,
    grouped,
    read_target,
    require_database,
)
from compact.cli.tables import Table, numeric
from compact.errors import InvalidInput
from compact.messages import Json
from compact.sessions import open_store
from compact.settings import database as usual

if TYPE_CHECKING:  # it needs an extra
    from compact.sessions.jobs import Jobs, Progress

EXAMPLES = (
    "Examples: compact batch chats/ --target 50% --out small · "
    "compact batch 'logs/**/*.json' more.jsonl --variant vllm --out small --json · "
    "compact batch chats/ --database postgresql://host/name --queue march --out /srv/shared/small · "
    "compact batch --database postgresql://host/name --queue march --out small"
)
_LISTED = 10

DatabaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option("--database", help="A SQLite file, or postgresql://user:password@host/name.", show_default=False),
]
Processes: TypeAlias = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="How many at a time; by default one for each core.")
]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact batch`."""

    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Folders, patterns, files; and files of JSON lines with one transcript a line."),
    ] = None
    recipe: RecipeName = None
    preset: PresetName = None
    provider: ProviderName = None
    target: Target = None
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The model to count for; by default each request's own.")
    ] = None
    variant: VariantName = ""
    out: Annotated[Path, typer.Option("--out", "--output", "-o", help="The folder for results.")] = Path("condensed")
    jobs: Processes = None
    resume: Annotated[bool, typer.Option(help="Leave alone what was done before with the same options.")] = True
    database: DatabaseUrl = None
    queue: Annotated[
        str | None, typer.Option(help="Let workers do it: put everything into this queue; without sources, fetch it.")
    ] = None
    inline: Annotated[
        bool, typer.Option("--inline", help="With --queue: transcripts and results travel in the database.")
    ] = False
    as_json: AsJson = False


@grouped
def batch(options: Options) -> None:
    """Condense many transcripts, on all cores or by workers on many machines.

    Results and plan files mirror the folders of the input; results.jsonl has a line for each transcript.

    What is done already is left alone, so the same command goes on where it was interrupted.

    The status is 1 if any transcript failed.
    """
    if options.queue is None:
        if options.database or options.inline:
            problem, remedy = "says nothing without a queue", "Name one: --queue NAME."
            raise InvalidInput(problem, field="--database" if options.database else "--inline", remedy=remedy)
        failed = _condense(options)
    elif options.sources:
        failed = _enqueue(options, options.queue)
    else:
        failed = _fetch(options, options.queue)
    if failed:
        raise typer.Exit(1)


def _condense(options: Options) -> int:
    sources, chosen = _sources(options), _chosen(options)
    processes = options.jobs or cores()
    began, totals = perf_counter(), Totals()
    count = _count(sources)
    with Results(options.out, resume=options.resume) as results:
        jobs = (_job(options, chosen, place, results.known(place.name, chosen.digest)) for place in sources)
        try:
            with _watching(options, count) as tell, contextlib.closing(condense_all(jobs, processes)) as outcomes:
                for outcome in outcomes:
                    told = results.add(outcome)
                    totals.add(told)
                    tell(told)
        except KeyboardInterrupt:
            screen(stderr=True).print("interrupted; the same command goes on from here")
            raise
    _summarize(options, totals, perf_counter() - began)
    return totals.failed


def _sources(options: Options) -> Sources:
    if not options.sources:
        raise InvalidInput("nothing to condense", field="SOURCES", remedy="Name a folder, a pattern or a file.")
    return Sources.of(options.sources, options.out)


def _count(sources: Iterable[object]) -> int | None:
    """How many there are, for a bar of progress."""
    if not sys.stderr.isatty():
        return None
    with busy("looking for transcripts"):
        return sum(1 for _ in sources)


def _chosen(options: Options) -> JobOptions:
    recipe = resolve_recipe(options.recipe, provider=options.provider, preset=options.preset)
    return options_for(recipe, read_target(options.target), options.model or None, options.variant)


def _job(options: Options, chosen: JobOptions, place: Place, known: str = "") -> Job:
    return Job(place, chosen, str(options.out.absolute()), known=known)


@contextlib.contextmanager
def _watching(options: Options, count: int | None) -> Iterator[Callable[[Outcome], None]]:
    """A bar for people at a terminal, lines for a file or a pipe, nothing for programs."""
    if count is not None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[failed]}"))
        with Progress(*columns, console=screen(stderr=True)) as progress:
            task, failed = progress.add_task("", total=count, failed=""), 0

            def advance(outcome: Outcome) -> None:
                nonlocal failed
                failed += bool(outcome.error)
                progress.update(task, advance=1, failed=f"{failed:,} failed" if failed else "")

            yield advance
        return
    lines = screen()
    yield lambda outcome: None if options.as_json else lines.print(line_of(outcome), soft_wrap=True)


def line_of(outcome: Outcome) -> str:
    """What became of a transcript, in one line."""
    if outcome.error:
        return f"{outcome.name}: failed: {outcome.error}"
    change = f"{outcome.tokens_before:,} → {outcome.tokens_after:,} tokens (-{outcome.percent:.0f}%)"
    missed = "" if outcome.target_met else ", target not met"
    failure = f"; {outcome.failure}" if outcome.failure else ""
    return f"{outcome.name}: {change}{missed}{', done before' if outcome.skipped else ''}{failure}"


def _summarize(options: Options, totals: Totals, seconds: float) -> None:
    results = str(options.out / "results.jsonl")
    if options.as_json:
        print_json(_facts(totals) | {"seconds": round(seconds, 3), "results": results})
        return
    rows = {
        "condensed": f"{totals.condensed:,}",
        "done before": f"{totals.skipped:,}",
        "failed": f"{totals.failed:,}",
        "tokens before": f"{totals.tokens_before:,}",
        "tokens after": f"{totals.tokens_after:,}",
        "saved": f"{totals.percent:.1f}%",
        "time": f"{seconds:.1f} s",
    }
    output = screen()
    output.print(Table(("transcripts", numeric(f"{totals.files:,}")), rows.items()))
    if totals.missed:
        output.print(f"{totals.missed:,} did not reach the target; they are as small as the recipe makes them")
    for name, error in totals.errors[:_LISTED]:
        output.print(f"failed: {name}: {error}", soft_wrap=True)
    if totals.failed > _LISTED:
        output.print(f"and {totals.failed - _LISTED:,} more: see {results}", soft_wrap=True)


def _facts(totals: Totals) -> dict[str, Json]:
    return {
        "transcripts": totals.files,
        "condensed": totals.condensed,
        "done_before": totals.skipped,
        "failed": totals.failed,
        "targets_missed": totals.missed,
        "tokens_before": totals.tokens_before,
        "tokens_after": totals.tokens_after,
        "percent": totals.percent,
        "errors": [{"file": name, "error": error} for name, error in totals.errors],
    }


def _enqueue(options: Options, name: str) -> int:
    unreadable: list[tuple[str, str]] = []
    sources, chosen = _sources(options), _chosen(options)
    jobs = (_job(options, chosen, place) for place in sources)
    with open_queue(options.database) as queue:
        with busy("putting transcripts into the queue"):
            new = enqueue(queue, name, _carried(jobs, unreadable) if options.inline else jobs)
        progress = queue.progress(name)
    errors: list[Json] = [{"file": file, "error": error} for file, error in unreadable]
    if options.as_json:
        print_json({"queue": name, "new": new, "errors": errors} | _states(progress))
        return len(unreadable)
    for file, error in unreadable:
        screen().print(f"failed: {file}: {error}", soft_wrap=True)
    screen().print(f"{new:,} new in the queue {name}; {_told(progress)}")
    screen().print(f"start workers: compact worker{_same_database(options.database)} --batch {shlex.quote(name)}")
    return len(unreadable)


def _same_database(database: str | None) -> str:
    """The option that leads to the same database; an address, which may hold a password, is not repeated."""
    if not database:
        return ""
    return f" --database {'URL' if '://' in database else shlex.quote(database)}"


def _carried(jobs: Iterable[Job], unreadable: list[tuple[str, str]]) -> Iterator[Job]:
    """The jobs with their transcripts; those that cannot be read are listed in `unreadable`."""
    for job in jobs:
        try:
            yield job.with_content()
        except OSError as error:
            unreadable.append((job.place.name, f"{job.place}: {error.strerror}"))


def _fetch(options: Options, name: str) -> int:
    """Write down what workers have done so far."""
    require_database(options.database)
    began, totals = perf_counter(), Totals()
    with open_queue(options.database) as queue:
        progress = queue.progress(name)
        if progress == type(progress)():
            remedy = "See the name that the transcripts were put in under, and the database."
            raise InvalidInput(f"there is no queue {name!r}", field="--queue", remedy=remedy)
        with busy("fetching results"):
            for outcome in write_results(options.out, outcomes(queue, name)):
                totals.add(outcome)
    seconds = perf_counter() - began
    if options.as_json:
        facts = _facts(totals) | {"seconds": round(seconds, 3), "results": str(options.out / "results.jsonl")}
        print_json({"queue": name} | _states(progress) | facts)
        return totals.failed
    screen().print(f"queue {name}: {_told(progress)}")
    _summarize(options, totals, seconds)
    return totals.failed


@contextlib.contextmanager
def open_queue(database: str | None) -> Iterator[Jobs]:
    """The jobs in a database, by default the one that sessions are stored in."""
    with contextlib.closing(open_store(database or usual())) as store:
        from compact.sessions.jobs import Jobs

        yield Jobs(store)


def _states(progress: Progress) -> dict[str, Json]:
    return {
        "queued": progress.queued,
        "running": progress.running,
        "finished": progress.done,
        "given_up": progress.failed,
    }


def _told(progress: Progress) -> str:
    waiting = f"{progress.queued:,} waiting, {progress.running:,} at work"
    return f"{waiting}, {progress.done:,} done, {progress.failed:,} failed"
