"""`compact replay`: what a recorded session would have cost, played again with every recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from compact.app import read_transcript
from compact.app.counting import ModelSource, choose_model
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import dollars
from compact.app.transcripts import read_usages
from compact.cli.console import AsJson, File, Screen, busy, name_of, print_json, read_bytes, screen, styled
from compact.cli.options import ForModel, VariantName, grouped
from compact.cli.output import create_file, emit, require_new
from compact.cli.tables import BARS, Cell, Column, Table, numeric, table_of
from compact.errors import InvalidConfiguration, InvalidInput
from compact.lab.replaying import (
    NAIVE,
    NOTHING,
    USUAL_TRIGGER,
    Logged,
    Played,
    Terms,
    choose_window,
    read_logged,
    terms_for,
)
from compact.lab.replaying import replay as play
from compact.lab.tuning import Rehearsal, Trial, best_of_each, settings_of, tune
from compact.messages import Conversation, Json
from compact.models import Usage
from compact.policies.threshold import target_below
from compact.providers import Recipe
from compact.quantities import counted
from compact.settings.documents import dump_document

EXAMPLES = (
    "Examples: compact replay session.json · compact replay ~/.claude/projects/x/4294a5e3.jsonl --window 100000 · "
    "compact replay session.json --model gpt-4o --recipe auto --recipe balanced --json · "
    "compact replay session.json --tune --retention 0.9 -o compact.yaml"
)
_RETENTION = 0.9
_BAR = 30
_YEAR = 31_536_000


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact replay`."""

    file: File
    model: ForModel = None
    variant: VariantName = ""
    recipes: Annotated[
        list[str] | None,
        typer.Option("--recipe", "--preset", help="A recipe to play; repeatable. All of them by default."),
    ] = None
    window: Annotated[
        int | None,
        typer.Option(
            min=2000,
            help="Play as if the model read so many tokens at most; by default what it reads, or fewer where the "
            "session would never be compacted.",
        ),
    ] = None
    trigger: Annotated[
        float | None,
        typer.Option(min=0.05, max=1, help="Compact at this share of the window; 0.85 by default."),
    ] = None
    target: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.99,
            help="Come down to this share of the window; by default 0.5, and less where the trigger is below 0.85.",
        ),
    ] = None
    gap: Annotated[float, typer.Option(min=0, max=_YEAR, help="Seconds between two requests; caches forget.")] = 30.0
    tune: Annotated[
        bool, typer.Option("--tune", help="Find the cheapest policy that keeps enough of what is used later.")
    ] = False
    retention: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --tune: the share of those facts to keep; 0.9 by default."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="With --tune: write the policy as a new compact.yaml; - for standard output."
        ),
    ] = None
    as_json: AsJson = False


@grouped
def replay(options: Options) -> None:
    """Play a recorded session again, request by request, and show what each recipe would have cost.

    Each request is compacted exactly as a CompactManager would, and priced with the vendor's prompt cache. No model is
    called: summaries are made offline, and those that a recipe would have a model write are charged at the price of the
    vendor's usual cheap model; auto is played without one. It also reads the logs of Claude Code, Codex CLI,
    Gemini CLI, OpenCode, SWE-agent and mini-swe-agent; where they say what their requests took, system prompt and tools
    are counted by that.

    With --tune, recipes, triggers, targets and what stays are tried one after the other, and the cheapest policy that
    keeps enough of the facts that the session used later is shown and, with --output, written; Ctrl-C ends the search
    with the best so far. Status 1 if none keeps enough.
    """
    _require_sense(options)
    data = read_bytes(options.file)
    conversation = read_transcript(data, name=name_of(options.file))
    usages = read_usages(data, conversation, name=name_of(options.file))
    if options.tune:
        _tune(options, conversation, usages)
        return
    terms, source, logged = _terms(options, conversation, usages)
    if options.window is None:
        terms = replace(terms, window=choose_window(terms, conversation))
    played = []
    for recipe in _recipes(options.recipes):
        with busy(f"playing {recipe if isinstance(recipe, str) else recipe.name}"):
            played.append(play(conversation, recipe, terms))
    if options.as_json:
        facts = {**_terms_facts(terms), "model_source": source, "log": _logged_facts(logged)}
        print_json({**facts, "recipes": [_facts(one) for one in played]})
        return
    _show(terms, played)
    _show_logged(terms, logged)


def _require_sense(options: Options) -> None:
    """InvalidInput where an option says nothing beside the others, or a file would be overwritten."""
    searched = {"--trigger": options.trigger, "--target": options.target}
    tuning = {"--retention": options.retention, "--output": options.output}
    for name, value in (searched if options.tune else tuning).items():
        if value is not None:
            problem = "is searched for with --tune" if options.tune else "says nothing without --tune"
            raise InvalidInput(problem, field=name, remedy="Leave one of them out.")
    if options.as_json and _is_standard(options.output):
        problem = "cannot go to standard output, which --json takes"
        raise InvalidInput(problem, field="--output", remedy="Name a file, or leave --json out.")
    if options.output is not None and not _is_standard(options.output):
        require_new(options.output)


def _is_standard(output: Path | None) -> bool:
    """Whether the policy goes to standard output, so that all else must go elsewhere."""
    return str(output) == "-"


def _terms(
    options: Options, conversation: Conversation, usages: Mapping[int, Usage]
) -> tuple[Terms, ModelSource, Logged]:
    trigger = USUAL_TRIGGER if options.trigger is None else options.trigger
    target = target_below(trigger) if options.target is None else options.target
    if target >= trigger:
        raise InvalidConfiguration(
            f"{target} is not below the trigger of {trigger}",
            field="--target",
            remedy="Give a smaller share, or every request would compact again.",
        )
    name, source = choose_model(options.model, conversation)
    usual = terms_for(name, options.window)
    logged = read_logged(conversation, usages, usual.model)
    asked = replace(usual, trigger=trigger, target=target, gap=options.gap, variant=options.variant)
    return replace(asked, unseen=logged.unseen), source, logged


def _logged_facts(logged: Logged) -> dict[str, Json]:
    return {
        "requests": logged.requests,
        "tokens": logged.tokens,
        "dollars": None if logged.dollars is None else float(logged.dollars),
        "unseen": logged.unseen,
        "unknown": list(logged.unknown),
    }


def _show_logged(terms: Terms, logged: Logged) -> None:
    """Describe the usage that the log reports, and what it leaves out."""
    out = screen()
    if terms.window < terms.model.max_input:
        out.print(f"{terms.model.id} reads {terms.model.max_input:,} tokens; --window says how many are played with.")
    if logged.requests:
        took = f"{counted(logged.requests, 'request')} took {logged.tokens:,} tokens, {dollars(logged.dollars)}."
        out.print(f"The log's own usage: {took}", soft_wrap=True)
    if logged.unseen:
        beside = "tokens of each request are not in the log: system prompt and tools, counted with every recipe."
        out.print(f"{logged.unseen:,} {beside}", soft_wrap=True)
    if logged.unknown:
        out.print(f"Not known: {'; '.join(logged.unknown)}.", soft_wrap=True)


def _recipes(names: Sequence[str] | None) -> Iterator[Recipe | str]:
    yield NOTHING
    yield NAIVE
    for name in names or [name for name, _ in list_recipes()]:
        yield resolve_recipe(name)


def _terms_facts(terms: Terms) -> dict[str, Json]:
    return {
        "model": terms.model.id,
        "window": terms.window,
        "trigger": terms.trigger,
        "target": terms.target,
        "gap": terms.gap,
        "summarizer": terms.summarizer.id if terms.summarizer else None,
    }


def _facts(played: Played) -> dict[str, Json]:
    return {
        "recipe": played.recipe,
        "dollars": _number(played),
        "tokens": played.tokens,
        "cache_hit_rate": round(played.hit_rate, 4),
        "compactions": played.compactions,
        "peak": played.peak,
        "overflows": played.overflows,
        "requests": [
            {
                "message": one.position,
                "tokens": one.tokens,
                "before": one.before or None,
                "cached": one.usage.cache_read,
                "dollars": None if one.cost is None else float(one.cost),
            }
            for one in played.sent
        ],
    }


def _number(played: Played) -> float | None:
    return None if played.dollars is None else float(played.dollars)


def _show(terms: Terms, played: Sequence[Played]) -> None:
    out = screen()
    requests = len(played[0].sent)
    out.print(
        styled(counted(requests, "request"), "bold"),
        f"to {terms.model.id}, which reads {terms.window:,} tokens; compacted at {terms.trigger:.0%} "
        f"down to {terms.target:.0%}, {terms.gap:g} seconds apart",
    )
    most = max((number for one in played if (number := _number(one)) is not None), default=0.0)
    out.print(table_of([_row(one, most) for one in played]))
    out.print(_told(played))


def _row(played: Played, most: float) -> dict[str | Column, str]:
    number = _number(played)
    return {
        "recipe": played.recipe,
        numeric("dollars"): dollars(played.dollars),
        BARS: "?" if number is None else "█" * max(1, round(_BAR * number / most)) if most else "",
        numeric("tokens"): f"{played.tokens:,}",
        numeric("cached"): f"{played.hit_rate:.0%}",
        numeric("compactions"): f"{played.compactions:,}",
        numeric("peak"): f"{played.peak:,}",
        numeric("refused"): f"{played.overflows:,}" if played.overflows else "",
    }


def _told(played: Sequence[Played]) -> str:
    """The cheapest recipe with which no request would have been refused."""
    priced = [(number, one) for one in played if (number := _number(one)) is not None and not one.overflows]
    if not priced:
        known = any(_number(one) is not None for one in played)
        return "Some requests would have been refused with every recipe." if known else "Its prices are not known."
    cheapest, best = min(priced, key=lambda pair: pair[0])
    first = _number(played[0])
    if best is played[0] or first is None:
        return f"Cheapest: {best.recipe}."
    change = cheapest / first - 1 if first else 0
    beside = f"{abs(change):.0%} {'more' if change > 0 else 'less'} than with no compaction"
    count = played[0].overflows
    refused = f", of which {counted(count, 'request')} would have been refused" if count else ""
    return f"Cheapest: {best.recipe}, {beside}{refused}."


def _tune(options: Options, conversation: Conversation, usages: Mapping[int, Usage]) -> None:
    terms, source, _ = _terms(options, conversation, usages)
    wanted = _RETENTION if options.retention is None else options.retention
    rehearsal = Rehearsal(conversation, terms)
    untouched = rehearsal.untouched()
    trials: list[Trial] = []
    interrupted = False
    try:
        _gather(tune(rehearsal, untouched, options.recipes or (), wanted), trials, wanted)
    except KeyboardInterrupt:
        interrupted = True
    best = best_of_each(trials, wanted)
    chosen = best[0] if best and best[0].keeps(wanted) else None
    document = None if chosen is None else _document(options, terms, untouched, chosen)
    if options.as_json:
        facts = {**_terms_facts(terms), "trigger": None, "target": None, "model_source": source}
        told = {"retention": wanted, "plays": len(trials) + 1, "interrupted": interrupted}
        found = {"untouched": _facts(untouched), "chosen": chosen and _trial_facts(chosen)}
        print_json({**facts, **told, **found, "trials": [_trial_facts(trial) for trial in trials]})
    else:
        out = screen(stderr=_is_standard(options.output))
        _show_tuning(out, terms, untouched, [(trial, trial is chosen) for trial in best])
        ended = "before the search was interrupted" if interrupted else "in all"
        out.print(_found(untouched, chosen, wanted), f"{len(trials) + 1:,} plays {ended}.", soft_wrap=True)
    if document is not None and options.output is not None:
        if _is_standard(options.output):
            emit(document.encode(), None)
        else:
            create_file(options.output, document)
    if interrupted or chosen is None:
        raise typer.Exit(130 if interrupted else 1)


def _gather(search: Iterator[Trial], trials: list[Trial], wanted: float) -> None:
    """All trials, one after the other; each stays where the search is interrupted."""
    while True:
        best = min(trials, key=lambda trial: trial.rank(wanted), default=None)
        so_far = "" if best is None or not best.keeps(wanted) else f"; so far {best.recipe} for ${best.dollars:.4f}"
        with busy(f"play {len(trials) + 2}{so_far}"):
            trial = next(search, None)
        if trial is None:
            return
        trials.append(trial)


def _document(options: Options, terms: Terms, untouched: Played, chosen: Trial) -> str:
    """The configuration file with the policy that was found."""
    path = Path("compact.yaml") if options.output is None or _is_standard(options.output) else options.output
    window = {"max_context_tokens": terms.window} if options.window else {}
    text = dump_document({"model": terms.model.id, **window, "policy": settings_of(chosen.policy)}, path)
    if path.suffix.lower() == ".json":
        return text
    return f"# Found by compact replay --tune. {_figures(untouched, chosen)}\n{text}"


def _show_tuning(out: Screen, terms: Terms, untouched: Played, best: Sequence[tuple[Trial, bool]]) -> None:
    """The best of each recipe, and whether it is the one."""
    asked = f"requests to {terms.model.id}, which reads {terms.window:,} tokens; the best of each recipe:"
    out.print(styled(f"{len(untouched.sent):,}", "bold"), asked)
    columns = "dollars", "retention", "compactions", "refused"
    refused = f"{untouched.overflows:,}" if untouched.overflows else ""
    first = ("", untouched.recipe, "", dollars(untouched.dollars), "100.0%", "0", refused)
    rows = [first, *(_trial_row(trial, chosen=chosen) for trial, chosen in best)]
    out.print(Table(("", "recipe", "parameters", *map(numeric, columns)), rows))


def _trial_row(trial: Trial, *, chosen: bool) -> tuple[Cell, ...]:
    mark = styled("→", "green") if chosen else ""
    if trial.played is None:
        return mark, trial.recipe, _parameters(trial), "", "", "", f"after {trial.sent:,}"
    kept = "?" if trial.retention is None else f"{trial.retention:.1%}"
    count = f"{trial.played.compactions:,}"
    return mark, trial.recipe, _parameters(trial), dollars(trial.dollars), kept, count, ""


def _parameters(trial: Trial) -> str:
    policy = trial.policy
    shares = f"at {policy.trigger_pct:.0%} down to {policy.target_pct:.0%}"
    tried = {
        "keep_recent_turns": counted(policy.keep_recent_turns, "turn"),
        "keep_tool_io_pairs": counted(policy.keep_tool_io_pairs, "call"),
        "summary_tokens": f"summaries of {policy.summary_tokens:,}",
    }
    return ", ".join([shares, *(text for name, text in tried.items() if name in policy.model_fields_set)])


def _found(untouched: Played, chosen: Trial | None, wanted: float) -> str:
    if chosen is None:
        return f"No policy that was tried keeps {wanted:.0%} of what is used later."
    return f"Chosen: {chosen.recipe} {_parameters(chosen)}. {_figures(untouched, chosen)}"


def _figures(untouched: Played, chosen: Trial) -> str:
    """What was measured, in a sentence."""
    count = 0 if chosen.played is None else chosen.played.compactions
    cost = f"{dollars(chosen.dollars)} instead of {dollars(untouched.dollars)} with no compaction"
    kept = f"{chosen.retention or 0:.0%} of what was used later in context"
    return f"{cost}, {kept}, {counted(count, 'compaction')}."


def _trial_facts(trial: Trial) -> dict[str, Json]:
    played = trial.played
    return {
        "recipe": trial.recipe,
        "policy": settings_of(trial.policy),
        "dollars": None if played is None else _number(played),
        "retention": None if trial.retention is None else round(trial.retention, 4),
        "compactions": None if played is None else played.compactions,
        "tokens": None if played is None else played.tokens,
        "refused_after": trial.sent if played is None else None,
    }
