"""The native provider: everything but the first message and the last three becomes one summary.

Its behaviour is Roo Code's, constants and error cases included, with what was wrong with it put right: the messages
kept are whole exchanges, and the summarizer is never given more than it can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import Field, field_validator

from compact.messages import (
    ROLES_NEVER_PRUNED,
    Conversation,
    Drop,
    Fold,
    Message,
    Pass,
    Reasoning,
    Text,
    Where,
    untouchable,
)
from compact.messages.seals import is_summary, seal
from compact.policies import Configuration, Retention, select
from compact.ports import Answer, Ask, Failure, Refusal
from compact.providers.provider import Capabilities, Rejected, Steps, Task, ask, propose
from compact.summaries.transcript import transcribe

MESSAGES_KEPT = 3
PASS = "Summary"  # noqa: S105 - a pass of a plan
_LONGEST_PROMPT = 20_000
_LEAST_ROOM = 256
# What parts count for does not add up to the count of the whole exactly, and the fence around them counts too.
_MARGIN = 0.95
_FENCE = 48


class Reason(StrEnum):
    """Why nothing was condensed; the first words of the pass report's `skipped`."""

    NOT_ENOUGH_MESSAGES = "not enough messages"
    CONDENSED_RECENTLY = "condensed recently"
    HANDLER_INVALID = "handler invalid"
    REFUSED = "summary refused"
    EMPTY_SUMMARY = "empty summary"
    CONTEXT_GREW = "context grew"

    @classmethod
    def named_in(cls, skipped: str) -> Reason | None:
        """The reason that a report's text begins with."""
        return next((reason for reason in cls if skipped.startswith(reason)), None)


class NativeSettings(Configuration):
    """Settings of the native provider."""

    prompt: str | None = Field(default=None, max_length=_LONGEST_PROMPT)
    """What the summarizing model is told to write, in place of the usual six sections."""
    profile: str = ""
    """The model that summarizes; empty for the conversation's own."""
    max_summary_tokens: int = Field(default=4096, ge=64, le=64_000)
    """How long a summary may be, in tokens."""
    max_input_tokens: int | None = Field(default=None, ge=1000)
    """What the summarizing model reads at once; longer conversations are summarized in parts. Empty for the window."""

    @field_validator("prompt")
    @classmethod
    def _says_something(cls, prompt: str | None) -> str | None:
        if prompt is not None and not prompt.strip():
            raise ValueError("must not be blank; leave it out for the usual prompt")
        return prompt


@dataclass(frozen=True, slots=True)
class _Declined:
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What becomes the summary, and what the summarizer reads: that, and what stands between."""

    folded: tuple[Message, ...]
    read: tuple[Message, ...]


class NativeProvider:
    """One summary in place of all but the first message and the last three."""

    id = "native"
    name = "Native"
    description = "Summarizes everything between the first message and the last three, in one request to a model."
    version = "1.0"
    capabilities = Capabilities(batch=True, summarizes=True, speed="medium")
    settings = NativeSettings

    def condense(self, task: Task, settings: NativeSettings, /) -> Steps:
        """Ask for the summary, and fold what it stands for."""
        if task.reached(task.tokens):
            yield from propose(Pass(PASS, (), (f"{task.tokens:,} tokens are within the target",)))
            return
        chosen = _choose(task)
        if isinstance(chosen, _Chosen):
            questions = _questions(task, settings, chosen)
            answers = yield from ask(*questions)
            summary = _joined(answers)
            outcome = _fold(task, chosen, summary) if isinstance(summary, str) else summary
            notes = tuple(_remarks(answers))
        else:
            outcome, notes = chosen, ()
        if isinstance(outcome, _Declined):
            yield from propose(Pass(PASS, (), (outcome.reason, outcome.detail)))
            return
        verdict = yield from propose(Pass(PASS, (outcome,), notes))
        if isinstance(verdict, Rejected) and (drops := _later_reasoning(task.conversation, outcome)):
            # Some vendors bind reasoning to everything before it: it goes with what it was bound to.
            yield from propose(Pass(f"{PASS}, reasoning dropped", (outcome, *drops), notes))


def _choose(task: Task) -> _Chosen | _Declined:
    messages = task.conversation.messages
    size = len(messages)
    if size <= MESSAGES_KEPT + 1:
        return _Declined(Reason.NOT_ENOUGH_MESSAGES, f"there are {size}, and {MESSAGES_KEPT + 2} are needed")
    summaries = [index for index, message in enumerate(messages) if is_summary(message)]
    if summaries and summaries[-1] >= size - MESSAGES_KEPT:
        return _Declined(Reason.CONDENSED_RECENTLY, f"a summary is among the last {MESSAGES_KEPT} messages")
    folded = _foldable(task, frozenset(summaries))
    if summaries and not any(index > summaries[-1] for index in folded):
        return _Declined(Reason.CONDENSED_RECENTLY, "nothing came after the last summary that may go")
    if not folded:
        return _Declined(Reason.NOT_ENOUGH_MESSAGES, "all of them must stay as they are")
    start = min(summaries[-1], folded[0]) if summaries else 0
    read = [message for message in messages[start : folded[-1] + 1] if message.role not in ROLES_NEVER_PRUNED]
    if not read[0].from_user or is_summary(read[0]):
        first = next(message for message in messages if message.role not in ROLES_NEVER_PRUNED)
        read = [first, *read] if first is not read[0] else read
    return _Chosen(tuple(messages[index] for index in folded), tuple(read))


def _foldable(task: Task, summaries: frozenset[int]) -> list[int]:
    """The positions of all messages but the first, the last three with what belongs to them, and what must stay.

    A summary may have had to take the user's role; it is still nobody's last word.
    """
    messages = task.conversation.messages
    people = [message for index, message in enumerate(messages) if index not in summaries]
    fixed = untouchable(task.conversation.with_messages(people))
    kept = Retention(first_message=True, recent_messages=MESSAGES_KEPT)
    older = select(task.conversation, kept, task.measure.message).older
    return sorted(index for group in older if not any(messages[at].id in fixed for at in group) for index in group)


def _questions(task: Task, settings: NativeSettings, chosen: _Chosen) -> list[Ask]:
    transcript = transcribe(chosen.read)
    prompt = settings.prompt or _prompt("summary")
    instructions = f"{prompt.strip()}\n\n{_prompt('frame').format(code=transcript.code)}"
    answer = min(settings.max_summary_tokens, task.window // 4)
    limit = settings.max_input_tokens or task.window - answer
    note = _prompt("part")
    room = int(limit * _MARGIN) - task.measure.text(instructions + note) - _FENCE
    parts = transcript.parts(max(room, _LEAST_ROOM), task.measure)
    return [
        Ask(
            instructions if len(parts) == 1 else f"{instructions}\n\n{note.format(part=number, parts=len(parts))}",
            str(part),
            max(answer, 1),
            tuple(dict.fromkeys(entry.id for entry in part.entries)),
            settings.profile,
        )
        for number, part in enumerate(parts, 1)
    ]


def _joined(answers: Sequence[Answer]) -> str | _Declined:
    """The summaries of all parts as one; a part without one would be a loss that nobody sees."""
    texts: list[str] = []
    for number, answer in enumerate(answers, 1):
        where = f"part {number} of {len(answers)}: " if len(answers) > 1 else ""
        if isinstance(answer, Failure):
            return _Declined(Reason.HANDLER_INVALID, f"{where}{answer.reason}")
        if isinstance(answer, Refusal):
            return _Declined(Reason.REFUSED, f"{where}{answer.reason}")
        if not answer.text.strip():
            return _Declined(Reason.EMPTY_SUMMARY, f"{where}the model answered with nothing")
        texts.append(answer.text.strip())
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"Part {number} of {len(texts)}\n\n{text}" for number, text in enumerate(texts, 1))


def _fold(task: Task, chosen: _Chosen, summary: str) -> Fold | _Declined:
    text = seal(summary, len(chosen.folded))
    before = sum(map(task.measure.message, chosen.folded))
    after = task.measure.message(Message("summary", "assistant", (Text(text, ()),), None))
    if after >= before:
        return _Declined(Reason.CONTEXT_GREW, f"{before:,} tokens would have become {after:,}")
    return Fold(tuple(message.id for message in chosen.folded), text, "summarized")


def _later_reasoning(conversation: Conversation, fold: Fold) -> tuple[Drop, ...]:
    """The edits that drop what the model thought in the messages that are kept after the first one folded."""
    gone, fixed = frozenset(fold.messages), untouchable(conversation)
    start = next(index for index, message in enumerate(conversation.messages) if message.id in gone)
    return tuple(
        Drop(Where(message.id, position), "bound to what was summarized")
        for message in conversation.messages[start:]
        if message.id not in gone and message.id not in fixed
        for position, block in enumerate(message.blocks)
        if isinstance(block, Reasoning)
    )


def _remarks(answers: Sequence[Answer]) -> list[str]:
    cut = sum(1 for answer in answers if not isinstance(answer, Failure | Refusal) and answer.truncated)
    remarks = [f"summarized in {len(answers)} parts"] if len(answers) > 1 else []
    return [*remarks, "the summary was cut at its length; raise max_summary_tokens"] if cut else remarks


@cache
def _prompt(name: str) -> str:
    return (files("compact.providers.native") / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()
