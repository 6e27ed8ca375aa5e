"""Profiles in `profiles.yaml` (or `.json`) and prompts in `prompts/NAME.md`, both under Compact's home.

Neither ever holds a key: a profile says in which environment variable or keyring entry its key is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from compact.errors import InvalidConfiguration
from compact.policies import Profile, Profiles, configure
from compact.policies.profiles import STORED
from compact.settings.documents import (
    LARGEST,
    dump_document,
    exclusive,
    find_document,
    read_document,
    read_text,
    replace_private,
    state_of,
)
from compact.settings.home import home

_NAMES = ("profiles.yaml", "profiles.yml", "profiles.json")
_PROMPT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
FROM_FILE = "file:"
"""A profile's prompt that begins so names a file of prompts."""


def profiles_path() -> Path:
    """The file of profiles: the one that exists, else the YAML file that will."""
    return find_document(home(), _NAMES) or home() / _NAMES[0]


def load_profiles() -> Profiles:
    """The profiles that are configured; none where there is no file."""
    path = profiles_path()
    state = state_of(path) if path.is_file() else None
    return _read(path, state) if state else Profiles()


@lru_cache(maxsize=8)
def _read(path: Path, state: tuple[int, int, int]) -> Profiles:  # noqa: ARG001 - a changed file is read again
    """What the file holds; it is read for every request of a session."""
    value = read_document(path)
    if not isinstance(value, dict):
        remedy = "Write `profiles:` and below it a list; each has a name, a vendor and a model."
        raise InvalidConfiguration("must be an object with profiles", field=str(path), remedy=remedy)
    try:
        return configure(Profiles, value, context=STORED)
    except InvalidConfiguration as error:
        raise InvalidConfiguration(
            error.problem, field=f"{path}: {error.field or 'profiles'}", remedy=_remedy(error)
        ) from None


def save_profiles(profiles: Profiles) -> Path:
    """Keep the profiles, in the form of the file that exists; settings that were not given are left out."""
    path = profiles_path()
    value = {"profiles": [profile.model_dump(mode="json", exclude_unset=True) for profile in profiles.profiles]}
    text = dump_document(value, path)
    if len(text.encode()) > LARGEST:
        remedy = "Remove profiles, or put long prompts into files and name them: prompt: file:NAME."
        raise InvalidConfiguration(f"would have more than {LARGEST:,} bytes", field=str(path), remedy=remedy)
    return replace_private(path, text)


def change_profiles(change: Callable[[Profiles], Profiles]) -> None:
    """Replace the profiles by what the change makes of them; other writers wait, so that none undoes another's change.

    The program writes no comments. So a file that a person wrote is kept beside the new one, with `.bak` at its end.
    """
    with exclusive(home() / _NAMES[0]):
        changed = change(load_profiles())
        path = profiles_path()
        if path.is_file() and dump_document(read_document(path), path) != (text := read_text(path)):
            replace_private(path.with_name(f"{path.name}.bak"), text)
        save_profiles(changed)


def prompt_path(name: str) -> Path:
    """Where the prompt of that name is."""
    if not _PROMPT.fullmatch(name):
        raise InvalidConfiguration(
            f"{name[:80]!r} is no name for a prompt",
            field="prompt",
            remedy="Use letters, digits, - and _, at most 64 of them.",
        )
    return home() / "prompts" / f"{name}.md"


def list_prompts() -> tuple[str, ...]:
    """The names of the prompts there are, in order."""
    found = (home() / "prompts").glob("*.md")
    return tuple(sorted(path.stem for path in found if _PROMPT.fullmatch(path.stem) and path.is_file()))


def load_prompt(name: str) -> str:
    """The prompt of that name; InvalidConfiguration names the known ones."""
    path = prompt_path(name)
    if not path.is_file():
        known = ", ".join(list_prompts()) or "none"
        remedy = f"Known prompts: {known}; another is a file {path}."
        raise InvalidConfiguration(f"there is no prompt {name!r}", field="prompt", remedy=remedy)
    return read_text(path)


def save_prompt(name: str, text: str) -> Path:
    """Keep a prompt under a name."""
    return replace_private(prompt_path(name), text)


def prompt_of(profile: Profile) -> str:
    """The profile's own prompt: as it stands there, or from the file it names; empty where it has none."""
    prompt = profile.prompt
    return load_prompt(prompt.removeprefix(FROM_FILE).strip()) if prompt.startswith(FROM_FILE) else prompt


def _remedy(error: InvalidConfiguration) -> str:
    if re.match(r"profiles\.\d+\.", error.field):
        named = error.problem.startswith(("is no setting", "is needed"))
        return f"A profile may have: {', '.join(Profile.model_fields)}." if named else error.remedy
    return "Write `profiles:` and below it a list; each has a name, a vendor and a model."
