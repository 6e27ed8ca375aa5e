"""Tokens that vendors add around what is said: frames of messages, of the reply, and of tool definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from compact.errors import TokenCountError

Family: TypeAlias = Literal["openai", "anthropic", "google", "other"]
"""Whose rules a model is counted by, wherever it is served."""
ToolEntry: TypeAlias = tuple[str, str, object]
"""Name, description and JSON schema of a tool; a text where it is defined by something else, a grammar say."""
Count: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Overheads:
    """What a vendor adds, in the model's own tokens.

    The role of a message is text and not part of its frame. `tools` is added once when there is any tool, `tool` for
    each of them. `exact` says that the vendor publishes all of it; what is not published was measured.
    """

    message: int
    name: int
    reply: int
    tools: int
    tool: int
    exact: bool = False
    schemas: Literal["lines", "json"] = "json"
    """How tool schemas reach the model: as one line for each property, or as they were sent."""


# OpenAI's cookbook on counting tokens, checked there against the API for these models (looked up in November 2026).
_OPENAI: Final = Overheads(message=3, name=1, reply=3, tools=12, tool=7, schemas="lines")
_OPENAI_CHECKED: Final = {"gpt-4o": 7, "gpt-4": 10, "gpt-3.5": 10}
_OPENAI_UNCHECKED: Final = ("gpt-4.1", "gpt-4.5")
_PROPERTIES, _PROPERTY, _ENUM, _ENUM_ITEM = 3, 3, -3, 3

# Google's token guide shows that text and system instruction count as nothing but their text, that each message of a
# chat adds one, and that four small functions add 184 where their JSON has 172 (looked up in November 2026).
_GOOGLE: Final = Overheads(message=1, name=0, reply=0, tools=0, tool=3)

_OTHER: Final = Overheads(message=4, name=1, reply=3, tools=12, tool=7)

# The system prompt that Anthropic adds when tools are given, from its page on tool use (looked up in November 2026;
# for `tool_choice` auto). The frame of each tool was measured on Claude 4.5; those of messages and reply are estimates.
_CLAUDE_TOOL_PROMPTS: Final[dict[str, dict[tuple[int, int], int]]] = {
    "opus": {(3, 0): 530, (4, 0): 313, (4, 5): 496, (4, 6): 497, (4, 7): 675, (4, 8): 290, (5, 0): 286},
    "sonnet": {(3, 0): 159, (3, 5): 346, (4, 0): 313, (4, 5): 496, (4, 6): 497, (5, 0): 354},
    "haiku": {(3, 0): 264, (4, 5): 496},
}
_CLAUDE_UNKNOWN_TOOL_PROMPT: Final = 497

_CLAUDE_VERSION = re.compile(r"claude\D*?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_MAKERS: Final[tuple[tuple[re.Pattern[str], Family], ...]] = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini|gemma"), "google"),
    (re.compile(r"(?:^|[/:.])(?:gpt-|chatgpt|codex|computer-use|o\d)"), "openai"),
)
_HOSTS: Final[dict[str, Family]] = {
    "openai": "openai",
    "azure": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "vertex": "google",
}


def family_of(vendor: str, model: str) -> Family:
    """Who made the model, told by its name where a vendor serves the models of others."""
    name = model.lower()
    for pattern, family in _MAKERS:
        if pattern.search(name) and "gpt-oss" not in name:
            return family
    return _HOSTS.get(vendor.lower(), "other")


def bare_name(model: str) -> str:
    """The model's own name, without the route to it and without the mark of a fine-tuned one."""
    return model.lower().rpartition("/")[2].removeprefix("ft:")


def claude_version(model: str) -> tuple[int, int] | None:
    """The version in a name such as claude-opus-4-7 or claude-3-5-haiku-20241022; None where there is none."""
    found = _CLAUDE_VERSION.search(model.lower())
    return (int(found[1]), int(found[2] or 0)) if found else None


def overheads_for(vendor: str, model: str) -> Overheads:
    """What the maker of the model adds; an estimate, marked as such, where that is not published."""
    family = family_of(vendor, model)
    if family == "openai":
        return _openai(bare_name(model))
    if family == "anthropic":
        return Overheads(message=4, name=0, reply=3, tools=_claude_tool_prompt(model), tool=53)
    return _GOOGLE if family == "google" else _OTHER


def tool_tokens(overheads: Overheads, tools: Sequence[ToolEntry], count: Count) -> int:
    """The tokens of tool definitions, whose texts `count` counts in the model's tokens."""
    if not tools:
        return 0
    if overheads.schemas == "lines":
        return openai_tools_tokens(tools, count, per_tool=overheads.tool)
    fixed = overheads.tools + overheads.tool * len(tools)
    return fixed + sum(count(_serialized(tool)) for tool in tools)


def openai_tools_tokens(tools: Sequence[ToolEntry], count: Count, *, per_tool: int = 7) -> int:
    """The tokens of tool definitions as OpenAI's cookbook counts them.

    Each property is a line of name, type and description. The cookbook knows one level of properties; here every
    level below, of objects, lists and alternatives, is counted the same way, each shared definition once.
    """
    total = _OPENAI.tools if tools else 0
    for name, description, schema in tools:
        total += per_tool + count(f"{name}:{description.removesuffix('.')}")
        total += count(schema) if isinstance(schema, str) else 0
        for properties in _property_groups(schema):
            total += _PROPERTIES
            for key, value in properties.items():
                total += _PROPERTY + _property_tokens(key, value, count)
    return total


def _property_tokens(key: str, schema: object, count: Count) -> int:
    if not isinstance(schema, Mapping):
        return count(f"{key}::")
    description = str(schema.get("description") or "").removesuffix(".")
    tokens = count(f"{key}:{_type_name(schema)}:{description}")
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        tokens += _ENUM + sum(_ENUM_ITEM + count(str(choice)) for choice in choices)
    return tokens


def _property_groups(schema: object) -> Iterator[Mapping[str, object]]:
    """The non-empty `properties` of the schema and of every schema inside it; no depth is too deep."""
    definitions = {
        f"#/{place}/{name}": value
        for place in ("$defs", "definitions")
        for name, value in _mapping(_mapping(schema).get(place)).items()
    }
    pending = [schema]
    while pending:
        current = _mapping(pending.pop())
        if properties := _mapping(current.get("properties")):
            yield properties
            pending.extend(properties.values())
        for alternatives in ("anyOf", "oneOf", "allOf"):
            if isinstance(options := current.get(alternatives), list):
                pending.extend(options)
        pending.extend(current[inner] for inner in ("items", "additionalProperties") if inner in current)
        if isinstance(reference := current.get("$ref"), str):
            # Taken out, so that a definition that refers to itself comes to an end.
            pending.append(definitions.pop(reference, None))


def _type_name(schema: Mapping[str, object]) -> str:
    kinds = schema.get("type")
    if kinds is None and isinstance(options := schema.get("anyOf") or schema.get("oneOf"), list):
        kinds = [option.get("type", "object") for option in options if isinstance(option, Mapping)]
    return " | ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds or "object")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _serialized(tool: ToolEntry) -> str:
    name, description, schema = tool
    entry = {"name": name, "description": description, "parameters": schema}
    try:
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError) as error:
        raise TokenCountError(
            f"tool {name!r}: its schema cannot be written as JSON ({error}). Shorten or flatten it, then count again."
        ) from error


def _openai(model: str) -> Overheads:
    for start, per_tool in _OPENAI_CHECKED.items():
        if model.startswith(start) and not model.startswith(_OPENAI_UNCHECKED):
            return Overheads(message=3, name=1, reply=3, tools=12, tool=per_tool, exact=True, schemas="lines")
    return _OPENAI


def _claude_tool_prompt(model: str) -> int:
    version = claude_version(model)
    by_version = next((prompts for line, prompts in _CLAUDE_TOOL_PROMPTS.items() if line in model.lower()), {})
    known = [since for since in by_version if version and since <= version]
    return by_version[max(known)] if known else _CLAUDE_UNKNOWN_TOOL_PROMPT
