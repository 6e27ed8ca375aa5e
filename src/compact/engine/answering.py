"""Answering a provider's questions: by a model, or without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compact.engine.callback import failed_answers, read_answers
from compact.engine.driver import AskModel, Judge
from compact.messages import Message, Text, ToolResult, Where, message_texts, untouchable
from compact.ports import Answer, Ask, Completion, Failure
from compact.summaries.offline.emphasis import emphasis_of
from compact.summaries.offline.summarize import SHARE, summarize_offline


def answer_safely(ask: AskModel, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """What the function answers; where it raises or gives something else, the answers are Failures.

    A question may name the profile that is to answer it. Where that one cannot be asked, the conversation's own model
    is.
    """
    answers = list(_asked(ask, asks))
    again = {
        at: replace(one, profile="")
        for at, (one, got) in enumerate(zip(asks, answers, strict=True))
        if one.profile and isinstance(got, Failure) and not got.final
    }
    if again:
        for at, answer in zip(again, _asked(ask, list(again.values())), strict=True):
            answers[at] = answer
    return tuple(answers)


def answer_offline(judge: Judge, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """A deterministic summary of each question's sources, made of their own words, by the emphasis of its strategy.

    What must not be touched goes on standing beside the summary, and is not told in it.
    """
    fixed = untouchable(judge.conversation)
    messages = {message.id: message for message in judge.conversation.messages}
    answers: list[Answer] = []
    for ask in asks:
        sources = [_only(messages[id], ask.place) for id in ask.sources if id in messages]
        budget = min(ask.wished, sum(map(judge.measure.message, sources)) // SHARE)
        count, emphasis = judge.measure.text, emphasis_of(ask.strategy)
        text = summarize_offline(sources, budget=budget, count=count, kept=fixed, emphasis=emphasis)
        answers.append(Completion(text, trusted=True) if text else Failure("there is nothing to summarize"))
    return tuple(answers)


def _asked(ask: AskModel, asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """One answer to each question; the function is the application's own, and may give anything."""
    try:
        return read_answers(ask(asks), asks)
    except Exception as error:  # noqa: BLE001 - the application's own code; a provider can cope with a Failure
        return failed_answers(error, asks)


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
