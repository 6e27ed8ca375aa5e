"""`compact explain`: why a model no longer knows something."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from compact.app.condensing import Condensation
from compact.app.explanation import AppliedPlan, Explanation, Fate, Occurrence, explain_log, kept_compactions
from compact.app.explanation import explain as explain_text
from compact.app.planfile import load_plan, restore_conversation
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import read_agent_log, read_transcript
from compact.cli.console import AsJson, FormatName, name_of, print_json, read, read_bytes, screen, styled
from compact.cli.options import ForModel, RecipeName, Target, grouped, read_target
from compact.errors import InvalidInput
from compact.messages import Json
from compact.originals import FileOriginals
from compact.policies import check_session_id
from compact.quantities import counted

EXAMPLES = (
    "Examples: compact explain chat.json 'refund policy' · compact explain log-of-claude-code.jsonl HOTEL-83721 · "
    "compact explain small.json timeout --plan chat.plan.json · compact explain .compact timeout --session s1 --json"
)

_STYLES: dict[Fate, str] = {"kept": "green", "shortened": "yellow", "summarized": "yellow", "omitted": "red"}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact explain`."""

    file: Annotated[
        Path,
        typer.Argument(
            help="A transcript in any format, or an agent's log; - reads standard input. With --session, the folder "
            "that holds `originals`: storage.path of the manager."
        ),
    ]
    text: Annotated[list[str], typer.Argument(help="What is looked for as it stands, whatever its case.")]
    recipe: RecipeName = None
    target: Target = None
    model: ForModel = None
    plan: Annotated[
        Path | None, typer.Option(help="The file is condensed, and this is its plan file: explain what that did.")
    ] = None
    session: Annotated[
        str | None, typer.Option(help="Explain the compactions of this session, as a manager kept them.")
    ] = None
    format: FormatName = None
    as_json: AsJson = False


@grouped
def explain(options: Options) -> None:
    """Say what became of each message that holds a text, and at which compaction: why it was forgotten.

    Where an agent's log says that the agent compacted by itself, those compactions count, unless a recipe or a target
    is given. Any other transcript is condensed as `compact condense` would do it without a model, and nothing is
    written.
    """
    text = " ".join(options.text)
    by, found = _explain(options, text)
    if options.as_json:
        print_json({"text": text, "by": by, "compactions": found.compactions, "occurrences": _facts(found)})
        return
    if not found.occurrences:
        screen().print("No message holds this text.")
        return
    for each in found.occurrences:
        _show(each)
    shown = sum(each.last.shown for each in found.occurrences)
    where = counted(len(found.occurrences), "message")
    screen().print(f"{where} with this text; the model still reads it in {shown:,}; {by}.", soft_wrap=True)


def _explain(options: Options, text: str) -> tuple[str, Explanation]:
    """How the compactions came about, and the explanation by them."""
    how = options.recipe or options.target
    given = {"--plan": options.plan, "--session": options.session, "--recipe or --target": how}
    if len(named := [name for name, value in given.items() if value is not None]) > 1:
        raise InvalidInput("cannot be given together", field=" and ".join(named), remedy="Give one of them.")
    if options.session is not None:
        log, done = kept_compactions(_originals(options.file), check_session_id(options.session))
        return f"by {counted(len(done), 'compaction')} of session {options.session}", explain_text(text, log, done)
    if options.plan is not None:
        plan = load_plan(read_bytes(options.plan))
        log = restore_conversation(read(options.file, options.format), plan)
        return f"by {options.plan}", explain_text(text, log, (AppliedPlan(1, len(log), plan.passes),))
    data = read_bytes(options.file)
    own = read_agent_log(data, name=name_of(options.file)) if options.format is None else None
    log = read_transcript(data, format=options.format, name=name_of(options.file))
    if own is not None and own.boundaries and not named:
        by = f"by {counted(len(own.boundaries), 'compaction')} of {own.agent} itself"
        return by, explain_log(text, log, own)
    recipe = resolve_recipe(options.recipe)
    condensation = Condensation(log, options.model, read_target(options.target))
    result = condensation.run(recipe)
    sizes = f"{result.report.tokens_before:,} → {result.report.tokens_after:,} tokens"
    done = (AppliedPlan(1, len(log), result.plan),) if result.plan else ()
    return f"if condensed by {recipe.name}, {sizes}", explain_text(text, condensation.conversation, done)


def _originals(folder: Path) -> FileOriginals:
    if not (folder / "originals").is_dir():
        raise InvalidInput("holds no `originals`", field=name_of(folder), remedy="Name storage.path of the manager.")
    return FileOriginals(folder / "originals")


def _show(found: Occurrence) -> None:
    last = found.last
    who = f"message {found.position}, {' '.join(filter(None, (found.role, found.tool)))}"
    screen().print(f"{who}:", styled(_fate(found), _STYLES[last.fate]), soft_wrap=True)
    screen().print(f"    {found.excerpt}", soft_wrap=True)
    for change in found.changes:
        if change.sentence:
            missing = "" if change.shown else " (without this text)"
            screen().print(f"    compaction {change.compaction} says{missing}: {change.sentence}", soft_wrap=True)


def _fate(found: Occurrence) -> str:
    """The fates in order, with the compaction of each."""
    if not found.changes:
        return "kept"
    told = []
    for change in found.changes:
        what = "omitted (recoverable)" if change.fate == "omitted" and found.handle else change.fate
        still = ", the text is still there" if change.fate == "shortened" and change.shown else ""
        told.append(f"{what} at compaction {change.compaction}{still}")
    return f"{', '.join(told)}{f'; handle {found.handle}' if found.handle else ''}"


def _facts(found: Explanation) -> list[dict[str, Json]]:
    return [
        {
            "message": each.position,
            "role": each.role,
            "tool": each.tool or None,
            "excerpt": each.excerpt,
            "fate": each.last.fate,
            "compaction": each.last.compaction or None,
            "sentence": each.last.sentence or None,
            "shown": each.last.shown,
            "handle": each.handle or None,
            "changes": [asdict(change) for change in each.changes],
        }
        for each in found.occurrences
    ]
