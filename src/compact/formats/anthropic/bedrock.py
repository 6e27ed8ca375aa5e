"""What Amazon Bedrock's Converse rejects of a body in Anthropic's shape, in Converse's words.

Converse does not merge neighbouring messages: results stand in the one message after their calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from compact.formats.anthropic.view import grouped, ids_of, kind_of, parts, view
from compact.formats.format import Finding, Request, Rule


def _unanswered(request: Request) -> Iterator[Finding]:
    read = view(request)
    calls = grouped((spot[0], spot) for spot in read.of_kind("tool_use") if read.roles[spot[0]] == "assistant")
    results = grouped((spot[0], spot) for spot in read.of_kind("tool_result") if read.roles[spot[0]] == "user")
    for index, spots in calls.items():
        answered = {id for _, id in ids_of(results.get(index + 1, ()), "tool_use_id")}
        if missing := [id for _, id in ids_of(spots) if id not in answered]:
            where = f"messages.{index + 1}.content"
            text = f"Expected toolResult blocks at {where} for the following Ids: {', '.join(missing)}"
            yield Finding(index, text)


def _more_results_than_calls(request: Request) -> Iterator[Finding]:
    read = view(request)
    calls = Counter(index for index, _, _ in read.of_kind("tool_use") if read.roles[index] == "assistant")
    results = Counter(index for index, _, _ in read.of_kind("tool_result") if read.roles[index] == "user")
    for index, count in results.items():
        if count > calls[index - 1]:
            where = f"messages.{index}.content"
            text = f"The number of toolResult blocks at {where} exceeds the number of toolUse blocks of previous turn"
            yield Finding(index, text)


def _blank_texts(request: Request) -> Iterator[Finding]:
    for index, message in enumerate(view(request).messages):
        for position, block in enumerate(parts(message)):
            text = block.get("text") if kind_of(block) == "text" else None
            if isinstance(text, str) and not text.strip():
                where = f"messages.{index}.content.{position}"
                yield Finding(index, f"The text field in the ContentBlock object at {where} is blank.")


def _tools_not_declared(request: Request) -> Iterator[Finding]:
    if request.body.get("tools"):
        return
    for index, _, _ in view(request).of_kinds(("tool_use", "tool_result"))[:1]:
        text = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        yield Finding(index, text)


def _empty_errors(request: Request) -> Iterator[Finding]:
    for index, position, block in view(request).of_kind("tool_result"):
        if block.get("is_error") is True and not block.get("content"):
            where = f"messages.{index}.content.{position}.toolResult"
            yield Finding(index, f"The content field at {where} cannot be empty when status value is error.")


_ONLY = frozenset({"bedrock"})

BEDROCK = (
    Rule(
        id="B1",
        name="bedrock-results-in-one-message",
        seen="2026-11",
        source="error",
        remedy="Put the results of all calls of a message into the one user message after it.",
        find=_unanswered,
        variants=_ONLY,
    ),
    Rule(
        id="B2",
        name="bedrock-no-more-results-than-calls",
        seen="2026-11",
        source="error",
        remedy="Keep a call and its result together: restore the call right before the result, or drop the result too.",
        find=_more_results_than_calls,
        variants=_ONLY,
    ),
    Rule(
        id="B3",
        name="bedrock-text-not-blank",
        seen="2026-11",
        source="error",
        remedy="Drop the blank text block, or put a placeholder text in it.",
        find=_blank_texts,
        variants=_ONLY,
    ),
    Rule(
        id="B4",
        name="bedrock-tools-declared",
        seen="2026-11",
        source="error",
        remedy="Send the tools (toolConfig) as long as the messages hold calls or results, in a summary request too.",
        find=_tools_not_declared,
        variants=_ONLY,
    ),
    Rule(
        id="B5",
        name="bedrock-error-result-not-empty",
        seen="2026-11",
        source="error",
        remedy="Say in the result what went wrong, or take is_error off.",
        find=_empty_errors,
        variants=_ONLY,
    ),
)
