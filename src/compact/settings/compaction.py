"""The configuration of a `CompactManager`, from a file, the environment and the program.

What the program passes goes before `COMPACT_*` variables, these go before the file, and the file before the defaults.
Where every value came from is known, and errors say it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import SecretStr, ValidationError

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import CompactConfig, Configuration, Policy
from compact.policies.fields import Setting, settings_of
from compact.settings.documents import find_document, read_document

NAMES: Final = ("compact.yaml", "compact.yml", "compact.json")
"""The files that are looked for in the working directory."""
PREFIX: Final = "COMPACT_"
KEYS: Final = "COMPACT_KEY_"
"""What variables begin with that hold keys for profiles."""
OTHERS: Final = frozenset(
    {
        "COMPACT_API_KEY",
        "COMPACT_BODY_SECONDS",
        "COMPACT_DATABASE",
        "COMPACT_GATEWAY_RECALL",
        "COMPACT_HEAD_BYTES",
        "COMPACT_HEAD_SECONDS",
        "COMPACT_HOME",
        "COMPACT_HOSTS",
        "COMPACT_MAX_CONNECTIONS",
        "COMPACT_OFFLINE",
        "COMPACT_SCREENSHOTS",
        "COMPACT_SOAK",
        "COMPACT_STOP_SECONDS",
        "COMPACT_TOKEN",
        "COMPACT_TRANSCRIPTS",
        "COMPACT_UPSTREAM_ANTHROPIC",
        "COMPACT_UPSTREAM_ANTHROPIC_KEY",
        "COMPACT_UPSTREAM_NETWORKS",
        "COMPACT_UPSTREAM_OPENAI",
        "COMPACT_UPSTREAM_OPENAI_KEY",
    }
)
"""Variables of Compact's that are no settings of a manager."""
_FLAT: Final = "policy"  # the group whose settings may be given without its name
_RECIPE: Final = ("policy.recipe", "policy.provider", "policy.preset")  # names for one thing
_TARGET: Final = "policy.target_pct"
_EDITORS: Final = "$schema"
_COMMA: Final = re.compile(r",(?![^{(\[]*[})\]])")  # not those within a regular expression such as a{1,3}

Kind: TypeAlias = Literal["default", "file", "environment", "keyword"]
Check: TypeAlias = Callable[[CompactConfig], Iterator[tuple[str, str]]]
"""Tells what else is wrong with a configuration: the path of a setting, and the problem."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: which file, which variable, or by which keyword."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        return f"the keyword {self.name}" if self.kind == "keyword" else self.name or self.kind


@dataclass(frozen=True, slots=True)
class Value:
    """A setting, what it is, and who says so."""

    setting: Setting
    value: Json
    origin: Origin

    @property
    def shown(self) -> Json:
        """The value as it may be shown: of a secret, whether there is one."""
        return "(set)" * bool(self.value) if self.setting.secret else self.value


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a setting, and where it was given; an empty path means several settings together."""

    path: str
    text: str
    origins: tuple[Origin, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.words}" if self.path else self.words

    @property
    def words(self) -> str:
        """The problem and its origins, without the path."""
        return f"{self.text}; from {' and '.join(map(str, self.origins))}" if self.origins else self.text


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that was given: a value for each setting, in their order, and what is no setting."""

    file: Path | None
    values: tuple[Value, ...]
    strays: tuple[Problem, ...]
    warnings: tuple[str, ...]

    @property
    def lacks_model(self) -> bool:
        """Whether no model is named, without which there is no manager."""
        return any(value.setting.needed and value.origin.kind == "default" for value in self.values)

    def origin_of(self, path: str) -> Origin:
        """Where the value of a setting comes from."""
        return next(value.origin for value in self.values if value.setting.path == path)

    def problems(self, check: Check | None = None) -> tuple[Problem, ...]:
        """All that is wrong with what was given; a missing model aside, which may still come from the program."""
        problems, wrong = list(self.strays), list[Value]()
        config = None
        while config is None:
            # Without what is known to be wrong, the rest can be looked at.
            config, found = self._validated({"model": "gpt-4o"} | self._nested(wrong))
            blamed = [(problem, self._culprits(problem.path, problem.text)) for problem in found]
            # What comes of leaving out a wrong value is no problem of its own.
            problems += [problem for problem, values in blamed if not any(value in wrong for value in values)]
            more = [value for _, values in blamed for value in values if value not in wrong]
            if found and not more:
                return tuple(problems)
            wrong += more
        if check is not None:
            problems += (Problem(path, text, self._origins(path)) for path, text in check(config))
        return tuple(problems)

    def config(self) -> CompactConfig:
        """The configuration; InvalidConfiguration names each wrong setting and where it was given."""
        config, problems = self._validated(self._nested())
        problems = self.strays + problems
        if config is None or problems:
            raise self._invalid(problems)
        return config

    @property
    def policy(self) -> Policy | None:
        """The policy; None where something is wrong with it."""
        try:
            return Policy.model_validate(self._nested().get(_FLAT, {}))
        except ValidationError:
            return None

    @property
    def model(self) -> str:
        """The model that is named; empty where none is."""
        (named,) = (value.value for value in self.values if value.setting.path == "model")
        return named if isinstance(named, str) else ""

    def _validated(self, given: Mapping[str, Json]) -> tuple[CompactConfig | None, tuple[Problem, ...]]:
        try:
            return CompactConfig.model_validate(given), ()
        except ValidationError as error:
            return None, tuple(self._problem(found) for found in error.errors(include_url=False))

    def _problem(self, found: Any) -> Problem:
        path = ".".join(map(str, found["loc"]))
        if found["type"] == "missing":
            return Problem(path, "is needed")
        text = found["msg"].removeprefix("Value error, ")
        if found["type"] != "value_error" and (own := self._within(path)):
            text = f"must be {own[0].setting.takes}"
        return Problem(path, text, self._origins(path, text))

    def _origins(self, path: str, text: str = "") -> tuple[Origin, ...]:
        return tuple(dict.fromkeys(value.origin for value in self._culprits(path, text)))

    def _culprits(self, path: str, text: str) -> list[Value]:
        """The setting as it was given; for a problem of a whole group, those of its settings that it mentions."""
        members = [value for value in self.values if value.setting.path.startswith(f"{path}." if path else "")]
        found = self._within(path) or [value for value in members if re.search(rf"\b{value.setting.name}\b", text)]
        return [value for value in found if value.origin.kind != "default"]

    def _within(self, path: str) -> list[Value]:
        """The setting of that path, which may lead on into a list."""
        return [value for value in self.values if f"{path}.".startswith(f"{value.setting.path}.")]

    def _nested(self, without: Sequence[Value] = ()) -> dict[str, Json]:
        nested: dict[str, Json] = {}
        for value in self.values:
            if value.origin.kind != "default" and value not in without:
                *groups, name = value.setting.path.split(".")
                place = nested
                for group in groups:
                    place = place.setdefault(group, {})
                place[name] = value.value
        return nested

    def _invalid(self, problems: tuple[Problem, ...]) -> InvalidConfiguration:
        first, *others = problems
        text = ". Also ".join([first.words, *map(str, others)])
        remedy = "Correct it there; `compact config show` tells where every value comes from."
        if self.lacks_model:
            remedy = (
                f"Name the model in {NAMES[0]}, as COMPACT_MODEL, or in the program: CompactConfig.load(model=...)."
            )
        return InvalidConfiguration(text, field=first.path, remedy=remedy)


def gather(
    path: str | Path | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Gathered:
    """All that is given, each value from where it has precedence; the environment is by default the process's."""
    file = find_file() if path is None else Path(path)
    variables = os.environ if environment is None else environment
    values = {setting.path: Value(setting, setting.default, Origin("default")) for setting in all_settings()}
    strays: list[Problem] = []
    for found in (*_from_file(file), *_from_environment(variables), *_from_keywords(overrides or {})):
        if isinstance(found, Problem):
            strays.append(found)
            continue
        values[found.setting.path] = found
        if found.setting.path in _RECIPE and found.value:
            # What has precedence under one name has it over the others.
            for value in [values[path] for path in _RECIPE if values[path].origin.kind != found.origin.kind]:
                values[value.setting.path] = Value(value.setting, value.setting.default, Origin("default"))
    gathered = Gathered(file, tuple(values.values()), tuple(strays), tuple(_warnings(variables)))
    target = values[_TARGET]
    if target.origin.kind == "default" and (policy := gathered.policy):
        values[_TARGET] = replace(target, value=policy.target_pct)  # it follows the trigger
    return replace(gathered, values=tuple(values.values()))


def find_file(folder: Path | None = None) -> Path | None:
    """The configuration in the folder, by default the working directory; None where there is none."""
    return find_document(folder or Path(), NAMES)


@cache
def all_settings() -> tuple[Setting, ...]:
    """Every setting of a `CompactConfig`."""
    return settings_of(CompactConfig)


def variables_of(setting: Setting) -> tuple[str, ...]:
    """The environment variables that set it, the shortest first."""
    full = PREFIX + setting.path.replace(".", "_").upper()
    return (PREFIX + setting.name.upper(), full) if setting.group == _FLAT else (full,)


def _from_file(file: Path | None) -> Iterator[Value | Problem]:
    if file is None:
        return
    origin = Origin("file", str(file))
    document = read_document(file)
    if document is None:  # an empty file, or nothing but comments
        return
    if not isinstance(document, Mapping):
        remedy = f"Write settings, such as `model: gpt-4o`; `compact config init` writes a {NAMES[0]} to begin with."
        raise InvalidConfiguration("must be an object with settings", field=str(file), remedy=remedy)
    yield from _flatten({key: value for key, value in document.items() if key != _EDITORS}, origin)


def _from_environment(variables: Mapping[str, str]) -> Iterator[Value | Problem]:
    for setting in all_settings():
        given = [(name, variables[name].strip()) for name in variables_of(setting) if name in variables]
        # An empty variable empties what is empty by default; elsewhere it is what scripts pass for "not set".
        given = [(name, text) for name, text in given if text or _can_be_empty(setting)]
        if not given:
            continue
        if len({text for _, text in given}) > 1:
            yield Problem(setting.path, f"{' and '.join(name for name, _ in given)} both are set, and differ")
            continue
        name, text = given[0]
        origin = Origin("environment", name)
        try:
            yield Value(setting, SecretStr(text) if setting.secret else _read(setting, text), origin)
        except (ValueError, RecursionError):
            yield Problem(setting.path, "must be a JSON list, or texts with commas between them", (origin,))


def _from_keywords(overrides: Mapping[str, Any]) -> Iterator[Value | Problem]:
    flat = {setting.name for setting in all_settings() if setting.group == _FLAT}
    for name, value in overrides.items():
        given = {_FLAT: {name: value}} if name in flat else {name: value}
        yield from _flatten(given, Origin("keyword", name))


def _flatten(given: Mapping[str, Any], origin: Origin, under: str = "") -> Iterator[Value | Problem]:
    """The values of settings in an object of groups; what has no place is a problem."""
    settings = {setting.path: setting for setting in all_settings()}
    groups = {setting.group for setting in all_settings()}
    for name, value in given.items():
        path = f"{under}{name}"
        if path in settings and settings[path].secret and origin.kind == "file":
            variable = variables_of(settings[path])[0]
            yield Problem(path, f"is a secret, which belongs into no file: set {variable}", (origin,))
        elif path in settings:
            yield Value(settings[path], value, origin)
        elif path not in groups:
            yield Problem(path, f"is no setting{_guess(path)}", (origin,))
        elif isinstance(value, Configuration):
            yield from _flatten(value.model_dump(exclude_unset=True), origin, f"{path}.")
        elif isinstance(value, Mapping):
            yield from _flatten(value, origin, f"{path}.")
        elif value is not None:  # a heading in YAML with nothing but comments below it
            yield Problem(path, "must be an object with settings", (origin,))


def _can_be_empty(setting: Setting) -> bool:
    return not setting.needed and setting.default in ("", [], None)


def _read(setting: Setting, text: str) -> Json:
    """A variable's text as the setting takes it; numbers and flags are left to the model."""
    if setting.kind == "array":
        if text.startswith("["):
            return json.loads(text)
        return [part.strip() for part in _COMMA.split(text) if part.strip()]
    return None if setting.nullable and text.lower() in ("", "none", "null") else text


def _warnings(variables: Mapping[str, str]) -> Iterator[str]:
    """Variables that were probably meant for Compact, and set nothing."""
    known = {name for setting in all_settings() for name in variables_of(setting)}
    for name in sorted(variables):
        if name.startswith(PREFIX) and not name.startswith(KEYS) and name not in known and name not in OTHERS:
            close = get_close_matches(name, [*known, *OTHERS], 1, cutoff=0.75)
            yield f"{name} is no setting{f', {close[0]} is' if close else ''}"


def _guess(path: str) -> str:
    name = path.rpartition(".")[2]
    paths = [setting.path for setting in all_settings()]
    same = [known for known in paths if known.rpartition(".")[2] == name]
    close = same or get_close_matches(path, paths, 1, cutoff=0.75)
    return f", {close[0]} is" if close else ""
