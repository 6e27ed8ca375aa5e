"""Profiles: who may be asked, whether they can be, and what each would cost."""

from importlib.resources import files
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from compact.app import DEFAULT_MODEL, read_transcript
from compact.app.analysing import compare
from compact.app.inspecting import showable
from compact.app.profiles import Standing, list_profiles
from compact.app.recommending import option_facts
from compact.app.stored import StoredSessions
from compact.messages import Conversation
from compact.server.showing import Sizes, conversation_of, money
from compact.server.stored import Sessions

router = APIRouter(prefix="/profiles", tags=["profiles"], generate_unique_id_function=lambda route: route.name)


class ProfileView(BaseModel):
    """A profile and whether it can be asked; `key` says where its key is and never what it is."""

    name: str
    vendor: str
    model: str
    url: str
    use: str
    priority: int
    source: Literal["configured", "vendor"]
    key: str
    ready: bool
    problems: list[str]
    remarks: list[str]
    threshold: float
    recipe: str
    strategy: str
    custom_prompt: bool
    input_price: str | None
    output_price: str | None
    context_window: int
    max_output: int | None


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


def pick_conversation(sessions: StoredSessions, id: str) -> tuple[Conversation, str]:
    """What the next request of a session would contain, and its model; without an id, the bundled demo."""
    if not id:
        data = (files("compact") / "cli" / "transcripts" / "session.openai-chat.json").read_bytes()
        return read_transcript(data), DEFAULT_MODEL
    context = sessions.context(id)
    return conversation_of(context), context.session.model


def _view(standing: Standing) -> ProfileView:
    profile, model = standing.profile, standing.model
    return ProfileView(
        name=profile.name,
        vendor=profile.vendor,
        model=profile.model,
        url=profile.url,
        use=profile.use,
        priority=profile.priority,
        source=standing.source,
        key=standing.key,
        ready=standing.ready,
        problems=list(standing.problems),
        remarks=list(standing.remarks),
        threshold=profile.threshold,
        recipe=showable(profile.recipe),
        strategy=profile.strategy,
        custom_prompt=bool(profile.prompt),
        input_price=money(model.prices.input) if model.prices else None,
        output_price=money(model.prices.output) if model.prices else None,
        context_window=model.context_window,
        max_output=model.max_output,
    )
