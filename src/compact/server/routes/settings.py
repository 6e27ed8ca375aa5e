"""Settings: of stored sessions, globally and by workspace; of a CompactManager; providers, thresholds, redaction."""

import re
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel, Field

from compact.app import resolve_recipe
from compact.app.configuring import further_problems
from compact.app.inspecting import showable
from compact.app.thresholds import gateway_threshold, threshold_for
from compact.engine.stored.preferences import GLOBAL, default_config
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json
from compact.policies import CompactConfig, EffectiveThreshold, Policy
from compact.policies.fields import schema_of, settings_of
from compact.policies.stored import StoredSettings
from compact.policies.threshold import Source, effective_threshold
from compact.ports import ModelConfig
from compact.providers import registry
from compact.redaction import Finding, Redactor
from compact.server.gateway.managers import gather_config
from compact.server.state import State
from compact.server.stored import Sessions
from compact.settings.compaction import Gathered, Value, gather, variables_of
from compact.settings.profiles import load_profiles

router = APIRouter(tags=["settings"], generate_unique_id_function=lambda route: route.name)

Named = Annotated[str, Query(max_length=200)]
Origin: TypeAlias = Literal["default", "global", "workspace", "profile", "model", "threshold"]
_PASSWORD = re.compile(r"(://)[^/@\s]*@")
SettingName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")]


class SettingFacts(BaseModel):
    """A setting: its value, what that would be by default, and what it takes and means."""

    value: Json
    default: Json
    kind: str
    takes: str
    help: str


class SettingValue(SettingFacts):
    """One setting: what holds, what would by default, and where its value comes from."""

    name: str
    origin: Origin


class StoredSettingsView(BaseModel):
    """The settings of stored sessions for a scope: all of them, what is set in this scope itself, and their schema."""

    workspace: str
    model: str
    settings: list[SettingValue]
    own: dict[str, Json]
    json_schema: dict[str, Any]


class ConfigValue(SettingFacts):
    """A setting of a CompactManager, its value, and who says so; passwords are taken out."""

    field: str
    source: Literal["default", "file", "environment", "keyword"]
    origin: str
    variables: list[str]


class ConfigProblem(BaseModel):
    """What is wrong with a setting, and where that was given."""

    field: str
    problem: str
    origins: list[str]


class ThresholdInForce(BaseModel):
    """From which share of the window conversations are compacted, down to which, and where that was set."""

    trigger_pct: float
    target_pct: float
    source: Source
    name: str


class ConfigView(BaseModel):
    """The configuration that a CompactManager would have here; `threshold` is none where the policy is wrong."""

    file: str | None
    threshold: ThresholdInForce | None
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
    """From which share of the window conversations with a model are compacted, in stored sessions and in the gateway.

    `profile` is the one that serves the model, or empty.
    """

    model: str
    profile: str
    window: int
    sessions: ThresholdInForce
    gateway: ThresholdInForce
    warnings: list[str]


class ThresholdsView(BaseModel):
    """The threshold that is set for all, if one is; what holds where a model has none of its own; and every model's."""

    own: float | None
    sessions: ThresholdInForce
    gateway: ThresholdInForce
    models: list[ThresholdView]


class RedactedText(BaseModel):
    """The text without its secrets, and where these were."""

    text: str
    spans: tuple[Finding, ...]


@router.get("/settings")
def show_settings(sessions: Sessions, workspace: Named = "", model: Named = "") -> StoredSettingsView:
    """The settings of stored sessions as they hold for a workspace and a model, and where each comes from."""
    _check_scope(workspace)
    config = sessions.preferences.known_model(model) or default_config(model)
    effective = sessions.preferences.resolve(workspace, config)
    values = effective.settings.model_dump(mode="json")
    return StoredSettingsView(
        workspace=workspace,
        model=config.id if model else "",
        settings=[
            SettingValue(
                name=setting.name,
                value=showable(values[setting.name]),
                default=setting.default,
                origin=cast("Origin", effective.origins[setting.name]),
                kind=setting.kind,
                takes=setting.takes,
                help=setting.meaning,
            )
            for setting in settings_of(StoredSettings)
        ],
        own=showable(dict(sessions.preferences.settings(workspace or GLOBAL))),
        json_schema=schema_of(StoredSettings),
    )


@router.put("/settings")
def change_settings(
    values: Annotated[dict[SettingName, Json], Body(max_length=100)],
    sessions: Sessions,
    workspace: Annotated[str, Body(max_length=200)] = "",
) -> StoredSettingsView:
    """Change settings globally, or for a workspace; null goes back to what holds without it.

    The answer says what holds now.
    """
    _check_scope(workspace)
    sessions.preferences.change(values, workspace or GLOBAL)
    return show_settings(sessions, workspace)


@router.get("/settings/config")
def show_config() -> ConfigView:
    """The configuration that a CompactManager would have here: every value, who says so, and what is wrong."""
    gathered = gather()
    problems = gathered.problems(further_problems)
    threshold = threshold_for(gathered.policy, gathered.model) if gathered.policy else None
    return ConfigView(
        file=str(gathered.file) if gathered.file else None,
        threshold=_in_force(threshold) if threshold else None,
        settings=[_config_value(value) for value in gathered.values],
        problems=[
            ConfigProblem(field=problem.path, problem=problem.text, origins=[origin.name for origin in problem.origins])
            for problem in problems
        ],
        warnings=[*gathered.warnings, *map(showable, threshold.warnings if threshold else ())],
        json_schema=schema_of(CompactConfig),
    )


@router.get("/settings/providers")
def list_providers() -> ProvidersView:
    """The condensation providers, what they can do, the schemas of their settings, and all of them side by side."""
    return ProvidersView(
        default=_default_provider(),
        providers=[_provider(listed) for listed in registry.providers()],
        comparison=registry.comparison(),
    )


@router.get("/settings/thresholds")
def list_thresholds(sessions: Sessions, state: State) -> ThresholdsView:
    """From which share of the window conversations are compacted, with which model and why.

    A name beside the source `global` is that of the file or variable that configures the gateway's.
    """
    gathered, preferences = gather_config(state.home), sessions.preferences
    policy, usual = gathered.policy or Policy(), preferences.usual_threshold()
    profiles = load_profiles().for_conversation()
    configs = {config.id: config for config in sessions.models()}
    for profile in profiles:
        if not any(profile.serves(config.model) for config in configs.values()):
            known = default_config(profile.catalogue_name)
            configs[known.id] = known

    def view(config: ModelConfig) -> ThresholdView:
        effective = preferences.resolve("", config)
        profile = next((each for each in profiles if each.serves(config.model)), None)
        gateway = gateway_threshold(policy, config, profile, usual)
        return ThresholdView(
            model=showable(config.id),
            profile=profile.name if profile else "",
            window=effective.window,
            sessions=_in_force(effective.threshold),
            gateway=_in_force(gateway, gathered),
            warnings=showable(list(dict.fromkeys([*effective.threshold.warnings, *gateway.warnings]))),
        )

    return ThresholdsView(
        own=preferences.settings().get("threshold"),
        sessions=_in_force(effective_threshold([usual], StoredSettings().threshold)),
        gateway=_in_force(gateway_threshold(policy, None, None, usual), gathered),
        models=[view(config) for _, config in sorted(configs.items())],
    )


@router.post("/redact")
def try_redaction(
    text: Annotated[str, Body(max_length=200_000)],
    patterns: Annotated[list[str], Body(default_factory=list, max_length=50)],
) -> RedactedText:
    """What redaction makes of a text, with patterns of one's own if there are any; nothing is kept or sent anywhere."""
    redactor = Redactor(patterns) if patterns else _redactor()
    return RedactedText(text=redactor.text(text), spans=tuple(redactor.findings(text)))


def _in_force(threshold: EffectiveThreshold, configured: Gathered | None = None) -> ThresholdInForce:
    name = threshold.name
    if configured and threshold.source == "global":
        name = configured.origin_of("policy.trigger_pct").name
    return ThresholdInForce(
        trigger_pct=threshold.share, target_pct=threshold.target, source=threshold.source, name=showable(name)
    )


def _check_scope(workspace: str) -> None:
    if workspace == GLOBAL:
        raise InvalidInput("is taken", field="workspace", remedy="Leave it empty for the global settings.")


def _default_provider() -> str:
    """The provider of the default recipe; none where that cannot be used."""
    with suppress(InvalidConfiguration):
        return resolve_recipe().provider.id
    return ""


def _provider(listed: registry.Listed) -> ProviderView:
    provider: Any = listed.provider
    capabilities = provider.capabilities if provider else None
    names = ("lossless", "batch", "individual", "multi_pass", "summarizes", "speed")
    return ProviderView(
        id=listed.id,
        name=provider.name if provider else listed.id,
        description=provider.description if provider else "",
        version=provider.version if provider else "",
        origin=listed.origin,
        error=showable(listed.error),
        capabilities={name: getattr(capabilities, name) for name in names} if capabilities else {},
        json_schema=provider.settings.model_json_schema() if provider else {},
    )


def _config_value(value: Value) -> ConfigValue:
    setting = value.setting
    return ConfigValue(
        field=setting.path,
        value=showable(_safe(value.shown)),
        default=setting.default,
        source=value.origin.kind,
        origin=value.origin.name,
        variables=list(variables_of(setting)),
        kind=setting.kind,
        takes=setting.takes,
        help=setting.meaning,
    )


def _safe(value: Json) -> Json:
    """The value without passwords, which an address may hold."""
    return _PASSWORD.sub(r"\1<REDACTED>@", _redactor().text(value)) if isinstance(value, str) else value


@cache
def _redactor() -> Redactor:
    return Redactor()
