"""Profiles: the models that may be asked, whether they can be, what each would cost; and making and testing them."""

from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, Field

from compact.app import DEFAULT_MODEL, read_transcript
from compact.app.analysing import compare
from compact.app.inspecting import showable
from compact.app.profiles import (
    Credentials,
    Standing,
    add_profile,
    change_profile,
    examine,
    find_standing,
    list_profiles,
    probe,
    remove_profile,
)
from compact.app.recommending import option_facts
from compact.app.stored import StoredSessions
from compact.messages import Conversation
from compact.policies import Profile
from compact.server.showing import Sizes, conversation_of, money
from compact.server.stored import Sessions
from compact.settings.keys import require_destination

router = APIRouter(prefix="/profiles", tags=["profiles"], generate_unique_id_function=lambda route: route.name)


Name = Annotated[str, Path(max_length=64, description="The profile's name.")]
Values = Annotated[
    dict[Annotated[str, Field(max_length=64, pattern=r"^[a-z_]+$")], Any],
    Body(
        description="Settings of a profile, as `settings` of a listed one shows them.",
        examples=[{"name": "cheap", "vendor": "openai", "model": "gpt-4o-mini", "key": "env:OPENAI_API_KEY"}],
    ),
]


class ProfileView(BaseModel):
    """A profile and whether it can be asked; `key` says where its key is and never what it is.

    `credentials` says what is known of the key: found, none needed, missing, or not looked at because the vendor's own
    library finds it. Prices, window and `caches` are those that hold; `settings` has what the profile itself says.
    """

    name: str
    vendor: str
    model: str
    url: str
    use: str
    priority: int
    source: Literal["configured", "vendor"]
    key: str
    credentials: Credentials
    ready: bool
    problems: list[str]
    remarks: list[str]
    threshold: float
    recipe: str
    strategy: str
    custom_prompt: bool
    input_price: str | None
    output_price: str | None
    cache_read_price: str | None
    cache_write_price: str | None
    caches: bool
    context_window: int
    max_output: int | None
    settings: Profile


class ProfileTest(BaseModel):
    """What became of one small question; `reason` says why there is no answer, `cost` is dollars as text."""

    answered: bool
    model: str | None
    seconds: float | None
    cost: str | None
    reason: str | None


class CostOption(Sizes):
    """What a recipe would come to with a model that would summarize; money as text, in dollars."""

    way: str
    profile: str | None
    model: str | None
    kept_prefix: int
    questions: int
    input_tokens: int
    output_tokens: int
    condensing: str | None
    rewrite: str | None
    saved_per_request: str | None
    turns: int | None
    turns_after_pause: int | None


class CostComparison(BaseModel):
    """What condensing a conversation would cost and save, for every recipe and every model that might summarize."""

    model: str
    tokens: int
    turns: int
    options: list[CostOption]
    recommendations: list[str]


@router.get("")
def list_who_may_be_asked() -> list[ProfileView]:
    """The configured profiles in the order in which they are asked to condense, then the vendors' usual models."""
    return [_view(standing) for standing in list_profiles()]


@router.post("", status_code=201)
def create_profile(values: Values) -> ProfileView:
    """Add a profile; a name, a vendor and a model are needed, and a key is never accepted: only where it is."""
    return _view(examine(add_profile(values, require_destination)))


@router.get("/costs")
def compare_costs(
    sessions: Sessions,
    session: Annotated[str, Query(max_length=200, description="Empty for the bundled demo.")] = "",
    turns: Annotated[int, Query(ge=1, le=100_000)] = 20,
) -> CostComparison:
    """What condensing a session would cost and save, with every preset and every model that might summarize."""
    conversation, model = pick_conversation(sessions, session)
    found = compare(conversation, model, turns=turns)
    return CostComparison(
        model=showable(found.costing.model.id),
        tokens=found.costing.condensation.tokens,
        turns=turns,
        options=[CostOption.model_validate(showable(option_facts(option))) for option in found.options],
        recommendations=[showable(advice.text) for advice in found.advice()],
    )


@router.patch("/{name:path}")
def edit_profile(name: Name, values: Values) -> ProfileView:
    """Change the settings that are given; the others stay as they are."""
    return _view(examine(change_profile(name, values, require_destination)))


@router.delete("/{name:path}", status_code=204)
def delete_profile(name: Name) -> None:
    """Remove a profile; its key stays where it is."""
    remove_profile(name)


@router.post("/{name:path}/test")
def test_profile(name: Name) -> ProfileTest:
    """Really ask one small question."""
    standing = find_standing(name)
    if not standing.ready:
        reason = showable(f"not asked: {' '.join(standing.problems)}")
        return ProfileTest(answered=False, model=None, seconds=None, cost=None, reason=reason)
    found = probe(standing.profile)
    return ProfileTest(
        answered=found.answered,
        model=showable(found.model) or None,
        seconds=round(found.seconds, 3),
        cost=money(found.cost),
        reason=showable(found.reason) or None,
    )


def pick_conversation(sessions: StoredSessions, id: str) -> tuple[Conversation, str]:
    """What the next request of a session would contain, and its model; without an id, the bundled demo."""
    if not id:
        data = (files("compact") / "cli" / "transcripts" / "session.openai-chat.json").read_bytes()
        return read_transcript(data), DEFAULT_MODEL
    context = sessions.context(id)
    return conversation_of(context), context.session.model


def _view(standing: Standing) -> ProfileView:
    profile, model, prices = standing.profile, standing.model, standing.model.prices
    return ProfileView(
        name=profile.name,
        vendor=profile.vendor,
        model=profile.model,
        url=profile.url,
        use=profile.use,
        priority=profile.priority,
        source=standing.source,
        key=standing.key,
        credentials=standing.credentials,
        ready=standing.ready,
        problems=list(standing.problems),
        remarks=list(standing.remarks),
        threshold=profile.threshold,
        recipe=showable(profile.recipe),
        strategy=profile.strategy,
        custom_prompt=bool(profile.prompt),
        input_price=money(prices.input) if prices else None,
        output_price=money(prices.output) if prices else None,
        cache_read_price=money(prices.cache_read) if prices else None,
        cache_write_price=money(prices.cache_write) if prices else None,
        caches=model.cache is not None,
        context_window=model.context_window,
        max_output=model.max_output,
        settings=profile,
    )
