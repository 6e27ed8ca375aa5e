"""Sessions that hold tools, settings and state of a vendor."""

from __future__ import annotations

from compact.messages import Json

WORDS = " ".join(f"word{at}" for at in range(120))
FUNCTIONS = tuple(
    {
        "type": "function",
        "name": f"tool_{at}",
        "description": f"Does what tool {at} is for. {WORDS[:200]}",
        "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}},
    }
    for at in range(9)
)
GRAMMAR: Json = {
    "type": "custom",
    "name": "exec",
    "description": "Runs what it is given.",
    "format": {"type": "grammar", "syntax": "lark", "definition": f"start: line+\nline: /{WORDS}/"},
}
NAMESPACE: Json = {
    "type": "namespace",
    "name": "mcp__db",
    "description": "Asks the database.",
    "tools": [{**FUNCTIONS[0], "name": f"query_{at}"} for at in range(4)],
}
TOOLS = (*FUNCTIONS, GRAMMAR, NAMESPACE)
"""What Codex offers: functions, a tool with a grammar, and the tools of an MCP server."""
ADDITIONAL: Json = {"type": "additional_tools", "role": "developer", "tools": list(TOOLS)}


def codex_items(steps: int) -> list[Json]:
    """The items of a session of Codex: its tools come first, more are found on the way."""
    items: list[Json] = [
        ADDITIONAL,
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Work carefully."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend the parser."}]},
    ]
    for number in range(steps):
        if number == 1:
            items += [
                {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {"query": "db"}},
                {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": [NAMESPACE]},
                {"type": "configuration_update", "reasoning": {"effort": "low"}},
            ]
        name, output = f"call_{number}", f"{number}: {WORDS} {number}\n" * 2
        items.append({"type": "custom_tool_call", "call_id": name, "name": "exec", "input": f"cat src/m{number}.py"})
        items.append({"type": "custom_tool_call_output", "call_id": name, "output": output})
    return items


def held(items: list[Json]) -> list[Json]:
    """The items that hold tools and settings."""
    kinds = ("additional_tools", "tool_search_call", "tool_search_output", "configuration_update", "compaction")
    return [item for item in items if item.get("type") in kinds]


def turns(count: int, first: int = 0) -> list[Json]:
    """Questions and answers."""
    return [
        {"role": role, "content": f"{role} {number}: {WORDS}"}
        for number in range(first, first + count)
        for role in ("user", "assistant")
    ]


SUMMARY: Json = {
    "type": "compaction",
    "content": "They mended the parser; the tests pass.",
    "encrypted_content": "Eo4B",
    "signature": "EqQB",
    "tool_changes": [],
}
COMPACTION: Json = {"type": "compaction", "encrypted_content": "gAAAAAB" * 40}
QUESTION: Json = {"role": "user", "content": "What next?"}


def anthropic_compacted(before: int, after: int) -> list[Json]:
    """A conversation that Anthropic's API has summarized after so many turns."""
    answer = {"role": "assistant", "content": [SUMMARY, {"type": "text", "text": "Done."}]}
    return [*turns(before), {"role": "user", "content": "Go on."}, answer, *turns(after, before), QUESTION]


def openai_compacted(before: int, after: int) -> list[Json]:
    """A conversation that OpenAI's API has compacted after so many turns."""
    return [*turns(before), COMPACTION, *turns(after, before), QUESTION]
