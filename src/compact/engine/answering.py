"""Answering a provider's questions without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compact.engine.driver import Judge
from compact.messages import Message, Text, ToolResult, Where, message_texts, untouchable
from compact.ports import Answer, Ask, Completion, Failure
from compact.summaries.offline import SHARE, summarize_offline


def answer_offline(judge: Judge, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """A deterministic summary of each question's sources, made of their own words.

    What must not be touched goes on standing beside the summary, and is not told in it.
    """
    fixed = untouchable(judge.conversation)
    messages = {message.id: message for message in judge.conversation.messages}
    answers: list[Answer] = []
    for ask in asks:
        sources = [_only(messages[id], ask.place) for id in ask.sources if id in messages]
        budget = min(ask.max_tokens, sum(map(judge.measure.message, sources)) // SHARE)
        text = summarize_offline(sources, budget=budget, count=judge.measure.text, kept=fixed)
        answers.append(Completion(text, trusted=True) if text else Failure("there is nothing to summarize"))
    return tuple(answers)


def _only(message: Message, place: Where | None) -> Message:
    """The message with nothing but the text at that place, as a tool's answer where it is no one's words."""
    text = next((text for where, text in message_texts(message) if where == place), None)
    if place is None or text is None:
        return message
    block = message.blocks[place.block]
    if isinstance(block, Text):
        return replace(message, blocks=(block,))
    call = block.call_id if isinstance(block, ToolResult) else ""
    return replace(message, role="tool", blocks=(ToolResult(call, (Text(text, ()),), False, ()),))
