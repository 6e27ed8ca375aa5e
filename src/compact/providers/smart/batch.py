"""Batch mode: one summary stands for all selected exchanges."""

from __future__ import annotations

from compact.messages import Fold, Message, Pass, Text, with_first_request
from compact.messages.seals import seal
from compact.providers.native.window import is_pruned
from compact.providers.provider import Steps, Task, propose
from compact.providers.smart.selecting import foldable
from compact.providers.smart.settings import BatchSettings, PassSettings
from compact.summaries.strategy import Style
from compact.summaries.summarize import NoSummary, Request, Summary, summarize


def fold_batch(task: Task, settings: PassSettings, positions: list[int]) -> Steps:
    """Ask for a summary of the selected exchanges, and let it stand for them; without one the settings decide."""
    batch = settings.batch
    if batch.operation == "keep":
        yield from propose(Pass(settings.title, (), ("the operation is to keep them",)))
        return
    found = (task.conversation.messages[index] for index in foldable(task.conversation, positions, batch))
    chosen = [message for message in found if not is_pruned(message)]
    if not chosen:
        yield from propose(Pass(settings.title, (), ("no whole exchange is selected that may be summarized",)))
        return
    summary = yield from summarize(_request(task, batch, chosen), task.measure)
    yield from propose(_folded(task, settings.title, chosen, summary))


def _request(task: Task, batch: BatchSettings, chosen: list[Message]) -> Request:
    window = task.reads or task.window
    return Request(
        messages=with_first_request(task.conversation.messages, chosen),
        strategy=batch.chosen_strategy(),
        style=Style(batch.detail),
        budget=batch.max_tokens,
        reads=window - min(batch.max_tokens, window // 4),
        profile=batch.profile,
        on_failure=batch.on_failure,
    )


def _folded(task: Task, title: str, chosen: list[Message], summary: Summary | NoSummary) -> Pass:
    ids = tuple(message.id for message in chosen)
    if isinstance(summary, Summary):
        fold = Fold(ids, seal(summary.text, len(chosen)), "summarized")
        notes: tuple[str, ...] = (f"{len(chosen)} messages summarized", *summary.notes)
    elif summary.prune:
        fold = Fold(ids, None, "pruned")
        notes = (f"{len(chosen)} messages removed without a summary: {summary.reason}",)
    else:
        return Pass(title, (), (f"no summary: {summary.reason}",))
    before = sum(map(task.measure.message, chosen))
    after = task.measure.message(Message("summary", "assistant", (Text(fold.text, ()),), None))
    if after >= before:
        return Pass(title, (), (f"no summary: {before:,} tokens would have become {after:,}",))
    return Pass(title, (fold,), notes)
