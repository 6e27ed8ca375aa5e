"""Settings, models, profiles and prompts as the API shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from compact.messages import Json

SettingName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")]


class SettingValue(BaseModel):
    """One setting: what holds, what would by default, and where its value comes from."""

    name: str
    value: Json
    default: Json
    origin: Literal["default", "global", "workspace", "model"]
    kind: str
    takes: str
    help: str


class StoredSettingsView(BaseModel):
    """The settings of stored sessions for a scope: all of them, what is set in this scope itself, and their schema."""

    workspace: str
    model: str
    settings: list[SettingValue]
    own: dict[str, Json]
    json_schema: dict[str, Any]


class SettingsChange(BaseModel):
    """Settings to be changed in a scope; null goes back to what holds without it."""

    workspace: str = Field(default="", max_length=200)
    values: dict[SettingName, Json] = Field(max_length=100)


class ConfigValue(BaseModel):
    """A setting of a CompactManager, its value, and who says so; passwords are taken out."""

    field: str
    value: Json
    default: Json
    source: Literal["default", "file", "environment", "keyword"]
    origin: str
    variables: list[str]
    kind: str
    takes: str
    help: str


class ConfigProblem(BaseModel):
    """What is wrong with a setting, and where that was given."""

    field: str
    problem: str
    origins: list[str]


class ConfigView(BaseModel):
    """The configuration that a CompactManager would have here."""

    file: str | None
    settings: list[ConfigValue]
    problems: list[ConfigProblem]
    warnings: list[str]
    json_schema: dict[str, Any]


class ProviderView(BaseModel):
    """A provider: what it can do, and the schema of its settings; `error` where it cannot be loaded."""

    id: str
    name: str
    description: str
    version: str
    origin: str
    error: str
    capabilities: dict[str, Json]
    json_schema: dict[str, Any]


class ProvidersView(BaseModel):
    """All providers, the one that is used by default, and the comparison: a row for each feature."""

    default: str
    providers: list[ProviderView]
    comparison: list[dict[str, str]]


class ThresholdView(BaseModel):
    """From which percentage of the window a profile condenses: its own where it has one, else everybody's."""

    profile: str
    own: float | None
    effective: float
    origin: Literal["profile", "default"]
    warning: str


class RedactionText(BaseModel):
    """A text to try redaction on, with patterns of one's own."""

    text: str = Field(max_length=200_000)
    patterns: list[str] = Field(default_factory=list, max_length=50)


class RedactedSpan(BaseModel):
    """A secret in the text: its kind and place."""

    kind: str
    start: int
    end: int


class RedactedText(BaseModel):
    """The text without its secrets, and where these were."""

    text: str
    spans: list[RedactedSpan]


class ModelView(BaseModel):
    """What is known of a model, or set for it; the effective values are those that hold for a session with it."""

    id: str
    provider: str
    model: str
    max_input: int
    max_output: int | None
    threshold: float | None
    retention: int | None
    effective_threshold: float
    effective_retention: int
    source: str
    changed: bool = Field(description="Whether somebody has changed what the catalogue says.")
    updated: str


class ModelEdit(BaseModel):
    """What a person says of a model; 128,000 is what to suggest for an unknown one's maximum input."""

    max_input: int = Field(ge=1_000, le=1_000_000_000, examples=[128_000])
    max_output: int | None = Field(default=None, ge=1, le=1_000_000_000)
    threshold: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    retention: int | None = Field(default=None, ge=0, le=1_000_000_000)


class NewModel(ModelEdit):
    """A model to be added."""

    provider: str = Field(min_length=1, max_length=100, pattern=r"^[^\s:]+$")
    model: str = Field(min_length=1, max_length=200)


class ModelsView(BaseModel):
    """The models, and what to suggest as the maximum input of one that nobody knows."""

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


class CostOption(BaseModel):
    """A way to condense with a model that would summarize: what it would come to; money as text, in dollars."""

    way: str
    profile: str | None
    model: str | None
    tokens_before: int
    tokens_after: int
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
    """What condensing a conversation would cost and save, for every way and every model that might summarize."""

    model: str
    tokens: int
    turns: int
    options: list[CostOption]
    recommendations: list[str]


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


class PromptEdit(BaseModel):
    """The words of a prompt of one's own."""

    text: str = Field(min_length=1, max_length=20_000)


class PromptTrial(BaseModel):
    """Which request to show: by a strategy or by words of one's own, for a session or for the bundled demo."""

    strategy: str = Field(default="", max_length=64)
    prompt: str = Field(default="", max_length=20_000)
    detail: Literal["detailed", "concise"] = "detailed"
    profile: str = Field(default="", max_length=64)
    session: str = Field(default="", max_length=200)


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
