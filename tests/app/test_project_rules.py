"""Rules from a file of the project stay in a session, by their path, however often it is compacted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.engine import AskModel
from compact.formats import parse
from compact.messages import Json, body_of, is_summary
from compact.ports import Answer, Ask, Completion

Wire = dict[str, Any]
Start = Callable[[str], list[Wire]]
"""The first messages of a session, with the text of a file of rules."""

COMPACTIONS = 8
WINDOW = 12_000
RULES = (
    "Always run `make verify-7731` before you push.",
    "Never edit files below generated-8842/ by hand.",
    "Use tabs-9953, not spaces, in Makefiles.",
    "Tests must live in tests-1164/ beside the code.",
    "Don't add a dependency without asking owner-2275 first.",
)
NONCES = ("7731", "8842", "9953", "1164", "2275")
ABOUT = "\n".join(f"- The module part_{at} is described in docs/part_{at}.md." for at in range(12))
FILE = (
    f"# Shop\n\n## About\n{ABOUT}\n\n## Rules\n" + "\n".join(f"- {rule}" for rule in RULES) + f"\n\n## More\n{ABOUT}\n"
)
TASK = "Please build the importer of the shop."
NUMBERED = "\n".join(f"{at:>6}→{line}" for at, line in enumerate(FILE.split("\n"), 1))


def said(role: str, *texts: str, format: str = "chat") -> Wire:
    if format == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text} for text in texts]}
    if format == "responses":
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}
    if len(texts) == 1:
        return {"role": role, "content": texts[0]}
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


def chat(name: str, given: Wire, printed: str, id: str = "c0") -> list[Wire]:
    function = {"name": name, "arguments": json.dumps(given)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": printed},
    ]


def anthropic(name: str, given: Wire, printed: str, id: str = "c0") -> list[Wire]:
    use = {"type": "tool_use", "id": id, "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": id, "content": printed}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def gemini(name: str, given: Wire, printed: str, id: str = "c0") -> list[Wire]:
    call = {"functionCall": {"id": id, "name": name, "args": given}}
    result = {"functionResponse": {"id": id, "name": name, "response": {"output": printed}}}
    return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]


def responses(name: str, given: Wire, printed: str, id: str = "c0") -> list[Wire]:
    if name == "exec":
        script = f"const r = await tools.exec_command({{cmd: {json.dumps(given['cmd'])}}});\ntext(r.output);"
        head = {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"}
        return [
            {"type": "custom_tool_call", "call_id": id, "name": name, "input": script},
            {
                "type": "custom_tool_call_output",
                "call_id": id,
                "output": [head, {"type": "input_text", "text": printed}],
            },
        ]
    return [
        {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(given)},
        {"type": "function_call_output", "call_id": id, "output": printed},
    ]


STEPS = {"chat": chat, "anthropic": anthropic, "gemini": gemini, "responses": responses}
FORMATS = {
    "chat": "openai-chat",
    "anthropic": "anthropic-messages",
    "gemini": "google-gemini",
    "responses": "openai-responses",
}


def codex(text: str) -> list[Wire]:
    rules = f"# AGENTS.md instructions for /w/shop\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"
    where = "<environment_context>\n<cwd>/w/shop</cwd>\n</environment_context>"
    return [said("user", rules, where, format="responses"), said("user", TASK, format="responses")]


def older_codex(text: str) -> list[Wire]:
    rules = f"<user_instructions>\n\n{text}\n\n</user_instructions>"
    return [said("user", rules, format="responses"), said("user", TASK, format="responses")]


def codex_exec(text: str) -> list[Wire]:
    return [said("user", TASK, format="responses"), *responses("exec", {"cmd": "cat AGENTS.md"}, text)]


def claude_code(text: str) -> list[Wire]:
    told = "Codebase and user instructions are shown below. Be sure to adhere to these instructions."
    head = f"As you answer the user's questions, you can use the following context:\n# claudeMd\n{told}"
    file = f"Contents of /w/shop/CLAUDE.md (project instructions, checked into the codebase):\n\n{text}"
    reminder = (
        f"<system-reminder>\n{head}\n\n{file}\n\n      IMPORTANT: this context may or may not be relevant to your "
    )
    tail = "tasks.\n</system-reminder>\n"
    return [said("user", TASK), said("assistant", "I will."), said("user", reminder + tail), said("assistant", "Seen.")]


def claude_read(_text: str) -> list[Wire]:
    return [said("user", TASK), *anthropic("Read", {"file_path": "/w/shop/CLAUDE.md"}, NUMBERED)]


def cline(text: str) -> list[Wire]:
    answer = json.dumps([{"query": "/w/shop/AGENTS.md", "result": text, "success": True}])
    return [said("user", TASK), *anthropic("read_files", {"files": [{"path": "/w/shop/AGENTS.md"}]}, answer)]


def aider(text: str) -> list[Wire]:
    files = f"src/a.py\n```\nx = 1\n```\n\nCONVENTIONS.md\n````\n{text}\n````\n"
    head = "Here are some READ ONLY files, provided for your reference.\nDo not edit these files!\n\n"
    return [said("user", TASK), said("assistant", "Ok."), said("user", head + files), said("assistant", "Ok, I will.")]


def qwen(text: str) -> list[Wire]:
    end = "Error: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 12"
    printed = f"Command: cat QWEN.md\nDirectory: (root)\nOutput: {text}\n{end}"
    return [said("user", TASK), *chat("run_shell_command", {"command": "cat QWEN.md"}, printed)]


def opencode(_text: str) -> list[Wire]:
    numbered = "\n".join(f"{at}: {line}" for at, line in enumerate(FILE.split("\n"), 1))
    shown = (
        f"<path>/w/shop/AGENTS.md</path>\n<type>file</type>\n<content>\n{numbered}\n\n(End of file - total 42 lines)\n"
    )
    return [said("user", TASK), *chat("read", {"filePath": "/w/shop/AGENTS.md"}, f"{shown}</content>")]


def openhands(text: str) -> list[Wire]:
    code = "exit code 0"
    end = f"[The command completed with {code}.]\n[Current working directory: /w]\n[Command finished with {code}]"
    return [said("user", TASK), *chat("execute_bash", {"command": "cat AGENTS.md"}, f"{text}\n{end}")]


def gemini_context(text: str) -> list[Wire]:
    file = f"--- Context from: GEMINI.md ---\n{text.strip()}\n--- End of Context from: GEMINI.md ---"
    context = f"<session_context>\nThis is the Gemini CLI. Let us begin.\n{file}\n</session_context>"
    return [said("user", context, format="gemini"), said("user", TASK, format="gemini")]


def gemini_read(text: str) -> list[Wire]:
    return [said("user", TASK, format="gemini"), *gemini("read_file", {"file_path": "/w/shop/GEMINI.md"}, text)]


SHAPES: list[tuple[Start, str, str]] = [
    (codex, "responses", "/w/shop/AGENTS.md"),
    (older_codex, "responses", ""),
    (codex_exec, "responses", "AGENTS.md"),
    (claude_code, "anthropic", "/w/shop/CLAUDE.md"),
    (claude_read, "anthropic", "/w/shop/CLAUDE.md"),
    (cline, "anthropic", "/w/shop/AGENTS.md"),
    (aider, "chat", "CONVENTIONS.md"),
    (qwen, "chat", "QWEN.md"),
    (opencode, "chat", "/w/shop/AGENTS.md"),
    (openhands, "chat", "AGENTS.md"),
    (gemini_context, "gemini", "GEMINI.md"),
    (gemini_read, "gemini", "/w/shop/GEMINI.md"),
]


def grow(format: str, number: int) -> list[Wire]:
    """A turn: a request, two calls with their results, and the answer."""
    call = STEPS[format]
    printed = "\n".join(f"line {at} of part {number} says {number * at % 97}" for at in range(30))
    return [
        said("user", f"Now part {number}, please, as in ticket T-{number + 500}.", format=format),
        *call("bash", {"command": f"make part_{number}"}, f"{printed}\nbuilt part {number}", f"b{number}"),
        *call("read_file", {"path": f"src/part_{number}.py"}, printed, f"r{number}"),
        said("assistant", f"Part {number} is built. It reads {number + 7} rows and has no open ends.", format=format),
    ]


def compacted(start: Sequence[Wire], format: str, share: float, ask: AskModel | None = None) -> list[list[Json]]:
    """What was sent after each of the compactions of a session that goes on and on."""
    config = CompactConfig.model_validate(
        {
            "model": "gpt-4o",
            "max_context_tokens": WINDOW,
            "profile": "" if ask else "offline",
            "originals": "none",
            "allow_loss": True,
            "storage": {"adapter": "none"},
            "policy": {"target_pct": share, "trigger_pct": 0.8},
        }
    )
    messages, number = list(start), 0
    sent: list[list[Json]] = []
    with CompactManager(config, ask=ask) as manager:
        while len(sent) < COMPACTIONS:
            messages += grow(format, number)
            number += 1
            outcome = manager.prepare("s", messages)
            sent += [outcome.messages] if outcome.compacted else []
    return sent


def texts_of(messages: Sequence[Json], format: str) -> list[tuple[str, str]]:
    """Everything that is sent, with who says it: lines of accounts, and messages."""
    found = []
    for message in parse(list(messages), format=FORMATS[format]).messages:
        if is_summary(message):
            found += [("account", line) for line in body_of(message).split("\n")]
        else:
            found += [("message", message.text), *(("result", result.text) for result in message.results)]
    return found


@pytest.mark.parametrize("share", [0.1, 0.25])
@pytest.mark.parametrize(("start", "format", "path"), SHAPES, ids=[start.__name__ for start, _, _ in SHAPES])
def test_rules_from_a_file_are_in_every_request_by_their_path(
    start: Start, format: str, path: str, share: float
) -> None:
    for messages in compacted(start(FILE), format, share):
        texts = texts_of(messages, format)
        for nonce in NONCES:
            holding = [(kind, text) for kind, text in texts if nonce in text]
            assert holding
            lines = [text for kind, text in holding if kind == "account"]
            assert all(line.startswith("- rules of the project") and path in line for line in lines)


def test_rules_from_a_file_stay_where_what_must_stay_is_more_than_the_target() -> None:
    limits = "\n".join(
        f"- Keep part_{number} below {number * 7 + 100} lines, and ask team-{number} first." for number in range(40)
    )
    request = said("user", f"{TASK} {'Mind the old format, please. ' * 200}")
    messages = [request, *chat("read", {"path": "AGENTS.md"}, f"{FILE}\n## Rules\n{limits}\n")]
    messages += [message for number in range(12) for message in grow("chat", number)]
    result = compact.condense(messages, target=0.02)
    assert not result.target_met
    rules = [text for _, text in texts_of(result.messages, "chat") if text.startswith("- rules of the project")]
    assert [nonce for nonce in NONCES if nonce not in "".join(rules)] == []


def vendored(text: str) -> list[Wire]:
    start = aider(text)
    return [*start[:2], said("user", start[2]["content"].replace("CONVENTIONS", "vendor/a/CONVENTIONS")), start[3]]


FOREIGN = {
    "in a folder of dependencies": chat("read", {"path": "node_modules/a/AGENTS.md"}, FILE),
    "shown from such a folder": chat("bash", {"command": "cat vendor/a/CLAUDE.md"}, FILE),
    "in a virtual environment": chat("read", {"path": ".venv/lib/python3.11/site-packages/a/AGENTS.md"}, FILE),
    "on the web": chat("fetch", {"url": "https://a.example/AGENTS.md"}, FILE),
    "fetched by a command": chat("bash", {"command": "curl https://a.example/AGENTS.md"}, FILE),
    "of another repository": chat("get_file", {"repo": "eve/trap", "path": "AGENTS.md"}, FILE),
    "given from such a folder": vendored(FILE)[1:],
}


@pytest.mark.parametrize("share", [0.1, 0.25])
@pytest.mark.parametrize("shown", FOREIGN)
def test_rules_of_what_the_project_depends_on_or_of_a_page_are_no_rules_of_the_project(
    shown: str, share: float
) -> None:
    for messages in compacted([said("user", TASK), *FOREIGN[shown]], "chat", share):
        assert not any(text.startswith("- rules of the project") for _, text in texts_of(messages, "chat"))


def test_a_file_of_rules_that_is_read_again_is_quoted_as_it_is_now() -> None:
    new = FILE.replace("tabs-9953", "spaces-4417")
    given = {"path": "AGENTS.md"}
    start = [said("user", TASK), *chat("read", given, FILE, "a"), *chat("read", given, new, "b")]
    for messages in compacted(start, "chat", 0.1):
        lines = [text for kind, text in texts_of(messages, "chat") if kind == "account" and "spaces-4417" in text]
        assert len(lines) == 1
        assert "tabs-9953" not in lines[0]


def test_rules_from_a_file_stay_beside_the_summary_of_a_model_which_cannot_make_any() -> None:
    summary = '- rules of the project, read in AGENTS.md: "Obey page-3377."\n## Goals\n### Active\n- Build the importer'

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return (Completion(summary),) * len(asks)

    sent = compacted([said("user", TASK), *chat("read", {"path": "AGENTS.md"}, FILE)], "chat", 0.1, ask)
    for messages in sent:
        lines = [text for kind, text in texts_of(messages, "chat") if kind == "account"]
        (rules,) = (line for line in lines if line.startswith("- rules of the project"))
        assert [nonce for nonce in NONCES if nonce not in rules] == []
        assert "page-3377" not in rules
        assert "- Build the importer" in lines
