"""Sessions played again, request by request: what each way of keeping them small would have cost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends

from compact.app import choose
from compact.app.costing import Way
from compact.app.inspecting import showable
from compact.app.presets import all_presets, is_built_in
from compact.errors import InvalidInput
from compact.lab.replaying import NAIVE, NOTHING, Played, terms_for
from compact.lab.replaying import replay as play
from compact.server.inspecting import model_for
from compact.server.routes.shapes.replaying import PlayableWay, ReplayView, ReplayWish, WayPlayed
from compact.server.routes.shapes.showing import money
from compact.server.uploads import Uploads, uploads_of

router = APIRouter(prefix="/replay", tags=["replay"], generate_unique_id_function=lambda route: route.name)

_PLAIN = {
    NOTHING: "Every request carries the whole history.",
    NAIVE: "The oldest messages are dropped, as many as it takes.",
}


@router.get("/ways")
def list_playable_ways() -> list[PlayableWay]:
    """The ways in which a session can be played: the two plain ones, the built-in presets, and one's own."""
    plain = [PlayableWay(name=name, description=about, kind="plain") for name, about in _PLAIN.items()]
    return plain + [
        PlayableWay(
            name=showable(preset.name),
            description=showable(preset.description),
            kind="preset" if is_built_in(preset.name) else "own",
        )
        for preset in all_presets()
    ]


@router.post("")
def replay_session(wish: ReplayWish, uploads: Annotated[Uploads, Depends(uploads_of)]) -> ReplayView:
    """Play an open transcript again; nobody is asked, and summaries are charged at a cheap model's price."""
    upload = uploads.find(wish.upload)
    if wish.target >= wish.trigger:
        remedy = "Give a smaller share, or every request would compact again."
        raise InvalidInput(f"{wish.target} is not below the trigger of {wish.trigger}", field="target", remedy=remedy)
    ways = [_way(name) for name in dict.fromkeys(wish.ways or _names())]
    model, source = model_for(upload, wish.model)
    terms = replace(terms_for(model, wish.window), trigger=wish.trigger, target=wish.target, gap=wish.gap)
    return ReplayView(
        model=showable(terms.model.id),
        model_source=source,
        window=terms.window,
        summarizer=showable(terms.summarizer.id) if terms.summarizer else "",
        ways=[_played(play(upload.conversation, way, terms)) for way in ways],
    )


def _names() -> Iterator[str]:
    yield from _PLAIN
    yield from (preset.name for preset in all_presets())


def _way(name: str) -> Way | str:
    return name if name in _PLAIN else Way(name, *choose(None, name, None))


def _played(played: Played) -> WayPlayed:
    return WayPlayed(
        way=showable(played.way),
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
