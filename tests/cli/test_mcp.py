"""The MCP server, spoken to by the SDK's own client over the streams of a process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from compact import CompactConfig, CompactManager
from compact.cli.mcp_tools import Tools, serve
from compact.messages import Json, is_recalled

SECRET = "The port is 5433, not 5432."


def reads(count: int) -> list[Json]:
    messages: list[Json] = [{"role": "user", "content": "Read them all."}]
    for number in range(count):
        function = {"name": "Read", "arguments": json.dumps({"path": f"src/part_{number}.py"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        lines = "\n".join(f"value_{number}_{line} = {line}" for line in range(60))
        text = f"{lines}\n# {SECRET}" if number == 3 else lines
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return [*messages, {"role": "user", "content": "And now?"}]


def talk(folder: Path, work: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Start the server in the folder, let the work be done, and stop it."""

    async def run() -> None:
        arguments = ["-m", "compact", "mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=folder, env=dict(os.environ))
        async with Client(server) as client:
            await work(client)

    asyncio.run(asyncio.wait_for(run(), 60))


async def ask(client: Client, tool: str, **arguments: Json) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert not result.is_error, content.text
    return content.text


async def refused(client: Client, tool: str, **arguments: Json) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.is_error
    return content.text


def test_the_tools_tell_what_they_take(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"recall", "search", "condense", "plan"}
        assert tools["recall"].input_schema["required"] == ["handle"]
        assert tools["search"].input_schema["properties"]["text"]["description"]
        assert all(tool.description for tool in tools.values())

    talk(tmp_path, work)


def test_what_an_application_removed_is_searched_and_recalled(tmp_path: Path) -> None:
    storage = {"path": str(tmp_path / "kept")}
    config = CompactConfig.model_validate(
        {"model": "gpt-4o", "max_context_tokens": 8000, "storage": storage, "profile": "offline"}
    )
    with CompactManager(config) as manager:
        manager.preflight("support-42", reads(12))
        manager.manual_compact("other", reads(10))

    async def work(client: Client) -> None:
        found = await ask(client, "search", text="value_3_30")
        handle = re.search(r"\[support-42\] (cut-[0-9a-f]{8})", found)
        assert handle, found
        recalled = await ask(client, "recall", handle=handle[1], session="support-42")
        assert SECRET in recalled
        assert is_recalled(recalled)
        assert "Did you mean" in await refused(client, "recall", handle="fold-000000000000")

    talk(tmp_path, work, "--storage", "kept")

    async def alone(client: Client) -> None:
        assert "[" not in (await ask(client, "search", text="value_1_1")).partition(" ")[0]
        assert "not served here" in await refused(client, "search", text="value_1_1", session="support-42")

    talk(tmp_path, alone, "--storage", "kept", "--session", "other")


def test_what_it_condenses_can_be_recalled(tmp_path: Path) -> None:
    messages = reads(12)
    (tmp_path / "chat.json").write_text(json.dumps(messages), encoding="utf-8")

    async def work(client: Client) -> None:
        answer = json.loads(await ask(client, "condense", file="chat.json", recipe="v2", target="40%"))
        assert answer["report"]["tokens_after"] < answer["report"]["tokens_before"]
        given = json.loads(await ask(client, "condense", conversation=messages, recipe="v2", target="40%"))
        assert given["messages"] == answer["messages"]
        handles = re.findall(r"recall (cut-[0-9a-f]{8})", json.dumps(answer["messages"]))
        assert handles
        originals = {str(message.get("content")) for message in messages}
        for handle in handles[:3]:
            recalled = await ask(client, "recall", handle=handle)
            assert recalled.split("\n", 1)[1].rpartition("\n[End")[0] in originals

    talk(tmp_path, work)


def test_a_plan_tells_what_every_recipe_would_come_to(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        answer = json.loads(await ask(client, "plan", conversation=reads(8), target="50%"))
        assert {"auto", "v2", "balanced"} <= set(answer["recipes"])
        assert answer["recipes"]["v2"]["tokens_after"] < answer["tokens"]
        assert not (tmp_path / ".compact").exists()

    talk(tmp_path, work)


def test_mistakes_are_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.json").write_text("[]", encoding="utf-8")

    async def work(client: Client) -> None:
        assert "Nothing was removed so far" in await refused(client, "recall", handle="cut-00000000")
        assert "outside the server's folder" in await refused(client, "plan", file="../outside.json")
        assert "give a conversation or a file" in await refused(client, "condense")
        assert "is no target" in await refused(client, "condense", conversation=reads(2), target="much")
        assert "recipe: 'nonsense'" in await refused(client, "condense", conversation=reads(2), recipe="nonsense")
        assert "cannot be read" in await refused(client, "plan", file="missing.json")
        assert (
            await ask(client, "search", text="anything")
            == "Nothing that was removed contains all the words of 'anything'."
        )

    talk(tmp_path, work, "--root", "inside")


def test_the_tools_work_without_a_process_too(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        answer = json.loads(await ask(client, "condense", conversation=reads(12), target="40%", session="mine"))
        (handle, *_) = re.findall(r"recall (cut-[0-9a-f]{8})", json.dumps(answer["messages"]))
        assert is_recalled(await ask(client, "recall", handle=handle, session="mine"))
        assert (await ask(client, "search", text=SECRET, limit=1)).startswith(("[mine] msg-", "[mine] cut-"))
        assert json.loads(await ask(client, "plan", conversation=reads(3)))["target"] is None
        assert "cannot be read" in await refused(client, "plan", file="missing.json")
        assert "outside the server's folder" in await refused(client, "plan", file="/etc/hosts")

    async def run() -> None:
        async with Client(serve(Tools(tmp_path / "kept", None, tmp_path, "gpt-4o"))) as client:
            await work(client)

    asyncio.run(run())


def test_without_the_package_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; sys.argv = ['compact', 'mcp']; from compact.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "pip install 'compact-context[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_number_is_a_target_and_mistakes_are_told_in_words(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        report = json.loads(await ask(client, "condense", conversation=reads(12), target=0.4))["report"]
        assert report["tokens_after"] <= report["target"] == int(0.4 * report["tokens_before"])
        assert json.loads(await ask(client, "plan", conversation=reads(3), target=800))["target"] == 800
        assert await refused(client, "search") == "search cannot be called so: text: is needed"
        wrong = await refused(client, "plan", conversation=reads(1), target=[8])
        assert wrong.startswith("plan cannot be called so: target: should be a valid string or ")
        assert "pydantic" not in wrong

    async def run() -> None:
        async with Client(serve(Tools(tmp_path / "kept", None, tmp_path, "gpt-4o"))) as client:
            await work(client)

    asyncio.run(run())
