"""Settings as their models describe them: what each is called, takes and means, and a JSON Schema for editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compact.messages import Json
from compact.policies.configuration import Configuration

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBERS = {"integer": "a whole number", "number": "a number"}
_WORDS = {"string": "text", "boolean": "true or false", "array": "a list of texts", **_NUMBERS}
_BOUNDS = {"exclusiveMinimum": "above", "minimum": "from", "exclusiveMaximum": "below", "maximum": "at most"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its path from the root (policy.trigger_pct), and how the model describes it.

    `kind` is JSON Schema's word for its type. One that is `needed` has no default, and its `default` is None. A
    `secret` one is never shown, and belongs into no file.
    """

    path: str
    kind: str
    takes: str
    meaning: str
    default: Json
    needed: bool
    nullable: bool
    secret: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def group(self) -> str:
        """The path of what it belongs to; empty at the root."""
        return self.path.rpartition(".")[0]


def settings_of(kind: type[Configuration]) -> tuple[Setting, ...]:
    """Every setting of a model and of the groups in it, in their order."""
    schema = kind.model_json_schema()
    return tuple(_settings(schema, schema.get("$defs", {}), ""))


def meanings_of_groups(kind: type[Configuration]) -> dict[str, str]:
    """What each group of settings is for, by its path; the model itself has the empty one."""
    schema = kind.model_json_schema()
    return dict(_groups(schema, schema.get("$defs", {}), ""))


def schema_of(kind: type[Configuration]) -> dict[str, Json]:
    """A JSON Schema of files with such settings. Nothing is required in a file, and secrets have no place there."""
    schema: dict[str, Json] = kind.model_json_schema()
    own = {name: field for name, field in schema["properties"].items() if not field.get("writeOnly")}
    address = {"description": "Where the schema of this file is, for editors.", "type": "string"}
    changes: dict[str, Json] = {"$schema": _DIALECT, "properties": {"$schema": address, **own}}
    return {key: value for key, value in (schema | changes).items() if key != "required"}


def _settings(schema: Mapping[str, Any], groups: Mapping[str, Any], under: str) -> Iterator[Setting]:
    for name, field in schema["properties"].items():
        path = under + name
        if "$ref" in field:
            yield from _settings(_group(field, groups), groups, f"{path}.")
            continue
        options = [option for option in field.get("anyOf", [field]) if option.get("type") != "null"]
        nullable = "anyOf" in field and len(options) < len(field["anyOf"])
        takes = " or ".join([*map(_takes, options), *(["null"] if nullable else [])])
        needed = name in schema.get("required", ())
        kind = options[0].get("type", "string")
        secret = field.get("writeOnly", False)
        yield Setting(path, kind, takes, field.get("description", ""), field.get("default"), needed, nullable, secret)


def _groups(schema: Mapping[str, Any], groups: Mapping[str, Any], under: str) -> Iterator[tuple[str, str]]:
    yield under, schema.get("description", "")
    for name, field in schema["properties"].items():
        if "$ref" in field:
            yield from _groups(_group(field, groups), groups, f"{under}.{name}" if under else name)


def _group(field: Mapping[str, Any], groups: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = groups[field["$ref"].rpartition("/")[2]]
    return found


def _takes(field: Mapping[str, Any]) -> str:
    if "const" in field:
        return str(field["const"])
    if "enum" in field:
        *others, last = map(str, field["enum"])
        return f"{', '.join(others)} or {last}" if others else last
    bounds = " and ".join(f"{word} {field[key]:g}" for key, word in _BOUNDS.items() if key in field)
    return f"{_WORDS[field['type']]} {bounds}".rstrip()
