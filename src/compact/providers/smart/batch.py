"""Batch mode: one summary stands for all selected exchanges."""

from __future__ import annotations

from compact.messages import Fold, Message, Pass, Text
from compact.messages.seals import seal
from compact.ports import Ask, Completion
from compact.providers.provider import Steps, Task, ask, propose
from compact.providers.smart.prompting import batch_instructions
from compact.providers.smart.selecting import foldable
from compact.providers.smart.settings import PassSettings
from compact.summaries.transcript import transcribe


def fold_batch(task: Task, settings: PassSettings, positions: list[int]) -> Steps:
    """Ask for a summary of the selected exchanges, and let it stand for them; without one nothing changes."""
    batch = settings.batch
    if batch.operation == "keep":
        yield from propose(Pass(settings.title, (), ("the operation is to keep them",)))
        return
    chosen = [task.conversation.messages[index] for index in foldable(task.conversation, positions, batch)]
    if not chosen:
        yield from propose(Pass(settings.title, (), ("no whole exchange is selected that may be summarized",)))
        return
    ids = tuple(message.id for message in chosen)
    instructions = batch.prompt or batch_instructions(batch.max_tokens)
    question = Ask(instructions, str(transcribe(chosen)), batch.max_tokens, ids, batch.profile)
    (answer,) = yield from ask(question)
    if not isinstance(answer, Completion):
        yield from propose(Pass(settings.title, (), (f"no summary: {answer.reason}",)))
    elif not answer.text.strip():
        yield from propose(Pass(settings.title, (), ("no summary: the answer was empty",)))
    else:
        yield from propose(_folded(task, settings.title, chosen, answer))


def _folded(task: Task, title: str, chosen: list[Message], answer: Completion) -> Pass:
    text = seal(answer.text, len(chosen))
    before = sum(map(task.measure.message, chosen))
    after = task.measure.message(Message("summary", "assistant", (Text(text, ()),), None))
    if after >= before:
        return Pass(title, (), (f"no summary: {before:,} tokens would have become {after:,}",))
    notes = (f"{len(chosen)} messages summarized", *(["the summary was cut off at max_tokens"] * answer.truncated))
    return Pass(title, (Fold(tuple(message.id for message in chosen), text, "summarized"),), notes)
