"""`compact config`: how a `CompactManager` is configured, and where each value comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from compact.app import dump_json
from compact.app.configuring import document_of, further_problems, template
from compact.app.migrated_settings import name_migrated, read_migrated, save_migrated
from compact.app.thresholds import threshold_for
from compact.cli.console import AsJson, print_json, screen, styled
from compact.cli.options import Output, grouped
from compact.cli.output import create_file, emit, taken
from compact.cli.tables import Cell, Table
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json
from compact.policies import CompactConfig, EffectiveThreshold
from compact.policies.fields import schema_of
from compact.policies.migration import Migration
from compact.policies.migration import migrate as migrate_settings
from compact.redaction import Redactor
from compact.settings.compaction import NAMES, Gathered, Problem, Value, find_file, gather, variables_of
from compact.settings.documents import dump_document, read_document
from compact.settings.profiles import prompt_path, save_prompt

commands = typer.Typer(
    add_completion=False,
    help="Show, check and write the configuration of a CompactManager.",
    no_args_is_help=True,
)

_DEFAULT = "gpt-4o"
ConfigFile = Annotated[Path, typer.Argument(help="A .yaml, .yml or .json file.")]


@commands.command("show", epilog="Examples: compact config show · compact config show --path production.yaml --json")
def show(
    path: Annotated[
        Path | None, typer.Option("--path", help="The file, if it is not compact.yaml, .yml or .json here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every setting, its value, and where that comes from: a variable, the file, or the default.

    Below stands from which share of the window a manager compacts: a profile of the model may have its own threshold.
    Leaves with status 1 if something is wrong with them.
    """
    gathered = gather(path)
    problems = gathered.problems(further_problems)
    threshold = threshold_for(gathered.policy, gathered.model) if gathered.policy else None
    warnings = [*gathered.warnings, *(threshold.warnings if threshold else ())]
    if as_json:
        facts: dict[str, Json] = {
            "file": str(gathered.file) if gathered.file else None,
            "settings": list(map(_facts, gathered.values)),
        }
        facts["threshold"] = _threshold_facts(threshold) if threshold else None
        print_json({**facts, "problems": list(map(_told, problems)), "warnings": warnings})
    else:
        _show(gathered, threshold, problems, warnings)
    if problems:
        raise typer.Exit(1)


@commands.command("schema", epilog="Examples: compact config schema · compact config schema -o compact.schema.json")
def schema(output: Output = None) -> None:
    """Print the JSON Schema of compact.yaml and compact.json, with which editors complete and check them."""
    emit(dump_document(schema_of(CompactConfig), Path("schema.json")).encode(), output)


@commands.command("check", epilog="Examples: compact config check compact.yaml · compact config check prod.json --json")
def check(file: ConfigFile, as_json: AsJson = False) -> None:
    """Check a file by itself, whatever the environment says; leaves with status 1 if something is wrong with it."""
    gathered = gather(file, environment={})
    problems = gathered.problems(further_problems)
    if as_json:
        print_json({"file": str(file), "valid": not problems, "problems": list(map(_told, problems))})
    else:
        for problem in problems:
            screen().print(_without_passwords(str(problem)), soft_wrap=True)
        if not problems:
            named = "; the model must be named elsewhere" if gathered.lacks_model else ""
            screen().print(f"{file} is valid{named}.", soft_wrap=True)
    if problems:
        raise typer.Exit(1)


@commands.command("init", epilog="Examples: compact config init · compact config init production.yaml --model gpt-5")
def init(
    file: Annotated[Path, typer.Argument(help="The YAML file to write.")] = Path("compact.yaml"),
    model: Annotated[str, typer.Option("--model", "-m", help="The model the conversations are with.")] = _DEFAULT,
) -> None:
    """Write a compact.yaml with every setting, its default and what it means; a file that exists stays as it is."""
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput("must end in .yaml or .yml", field=str(file), remedy="JSON has no place for comments.")
    if file.name in NAMES and (other := find_file(file.parent)) is not None:
        raise taken(other)
    create_file(file, template(model))


@dataclass(frozen=True, slots=True)
class Migrate:
    """The options of `compact config migrate`."""

    file: ConfigFile
    output: Output = None
    model: Annotated[str | None, typer.Option("--model", "-m", help="The model the conversations are with.")] = None
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="Save the custom prompt under this name, for profiles.")
    ] = None
    apply: Annotated[
        bool, typer.Option("--apply", help="Keep their presets, profiles and prompt in Compact's folder, too.")
    ] = False
    as_json: AsJson = False


@commands.command(
    "migrate", epilog="Examples: compact config migrate roo-code-settings.json --apply -m gpt-5 -o compact.yaml"
)
@grouped
def migrate(options: Migrate) -> None:
    """Turn older settings into a compact.yaml: Roo Code's, or those with a version v1, v2 or v3.

    Comments say what became something else, or nothing. No file is overwritten. With --apply, details of versions and
    providers become a preset, API profiles become profiles with their thresholds, and a custom prompt is saved.
    """
    migration = _migrated(options.file)
    found = read_migrated(migration, options.prompt or "") if options.apply else None
    if found is not None:
        migration = name_migrated(migration, found)
    to_file = options.output if options.output is not None and str(options.output) != "-" else None
    text = document_of(migration, options.model, to_file or Path("compact.yaml"))
    if to_file is not None and to_file.exists():
        raise taken(to_file)  # before anything is kept
    if found is not None:
        save_migrated(found)
    elif options.prompt is not None:
        _save_prompt(options.prompt, migration.prompt)
    if to_file is not None:
        create_file(to_file, text)
    if options.as_json:
        facts = {"config": dict(migration.config), "thresholds": dict(migration.thresholds)}
        print_json({**facts, "prompt": migration.prompt, "remarks": list(migration.remarks)})
    elif to_file is None:
        emit(text.encode(), None)
    elif to_file.suffix.lower() == ".json":
        for remark in migration.remarks:
            screen().print(remark, soft_wrap=True)


def _threshold_facts(threshold: EffectiveThreshold) -> dict[str, Json]:
    shares = {"trigger_pct": threshold.share, "target_pct": threshold.target}
    return {**shares, "source": threshold.source, "name": threshold.name}


def _show(
    gathered: Gathered, threshold: EffectiveThreshold | None, problems: Sequence[Problem], warnings: Sequence[str]
) -> None:
    rows = ((value.setting.path, _shown(value), _source(value)) for value in gathered.values)
    screen().print(Table(("setting", "value", "comes from"), rows))
    if threshold:
        shares = f"at {threshold.share:.4g} of the window, down to {threshold.target:.4g}"
        screen().print(f"In force: compacts {shares}; from {threshold.origin}.", soft_wrap=True)
    if gathered.lacks_model:
        screen().print("No model is named: set it in compact.yaml, as COMPACT_MODEL, or in the program.")
    for problem in problems:
        screen().print(styled("wrong:", "red"), _without_passwords(str(problem)), soft_wrap=True)
    for warning in warnings:
        screen().print(styled("warning:", "yellow"), warning, soft_wrap=True)


def _facts(value: Value) -> dict[str, Json]:
    setting = value.setting
    return {
        "field": setting.path,
        "value": _safe(value),
        "default": setting.default,
        "source": value.origin.kind,
        "from": value.origin.name or None,
        "variables": list(variables_of(setting)),
        "meaning": setting.meaning,
    }


def _told(problem: Problem) -> dict[str, Json]:
    text, names = _without_passwords(problem.text), [origin.name for origin in problem.origins]
    return {"field": problem.path, "problem": text, "from": names}


def _shown(value: Value) -> str:
    if value.setting.needed and value.origin.kind == "default":
        return "needed"
    safe = _safe(value)
    return safe if isinstance(safe, str) and safe else dump_json(safe)


def _source(value: Value) -> Cell:
    return styled(str(value.origin), "" if value.origin.kind == "default" else "cyan")


def _safe(value: Value) -> Json:
    """The value without passwords, which an address may hold; lists are patterns and names, and no secrets."""
    shown = value.shown
    return _without_passwords(_redactor().text(shown)) if isinstance(shown, str) else shown


def _without_passwords(text: str) -> str:
    return re.sub(r"(://)[^/@\s]*@", r"\1<REDACTED>@", text)


@cache
def _redactor() -> Redactor:
    return Redactor()


def _migrated(file: Path) -> Migration:
    document = read_document(file)
    if not isinstance(document, dict):
        raise InvalidConfiguration("must be an object with settings", field=str(file), remedy="Export them again.")
    try:
        return migrate_settings(document)
    except InvalidConfiguration as error:
        raise InvalidConfiguration(error.problem, field=str(file), remedy=error.remedy) from None


def _save_prompt(name: str, text: str) -> None:
    if not text:
        raise InvalidInput("there is no custom prompt to save", field="--prompt", remedy="Leave the option out.")
    if prompt_path(name).exists():
        raise taken(prompt_path(name))
    screen(stderr=True).print(f"wrote {save_prompt(name, text)}", soft_wrap=True)
