"""The tools that the filter of the Agents SDK counts: functions, handoffs, and those of MCP servers."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, function_tool, handoff
from agents.mcp import MCPServer
from agents.run_config import CallModelData, ModelInputData
from mcp.types import Tool

from compact import count_tokens
from compact.integrations.agents_sdk import compact_input_filter
from compact.integrations.sending import responses_tool
from tests.integrations.conftest import Managers

SCHEMA = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(40)}}


class Served(MCPServer):
    """A server that lists one tool, and counts how often it is asked."""

    asked = 0

    @property
    def name(self) -> str:
        return "served"

    async def list_tools(self, *_: Any, **__: Any) -> list[Tool]:
        self.asked += 1
        return [Tool(name="find_orders", description="Finds orders.", input_schema=SCHEMA)]

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def call_tool(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def list_prompts(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def get_prompt(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@function_tool
def read(path: str) -> str:
    """Reads a file."""
    return path


def counted(managers: Managers, agent: Agent[None], session: str) -> int:
    """The tokens that the filter takes a request of the agent for."""
    asked = compact_input_filter(managers(100_000), session, strict=True)
    data = CallModelData(ModelInputData([{"role": "user", "content": "Hello"}], None), agent, None)

    async def twice() -> None:
        for _ in range(2):
            await asked(data)

    asyncio.run(twice())
    return max(int(event.properties["t_est"]) for event in managers.events if "t_est" in event.properties)


def test_tools_handoffs_and_those_of_mcp_servers_are_counted(managers: Managers) -> None:
    server = Served()
    other: Agent[None] = Agent("Billing", handoff_description="Knows bills.")
    agent = Agent[None]("helper", tools=[read], handoffs=[other, handoff(Agent("Shipping"))], mcp_servers=[server])
    bills, ships = handoff(other), handoff(Agent[None]("Shipping"))
    tools = [
        responses_tool(read.name, read.description, read.params_json_schema),
        responses_tool("find_orders", "Finds orders.", SCHEMA),
        responses_tool(bills.tool_name, bills.tool_description, bills.input_json_schema),
        responses_tool(ships.tool_name, ships.tool_description, ships.input_json_schema),
    ]
    expected = count_tokens({"model": "gpt-4o", "input": [{"role": "user", "content": "Hello"}], "tools": tools})
    assert abs(counted(managers, agent, "s") - expected) <= 4
    assert server.asked == 1


def test_an_agent_without_tools_asks_nobody(managers: Managers) -> None:
    assert counted(managers, Agent("plain"), "s") < 30
