"""`compact evaluate`: how much of what sessions went on to use is still there after condensing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, busy, print_json, read, screen, table
from compact.cli.options import ForModel, choose_way, grouped

if TYPE_CHECKING:
    from compact.app.costing import Way
    from compact.lab.evaluating import Case, Row

EXAMPLES = (
    "Examples: compact evaluate session.json · compact evaluate sessions/*.json --preset balanced --preset v2 · "
    "compact evaluate chat.json --share 0.25 --retain-facts --json"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What `compact evaluate` is told."""

    files: Annotated[list[Path], typer.Argument(help="Transcripts; NAME.qa.json beside one holds questions about it.")]
    model: ForModel = None
    presets: Annotated[
        list[str] | None, typer.Option("--preset", help="A preset to try; repeatable. All of them by default.")
    ] = None
    shares: Annotated[
        list[float] | None, typer.Option("--share", min=0.01, max=0.99, help="Condense to this share; repeatable.")
    ] = None
    retain_facts: Annotated[bool, typer.Option("--retain-facts", help="Name missing facts again.")] = False
    as_json: AsJson = False


@grouped
def evaluate(options: Options) -> None:
    """Measure what condensing keeps, without a model.

    Each session is cut at half and at three quarters; what stands before the cut is condensed, and the facts (paths,
    names, numbers) that the session really used in the next 40 messages are looked for: still in context, recoverable
    with the plan, or lost. Where a file of questions stands beside a transcript, the share of the answers' words that
    can still be read is told, too. Status 1 if anything is lost or invalid.
    """
    from compact.app import DEFAULT_MODEL
    from compact.lab.evaluating import SHARES

    model = options.model or DEFAULT_MODEL
    found = list(_cases(options.files))
    rows: list[Row] = []
    for way in _ways(options.presets):
        with busy(f"trying {way.name}"):
            rows += [_row(found, way, share, model, options.retain_facts) for share in options.shares or SHARES]
    survived = _survived(found, model)
    if options.as_json:
        print_json({"cases": len(found), "survives_faults": survived, "ways": [asdict(row) for row in rows]})
    else:
        _show(len(options.files), found, rows, survived)
    if any(row.lost or row.valid < 1 for row in rows):
        raise typer.Exit(1)


def _cases(files: Sequence[Path]) -> Iterator[Case]:
    from compact.lab.evaluating import cases
    from compact.lab.questions import read_questions

    for file in files:
        session = read(file)
        beside = file.with_name(f"{file.stem}.qa.json")
        yield from cases(session, read_questions(beside, session.messages))


def _ways(names: Sequence[str] | None) -> Iterator[Way]:
    from compact.app.costing import Way
    from compact.providers.presets import presets

    for name in names or [preset.name for preset in presets()]:
        yield Way(name, *choose_way(name, None, {}))


def _row(found: Sequence[Case], way: Way, share: float, model: str, retain: bool) -> Row:
    from compact.errors import InvalidInput
    from compact.lab.evaluating import score, summary

    if not found:
        raise InvalidInput(
            "no session goes on long enough to tell what it needed", field="files", remedy="Give longer ones."
        )
    return summary(way.name, share, [score(case, way, share, model, "facts" if retain else None) for case in found])


def _survived(found: Sequence[Case], model: str) -> float:
    """The share of condensations that come to a valid end although one answer in twenty fails."""
    from compact.lab.evaluating import survives_faults

    ways = list(_ways(("quality", "cost", "balanced")))
    tried = [survives_faults(case, way, 0.25, model, seed) for seed, case in enumerate(found[:20]) for way in ways]
    return sum(tried) / len(tried)


def _show(files: int, found: Sequence[Case], rows: Sequence[Row], survived: float) -> None:
    out = screen()
    plural = "s" * (files != 1)
    out.print(f"{len(found):,} cases of {files:,} session{plural}; of what was used later:")
    shown = table(
        "preset", "of tokens ", "in context ", "recoverable ", "lost ", "verbatim ", "size ", "target met ", "answers "
    )
    for row in rows:
        shown.add_row(
            row.way,
            f"{row.share:.0%}",
            f"{row.in_context:.1%}",
            f"{row.recoverable:.1%}",
            f"{row.lost:.1%}",
            f"{row.verbatim:.0%}",
            f"{row.ratio:.0%}",
            f"{row.met:.0%}",
            "" if row.answers is None else f"{row.answers:.1%}",
        )
    out.print(shown)
    valid = all(row.valid == 1 for row in rows)
    out.print("Every result is valid for its vendor." if valid else "Some results are not valid for their vendor.")
    out.print(f"With one answer in twenty failing, {survived:.1%} come to a valid end.")
