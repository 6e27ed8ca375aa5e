"""`compact plan`: what every recipe would come to, without doing any of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from compact.app.condensing import Condensation, Result
from compact.app.counting import choose_model
from compact.app.estimating import Foreseen, foresee
from compact.app.inspecting import Inspection
from compact.app.pricing import Summarizer
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import dollar_range, dollars
from compact.cli.console import (
    AsJson,
    File,
    busy,
    legible,
    print_json,
    read,
    screen,
    styled,
)
from compact.cli.options import ForModel, Target, VariantName, grouped, read_target
from compact.cli.tables import Cell, Column, Table, numeric, table_of
from compact.engine.report import percent
from compact.errors import InvalidInput
from compact.messages import Conversation, Json, Message
from compact.quantities import counted
from compact.settings.recipes import default_recipe

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


EXAMPLES = (
    "Examples: compact plan chat.json · compact plan chat.json --target 8k --show balanced --json · "
    "compact plan chat.json --variant bedrock"
)

_SHOWN = 10
_WIDEST = 60
_PATIENCE = 1.0
_ROOMY = 120
_DISPENSABLE = (numeric("messages"), numeric("edits"), numeric("cost"), numeric("prefix kept"))


@dataclass(frozen=True, slots=True)
class Removal:
    """What a condensation takes from one message; `position` is that in the file."""

    position: int
    what: str
    tokens_before: int
    tokens_after: int
    why: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact plan`."""

    file: File
    model: ForModel = None
    target: Target = None
    variant: VariantName = ""
    show: Annotated[
        str | None, typer.Option("--show", "-s", help="For which recipe to list what would go; by default the default.")
    ] = None
    as_json: AsJson = False


@grouped
def plan(options: Options) -> None:
    """Compare all recipes on a conversation; nothing is written.

    No model is called: where one would be, its answer is taken to be as long as is to be expected, and the cost is what
    calling this model would come to, with its range. `compact cost` prices other models that might summarize.
    """
    wanted = read_target(options.target)
    conversation = read(options.file)
    name, source = choose_model(options.model, conversation)
    condensation = Condensation(conversation, name, wanted, variant=options.variant)
    show = options.show or default_recipe()
    foreseen = dict(compare(condensation))
    results = {name: each.result for name, each in foreseen.items()}
    if show not in results:
        raise InvalidInput(f"{show!r} is not compared", field="--show", remedy=f"Choose among: {', '.join(results)}.")
    gone = removals(conversation, results[show], name)
    if options.as_json:
        print_json(
            {
                "model": condensation.model.id,
                "model_source": source,
                "tokens": condensation.tokens,
                "target": condensation.target,
                "recipes": {name: _facts(each) for name, each in foreseen.items()},
                "shown": show,
                "removals": [asdict(each) for each in gone],
            }
        )
        return
    goal = "" if condensation.target is None else f", to come down to {condensation.target:,}"
    where = f"tokens of {condensation.model.id} in {counted(len(conversation), 'message')}{goal}"
    screen().print(styled(f"{condensation.tokens:,}", "bold"), where)
    show_recipes(foreseen)
    _show_removals(show, gone)


def removals(before: Conversation, result: Result, model: str) -> list[Removal]:
    """What goes from each message, the largest first."""
    tools = {call.id: call.name for message in before.messages for call in message.calls}
    found = []
    for row in Inspection(before, result, model=model).rows():
        if row.before is not None and row.kind != "kept":
            what, why = _describe(before.messages[row.before], tools), row.reasons[0].why if row.reasons else ""
            found.append(Removal(row.before, what, row.tokens_before, row.tokens_after, why))
    return sorted(found, key=lambda each: each.tokens_after - each.tokens_before)


def compare(condensation: Condensation) -> Iterator[tuple[str, Foreseen]]:
    """What each recipe would come to; where a model would be called, with what that would cost."""
    itself = Summarizer(condensation.model.id, condensation.model.id)
    for name in _shown_progress([name for name, _ in list_recipes()]):
        yield name, foresee(condensation, resolve_recipe(name), [itself])


def _shown_progress(names: Sequence[str]) -> Iterator[str]:
    """The names one by one; on a terminal with a spinner, and a bar once they have taken longer than a second."""
    began = monotonic()
    with ExitStack() as stack:
        bar: tuple[Progress, TaskID] | None = None
        for done, name in enumerate(names):
            if bar is None and monotonic() - began > _PATIENCE and sys.stderr.isatty():
                bar = stack.enter_context(_bar(len(names)))
            if bar is None:
                with busy(f"trying {name}"):
                    yield name
            else:
                bar[0].update(bar[1], completed=done, description=f"trying {legible(name)}")
                yield name


@contextmanager
def _bar(total: int) -> Iterator[tuple[Progress, TaskID]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    words = TextColumn("{task.description}", markup=False)
    columns = (words, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen(stderr=True), transient=True) as progress:
        yield progress, progress.add_task("", total=total)


def _facts(foreseen: Foreseen) -> dict[str, Json]:
    result, report = foreseen.result, foreseen.result.report
    low, high = foreseen.charge.range
    kept: Json = report.to_json()
    return {
        "provider": report.provider,
        "tokens": report.tokens_after,
        "change": _change(result),
        "target_met": report.target_met,
        "messages": len(result.conversation),
        "edits": sum(done.edits for done in report.passes),
        "summaries": foreseen.charge.questions,
        "cost_low": None if low is None else format(low, "f"),
        "cost_high": None if high is None else format(high, "f"),
        **{name: kept[name] for name in ("saved", "cost", "kept_prefix", "seconds", "notes", "failure")},
    }


def _change(result: Result) -> float:
    before = result.report.tokens_before
    return (result.report.tokens_after - before) / before if before else 0.0


def show_recipes(foreseen: dict[str, Foreseen]) -> None:
    """The recipes side by side."""
    out = screen()
    rows = [_row(name, each) for name, each in foreseen.items()]
    out.print(table_of(rows, without=() if out.width >= _ROOMY else _DISPENSABLE))
    for name, each in foreseen.items():
        if failure := each.result.report.failure:
            out.print(f"{name}: {failure}", soft_wrap=True)
    out.print(
        "Saved: in each later request, with the vendor's prompt cache. Prefix kept: tokens that it still has. Cost: of "
        "summaries by this model; the range is for shorter and longer answers."
    )


def _row(name: str, foreseen: Foreseen) -> dict[str | Column, Cell]:
    facts, result, report = _facts(foreseen), foreseen.result, foreseen.result.report
    return {
        "recipe": name,
        numeric("tokens"): f"{report.tokens_after:,}",
        numeric("change"): percent(_change(result), "+"),
        numeric("saved"): dollars(report.saved),
        numeric("messages"): f"{facts['messages']:,}",
        numeric("edits"): f"{facts['edits']:,}",
        numeric("summaries"): f"{facts['summaries']:,}",
        numeric("cost"): dollar_range(foreseen.charge),
        numeric("prefix kept"): f"{report.kept_prefix:,}",
        numeric("seconds"): f"{report.seconds:.2f}",
        "target": "" if report.target is None else "met" if report.target_met else styled("missed", "yellow"),
    }


def _show_removals(name: str, gone: list[Removal]) -> None:
    out = screen()
    if not gone:
        out.print(f"With {name} every message stays as it is.")
        return
    out.print(f"With {name} this would go:")
    rows = (
        (str(each.position), each.what, f"{each.tokens_before:,}", f"{each.tokens_after:,}", each.why)
        for each in gone[:_SHOWN]
    )
    out.print(Table((numeric("message"), "what", numeric("tokens"), numeric("left"), "why"), rows))
    if rest := gone[_SHOWN:]:
        tokens = sum(each.tokens_before - each.tokens_after for each in rest)
        out.print(f"and {tokens:,} tokens in {counted(len(rest), 'other message')}")


def _describe(message: Message, tools: dict[str, str]) -> str:
    """The message in a few words: who speaks, with which tool, how it begins."""
    names = [call.name for call in message.calls] + [tools.get(result.call_id, "") for result in message.results]
    text = message.text or next((result.text for result in message.results), "")
    start = " ".join(text[: 2 * _WIDEST].split())
    used = ", ".join(filter(None, names[:3]))
    words = f"{message.role}{f' ({used})' if used else ''}: {start}"
    return words if len(words) <= _WIDEST else words[: _WIDEST - 1] + "…"
