"""Recipes: those that can be chosen, and the one that is used where none is named."""

import os
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Body, HTTPException
from pydantic import BaseModel

from compact.app import known_recipes, resolve_recipe
from compact.app.inspecting import showable
from compact.app.presets import is_built_in
from compact.errors import InvalidConfiguration
from compact.providers import WhenMissed
from compact.providers.registry import provider_ids
from compact.settings.recipes import VARIABLE, Source, choose_default, default_recipe, default_source

router = APIRouter(prefix="/recipes", tags=["recipes"], generate_unique_id_function=lambda route: route.name)

Kind: TypeAlias = Literal["provider", "lossless", "preset", "own"]


class RecipeView(BaseModel):
    """A recipe; `when_missed` is what it does where its own passes do not reach a target.

    `error` says why it cannot be used.
    """

    name: str
    description: str
    kind: Kind
    provider: str
    when_missed: WhenMissed
    default: bool
    error: str = ""


class RecipesView(BaseModel):
    """The recipes, the one that is used where none is named, and where that is said."""

    default: str
    source: Source
    recipes: list[RecipeView]


@router.get("")
def show_recipes() -> RecipesView:
    """The recipes that can be chosen: every provider, the lossless levels, presets, and one's own."""
    default = default_recipe()
    listed = dict(known_recipes())
    if default not in listed:
        listed[default] = ""
    return RecipesView(
        default=showable(default),
        source=default_source(),
        recipes=[_view(name, about, is_default=name == default) for name, about in listed.items()],
    )


@router.put("/default")
def change_default(recipe: Annotated[str, Body(embed=True, min_length=1, max_length=200)]) -> RecipesView:
    """Choose the recipe that is used where none is named: here, by the gateway, by the command and by the library."""
    if named := os.environ.get(VARIABLE, "").strip():
        why = f"{VARIABLE} names {showable(named)} in the server's environment, which comes before any choice"
        raise HTTPException(409, f"{why}. Unset it, and start the server again.")
    resolve_recipe(recipe)
    choose_default(recipe)
    return show_recipes()


def _view(name: str, about: str, *, is_default: bool) -> RecipeView:
    kind: Kind = "own"
    if name in provider_ids():
        kind = "provider"
    elif name.startswith("lossless:"):
        kind = "lossless"
    elif is_built_in(name):
        kind = "preset"
    try:
        recipe = resolve_recipe(name)
        provider, missed, error = recipe.provider.id, recipe.when_missed, ""
        about = about or recipe.provider.description
    except InvalidConfiguration as wrong:
        provider, missed, error = "", "continue", str(wrong)
    return RecipeView(
        name=showable(name),
        description=showable(about),
        kind=kind,
        provider=provider,
        when_missed=missed,
        default=is_default,
        error=showable(error),
    )
