"""`compact recipes`: what a conversation can be compacted by, and which of it is the default."""

from __future__ import annotations

from typing import Annotated

import typer

from compact.app.recipes import known_recipes, resolve_recipe
from compact.cli.console import AsJson, print_json, screen
from compact.cli.tables import Table
from compact.messages import Json
from compact.settings.recipes import choose_default, default_recipe

commands = typer.Typer(
    add_completion=False,
    epilog=(
        "Examples: compact recipes · compact recipes --json · compact recipes use balanced · compact recipes use auto"
    ),
)


@commands.callback(invoke_without_command=True)
def recipes(context: typer.Context, as_json: AsJson = False) -> None:
    """List the recipes, and choose the default.

    Where a target is missed, a recipe stops, or continues as auto does.
    """
    if context.invoked_subcommand is not None:
        return

    default, found = default_recipe(), list(_facts())
    if as_json:
        print_json({"default": default, "recipes": found})
        return
    screen().print(Table(("recipe", "provider", "target missed", "what it does"), ([*one.values()] for one in found)))
    screen().print(f"The default is {default}. Choose another: compact recipes use NAME, or COMPACT_RECIPE.")


@commands.command("use", epilog="Examples: compact recipes use balanced · compact recipes use lossless:verbatim")
def use(
    name: Annotated[str, typer.Argument(help="A recipe: one that is listed, or a provider.")], as_json: AsJson = False
) -> None:
    """Make a recipe the default of all commands and programs with this home; COMPACT_RECIPE goes before it."""
    chosen = resolve_recipe(name).name
    choose_default(chosen)
    if as_json:
        print_json({"default": default_recipe()})
        return
    screen().print(f"The default is {chosen} now.")
    if default_recipe() != chosen:
        screen().print(f"COMPACT_RECIPE goes before it, and is {default_recipe()}.")


def _facts() -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = []
    for name, description in known_recipes():
        recipe = resolve_recipe(name)
        facts = {"name": name, "provider": recipe.provider.id, "when_missed": recipe.when_missed}
        found.append(facts | {"description": description})
    return found
