"""What servers reject that speak OpenAI's format but are not OpenAI's.

Chat templates (vLLM, TGI) differ by model: the variant "vllm" stands for the strictest of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compact.formats.format import EACH_IN_TURN, Finding, Request, Rule, text_of
from compact.formats.openai_chat.wire import call_ids, calls_of, messages_of, model_of
from compact.messages import Alternation, Json, Message

DEEPSEEK = frozenset({"deepseek"})
_MISTRAL = frozenset({"mistral"})
_PERPLEXITY = frozenset({"perplexity"})
_VLLM = frozenset({"vllm"})

_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRAL_MAY_FOLLOW = {
    "system": ("system", "user", "assistant"),
    "user": ("system", "user", "assistant"),
    "assistant": ("user", "assistant", "tool"),
    "tool": ("assistant", "tool"),
}

# The names of the V3.2 generation, and those whose thinking is on unless it is switched off.
_DEEPSEEK_OLD = ("deepseek-chat", "deepseek-reasoner")
_DEEPSEEK_THINKING = ("deepseek-reasoner", "deepseek-v4", "deepseek-flash")


def _late_system_messages(request: Request) -> Iterator[Finding]:
    for index, message in enumerate(messages_of(request.body)):
        if index and message.get("role") == "system":
            yield Finding(index, "System message must be at the beginning.")


def _repeated_speakers(request: Request) -> Iterator[Finding]:
    """Tool results and the calls they answer stand outside the alternation, as in Mistral's templates."""
    text = "Conversation roles must alternate user/assistant/user/assistant/..."
    previous = "assistant"  # so that the user must begin
    for index, message in enumerate(messages_of(request.body)):
        role = message.get("role")
        if role in ("user", "assistant") and not calls_of(message):
            if role == previous:
                yield Finding(index, text)
            previous = role


def _unalternating_roles(request: Request) -> Iterator[Finding]:
    text = "After the (optional) system message(s), user and assistant roles should be alternating."
    previous = ""
    for index, message in enumerate(messages_of(request.body)):
        role = text_of(message.get("role"))
        if previous and (role == "system" or (role == previous and role in ("user", "assistant"))):
            yield Finding(index, text)
        if role != "system":
            previous = role


def _ending_on_assistant(request: Request) -> Iterator[Finding]:
    messages = messages_of(request.body)
    if len(messages) > 1 and messages[-1].get("role") == "assistant" and not messages[-1].get("prefix"):
        text = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        yield Finding(len(messages) - 1, text, code="3230")


def _unexpected_roles(request: Request) -> Iterator[Finding]:
    previous = ""
    for index, message in enumerate(messages_of(request.body)):
        role = text_of(message.get("role"))
        allowed = _MISTRAL_MAY_FOLLOW.get(previous)
        if allowed and role in _MISTRAL_MAY_FOLLOW and role not in allowed:
            yield Finding(index, f"Unexpected role '{role}' after role '{previous}'", code="3230")
        previous = role


def _foreign_ids(request: Request) -> Iterator[Finding]:
    for index, message in enumerate(messages_of(request.body)):
        ids = [text_of(message.get("tool_call_id"))] if message.get("role") == "tool" else call_ids(message)
        for id in ids:
            if id and not _MISTRAL_ID.fullmatch(id):
                text = f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
                yield Finding(index, text, code="3280")


def _thinks(body: Mapping[str, Json]) -> bool:
    """Whether DeepSeek's thinking is known to be on."""
    option = body.get("thinking")
    kind = option.get("type") if isinstance(option, dict) else None
    return kind == "enabled" or (kind != "disabled" and model_of(body).startswith(_DEEPSEEK_THINKING))


def _calls_without_reasoning(messages: list[dict[str, Json]]) -> Iterator[int]:
    """An empty string is reasoning too: models do call without a thought."""
    for index, message in enumerate(messages):
        if calls_of(message) and not isinstance(message.get("reasoning_content"), str):
            yield index


def _lost_reasoning(request: Request) -> Iterator[Finding]:
    if model_of(request.body) in _DEEPSEEK_OLD or not _thinks(request.body):
        return
    text = "The `reasoning_content` in the thinking mode must be passed back to the API."
    for index in _calls_without_reasoning(messages_of(request.body)):
        yield Finding(index, text, code="invalid_request_error")


def _lost_reasoning_of_turn(request: Request) -> Iterator[Finding]:
    """That generation wanted the reasoning of the current turn only."""
    if model_of(request.body) not in _DEEPSEEK_OLD or not _thinks(request.body):
        return
    messages = messages_of(request.body)
    turn = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    for index in _calls_without_reasoning(messages):
        if index > turn:
            text = (
                f"Missing `reasoning_content` field in the assistant message at message index {index}. For more "
                "information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls"
            )
            yield Finding(index, text, code="invalid_request_error")


def _speaker(message: Message) -> str:
    return message.role if message.role in ("user", "assistant") and not message.calls else ""


def _role(message: Message) -> str:
    return "" if message.role == "system" else message.role


ALTERNATIONS: Mapping[str, Alternation] = {
    "vllm": Alternation(_speaker, {**EACH_IN_TURN, ("", "assistant"): "user"}),
    "perplexity": Alternation(_role, EACH_IN_TURN),
    "mistral": Alternation(_role, {("tool", "user"): "assistant"}),
}

BEFORE_PAIRING = (
    Rule(
        id="C9",
        name="only-the-first-message-is-system",
        seen="2026-11",
        source="code",
        remedy="Merge the system messages into the first message, or make the later ones user messages.",
        find=_late_system_messages,
        variants=_VLLM,
    ),
    Rule(
        id="C9b",
        name="user-and-assistant-alternate",
        seen="2026-11",
        source="code",
        remedy="Begin with a user message, and merge neighbouring messages of the same role.",
        find=_repeated_speakers,
        variants=_VLLM,
    ),
    Rule(
        id="C9c",
        name="user-and-assistant-alternate-after-system",
        seen="2026-11",
        source="error",
        remedy="Put system messages first, and merge neighbouring messages of the same role.",
        find=_unalternating_roles,
        variants=_PERPLEXITY,
    ),
    Rule(
        id="M3",
        name="last-message-is-not-the-models",
        seen="2026-11",
        source="error",
        remedy='End with a user or tool message, or set "prefix": true to have the last message continued.',
        find=_ending_on_assistant,
        variants=_MISTRAL,
    ),
    Rule(
        id="M2",
        name="role-may-follow-role",
        seen="2026-11",
        source="error",
        remedy="Let the assistant speak between tool and user messages, and move system messages to the front.",
        find=_unexpected_roles,
        variants=_MISTRAL,
    ),
)

AFTER_PAIRING = (
    Rule(
        id="M1",
        name="call-id-is-nine-letters-or-digits",
        seen="2026-11",
        source="error",
        remedy="Replace the id by nine letters and digits, the same in the call and in its result.",
        find=_foreign_ids,
        variants=_MISTRAL,
    ),
    Rule(
        id="C10",
        name="calls-keep-their-reasoning",
        seen="2026-11",
        source="error",
        remedy="Send the reasoning_content of every message with tool calls as it was received, even if it is empty.",
        find=_lost_reasoning,
        variants=DEEPSEEK,
    ),
    Rule(
        id="C10b",
        name="calls-of-the-current-turn-keep-their-reasoning",
        seen="2026-11",
        source="error",
        remedy="Send the reasoning_content of messages with tool calls since the last user message as received.",
        find=_lost_reasoning_of_turn,
        variants=DEEPSEEK,
    ),
)
