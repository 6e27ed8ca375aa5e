"""Settings of older tools in the words of a `CompactConfig`: Roo Code's keys, and `version: v1 | v2 | v3`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies.older_settings import OLDER_PROVIDERS, VERSIONS, configs_in, global_settings, profile_names
from compact.policies.threshold import INHERIT, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD

PROFILES_LEFT_OUT = "apiConfigs: left out"
"""How the remark on profiles begins, where they are not kept."""
_PREFIX = "roo-cline."
_RANGE = f"{MIN_CONDENSE_THRESHOLD} to {MAX_CONDENSE_THRESHOLD}"
_KEYS = (
    "autoCondenseContext",
    "autoCondenseContextPercent",
    "profileThresholds",
    "condensingApiConfigId",
    "customCondensingPrompt",
    "customSupportPrompts",
    "provider",
    "version",
)
# What the versions could be told, and what it is called in the presets of the same names.
_DETAILS = {
    "preserveRecentCount": "preserve_recent",
    "maxToolResultLines": "max_result_lines",
    "maxParamLength": "max_parameter_chars",
    "targetReductionPercent": "target_reduction",
    "toolResultThreshold": "result_threshold",
    "toolParamThreshold": "parameter_threshold",
    "truncationPriority": "priority",
    "maxParallelCalls": "max_parallel",
    "summaryMaxTokens": "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Migration:
    """Older settings in today's words.

    `config` is what belongs into compact.yaml. `thresholds` are the percentages of profiles, for profiles.yaml, and
    `prompt` is a text for a file of prompts. `remarks` say what became something else, or nothing. `old` is what
    was given.
    """

    config: Mapping[str, Json]
    thresholds: Mapping[str, float]
    prompt: str
    remarks: tuple[str, ...]
    old: Mapping[str, Json] = field(default_factory=dict)


def migrate(old: Mapping[str, Json]) -> Migration:
    """The older settings as they are called now; InvalidConfiguration where there are none.

    They may stand by themselves, in an exported file of Roo Code's, or in an editor's settings.
    """
    settings = unwrapped(old)
    if not any(key in settings for key in _KEYS):
        raise InvalidConfiguration(
            "there is nothing to migrate", field="settings", remedy=f"Known older settings: {', '.join(_KEYS)}."
        )
    names = profile_names(old)
    policy: dict[str, Json] = {}
    config: dict[str, Json] = {}
    thresholds: dict[str, float] = {}
    remarks = (
        *_trigger(settings, policy),
        *_recipe(settings, policy),
        *_profile(settings, names, config),
        *_thresholds(settings, names, thresholds),
        *_prompt(settings),
        *_details(settings),
        *_profiles_left_out(old),
    )
    prompt = _prompt_in(settings)
    return Migration(
        config | ({"policy": policy} if policy else {}),
        thresholds,
        prompt.strip() if isinstance(prompt, str) else "",
        remarks,
        old,
    )


def unwrapped(old: Mapping[str, Json]) -> dict[str, Json]:
    """The older settings by themselves, wherever they stand in what was given."""
    return {key.removeprefix(_PREFIX): value for key, value in global_settings(old).items() if value is not None}


def _trigger(settings: Mapping[str, Json], policy: dict[str, Json]) -> Iterator[str]:
    percent = settings.get("autoCondenseContextPercent")
    if percent is not None and _is_percentage(percent):
        policy["trigger_pct"] = percent / 100
    elif percent is not None:
        yield f"autoCondenseContextPercent: {percent!r} is no percentage from {_RANGE}; the default holds"
    automatic = settings.get("autoCondenseContext")
    if automatic is False:
        policy["automatic"] = False
    elif automatic not in (None, True):
        yield f"autoCondenseContext: {automatic!r} is neither true nor false; compaction is automatic"


def _recipe(settings: Mapping[str, Json], policy: dict[str, Json]) -> Iterator[str]:
    version, provider = settings.get("version"), settings.get("provider")
    if version in VERSIONS:
        policy["preset"] = version
        if provider is not None:
            yield f"provider: left out, because version {version} is a preset, which has its own"
    elif version is not None:
        yield f"version: {version!r} is none of {', '.join(VERSIONS)}; the default recipe holds"
    if version not in VERSIONS and provider is not None:
        if provider in OLDER_PROVIDERS:
            policy["provider"] = provider
        else:
            yield f"provider: {provider!r} is none of {', '.join(OLDER_PROVIDERS)}; the default holds"


def _profile(settings: Mapping[str, Json], names: Mapping[str, str], config: dict[str, Json]) -> Iterator[str]:
    profile = settings.get("condensingApiConfigId")
    if profile in (None, ""):
        return
    if not isinstance(profile, str):
        yield "condensingApiConfigId: is no text; the configured profiles are asked"
        return
    config["profile"] = name = names.get(profile, profile)
    yield f"profile: {name} must be configured; `compact profiles` lists those that are"


def _thresholds(settings: Mapping[str, Json], names: Mapping[str, str], thresholds: dict[str, float]) -> Iterator[str]:
    given = settings.get("profileThresholds", {})
    if not isinstance(given, dict):
        yield "profileThresholds: must be an object of percentages; left out"
        return
    for profile, percent in given.items():
        name = names.get(profile, profile)
        if _is_percentage(percent):
            thresholds[name] = percent
            yield f"profileThresholds: write `threshold: {percent:g}` below profile {name} in profiles.yaml"
        elif percent != INHERIT:
            yield f"profileThresholds: {percent!r} of {name} is no percentage from {_RANGE}; the default holds"


def _prompt(settings: Mapping[str, Json]) -> Iterator[str]:
    prompt = _prompt_in(settings)
    if not isinstance(prompt, str):
        yield "customCondensingPrompt: is no text; the strategy's own words hold"
    elif prompt.strip():
        yield "customCondensingPrompt: save it as a prompt (--prompt NAME), and name it in a profile: file:NAME"


def _prompt_in(settings: Mapping[str, Json]) -> Json:
    """Return the prompt for condensing, which newer versions of Roo Code keep beside other prompts."""
    own, others = settings.get("customCondensingPrompt"), settings.get("customSupportPrompts")
    return own or (others.get("CONDENSE") if isinstance(others, dict) else None) or ""


def _details(settings: Mapping[str, Json]) -> Iterator[str]:
    for version in VERSIONS:
        given = settings.get(version)
        for key, value in given.items() if isinstance(given, dict) else ():
            if key in _DETAILS:
                advice = f"is {_DETAILS[key]} in the preset {version}: export it, change it, import it as your own"
            else:
                advice = "has no counterpart"
            yield f"{version}.{key}: {value!r} {advice}"
    for provider in OLDER_PROVIDERS:
        if f"{provider}Config" in settings:
            yield f"{provider}Config: left out; the settings of a provider belong into a preset of your own"


def _profiles_left_out(old: Mapping[str, Json]) -> Iterator[str]:
    if names := list(configs_in(old)):
        yield f"{PROFILES_LEFT_OUT}: {', '.join(names)}; --apply makes profiles of them"


def _is_percentage(value: Json) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and MIN_CONDENSE_THRESHOLD <= value <= MAX_CONDENSE_THRESHOLD
