"""Prompts: the strategies of summaries, words of one's own, and the exact request that a model would get."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, Field

from compact.app import Condensation, counter_for, resolve_recipe
from compact.app.estimating import foresee
from compact.app.inspecting import showable
from compact.app.pricing import Summarizer
from compact.app.profiles import find_profile
from compact.app.strategies import choose_strategy, with_strategy
from compact.errors import InvalidInput
from compact.policies import Profile
from compact.policies.session_ids import LONGEST_ID
from compact.ports import Ask
from compact.server.routes.profiles import pick_conversation
from compact.server.stored import Sessions
from compact.settings.profiles import list_prompts, load_prompt, save_prompt
from compact.summaries.model.strategy import DEFAULT, Strategy, custom_strategy, find_strategy, strategies

router = APIRouter(prefix="/prompts", tags=["prompts"], generate_unique_id_function=lambda route: route.name)

Name = Annotated[str, Path(max_length=64)]
_SHOWN = 200_000
"""Characters of a request that are shown."""


class StrategyView(BaseModel):
    """What a summary keeps, and in which sections; `custom` is a prompt of one's own."""

    name: str
    description: str
    sections: list[str]
    custom: bool


class PromptText(BaseModel):
    """A prompt of one's own."""

    name: str
    text: str


class PromptTrial(BaseModel):
    """Which request to show: by a strategy or by words of one's own, for a session or for the bundled demo."""

    strategy: str = Field(default="", max_length=64)
    prompt: str = Field(default="", max_length=20_000)
    detail: Literal["detailed", "concise"] = "detailed"
    profile: str = Field(default="", max_length=64)
    session: str = Field(default="", max_length=LONGEST_ID)


class PromptRequest(BaseModel):
    """A request exactly as a summarizing model would get it."""

    system: str
    user: str
    truncated: bool
    max_tokens: int
    tokens: int


class PromptPreview(BaseModel):
    """The requests, and whom they would go to."""

    strategy: str
    custom: bool
    profile: str | None
    model: str | None
    temperature: float | None
    seed: int | None
    requests: list[PromptRequest]


@router.get("")
def list_strategies() -> list[StrategyView]:
    """The strategies, then the prompts of one's own."""
    built_in = [
        StrategyView(
            name=each.name,
            description=each.description,
            sections=[section.title for section in each.sections],
            custom=False,
        )
        for each in strategies()
    ]
    own = [StrategyView(name=name, description="", sections=[], custom=True) for name in list_prompts()]
    return [*built_in, *own]


@router.post("/preview")
def preview_prompt(trial: PromptTrial, sessions: Sessions) -> PromptPreview:
    """The requests exactly as a summarizing model would get them; no model is called."""
    profile = find_profile(trial.profile) if trial.profile else None
    strategy = _strategy(trial, profile)
    conversation, model = pick_conversation(sessions, trial.session)
    recipe = with_strategy(resolve_recipe(provider="native"), strategy, trial.detail)
    summarizers = [Summarizer.of(profile)] if profile else []
    asks = foresee(Condensation(conversation, model, None), recipe, summarizers).asks
    if not asks:
        raise InvalidInput("there is nothing to summarize", field="session", remedy="Choose a longer one.")
    return PromptPreview(
        strategy=strategy.name,
        custom=strategy.custom,
        profile=profile.name if profile else None,
        model=profile.model if profile else None,
        temperature=profile.temperature if profile else None,
        seed=profile.seed if profile else None,
        requests=[_request(ask, profile, model) for ask in asks],
    )


@router.get("/{name}")
def show_prompt(name: Name) -> PromptText:
    """The words of a prompt of one's own, or of a strategy."""
    known = {each.name: each.prompt for each in strategies()}
    return PromptText(name=name, text=showable(known[name] if name in known else load_prompt(name)))


@router.put("/{name}")
def keep_prompt(name: Name, text: Annotated[str, Body(embed=True, min_length=1, max_length=20_000)]) -> PromptText:
    """Keep a prompt of one's own; what cannot stand in one is refused."""
    if name in {each.name for each in strategies()}:
        raise InvalidInput("a strategy is called so", field="name", remedy="Choose another name.")
    custom_strategy(text, find_strategy(DEFAULT))
    save_prompt(name, text)
    return PromptText(name=name, text=text)


def _strategy(trial: PromptTrial, profile: Profile | None) -> Strategy:
    if trial.prompt:
        return custom_strategy(trial.prompt, find_strategy(trial.strategy or DEFAULT))
    return choose_strategy(trial.strategy, profile) or find_strategy(DEFAULT)


def _request(ask: Ask, profile: Profile | None, model: str) -> PromptRequest:
    limits = (ask.max_tokens, profile.max_output_tokens if profile else None)
    count = counter_for(profile.catalogue_name if profile else model).text
    return PromptRequest(
        system=showable(ask.instructions),
        user=showable(ask.material[:_SHOWN]),
        truncated=len(ask.material) > _SHOWN,
        max_tokens=min(limit for limit in limits if limit),
        tokens=count(ask.instructions) + count(ask.material),
    )
