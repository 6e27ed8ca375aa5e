"""Sessions played again, request by request: what each recipe would have cost."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from compact.app.counting import choose_model
from compact.app.inspecting import showable
from compact.app.presets import all_presets, is_built_in
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.transcripts import read_usages
from compact.errors import InvalidInput
from compact.lab.replaying import (
    NAIVE,
    NOTHING,
    USUAL_GAP,
    USUAL_TRIGGER,
    Played,
    choose_window,
    read_logged,
    terms_for,
)
from compact.lab.replaying import replay as play
from compact.policies.threshold import USUAL_TARGET
from compact.server.showing import money
from compact.server.uploads import Uploads, uploads_of

router = APIRouter(prefix="/replay", tags=["replay"], generate_unique_id_function=lambda route: route.name)

_PLAIN = {
    NOTHING: "Every request carries the whole history.",
    NAIVE: "The oldest messages are dropped, as many as it takes.",
}
WayName = Annotated[str, Field(max_length=200)]


class ReplayWish(BaseModel):
    """What to play: an open transcript, for which model, with which recipes; none named is all of them.

    Shares are of the window, by default one in which something happens; `gap` is the time between two requests in
    seconds.
    `variant` is the deployment whose rules hold.
    """

    upload: str = Field(max_length=200)
    model: str = Field(default="", max_length=200)
    variant: str | None = Field(default=None, max_length=50)
    ways: list[WayName] = Field(default=[], max_length=40)
    window: int | None = Field(default=None, ge=2_000, le=100_000_000)
    trigger: float = Field(default=USUAL_TRIGGER, ge=0.05, le=1)
    target: float = Field(default=USUAL_TARGET, ge=0.01, le=0.99)
    gap: float = Field(default=USUAL_GAP, ge=0, le=1e9)


class WayPlayed(BaseModel):
    """What the session came to with one recipe; money as text, in dollars.

    `sizes` are the tokens of each request, and `compacted` the places in it where a compaction went before.
    """

    way: str
    dollars: str | None
    condensing: str | None
    tokens: int
    cache_hit_rate: float
    compactions: int
    peak: int
    overflows: int
    sizes: list[int]
    compacted: list[int]


class ReplayView(BaseModel):
    """The session played again, recipe by recipe.

    `logged_tokens` and `logged_dollars` are what the log itself reports of its requests, if it does; `unseen` tokens of
    each request are not in it, and `unknown` is what else it does not say.
    """

    model: str
    model_source: Literal["option", "request", "default"]
    window: int
    summarizer: str
    logged_tokens: int
    logged_dollars: str | None
    unseen: int
    unknown: list[str]
    ways: list[WayPlayed]


class PlayableWay(BaseModel):
    """A recipe that a session can be played with."""

    name: str
    description: str
    kind: Literal["plain", "preset", "own"]


@router.get("/ways")
def list_playable_ways() -> list[PlayableWay]:
    """What a session can be played with: two baselines, the recipes that are built in, and one's own presets."""
    plain = [PlayableWay(name=name, description=about, kind="plain") for name, about in _PLAIN.items()]
    own = {preset.name for preset in all_presets() if not is_built_in(preset.name)}
    return plain + [
        PlayableWay(name=showable(name), description=showable(about), kind="own" if name in own else "preset")
        for name, about in list_recipes()
    ]


@router.post("")
def replay_session(wish: ReplayWish, uploads: Annotated[Uploads, Depends(uploads_of)]) -> ReplayView:
    """Play an open transcript again; no model is called, and summaries are charged at a cheap model's price."""
    upload = uploads.find(wish.upload)
    if wish.target >= wish.trigger:
        remedy = "Give a smaller share, or every request would compact again."
        raise InvalidInput(f"{wish.target} is not below the trigger of {wish.trigger}", field="target", remedy=remedy)
    names = wish.ways or [*_PLAIN, *(name for name, _ in list_recipes())]
    recipes = [name if name in _PLAIN else resolve_recipe(name) for name in dict.fromkeys(names)]
    model, source = choose_model(wish.model, upload.conversation)
    usual = replace(terms_for(model, wish.window), variant=wish.variant or "")
    usages = read_usages(upload.data, upload.conversation)
    logged = read_logged(upload.conversation, usages, usual.model)
    terms = replace(usual, trigger=wish.trigger, target=wish.target, gap=wish.gap, unseen=logged.unseen)
    if wish.window is None:
        terms = replace(terms, window=choose_window(terms, upload.conversation))
    return ReplayView(
        model=showable(terms.model.id),
        model_source=source,
        window=terms.window,
        summarizer=showable(terms.summarizer.id) if terms.summarizer else "",
        logged_tokens=logged.tokens,
        logged_dollars=money(logged.dollars) if logged.requests else None,
        unseen=logged.unseen,
        unknown=list(logged.unknown),
        ways=[_played(play(upload.conversation, recipe, terms)) for recipe in recipes],
    )


def _played(played: Played) -> WayPlayed:
    return WayPlayed(
        way=showable(played.recipe),
        dollars=money(played.dollars),
        condensing=money(played.condensing),
        tokens=played.tokens,
        cache_hit_rate=played.hit_rate,
        compactions=played.compactions,
        peak=played.peak,
        overflows=played.overflows,
        sizes=[one.tokens for one in played.sent],
        compacted=[index for index, one in enumerate(played.sent) if one.before],
    )
