"""What each message must look like by itself: its blocks, its role, its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from compact.formats.anthropic.model import refuses_prefill, takes_system_messages
from compact.formats.anthropic.view import (
    SERVER_CALLS,
    ids_of,
    is_server_result,
    kind_of,
    parts,
    role_of,
    thinks,
    view,
)
from compact.formats.format import Finding, Request, Rule
from compact.messages import Json

_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _malformed_ids(request: Request) -> Iterator[Finding]:
    for (index, position, _), id in ids_of(view(request).of_kind("tool_use")):
        if not _ID.fullmatch(id):
            where = f"messages.{index}.content.{position}.tool_use.id"
            yield Finding(index, f"{where}: String should match pattern '^[a-zA-Z0-9_-]+$'")


def _inputs_that_are_no_objects(request: Request) -> Iterator[Finding]:
    for index, position, block in view(request).of_kind("tool_use"):
        if not isinstance(block.get("input", {}), dict):
            where = f"messages.{index}.content.{position}.tool_use.input"
            yield Finding(index, f"{where}: Input should be a valid dictionary")


def _cached_thinking(request: Request) -> Iterator[Finding]:
    for index, position, block in view(request).thinking:
        if "cache_control" in block:
            where = f"messages.{index}.content.{position}.{kind_of(block)}.cache_control"
            yield Finding(index, f"{where}: Extra inputs are not permitted")


def _system_messages(request: Request) -> Iterator[Finding]:
    if takes_system_messages(request.body):
        return
    for index, role in enumerate(view(request).roles):
        if role == "system":
            yield Finding(
                index,
                "messages: Unexpected role \"system\". The Messages API accepts a top-level 'system' parameter, "
                'not "system" as an input message role.',
            )


def _misplaced_system_messages(request: Request) -> Iterator[Finding]:
    """A run of system messages stands after a user's and before the assistant's, or ends the conversation."""
    if not takes_system_messages(request.body):
        return
    wires, roles = view(request).messages, view(request).roles
    for index, role in enumerate(roles):
        if role != "system" or _is_directive(wires[index]):
            continue
        if index == 0:
            text = "use the top-level 'system' parameter for the initial system prompt"
            yield Finding(index, f"messages.{index}: {text}")
        elif roles[index - 1] == "assistant" and not _ends_in_server_result(wires[index - 1]):
            text = "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
            yield Finding(index, f"messages.{index}: {text}")
        if roles[index + 1 : index + 2] == ["user"]:
            text = "role 'system' must precede an 'assistant' message or end the array"
            yield Finding(index, f"messages.{index}: {text}")


def _is_directive(message: Json) -> bool:
    """Whether the message says nothing and only sets options: such a one may stand anywhere."""
    return role_of(message) == "system" and message.get("content") == [] and "output_config" in message


def _ends_in_server_result(message: Json) -> bool:
    blocks = parts(message)
    return bool(blocks) and is_server_result(blocks[-1])


def _first_role(request: Request) -> Iterator[Finding]:
    if view(request).roles[:1] == ["assistant"]:
        yield Finding(0, 'messages: first message must use the "user" role')


def _repeated_roles(request: Request) -> Iterator[Finding]:
    for index, (before, role) in enumerate(pairwise(view(request).roles), 1):
        if role == before and role in ("user", "assistant"):
            text = f'but found multiple "{role}" roles in a row'
            yield Finding(index, f'messages: roles must alternate between "user" and "assistant", {text}')


def _empty_messages(request: Request) -> Iterator[Finding]:
    wires, roles = view(request).messages, view(request).roles
    for index, message in enumerate(wires):
        if not isinstance(message, dict) or message.get("content", 0) not in ("", []):
            continue
        if not _is_directive(message) and not (roles[index] == "assistant" and index == len(wires) - 1):
            text = "all messages must have non-empty content except for the optional final assistant message"
            yield Finding(index, f"messages.{index}: {text}")


def _empty_texts(request: Request) -> Iterator[Finding]:
    found = [index for index, _, block in view(request).of_kind("text") if block.get("text") == ""]
    for index, _, block in view(request).of_kind("tool_result"):
        if isinstance(inner := block.get("content"), list):
            found += [index for part in inner if kind_of(part) == "text" and part.get("text") == ""]
    for index in sorted(found):
        yield Finding(index, "messages: text content blocks must be non-empty")


def _blank_texts(request: Request) -> Iterator[Finding]:
    """Blank text beside anything else passes: models write it themselves, before thinking."""
    for index, message in enumerate(view(request).messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            blank = bool(content) and all(
                kind_of(block) == "text" and _is_blank(block.get("text")) for block in content
            )
        else:
            blank = _is_blank(content)
        if blank:
            yield Finding(index, "messages: text content blocks must contain non-whitespace text")


def _is_blank(text: Json) -> bool:
    return isinstance(text, str) and text.isspace()


def _trailing_whitespace(request: Request) -> Iterator[Finding]:
    for index, last in _final_assistant(request):
        text = last.get("text") if kind_of(last) == "text" else None
        if isinstance(text, str) and text[-1:].isspace():
            yield Finding(index, "messages: final assistant content cannot end with trailing whitespace")


def _prefill(request: Request) -> Iterator[Finding]:
    if not refuses_prefill(request.body) and not thinks(request.body):
        return
    for index, last in _final_assistant(request):
        # A paused turn of a tool that the vendor runs is sent back as it is, to be continued.
        if kind_of(last) not in SERVER_CALLS and not is_server_result(last):
            yield Finding(
                index,
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            )


def _final_assistant(request: Request) -> Iterator[tuple[int, Json]]:
    """The index and the last block of the message, if it is the assistant's, that the request ends with."""
    if view(request).roles[-1:] == ["assistant"]:
        blocks = parts(view(request).messages[-1])
        yield len(view(request).messages) - 1, blocks[-1] if blocks else None


SHAPE = (
    Rule(
        id="A8",
        name="call-id-characters",
        seen="2026-11",
        source="error",
        remedy="Rename the call in its tool_use and its tool_result alike, using letters, digits, _ and - only.",
        find=_malformed_ids,
    ),
    Rule(
        id="A9",
        name="call-input-is-an-object",
        seen="2026-11",
        source="unsourced",
        remedy="Send the call's input as a JSON object, not as text or a list.",
        find=_inputs_that_are_no_objects,
    ),
    Rule(
        id="A29",
        name="no-cache-breakpoint-on-thinking",
        seen="2026-11",
        source="error",
        remedy="Move cache_control to the next block that is not thinking.",
        find=_cached_thinking,
    ),
    Rule(
        id="A24",
        name="no-system-message",
        seen="2026-11",
        source="error",
        remedy="Move the text to the top-level system prompt, or make it a user message.",
        find=_system_messages,
    ),
    Rule(
        id="A25",
        name="system-message-before-an-answer",
        seen="2026-11",
        source="error",
        remedy="Move the system message right after a user message that the assistant answers next, or to the end.",
        find=_misplaced_system_messages,
    ),
    Rule(
        id="A10",
        name="first-message-is-the-users",
        seen="2026-11",
        source="error",
        remedy="Keep the first user message, or put a user message (a summary, say) in front.",
        find=_first_role,
    ),
    Rule(
        id="A11",
        name="roles-alternate",
        seen="2025-03",
        source="error",
        remedy="Merge the neighbouring messages of the same role into one.",
        find=_repeated_roles,
        variants=frozenset({"bedrock", "strict"}),
    ),
    Rule(
        id="A12",
        name="content-not-empty",
        seen="2026-11",
        source="error",
        remedy="Drop the message, or put a placeholder text in it.",
        find=_empty_messages,
    ),
    Rule(
        id="A13",
        name="text-not-empty",
        seen="2026-11",
        source="error",
        remedy="Drop the empty text block, or put a placeholder text in it.",
        find=_empty_texts,
        variants=frozenset({"anthropic", "strict"}),
    ),
    Rule(
        id="A14",
        name="text-not-blank",
        seen="2026-11",
        source="error",
        remedy="Drop the message, or put a placeholder text in it.",
        find=_blank_texts,
        variants=frozenset({"anthropic", "strict"}),
    ),
    Rule(
        id="A15",
        name="no-trailing-whitespace-in-prefill",
        seen="2026-11",
        source="error",
        remedy="Strip the end of the last assistant message.",
        find=_trailing_whitespace,
    ),
    Rule(
        id="A16",
        name="no-prefill",
        seen="2026-11",
        source="error",
        remedy="End the conversation with a user message; drop the assistant message at the end or answer it.",
        find=_prefill,
    ),
)
