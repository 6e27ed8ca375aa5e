from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import TokenCountError
from compact.tokens.encodings import load
from compact.tokens.overheads import (
    Family,
    Overheads,
    claude_version,
    family_of,
    openai_tools_tokens,
    overheads_for,
    tool_tokens,
)

WEATHER = (
    "get_current_weather",
    "Get the current weather in a given location",
    {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
)
QUESTION = (
    ("system", "You are a helpful assistant that can answer to questions about the weather."),
    ("user", "What's the weather like in San Francisco?"),
)


@pytest.mark.parametrize(
    ("model", "encoding", "tokens"),
    [("gpt-4o", "o200k_base", 101), ("gpt-4o-mini", "o200k_base", 101), ("gpt-4", "cl100k_base", 105)],
)
def test_openais_own_example_counts_what_its_api_reports(model: str, encoding: str, tokens: int) -> None:
    count, overheads = load(encoding).count, overheads_for("openai", model)
    said = sum(overheads.message + count(role) + count(text) for role, text in QUESTION)
    assert said + tool_tokens(overheads, [WEATHER], count) + overheads.reply == tokens
    assert overheads.exact


def test_googles_own_example_of_four_functions() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "NUMBER"}, "b": {"type": "NUMBER"}},
        "required": ["a", "b"],
    }
    tools = [
        (name, f"returns a {sign} b.", schema)
        for name, sign in {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}.items()
    ]
    overheads = overheads_for("google", "gemini-2.5-flash")
    assert tool_tokens(overheads, tools, load("gemma3").count) == 206 - 22
    assert not overheads.exact


def test_claudes_tools_cost_549_for_the_first_and_53_for_each_further_one() -> None:
    overheads = overheads_for("anthropic", "claude-sonnet-4-5")
    text = json.dumps({"name": WEATHER[0], "description": WEATHER[1], "parameters": WEATHER[2]}, separators=(",", ":"))
    assert tool_tokens(overheads, [WEATHER], len) == 549 + len(text)
    assert tool_tokens(overheads, [WEATHER] * 3, len) == 549 + 2 * 53 + 3 * len(text)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-5", 286),
        ("claude-opus-4-8", 290),
        ("claude-opus-4.7", 675),
        ("claude-opus-4-6", 497),
        ("claude-opus-4-1-20250805", 313),
        ("claude-sonnet-5", 354),
        ("claude-sonnet-4-20250514", 313),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 496),
        ("claude-3-5-haiku-20241022", 264),
        ("claude-3-7-sonnet-latest", 346),
        ("claude-next", 497),
    ],
)
def test_the_prompt_that_comes_with_tools_is_the_models_own(model: str, tokens: int) -> None:
    assert overheads_for("anthropic", model).tools == tokens


@pytest.mark.parametrize(("vendor", "model"), [("openai", "gpt-4o"), ("anthropic", "claude-opus-5"), ("x", "y")])
def test_no_tools_cost_nothing(vendor: str, model: str) -> None:
    assert tool_tokens(overheads_for(vendor, model), [], len) == 0
    assert openai_tools_tokens([], len) == 0


@pytest.mark.parametrize(
    ("vendor", "model", "expected"),
    [
        ("openai", "gpt-4o-2024-11-20", Overheads(3, 1, 3, 12, 7, exact=True, schemas="lines")),
        ("openai", "ft:gpt-4o:acme", Overheads(3, 1, 3, 12, 7, exact=True, schemas="lines")),
        ("azure", "gpt-4-0613", Overheads(3, 1, 3, 12, 10, exact=True, schemas="lines")),
        ("openai", "gpt-4.1", Overheads(3, 1, 3, 12, 7, schemas="lines")),
        ("openai", "gpt-5.4", Overheads(3, 1, 3, 12, 7, schemas="lines")),
        ("google", "gemini-3-pro-preview", Overheads(1, 0, 0, 0, 3)),
        ("anthropic", "claude-opus-4-7", Overheads(4, 0, 3, 675, 53)),
        ("mistral", "mistral-large", Overheads(4, 1, 3, 12, 7)),
    ],
)
def test_overheads_of_vendors(vendor: str, model: str, expected: Overheads) -> None:
    assert overheads_for(vendor, model) == expected


@pytest.mark.parametrize(
    ("vendor", "model", "family"),
    [
        ("openai", "o3-mini", "openai"),
        ("openrouter", "openai/gpt-5", "openai"),
        ("azure", "my-deployment", "openai"),
        ("groq", "openai/gpt-oss-120b", "other"),
        ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"),
        ("vertex", "claude-opus-4-1@20250805", "anthropic"),
        ("Vertex", "publishers/google/models/gemini-2.5-pro", "google"),
        ("openrouter", "deepseek/deepseek-r1", "other"),
        ("zai", "glm-4o1", "other"),
    ],
)
def test_the_makers_rules_hold_wherever_a_model_is_served(vendor: str, model: str, family: Family) -> None:
    assert family_of(vendor, model) == family


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("claude-opus-4-7", (4, 7)),
        ("claude-opus-4.7-fast", (4, 7)),
        ("claude-opus-4-20250514", (4, 0)),
        ("claude-3-5-sonnet-20241022", (3, 5)),
        ("anthropic/claude-3.7-sonnet", (3, 7)),
        ("claude-sonnet-5", (5, 0)),
        ("claude-opus-10-2", (10, 2)),
        ("claude-latest", None),
        ("gpt-4o", None),
    ],
)
def test_the_version_of_claude_is_read_from_its_name(model: str, version: tuple[int, int] | None) -> None:
    assert claude_version(model) == version


def _properties(schema: object) -> int:
    """The cost of the schema's properties, one token for each text."""
    return openai_tools_tokens([("tool", "Does it", schema)], lambda _: 1) - 12 - 7 - 1


def test_nested_properties_are_counted_like_those_above_them() -> None:
    flat = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    assert _properties(flat) == 3 + 2 * (3 + 1)
    for nested in (
        {"type": "object", **flat},
        {"type": "array", "items": flat},
        {"anyOf": [{"type": "null"}, flat]},
        {"allOf": [flat]},
        {"additionalProperties": flat},
    ):
        assert _properties({"properties": {"outer": nested}}) == 3 + (3 + 1) + _properties(flat)


def test_a_shared_definition_is_counted_once_even_if_it_contains_itself() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "string"}}}
    schema = {
        "$defs": {"node": node},
        "properties": {"first": {"$ref": "#/$defs/node"}, "last": {"$ref": "#/$defs/node"}},
    }
    assert _properties(schema) == 2 * (3 + 2 * (3 + 1))


def test_choices_are_counted_each() -> None:
    assert _properties({"properties": {"a": {"enum": ["x", "y", 3, None]}}}) == 3 + (3 + 1) - 3 + 4 * (3 + 1)


def test_types_are_named_as_the_model_sees_them() -> None:
    lines: list[str] = []

    def count(text: str) -> int:
        lines.append(text)
        return 1

    properties = {
        "plain": {"type": "integer", "description": "How many."},
        "either": {"type": ["string", "null"]},
        "any": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/x"}]},
        "untyped": {},
        "everything": True,
    }
    openai_tools_tokens([("count", "Counts things.", {"properties": properties})], count)
    assert lines == [
        "count:Counts things",
        "plain:integer:How many",
        "either:string | null:",
        "any:string | object:",
        "untyped:object:",
        "everything::",
    ]


def test_a_schema_nested_deeper_than_python_recurses_is_counted() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    assert _properties(schema) == 5000 * (3 + 3 + 1)
    with pytest.raises(TokenCountError, match=r"tool 'deep': .*JSON.*flatten it"):
        tool_tokens(overheads_for("anthropic", ""), [("deep", "", schema)], len)


KEYS = st.sampled_from(["properties", "type", "items", "anyOf", "enum", "$ref", "$defs", "description", "a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(schema=JSON)
def test_no_schema_is_too_strange_to_count(schema: object) -> None:
    for vendor in ("openai", "anthropic", "google", "other"):
        assert tool_tokens(overheads_for(vendor, ""), [("name", "description", schema)], len) > 0
