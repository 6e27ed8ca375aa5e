"""`compact evaluate`: how much of what sessions went on to use is still there after condensing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from compact.app.condensing import Condensation, Result
from compact.app.profiles import OFFLINE
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import dollars
from compact.app.strategies import choose_strategy, tailor, takes_strategy, with_strategy
from compact.app.summarizers import Summarizers, choose_summarizers
from compact.cli.console import AsJson, busy, print_json, read, screen
from compact.cli.options import ForModel, VariantName, grouped
from compact.cli.summarizing import Summarized, condense_with
from compact.cli.tables import Column, numeric, table_of
from compact.cli.worlds import WORLDS, show_worlds, try_worlds
from compact.errors import InvalidInput
from compact.lab.evaluating import SHARES, Case, Comparison, Means, Row, Run, cases
from compact.lab.findings import Experiment, Findings, measure
from compact.lab.growing import ROUNDS
from compact.lab.questions import read_questions
from compact.messages import Conversation, Json
from compact.policies import Profile
from compact.providers import Recipe
from compact.quantities import counted
from compact.settings.documents import read_text
from compact.summaries.model.strategy import DEFAULT, Strategy, custom_strategy, find_strategy

EXAMPLES = (
    "Examples: compact evaluate session.json · compact evaluate sessions/*.json --recipe balanced --recipe v2 · "
    "compact evaluate chat.json --share 0.25 --json · "
    "compact evaluate session.json --recipe balanced --prompt a.md --prompt b.md --profile anthropic"
)
_SHOWN_ROUNDS = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
_ROOMY = 110
_DISPENSABLE = (numeric("recoverable"), numeric("verbatim"))
_WORD_FOR_WORD = 0.9
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact evaluate`."""

    files: Annotated[list[Path], typer.Argument(help="Transcripts; NAME.qa.json beside one holds questions about it.")]
    model: ForModel = None
    variant: VariantName = ""
    recipes: Annotated[
        list[str] | None,
        typer.Option("--recipe", "--preset", help="A recipe to try; repeatable. All of them by default."),
    ] = None
    prompts: Annotated[
        list[str] | None,
        typer.Option("--prompt", help="A prompt to try: a file, or a strategy's name; repeatable. Needs --profile."),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="Who writes summaries: see `compact profiles`. Usually no model."),
    ] = None
    shares: Annotated[
        list[float] | None,
        typer.Option("--share", min=0.01, max=0.99, help="Condense to this share; repeatable."),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", min=0, max=100, help="Compact so many times in a row; 20, and 0 with a profile."),
    ] = None
    worlds: Annotated[
        int | None,
        typer.Option("--worlds", min=0, max=10_000, help="Judge so many generated sessions; 24, and 0 with a profile."),
    ] = None
    as_json: AsJson = False


@grouped
def evaluate(options: Options) -> None:
    """Measure what condensing keeps, without a model unless a profile is named.

    Each session is cut at half and at three quarters; what stands before the cut is condensed, and the facts (paths,
    names, numbers) that the assistant really wrote in the next 40 messages are looked for: in context, recoverable
    with the plan, or lost. Where a file of questions stands beside a transcript, the share of the answers' words that
    can still be read is shown, too. Then each session grows and is compacted again and again. Last, generated sessions
    whose truth is known are condensed: how much of it is told, missing or contradicted. Status 1 if anything is lost or
    invalid.
    """
    profile = _profile(options)
    recipes = list(_recipes(options, profile))
    sessions = [(file, read(file)) for file in options.files]
    found = list(_cases(sessions))
    if not found:
        raise InvalidInput(
            "no session goes on long enough to tell what it needed", field="files", remedy="Give longer ones."
        )
    written: dict[str, Written] = {}
    run = None if profile is None else _Summarizing(profile, written)
    experiment = _experiment(options, recipes, run)
    findings = measure([session for _, session in sessions], found, experiment, busy)
    trial = try_worlds((0 if run else WORLDS) if options.worlds is None else options.worlds, experiment)
    if options.as_json:
        summaries = {name: _plain(one) for name, one in written.items()}
        print_json(findings.to_json() | {"summaries": summaries, "worlds": trial.to_json()})
    else:
        _show(len(sessions), findings)
        if trial.judged:
            show_worlds(trial)
        if written:
            _show_written(written)
    if not findings.flawless:
        raise typer.Exit(1)


def _experiment(options: Options, recipes: Sequence[Recipe], run: Run | None) -> Experiment:
    """What is to be tried; recipes that were named are compared with each other."""
    means = Means(options.model or None, run or Condensation.run, options.variant)
    rounds = (0 if run else ROUNDS) if options.rounds is None else options.rounds
    prompts = len(options.prompts or ()) or 1
    beside: list[int | None] = [None] * len(recipes)
    if options.recipes or options.prompts:
        # A prompt is compared with the first one of the same recipe, and that with the first recipe.
        beside[1:] = [at - at % prompts if at % prompts else 0 for at in range(1, len(recipes))]
    return Experiment(recipes, options.shares or SHARES, means, rounds, beside)


def _profile(options: Options) -> Profile | None:
    """Who is asked; None where no profile is named. No other takes over, or two models would be compared."""
    if options.profile not in (None, OFFLINE):
        chosen = choose_summarizers(options.profile)
        if not chosen:
            raise InvalidInput(f"no model is called: {chosen.reason}", field="--profile", remedy="Leave it out.")
        return chosen.profiles[0]
    if options.prompts:
        raise InvalidInput(
            "prompts can only be compared by asking a model, and no profile is named",
            field="--prompt",
            remedy="Name one with --profile; `compact profiles` lists them.",
        )
    return None


def _recipes(options: Options, profile: Profile | None) -> Iterator[Recipe]:
    """The recipes, each with each of the prompts where some are given."""
    for name in options.recipes or [name for name, _ in list_recipes()]:
        recipe = resolve_recipe(name)
        if not options.prompts:
            yield tailor(recipe, profile) if profile else recipe
        elif takes_strategy(recipe.settings):
            for prompt in options.prompts:
                named = replace(recipe, name=f"{name} with {prompt}")
                yield with_strategy(named, _strategy(prompt, profile))
        elif options.recipes:
            remedy = "Leave it out, or name recipes that do: auto, balanced, cost."
            raise InvalidInput(f"{name} writes no summaries by a prompt", field="--recipe", remedy=remedy)


def _strategy(prompt: str, profile: Profile | None) -> Strategy:
    """The strategy that a file's words make, or the one of that name."""
    named = None if Path(prompt).is_file() or Path(prompt).suffix else choose_strategy(prompt, profile)
    base = profile.strategy if profile else ""
    return named or custom_strategy(read_text(Path(prompt)), find_strategy(base or DEFAULT))


def _cases(sessions: Sequence[tuple[Path, Conversation]]) -> Iterator[Case]:
    for file, session in sessions:
        beside = file.with_name(f"{file.stem}.qa.json")
        yield from cases(session, read_questions(beside, session.messages))


@dataclass(slots=True)
class Written:
    """How the summaries of a recipe came about, and what they cost; None where a price is unknown."""

    model: int = 0
    offline: int = 0
    failed: int = 0
    questions: int = 0
    cost: Decimal | None = Decimal(0)
    failures: dict[str, None] = field(default_factory=dict)

    def add(self, summarized: Summarized) -> None:
        if summarized.how is not None:
            setattr(self, summarized.how, getattr(self, summarized.how) + 1)
        self.failures |= dict.fromkeys(summarized.failures)
        if summarized.spent is not None:
            charge = summarized.spent.actual
            self.questions += charge.questions
            self.cost = None if self.cost is None or charge.cost is None else self.cost + charge.cost


class _Summarizing:
    """Condenses with summaries by a model, and takes down what became of them."""

    def __init__(self, profile: Profile, written: dict[str, Written]) -> None:
        self._profile, self._written = profile, written

    def __call__(self, condensation: Condensation, recipe: Recipe) -> Result:
        asks = recipe.provider.capabilities.summarizes
        summarized = condense_with(condensation, recipe, Summarizers((self._profile,) if asks else ()))
        if asks:
            self._written.setdefault(recipe.name, Written()).add(summarized)
        return summarized.result


def _plain(written: Written) -> dict[str, Json]:
    cost = None if written.cost is None else str(written.cost)
    return asdict(written) | {"cost": cost, "failures": list(written.failures)}


def _show(files: int, found: Findings) -> None:
    out = screen()
    told = f"{counted(len(found.cases), 'case')} of {counted(files, 'session')} for {', '.join(found.models)}"
    out.print(f"{told}; of {counted(found.facts, 'fact')} used later:", soft_wrap=True)
    _show_rows(found.rows)
    valid = all(row.valid == 1 for row in found.rows)
    out.print("Every result is valid for its vendor." if valid else "Some results are not valid for their vendor.")
    _show_room(found.rows)
    survival = found.survival
    if survival.rate is not None:
        out.print(
            f"With one answer in twenty failing, empty, cut off or refused ({survival.spoiled:,} of "
            f"{survival.answers:,}), {survival.rate:.1%} of {survival.tried:,} condensations come to a good end.",
            soft_wrap=True,
        )
    if found.compared:
        _show_comparisons(found.compared)
    if found.decay:
        _show_decay(found)
    elif found.rounds:
        out.print("No session needs enough of its beginning to tell what many compactions in a row leave of it.")


def _share(share: float | None, digits: int = 0) -> str:
    return "" if share is None else f"{share:.{digits}%}"


def _show_rows(rows: Sequence[Row]) -> None:
    asked = any(row.answers is not None for row in rows)
    _show_table(
        {
            "recipe": row.recipe,
            numeric("tokens"): _share(row.share),
            numeric("in context"): _share(row.in_context, 1),
            numeric("recoverable"): _share(row.recoverable, 1),
            numeric("lost"): _share(row.lost, 1),
            numeric("verbatim"): _share(row.verbatim),
            numeric("if room"): _share(row.verbatim_in_room),
            numeric("size"): _share(row.ratio),
            numeric("met"): _share(row.met),
            **({numeric("answers"): _share(row.answers, 1)} if asked else {}),
        }
        for row in rows
    )


def _show_table(rows: Iterable[dict[str | Column, str]]) -> None:
    """The rows as a table; a narrow screen goes without the columns that can be spared."""
    out = screen()
    out.print(table_of(list(rows), without=() if out.width >= _ROOMY else _DISPENSABLE))


def _show_room(rows: Sequence[Row]) -> None:
    """Where the user's messages could all have stayed, and where too few of them did."""
    rooms = {row.share: f"{row.in_room:,} at {row.share:.0%}" for row in rows}
    out = screen()
    out.print(
        "Verbatim: the user's messages that stand word for word. If room: the same where the target has room for all "
        f"of them, in so many cases: {', '.join(rooms.values())}. Size: the median. Met: how often the target is.",
        soft_wrap=True,
    )
    few: dict[str, list[str]] = {}
    for row in rows:
        if row.verbatim_in_room is not None and row.verbatim_in_room < _WORD_FOR_WORD:
            few.setdefault(row.recipe, []).append(f"{row.share:.0%}")
    if few:
        told = "; ".join(f"{name} at {', '.join(shares)}" for name, shares in few.items())
        out.print(f"Below {_WORD_FOR_WORD:.0%} although there is room: {told}.", soft_wrap=True)


def _show_comparisons(compared: Sequence[Comparison]) -> None:
    screen().print()
    screen().print("Case by case:")
    _show_table(
        {
            "recipe": one.recipe,
            "beside": one.than,
            numeric("tokens"): _share(one.share),
            numeric("keeps more"): f"{one.more:,}",
            numeric("less"): f"{one.less:,}",
            numeric("the same"): f"{one.same:,}",
            numeric("on average"): f"{one.gain:+.1%}",
        }
        for one in compared
    )


def _show_decay(found: Findings) -> None:
    """What the first part comes to in the rounds that are worth a column."""
    last = found.rounds
    numbers = sorted({*(number for number in _SHOWN_ROUNDS if number < last), last})
    made_up = f" ({found.made_up:,} of them grown by turns that are made up)" if found.made_up else ""
    out = screen()
    out.print()
    out.print(
        f"{counted(len(found.growths), 'session')}{made_up}, compacted {last:,} times in a row to half; of "
        f"{counted(found.first_facts, 'fact')} of the first part that are used after the last, in context after round:",
        soft_wrap=True,
    )
    _show_table(
        {
            "recipe": name,
            **{numeric(f"{number}"): _share(rounds[number - 1].in_context) for number in numbers},
            numeric("recoverable"): _share(rounds[-1].recoverable),
            numeric("lost"): _share(max(one.lost for one in rounds)),
            numeric("met"): _share(sum(one.met for one in rounds) / last),
        }
        for name, rounds in found.decay.items()
    )


def _show_written(written: dict[str, Written]) -> None:
    rows: list[dict[str | Column, str]] = [
        {
            "recipe": name,
            numeric("by the model"): f"{one.model:,}",
            numeric("offline"): f"{one.offline:,}",
            numeric("failed"): f"{one.failed:,}",
            numeric("questions"): f"{one.questions:,}",
            numeric("cost"): dollars(one.cost),
        }
        for name, one in written.items()
    ]
    out = screen()
    out.print()
    out.print("Condensations by how their summaries came about:")
    out.print(table_of(rows))
    if idle := [name for name, one in written.items() if not (one.model or one.offline or one.failed)]:
        out.print(f"Needed no summary, so that no prompt matters: {', '.join(idle)}.", soft_wrap=True)
    failures = list(dict.fromkeys(failure for one in written.values() for failure in one.failures))
    for failure in failures[:_TOLD]:
        out.print(f"Could not be asked: {failure}", soft_wrap=True)
