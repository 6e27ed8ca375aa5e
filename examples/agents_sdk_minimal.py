"""The Agents SDK with compaction in a few lines; events go to the console.

A scripted model answers: no key is needed.
"""

import asyncio

from agents import Agent, RunConfig, Runner, SQLiteSession
from agents.testing import ScriptedModel, assistant_message

from compact import CompactConfig, CompactManager
from compact.integrations.agents_sdk import compact_input_filter
from compact.policies import TracingSettings


async def main() -> None:
    config = CompactConfig(
        model="gpt-4o", max_context_tokens=4_000, profile="offline", tracing=TracingSettings(console=True)
    )
    model, session = ScriptedModel(), SQLiteSession("minimal")
    agent = Agent("writer", instructions="Write long answers.", model=model)

    with CompactManager(config) as manager:
        run_config = RunConfig(call_model_input_filter=compact_input_filter(manager, session), tracing_disabled=True)
        for turn in range(8):
            model.enqueue([assistant_message(f"Chapter {turn}. " + "And so it went on, day after day. " * 60)])
            await Runner.run(agent, f"Write chapter {turn}.", session=session, run_config=run_config)

    stored = len(await session.get_items())
    sent = len(model.calls[-1].input)
    print(f"{stored} items are stored; the model was last asked with {sent}")
    session.close()


asyncio.run(main())
