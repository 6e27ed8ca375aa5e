"""Models of stored sessions: what is known of them, what a person has set, and the catalogue."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from compact.app.inspecting import showable
from compact.app.stored import StoredSessions
from compact.errors import InvalidInput, NotFound
from compact.models import Model, list_models
from compact.policies.stored import DEFAULT_MAX_INPUT
from compact.policies.threshold import Source, TriggerShare
from compact.ports import ModelConfig
from compact.ports.sessions import ConfigSource
from compact.server.showing import Limit, money, page_of
from compact.server.stored import Sessions

router = APIRouter(tags=["models"], generate_unique_id_function=lambda route: route.name)

ModelId = Annotated[str, Path(max_length=400, description="vendor:model")]


class ModelView(BaseModel):
    """What is known of a model, or set for it; the effective values are those that hold for a session with it."""

    id: str
    provider: str
    model: str
    max_input: int
    max_output: int | None
    threshold: float | None
    retention: int | None
    effective_max_input: int = Field(description="A profile's window counts unless a person has set the model's.")
    effective_threshold: float
    threshold_source: Source
    threshold_name: str = Field(description="Whose it is: the profile's or the model's name.")
    effective_retention: int
    source: ConfigSource = Field(
        description="Who gave the limits: a person, the vendor (api), or the catalogue (default)."
    )
    updated: str


class ModelEdit(BaseModel):
    """What a person says of a model; 128,000 is what to suggest for an unknown one's maximum input."""

    max_input: int = Field(ge=1_000, le=1_000_000_000, examples=[128_000])
    max_output: int | None = Field(default=None, ge=1, le=1_000_000_000)
    threshold: TriggerShare | None = Field(default=None, allow_inf_nan=False)
    retention: int | None = Field(default=None, ge=0, le=1_000_000_000)


class NewModel(ModelEdit):
    """A model to be added."""

    provider: str = Field(min_length=1, max_length=100, pattern=r"^[^\s:]+$")
    model: str = Field(min_length=1, max_length=200)


class ModelsView(BaseModel):
    """The models, and what to suggest as the maximum input of an unknown one."""

    models: list[ModelView]
    suggested_max_input: int


class DetectWish(BaseModel):
    """Whose vendor is asked for its models; without a profile, those of all that are configured."""

    profile: str = Field(default="", max_length=64)


class DetectionView(BaseModel):
    """What a vendor told: how many models it has, of how many the limits, and those that are stored with them.

    `problem` says why it told nothing.
    """

    profile: str
    named: int
    told: int
    stored: list[ModelView]
    problem: str | None


class CatalogueModel(BaseModel):
    """A model as the catalogue knows it; prices are dollars per million tokens."""

    id: str
    vendor: str
    name: str
    context_window: int
    max_input: int
    max_output: int | None
    input_price: str | None
    output_price: str | None
    exact: bool
    retired: bool


class CataloguePage(BaseModel):
    """Models of the catalogue; `next` is what to pass as `after` for more."""

    models: list[CatalogueModel]
    next: str | None


@router.get("/models")
def list_known_models(sessions: Sessions) -> ModelsView:
    """The models that were used, detected or added."""
    found = sorted(sessions.models(), key=lambda config: config.id)
    return ModelsView(models=[_view(sessions, config) for config in found], suggested_max_input=DEFAULT_MAX_INPUT)


@router.post("/models", status_code=201)
def add_model(new: NewModel, sessions: Sessions) -> ModelView:
    """Add a model, with the maximum input that it takes."""
    config = ModelConfig(new.provider, new.model, new.max_input, new.max_output, new.threshold, new.retention)
    if any(known.id == config.id for known in sessions.models()):
        raise InvalidInput("is there already", field="model", remedy="Edit it instead.")
    return _view(sessions, sessions.preferences.put_model(config))


@router.post("/models/detect")
def detect_models(wish: DetectWish, sessions: Sessions) -> list[DetectionView]:
    """Ask vendors how much their models read and write, and store what they tell; what a person has set stays."""
    return [
        DetectionView(
            profile=showable(found.profile),
            named=found.named,
            told=found.told,
            stored=[_view(sessions, config) for config in found.stored],
            problem=showable(found.problem) or None,
        )
        for found in sessions.detect(wish.profile)
    ]


@router.put("/models/{id:path}")
def edit_model(id: ModelId, edit: ModelEdit, sessions: Sessions) -> ModelView:
    """Set what holds for a model, at once and for everybody who shares the database."""
    config = replace(_found(sessions, id), **edit.model_dump())
    return _view(sessions, sessions.preferences.put_model(config))


@router.post("/models/{id:path}/reset")
def reset_model(id: ModelId, sessions: Sessions) -> ModelView:
    """Go back to what was known of a model without anybody's word."""
    return _view(sessions, sessions.preferences.reset_model(_found(sessions, id).id))


@router.delete("/models/{id:path}", status_code=204)
def delete_model(id: ModelId, sessions: Sessions) -> None:
    """Forget a model; one that is used again is looked up again."""
    sessions.preferences.delete_model(_found(sessions, id).id)


@router.get("/catalogue")
def search_catalogue(
    text: Annotated[str, Query(max_length=200)] = "",
    vendor: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str, Query(max_length=400)] = "",
    limit: Limit = 50,
) -> CataloguePage:
    """The models of the catalogue whose name holds the text; `after` is vendor:id of the last one shown."""
    wanted = text.lower()
    found = [model for model in list_models(vendor or None) if wanted in f"{_key(model)} {model.name}".lower()]
    shown, following = page_of(found, limit, _key, after)
    return CataloguePage(models=[_entry(model) for model in shown], next=following)


def _found(sessions: StoredSessions, id: str) -> ModelConfig:
    for config in sessions.models():
        if config.id == id:
            return config
    raise NotFound(f"there is no model {id[:80]}", field="id", remedy="GET /api/models lists them.")


def _view(sessions: StoredSessions, config: ModelConfig) -> ModelView:
    effective = sessions.preferences.resolve("", config)
    settings, threshold = effective.settings, effective.threshold
    return ModelView(
        id=showable(config.id),
        provider=showable(config.provider),
        model=showable(config.model),
        max_input=config.max_input,
        max_output=config.max_output,
        threshold=config.threshold,
        retention=config.retention,
        effective_max_input=effective.window,
        effective_threshold=settings.threshold,
        threshold_source=threshold.source,
        threshold_name=showable(threshold.name),
        effective_retention=settings.retention_tokens,
        source=config.source,
        updated=config.updated,
    )


def _key(model: Model) -> str:
    return f"{model.vendor}:{model.id}"


def _entry(model: Model) -> CatalogueModel:
    return CatalogueModel(
        id=model.id,
        vendor=model.vendor,
        name=model.name,
        context_window=model.context_window,
        max_input=model.max_input,
        max_output=model.max_output,
        input_price=money(model.prices.input) if model.prices else None,
        output_price=money(model.prices.output) if model.prices else None,
        exact=model.exact,
        retired=model.retired,
    )
