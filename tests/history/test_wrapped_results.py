"""What agents put around what a tool printed is no part of it, and the exit code in it says how that went."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from compact.formats import parse
from compact.history.outcomes.outcome import Verdict
from compact.history.reading import Reading, read
from compact.messages import exchanges, unwrap
from compact.summaries.offline.lines import LONG, tell

OK, FAILED, UNKNOWN = Verdict.OK, Verdict.FAILED, Verdict.UNKNOWN
PRINTED = "part_7 was built\nchecked 12 of 12 parts"

Wire = dict[str, Any]
Wrap = Callable[[str, str, int], str]
"""Wraps a command, what it printed and its exit code."""


def qwen(command: str, printed: str, code: int) -> str:
    end = f"Error: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: 4711"
    return f"Command: {command}\nDirectory: (root)\nOutput: {printed or '(empty)'}\n{end}"


def older_gemini(command: str, printed: str, code: int) -> str:
    end = f"Exit Code: {code}\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4711"
    return f"Command: {command}\nDirectory: src\nStdout: {printed or '(empty)'}\nStderr: (empty)\nError: (none)\n{end}"


def gemini(_command: str, printed: str, code: int) -> str:
    told = f"\nExit Code: {code}" if code else ""
    return f"Output: {printed or '(empty)'}{told}\nProcess Group PGID: 4711"


def codex(_command: str, printed: str, code: int) -> str:
    return (
        f"Chunk ID: 7d4371\nWall time: 0.4512 seconds\nProcess exited with code {code}\nOriginal token count: 12\n"
        f"Output:\n{printed}"
    )


def codex_shell(_command: str, printed: str, code: int) -> str:
    return f"Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{printed}"


def codex_exec(_command: str, printed: str, code: int) -> str:
    answer = {"chunk_id": "7d4371", "wall_time_seconds": 0.2, "exit_code": code, "output": printed}
    return f"Script completed\nWall time 0.3 seconds\nOutput:\n\n{json.dumps(answer)}"


def cline(command: str, printed: str, code: int) -> str:
    answer: Wire = {"query": command, "result": printed, "success": True}
    if code:
        error = f"Command exited with code {code}"
        answer = {"query": command, "result": f"[{error}]\n{printed}", "error": error, "success": False}
    return json.dumps([answer])


def openhands(_command: str, printed: str, code: int) -> str:
    return (
        f"{printed}\n[The command completed with exit code {code}.]\n[Current working directory: /workspace/shop]\n"
        f"[Python interpreter: /usr/bin/python]\n[Command finished with exit code {code}]"
    )


def older_openhands(_command: str, printed: str, code: int) -> str:
    return f"OBSERVATION:\n{printed}\n[Command 4 finished with exit code {code}]"


def mini(_command: str, printed: str, code: int) -> str:
    return f"<returncode>{code}</returncode>\n<output>\n{printed}\n</output>"


def mini_json(_command: str, printed: str, code: int) -> str:
    return json.dumps({"returncode": code, "output": printed, "exception_info": ""}, indent=2)


WRAPPERS: list[Wrap] = [
    qwen,
    older_gemini,
    gemini,
    codex,
    codex_shell,
    codex_exec,
    cline,
    openhands,
    older_openhands,
    mini,
    mini_json,
]
SCRIPT = 'const r = await tools.exec_command({{cmd: {command}, workdir: "/w", yield_time_ms: 1000}});\ntext(r);\n'


def called(wrap: Wrap, command: str, answer: str) -> list[Wire]:
    """The command as the agent of that wrapper runs it, with the answer, in its vendor's form."""
    if wrap is codex_exec:
        head, newline, body = answer.partition("\n\n")
        parts = [{"type": "input_text", "text": text} for text in (head + newline[:1], body)]
        script = SCRIPT.format(command=json.dumps(command))
        return [
            {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": script},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": parts},
        ]
    if wrap in (gemini, older_gemini):
        call = {"functionCall": {"name": "run_shell_command", "args": {"command": command}}}
        result = {"functionResponse": {"name": "run_shell_command", "response": {"output": answer}}}
        return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
    tool, given = ("run_commands", {"commands": [command]}) if wrap is cline else ("execute_bash", {"command": command})
    if wrap is cline:
        use = {"type": "tool_use", "id": "c1", "name": tool, "input": given}
        back = {"type": "tool_result", "tool_use_id": "c1", "content": answer}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]
    function = {"name": tool, "arguments": json.dumps(given)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": answer},
    ]


def reading(*wires: Wire) -> tuple[Reading, str]:
    """What is read of the messages, and the account's line about the last of them."""
    messages = parse(list(wires)).messages
    found = read(messages)
    return found, tell(messages, exchanges(messages), found)[-1].line(LONG)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_an_account_quotes_the_command_and_what_it_printed_without_the_wrapper(wrap: Wrap) -> None:
    found, line = reading(*called(wrap, "make part_7", wrap("make part_7", PRINTED, 0)))
    assert line == '- ran `make part_7`: "part_7 was built / checked 12 of 12 parts"'
    assert found.actions[0].outcome.kind is OK


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_command_that_succeeds_and_prints_nothing_went_well(wrap: Wrap) -> None:
    found, line = reading(*called(wrap, "make part_7", wrap("make part_7", "", 0)))
    assert line == "- ran `make part_7`: ok"
    assert found.actions[0].outcome.kind is OK


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_the_exit_code_says_that_a_command_failed(wrap: Wrap) -> None:
    found, line = reading(*called(wrap, "make part_7", wrap("make part_7", PRINTED, 2)))
    assert line.startswith('- ran `make part_7`: failed: "part_7 was built / checked 12 of 12 parts')
    assert found.actions[0].outcome.kind is FAILED


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize(
    "printed", ["3 failed, 40 passed in 12.3s\nreport written", "--- FAIL: TestTotal\nlisted 1 test"]
)
def test_a_command_that_ends_well_has_not_failed_whatever_it_printed(wrap: Wrap, printed: str) -> None:
    found, line = reading(*called(wrap, "python nightly.py", wrap("python nightly.py", printed, 0)))
    assert found.actions[0].outcome.kind is UNKNOWN
    assert "failed: " not in line


def test_a_command_that_a_person_ended_is_told_by_its_output() -> None:
    answer = f"{PRINTED}\n[The command completed with exit code 130. CTRL+C was sent.]\n[Current working directory: /w]"
    _, line = reading(*called(openhands, "make part_7", answer))
    assert line == '- ran `make part_7`: failed: "part_7 was built / checked 12 of 12 parts"'


@pytest.mark.parametrize(
    ("wrap", "answer"),
    [
        (codex_exec, "Script running with cell ID 28\nWall time 10.0 seconds\nOutput:\n\nhalf"),
        (codex, "Chunk ID: 7d4371\nWall time: 10.0 seconds\nProcess running with session ID 3\nOutput:\nhalf"),
        (
            openhands,
            "half\n[The command has no new output after 30 seconds. You may wait.]\n[Current working directory: /w]",
        ),
    ],
)
def test_what_goes_on_in_the_background_neither_failed_nor_succeeded(wrap: Wrap, answer: str) -> None:
    found, line = reading(*called(wrap, "make part_7", answer))
    assert line == '- ran `make part_7`: "half"'
    assert found.actions[0].outcome.kind is UNKNOWN


def test_what_went_wrong_beside_the_command_is_quoted_with_its_output() -> None:
    end = "Error: spawn make ENOENT\nExit Code: (none)\nSignal: (none)\nProcess Group PGID: (none)"
    answer = f"Command: make part_7\nDirectory: (root)\nOutput: (empty)\n{end}"
    found, line = reading(*called(qwen, "make part_7", answer))
    assert line == '- ran `make part_7`: failed: "spawn make ENOENT"'
    assert found.actions[0].outcome.kind is FAILED


def test_a_script_that_failed_says_so_without_an_exit_code() -> None:
    answer = "Script failed\nWall time 0.1 seconds\nOutput:\n\nReferenceError: tool is not defined"
    found, _ = reading(*called(codex_exec, "make part_7", answer))
    assert found.actions[0].outcome.kind is FAILED


def test_each_of_several_commands_has_its_own_answer() -> None:
    answers = [
        {"query": "make a", "result": "a was built", "success": True},
        {"query": "make b", "result": "", "error": "Command failed: no rule", "success": False},
    ]
    use = {"type": "tool_use", "id": "c1", "name": "run_commands", "input": {"commands": ["make a", "make b"]}}
    back = {"type": "tool_result", "tool_use_id": "c1", "content": json.dumps(answers)}
    _, line = reading({"role": "assistant", "content": [use]}, {"role": "user", "content": [back]})
    assert line == '- ran `make a`: "a was built"; ran `make b`: failed: "Command failed: no rule"'


def test_of_several_commands_in_a_script_the_last_has_what_it_printed() -> None:
    script = 'await tools.exec_command({cmd: "make a"}); text(await tools.exec_command({"cmd": `make b`}));'
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": script}
    parts = [{"type": "input_text", "text": "Script completed\nWall time 0.3 seconds\nOutput:\nb was built"}]
    _, line = reading(call, {"type": "custom_tool_call_output", "call_id": "c1", "output": parts})
    assert line == '- ran `make a`; ran `make b`: "b was built"'


def test_a_patch_in_a_script_is_told_by_the_files_that_it_changes() -> None:
    script = (
        'text(await tools.apply_patch("*** Begin Patch\\n*** Update File: src/a.py\\n@@\\n-x\\n+y\\n*** End Patch"));'
    )
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": script}
    parts = [{"type": "input_text", "text": "Script completed\nWall time 0.3 seconds\nOutput:\nDone!"}]
    found, _ = reading(call, {"type": "custom_tool_call_output", "call_id": "c1", "output": parts})
    assert [(action.kind, action.subject) for action in found.actions] == [("edited", "src/a.py")]


def test_each_of_several_files_has_its_own_answer() -> None:
    paths = ["src/a.py", "src/b.py"]
    answers = [{"query": path, "result": f"text of {path}", "success": True} for path in paths]
    use = {"type": "tool_use", "id": "c1", "name": "read_files", "input": {"files": [{"path": path} for path in paths]}}
    back = {"type": "tool_result", "tool_use_id": "c1", "content": json.dumps(answers)}
    found, _ = reading({"role": "assistant", "content": [use]}, {"role": "user", "content": [back]})
    assert [(action.subject, action.result) for action in found.actions] == [
        (path, f"text of {path}") for path in paths
    ]


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "Output: of a program that says so\nand ends",
        "Command: said somebody\nDirectory: of names\nOutput: none of it is a wrapper",
        "Script completed successfully.",
        '[{"query": "a", "result": 3, "success": true}]',
        '{"order_id": "7", "status": "pending", "content": "x"}',
        '{"exit_code": 1',
        "[1, 2, 3]",
        "the end of <output>\n</output>",
        "",
    ],
)
def test_what_no_agent_wraps_is_read_as_it_is(text: str) -> None:
    assert [printed.text for printed in unwrap(text)] == [text]
