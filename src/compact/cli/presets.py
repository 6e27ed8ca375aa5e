"""`compact presets`: providers with settings, under a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compact.app import dump_json
from compact.app.presets import add_presets
from compact.cli.console import AsJson, print_json, screen, styled
from compact.cli.output import create_file
from compact.cli.tables import Table
from compact.errors import InvalidInput
from compact.messages import Json
from compact.providers.presets import Preset, dump_presets, find_preset
from compact.providers.presets import presets as built_in
from compact.settings.presets import load_presets, own_presets

EXAMPLES = (
    "Examples: compact presets · compact presets balanced --json · compact presets balanced --export mine.json · "
    "compact presets --import mine.json"
)


def presets(
    name: Annotated[str | None, typer.Argument(help="A preset, to show its settings.")] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the preset, or all, to a new .json or .yaml file.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--import", help="Keep the presets of a .json or .yaml file, for later use.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the presets, show one with its settings, and import and export them."""
    imported = _import(source) if source is not None else ()
    own = own_presets()
    shown = [find_preset(name, own)] if name is not None else [*imported] or [*built_in(), *own]
    if export is not None:
        _export(shown, export)
    if as_json:
        print_json([_facts(preset) for preset in shown])
        return
    if name is not None:
        _show(shown[0])
        return
    rows = ((preset.name, preset.provider, preset.description) for preset in shown)
    screen().print(Table(("preset", "provider", "what it does"), rows))


def _import(source: Path) -> tuple[Preset, ...]:
    """Keep the presets of a file beside those imported before; one of the same name takes the other's place."""
    found = load_presets(source)
    before = {preset.name: preset for preset in own_presets()}
    add_presets(found)
    for preset in found:
        if before.get(preset.name, preset) != preset:
            screen(stderr=True).print(f"replaced your preset {preset.name}", soft_wrap=True)
    if not found:
        screen(stderr=True).print("nothing to keep: the file has no preset that is not built in", soft_wrap=True)
    return found


def _export(shown: list[Preset], export: Path) -> None:
    kind = export.suffix.lower()
    if kind not in (".json", ".yaml", ".yml"):
        raise InvalidInput("is of no known kind", field=str(export), remedy="Name the file .json, .yaml or .yml.")
    create_file(export, dump_presets(shown, "json" if kind == ".json" else "yaml"))


def _facts(preset: Preset) -> dict[str, Json]:
    return {
        "name": preset.name,
        "provider": preset.provider,
        "description": preset.description,
        "settings": preset.settings,
    }


def _show(preset: Preset) -> None:
    out = screen()
    out.print(styled(preset.name, "bold"), f"with the provider {preset.provider}")
    out.print(preset.description)
    for line in dump_json(preset.settings, indent=2).split("\n"):
        out.print(line, soft_wrap=True)
