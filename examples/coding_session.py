"""A coding assistant that fixes a bug, step by step, in a window too small for all it reads.

Run it with the address of an Ariadne server to see every compaction there: `coding_session.py http://localhost:5175`.
A scripted model answers: no key is needed.
"""

import asyncio
import sys

from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from compact import CompactConfig, CompactManager, count_tokens
from compact.integrations.agents_sdk import compact_input_filter
from compact.policies import Policy, TracingSettings

MODULES = ("cart", "prices", "taxes", "orders", "stock", "mail")
FILES = {
    f"shop/{name}.py": "\n".join(
        [f'"""The shop\'s {name}."""', "", "from decimal import Decimal", ""]
        + [
            f'def {name}_{step}(amount: Decimal) -> Decimal:\n    return amount + Decimal("{step}.00")\n'
            for step in range(40)
        ]
    )
    for name in MODULES
}
FILES["shop/taxes.py"] += "\ndef rate(country: str) -> float:\n    return 0.19\n"


@function_tool
def read_file(path: str) -> str:
    """Reads a file of the project."""
    return FILES[path]


@function_tool
def search(text: str) -> str:
    """Finds the lines that hold a text."""
    found = [f"{path}: {line}" for path, source in FILES.items() for line in source.splitlines() if text in line]
    return "\n".join(found[:40]) or "nothing found"


@function_tool
def write_line(path: str, old: str, new: str) -> str:
    """Replaces a line of a file."""
    FILES[path] = FILES[path].replace(old, new)
    return f"{path}: 1 line changed"


@function_tool
def run_tests() -> str:
    """Runs the tests."""
    if "-> float" not in FILES["shop/taxes.py"]:
        return "48 passed in 1.71s"
    lines = [f"tests/test_{name}.py::test_{name}_{number} PASSED" for name in MODULES for number in range(8)]
    lines += ["tests/test_taxes.py::test_rate FAILED", "E   TypeError: unsupported operand: 'Decimal' and 'float'"]
    return "\n".join(lines)


REPAIR = {
    "path": "shop/taxes.py",
    "old": "-> float:\n    return 0.19",
    "new": '-> Decimal:\n    return Decimal("0.19")',
}
STEPS: list[tuple[str, list[tuple[str, dict[str, str]]], str]] = [
    ("The tests fail since yesterday. Find out why.", [("run_tests", {})], "shop/taxes.py mixes Decimal and float."),
    *(
        (f"Does {name} use it?", [("read_file", {"path": f"shop/{name}.py"}), ("search", {"text": f"{name}_7"})], "No.")
        for name in MODULES * 2
        if name != "taxes"
    ),
    ("Never use float for money.", [], "Understood: Decimal everywhere."),
    ("Then repair it.", [("write_line", REPAIR), ("run_tests", {})], "Repaired in shop/taxes.py; 48 tests pass."),
]


def script(model: ScriptedModel) -> None:
    """Tell the model what to do in each step, and what to say at its end."""
    number = 0
    for _, calls, answer in STEPS:
        for name, arguments in calls:
            number += 1
            model.enqueue([function_call(name, arguments, call_id=f"call_{number}")])
        model.enqueue([assistant_message(answer)])


async def main(ariadne: str) -> None:
    config = CompactConfig(
        model="gpt-4o",
        max_context_tokens=8_000,
        profile="offline",
        policy=Policy(strategy="code_delta", keep_recent_turns=3),
        tracing=TracingSettings(ariadne=ariadne),
    )
    model, session = ScriptedModel(), SQLiteSession("coding-session")
    script(model)
    agent = Agent(
        "coder",
        instructions="You repair Python projects.",
        model=model,
        tools=[read_file, search, write_line, run_tests],
    )
    with CompactManager(config) as manager:
        run_config = RunConfig(call_model_input_filter=compact_input_filter(manager, session), tracing_disabled=True)
        for question, _, _ in STEPS:
            result = await Runner.run(agent, question, session=session, run_config=run_config)
            sent, stored = model.calls[-1].input, await session.get_items()
            print(f"{question:<50} {count_tokens(stored):>7,} tokens stored, {count_tokens(sent):>6,} sent")
            print(f"  {result.final_output}")
        report = manager.report("coding-session")
    if report:
        print(f"The last compaction took {report.tokens_before:,} tokens to {report.tokens_after:,}.")
    session.close()


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
