"""What older settings become beside a compact.yaml: presets, profiles and a prompt, kept under Compact's home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compact.app.presets import keep_presets, troubles
from compact.errors import InvalidConfiguration
from compact.policies import Profile, Profiles, configure
from compact.policies.migration import PROFILES_LEFT_OUT, Migration, unwrapped
from compact.policies.older_settings import VERSIONS, Details, profile_names, read_details, read_profiles
from compact.providers.presets import Preset, find_preset
from compact.settings.profiles import FROM_FILE, change_profiles, load_profiles, prompt_path, save_prompt

PROMPT = "condensing"
"""What a migrated prompt is called where no name is given."""


@dataclass(frozen=True, slots=True)
class MigratedSettings:
    """Presets, profiles and a prompt of older settings; `remarks` say what has no counterpart.

    `presets` have the keys that their settings stood below; `chosen` is the name of the one that is used.
    """

    presets: Mapping[str, Preset]
    chosen: str
    profiles: tuple[Profile, ...]
    prompt: str
    text: str
    remarks: tuple[str, ...]


def read_migrated(migration: Migration, prompt: str = "") -> MigratedSettings:
    """What belongs beside the configuration; InvalidConfiguration names a value that nothing can be made of."""
    old = unwrapped(migration.old)
    details = read_details(old, profile_names(migration.old))
    presets, remarks = (
        {each.under: _preset(each) for each in details},
        [said for each in details for said in each.remarks],
    )
    for trouble in (trouble for preset in presets.values() for trouble in troubles(preset)):
        raise InvalidConfiguration(trouble.message, field=".".join(map(str, trouble.path)), remedy="Correct it first.")
    version = old.get("version")
    used = presets.get(version if version in VERSIONS else f"{old.get('provider')}Config")
    name = prompt or PROMPT if migration.prompt else ""
    profiles, chosen = [], migration.config.get("profile")
    for values, why in read_profiles(migration.old):
        if not values:
            remarks.append(why)
            continue
        own = chosen == values["name"]
        values["use"] = "both" if own or not chosen else "conversation"
        if values["name"] in migration.thresholds:
            values["threshold"] = migration.thresholds[values["name"]]
        if name and (own or not chosen):
            values["prompt"] = f"{FROM_FILE}{name}"
        profiles.append(configure(Profile, values, under=f"apiConfigs.{values['name']}"))
    chosen = used.name if used else ""
    return MigratedSettings(presets, chosen, tuple(profiles), name, migration.prompt, tuple(remarks))


def save_migrated(given: MigratedSettings) -> None:
    """Keep the presets, the profiles beside those of before, and the prompt; nothing of the same name is replaced."""
    _with(load_profiles(), given.profiles)  # before anything is written
    if given.prompt and prompt_path(given.prompt).exists():
        raise _taken(str(prompt_path(given.prompt)))
    if given.profiles:
        change_profiles(lambda known: _with(known, given.profiles))
    if given.prompt:
        save_prompt(given.prompt, given.text)
    if given.presets:
        keep_presets(given.presets.values())


def name_migrated(migration: Migration, given: MigratedSettings) -> Migration:
    """The configuration that names the preset, and the remarks that are left once all that is kept."""
    names = [profile.name for profile in given.profiles]
    done = [f"profile: {name} must be configured" for name in names]
    done += [f"below profile {name} in profiles.yaml" for name in names]
    done += [PROFILES_LEFT_OUT, *(["customCondensingPrompt: save it"] if given.prompt else [])]
    kept = tuple(f"{key}{end}" for key in given.presets for end in ".:")
    left = [
        remark
        for remark in migration.remarks
        if not any(part in remark for part in done) and not remark.startswith(kept)
    ]
    if given.prompt and not any(profile.prompt for profile in given.profiles):
        left.append(f"customCondensingPrompt: is the prompt {given.prompt}; name it in a profile: file:{given.prompt}")
    config, policy = dict(migration.config), dict(migration.config.get("policy", {}))
    if given.chosen:
        policy = {key: value for key, value in policy.items() if key not in ("preset", "provider")}
        config["policy"] = {**policy, "preset": given.chosen}
    return replace(migration, config=config, remarks=(*left, *given.remarks))


def _with(known: Profiles, new: Sequence[Profile]) -> Profiles:
    names = {profile.name for profile in known.profiles}
    for profile in new:
        if profile.name in names:
            raise _taken(f"profile {profile.name}")
    return Profiles(profiles=(*known.profiles, *new))


def _preset(details: Details) -> Preset:
    name = f"migrated-{details.base or details.provider}"
    said = f"The older settings of {details.base or details.provider}."
    if not details.base:
        return Preset(name, said, details.provider, dict(details.settings))
    base = find_preset(details.base)
    return replace(base, name=name, description=said, settings={**base.settings, **details.settings})


def _taken(what: str) -> InvalidConfiguration:
    return InvalidConfiguration("exists, and is not replaced", field=what, remedy="Rename or remove it first.")
