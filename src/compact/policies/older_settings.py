"""The details of older settings in today's words: versions, configurations of providers, Roo Code's API profiles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from compact.messages import Json

VERSIONS = ("v1", "v2", "v3")
OLDER_PROVIDERS = ("native", "lossless", "truncation", "smart")
"""The providers that older settings may choose and configure."""
_REDUCTION = "targetReductionPercent"
_PROFILE = "apiProfile"
_NOT_IN_NAMES = re.compile(r"[^\w .:/@+-]")
_LONGEST_NAME = 64
_V2 = {
    "preserveRecentCount": "preserve_recent",
    "maxToolResultLines": "max_result_lines",
    "maxParamLength": "max_parameter_chars",
    _REDUCTION: "target_reduction",
    "toolResultThreshold": "result_threshold",
    "toolParamThreshold": "parameter_threshold",
    "truncationPriority": "priority",
}
_ASKING = {"summaryMaxTokens": "max_tokens", "maxParallelCalls": "max_parallel"}
_ASKS = "useLLMSummarization"
_TRUNCATION = _V2 | {
    "maxToolParamChars": "max_parameter_chars",
    "preserveUserMessages": "preserve_user_messages",
    "preserveAssistantText": "preserve_assistant_text",
}
_SWITCHES = {"truncateToolResults": "tool_results", "truncateToolParams": "tool_parameters"}
_LOSSLESS = {
    "deduplicateFileReads": "deduplicate_file_reads",
    "consolidateToolResults": "consolidate_tool_results",
    "removeObsoleteState": "remove_obsolete_state",
}
_SMART = _LOSSLESS | {
    "losslessPrelude": "lossless_prelude",
    "keepRecentCount": "keep_recent",
    "keepPercentage": "keep_percentage",
    "batchConfig": "batch",
    "individualConfig": "individual",
    "keepFirst": "keep_first",
    "keepLast": "keep_last",
    "tokenThreshold": "token_threshold",
    "messageText": "message_text",
    "toolParameters": "tool_parameters",
    "toolResults": "tool_results",
    "maxChars": "max_chars",
    "maxLines": "max_lines",
    "maxTokens": "max_tokens",
    _PROFILE: "profile",
    "customPrompt": "prompt",
    "maxParallelCalls": "max_parallel",
}
_INLINE = ("operations", "summarizationConfig", "condition", "params", "truncate", "summarize")
"""Objects whose fields stand one level higher now."""
_CONTENT = ("message_text", "tool_parameters", "tool_results")
_VENDORS: Mapping[str, tuple[str, str]] = {
    "anthropic": ("anthropic", "apiModelId"),
    "openai-native": ("openai", "apiModelId"),
    "openai": ("compatible", "openAiModelId"),
    "openrouter": ("openrouter", "openRouterModelId"),
    "bedrock": ("bedrock", "apiModelId"),
    "vertex": ("vertex", "apiModelId"),
    "gemini": ("gemini", "apiModelId"),
}
_PLACES = {"openAiBaseUrl": "url", "awsRegion": "region", "vertexRegion": "region", "vertexProjectId": "project"}


@dataclass(frozen=True, slots=True)
class Details:
    """The details of a version or a provider: what they change in the preset `base`, or in the provider's defaults.

    `under` is the key that they stood below. `remarks` say what has no counterpart.
    """

    under: str
    base: str
    provider: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def global_settings(old: Mapping[str, Json]) -> dict[str, Json]:
    """Return the older settings: those of an export stand below a key of their own."""
    inner = old.get("globalSettings")
    return {str(key): value for key, value in (inner if isinstance(inner, dict) else old).items()}


def configs_in(old: Mapping[str, Json]) -> dict[str, Json]:
    """Return Roo Code's API profiles by their names."""
    profiles = old.get("providerProfiles")
    configs = profiles.get("apiConfigs") if isinstance(profiles, dict) else None
    return configs if isinstance(configs, dict) else {}


def profile_names(old: Mapping[str, Json]) -> dict[str, str]:
    """Return the names that Roo Code's API profiles get, by their ids and by the names that they had."""
    listed = global_settings(old).get("listApiConfigMeta")
    known = {name: config for name, config in configs_in(old).items() if isinstance(config, dict)}
    others = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    known |= {each["name"]: each for each in others if isinstance(each.get("name"), str) and each["name"] not in known}
    names = {name: _valid_name(name) for name in known}
    return names | {str(config["id"]): names[name] for name, config in known.items() if config.get("id")}


def _valid_name(name: str) -> str:
    """Return the name with other characters in place of those that names of profiles cannot have."""
    return _NOT_IN_NAMES.sub("-", name).lstrip(" _.:/@+-")[:_LONGEST_NAME].rstrip() or "profile"


def read_details(settings: Mapping[str, Json], names: Mapping[str, str]) -> tuple[Details, ...]:
    """Return the details of the version that is chosen, and of every provider that has a configuration.

    `names` are those of profiles, by the ids and the names that they had.
    """
    version = settings.get("version")
    given = settings.get(version) if version in VERSIONS else None
    chosen = (_version(str(version), given),) if isinstance(given, dict) and given else ()
    configs = ((provider, settings.get(f"{provider}Config")) for provider in OLDER_PROVIDERS)
    given = ((name, _with_names(config, names)) for name, config in configs if isinstance(config, dict) and config)
    return *chosen, *(_provider(name, config) for name, config in given)


def _with_names(value: Json, names: Mapping[str, str]) -> Json:
    """Return the configuration with the names that profiles have now."""
    if isinstance(value, list):
        return [_with_names(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    profile = value.get(_PROFILE)
    renamed = {_PROFILE: names.get(profile, profile)} if isinstance(profile, str) else {}
    return {key: _with_names(item, names) for key, item in value.items()} | renamed


def _provider(provider: str, given: Mapping[str, Json]) -> Details:
    if provider == "truncation":
        read = _truncation("truncationConfig", "", given)
        return replace(read, settings={"mode": "mechanical", **read.settings})
    under = f"{provider}Config"
    if provider == "smart":
        return Details(under, "", "smart", _renamed(given))
    known = {"lossless": _LOSSLESS, "native": {"customPrompt": "prompt", _PROFILE: "profile"}}[provider]
    left = tuple(f"{under}.{key}: has no counterpart" for key in given if key not in known)
    return Details(under, "", provider, {known[key]: value for key, value in given.items() if key in known}, left)


def read_profiles(old: Mapping[str, Json]) -> Iterator[tuple[dict[str, Json], str]]:
    """Roo Code's API profiles as profiles, without their keys; or an empty one, and why it cannot be one."""
    names = profile_names(old)
    for name, config in configs_in(old).items():
        if not isinstance(config, dict):
            continue
        vendor, model = _VENDORS.get(str(config.get("apiProvider")), ("", ""))
        if not vendor or not isinstance(config.get(model), str):
            yield {}, f"apiConfigs.{name}: its provider or its model has no counterpart; left out"
            continue
        places = {_PLACES[key]: value for key, value in config.items() if key in _PLACES and isinstance(value, str)}
        # A region and an address belong to some vendors only.
        own = {key: value for key, value in places.items() if vendor in _WITH[key]}
        yield {"name": names[name], "vendor": vendor, "model": config[model], **own}, ""


_WITH = {"url": ("compatible",), "region": ("bedrock", "vertex"), "project": ("vertex",)}


def _version(version: str, given: Mapping[str, Json]) -> Details:
    if version != "v3" or given.get(_ASKS) is False:
        base = "v2" if version == "v3" else version
        return _truncation(version, base, {key: given[key] for key in given if key not in (_ASKS, *_ASKING)})
    names = _V2 | _ASKING
    left = tuple(f"{version}.{key}: has no counterpart" for key in given if key not in (_ASKS, *names))
    return Details(version, "v3", "smart", dict(_translated(given, names)), left)


def _truncation(under: str, base: str, given: Mapping[str, Json]) -> Details:
    changes = dict(_translated(given, _TRUNCATION))
    left = []
    for key, value in given.items():
        if key in _SWITCHES:
            changes[_SWITCHES[key]] = "truncate" if value else "keep"
        elif key == "truncationMode":
            changes |= dict.fromkeys(_SWITCHES.values(), value)
        elif key not in _TRUNCATION:
            left.append(f"{under}.{key}: has no counterpart")
    return Details(under, base, "truncation", changes, tuple(left))


def _translated(given: Mapping[str, Json], names: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    """The settings that have a name of today, under that; a percentage becomes a share."""
    for key, value in given.items():
        if key in names:
            percent = key == _REDUCTION and isinstance(value, int | float)
            yield names[key], value / 100 if percent else value


def _renamed(value: Json) -> Json:
    """The configuration of passes with today's names, fields of some objects one level higher."""
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, Json] = {}
    for key, item in value.items():
        name = str(_SMART.get(key, key))
        if key == "addEllipsis":
            continue  # a cut is always marked
        if key in _INLINE and isinstance(item, dict):
            made |= _renamed(item)
        elif name in _CONTENT and isinstance(item, str):
            made[name] = {"operation": item}
        elif key == "overrides" and isinstance(item, list):
            made[name] = {one["messageIndex"]: _renamed(one.get("operations", {})) for one in item if _is_override(one)}
        else:
            made[name] = _renamed(item)
    return made


def _is_override(one: Json) -> bool:
    return isinstance(one, dict) and isinstance(one.get("messageIndex"), int)
