"""For OpenAI's Agents SDK: a filter of the model's input, a session that hands out what the model shall see, and tools.

run_config = RunConfig(call_model_input_filter=compact_input_filter(manager, "chat-1"))
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from compact.app.recall_tools import handle_tool_call, recall_tools
from compact.errors import InsufficientBudget
from compact.integrations.sending import Wire, bare, going_on, responses_tool, usable_id

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from agents import FunctionTool, TResponseInputItem
    from agents.memory import Session, SessionSettings
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
    from agents.tool_context import ToolContext

    from compact import CompactManager

    Filter: TypeAlias = Callable[[CallModelData[Any]], Awaitable[ModelInputData]]

_OWN_COMPACTION = (
    "{name} rewrites what it stores, and only as far as it matches what the model was given: beside Compact its "
    "compaction is skipped, or gets the end of the history only. Give the run the session it wraps."
)


def compact_input_filter(
    manager: CompactManager,
    session_id: str | Session | Callable[[CallModelData[Any]], str],
    *,
    then: CallModelInputFilter | None = None,
    strict: bool = False,
) -> Filter:
    """A `call_model_input_filter` that keeps the input of a run within the model's window.

    The session is named by its id, by the run's own session, or by a function of the call. The SDK has room for one
    filter: another one goes into `then`, and gets the input as it is after compaction. Where compaction fails the input
    goes as it is, and the error is logged; `strict` raises it, which ends the run. A filter cannot lower the limit of
    the answer, so one that does not fit beside the compacted input is such an error.
    """
    if not isinstance(session_id, str) and callable(getattr(session_id, "run_compaction", None)):
        warnings.warn(_OWN_COMPACTION.format(name=type(session_id).__name__), stacklevel=2)

    tools = _Tools()

    async def compact_input(data: CallModelData[Any]) -> ModelInputData:
        given, items = data.model_data, data.model_data.input
        with going_on(session_id, strict=strict):
            session, limit = _named(session_id, data), data.agent.model_settings.max_tokens
            offered = await tools.offered(data.agent, data.context)
            body = _body(given.input, given.instructions, offered) | {"max_output_tokens": limit}
            try:
                items = await manager.apreflight(session, body)
            except InsufficientBudget:
                # A filter cannot lower the limit. The whole history would fit even less than what is compacted.
                items = await asyncio.to_thread(manager.project, session, body)
                raise
        data = replace(data, model_data=replace(given, input=bare(items)))
        if then is None:
            return data.model_data
        filtered = then(data)
        return await filtered if inspect.isawaitable(filtered) else filtered

    return compact_input


class CompactedSession:
    """A session of the SDK whose history is handed out compacted, and kept whole by the session it wraps.

    It compacts between runs. A run with many steps grows in between: give it the filter as well.
    """

    def __init__(self, session: Session, manager: CompactManager, *, strict: bool = False) -> None:
        if callable(getattr(session, "run_compaction", None)):
            warnings.warn(_OWN_COMPACTION.format(name=type(session).__name__), stacklevel=2)
        self.session_id: str = session.session_id
        self.session_settings: SessionSettings | None = session.session_settings
        self._session = session
        self._manager = manager
        self._strict = strict

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history compacted; as it is where only so many items are asked for."""
        items = await self._session.get_items(limit)
        if limit is None and items:
            with going_on(self.session_id, strict=self._strict):
                items = await self._manager.apreflight(usable_id(self.session_id), _body(items))
        return bare(items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self._session.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        await self._session.clear_session()


def recall_function_tools(
    manager: CompactManager, session_id: str | Session | Callable[[ToolContext[Any]], str]
) -> list[FunctionTool]:
    """Tools for an agent, `compact_recall` and `compact_search`: its model looks up what was removed from the session.

    The session is named as for the filter, or by a function of the call of the tool.
    """
    from agents import FunctionTool

    def answering(name: str) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
        async def answer(context: ToolContext[Any], arguments: str) -> str:
            return await asyncio.to_thread(handle_tool_call, manager, _named(session_id, context), name, arguments)

        return answer

    return [
        FunctionTool(tool["name"], tool["description"], tool["parameters"], answering(tool["name"]), False)
        for tool in recall_tools("openai-responses")
    ]


def _named(session_id: str | Session | Callable[[Any], str], call: object) -> str:
    """The id as it was given; a session of the SDK's may be called anything, also what a manager would refuse."""
    if isinstance(session_id, str):
        return session_id
    return session_id(call) if callable(session_id) else usable_id(session_id.session_id)


class _Tools:
    """The functions that a model is offered, for their size: the agent's own, handoffs, and those of MCP servers.

    Servers are asked once, as long as the agent stays the same: the run asks them, too.
    """

    def __init__(self) -> None:
        self._agent: Any = None
        self._served: list[Any] = []

    async def offered(self, agent: Any, context: object) -> list[Wire]:
        """The tools as they are sent, those left out that the vendor itself runs."""
        from agents import Agent, RunContextWrapper, handoff

        if self._agent is not agent:
            self._served = await agent.get_mcp_tools(RunContextWrapper(context)) if agent.mcp_servers else []
            self._agent = agent
        functions = (tool for tool in (*agent.tools, *self._served) if hasattr(tool, "params_json_schema"))
        wires = [responses_tool(tool.name, tool.description, tool.params_json_schema) for tool in functions]
        handoffs = (handoff(each) if isinstance(each, Agent) else each for each in agent.handoffs)
        return wires + [
            responses_tool(each.tool_name, each.tool_description, each.input_json_schema) for each in handoffs
        ]


def _body(items: Sequence[Any], instructions: str | None = None, tools: Sequence[Wire] = ()) -> Wire:
    return {"format": "openai-responses", "input": items, "instructions": instructions, "tools": list(tools)}
