"""One walk over the messages: who said what, what was done, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compact.facts import Source, written_by
from compact.messages import Attachment, Image, Message, Place, Text, ToolCall, ToolResult, is_summary, pairs
from compact.summaries.actions import Action, actions_of
from compact.summaries.marks import unmarked, without_summaries
from compact.summaries.outcomes.judging import judge
from compact.summaries.outcomes.later import look_ahead
from compact.summaries.plans import Plan, newest_plan
from compact.summaries.quoting import quote, users_own

_LONGEST_SPEECH = 40_000
_LONGEST_NAME = 40
_MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of a user or of the assistant; `closing` when no call stands in its message.

    `speaker` is the name that the message gives, `beside` tells of images and files that it had.
    """

    index: int
    message_id: str
    source: Source
    text: str
    closing: bool
    speaker: str = ""
    beside: str = ""


@dataclass(slots=True)
class Reading:
    """What the messages say and do, in their order.

    `sent` are messages of users that are nothing but images and files, `printed` results whose calls are not there.
    """

    utterances: list[Utterance] = field(default_factory=list)
    sent: list[Utterance] = field(default_factory=list)
    printed: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)

    @property
    def plan(self) -> Plan | None:
        """The assistant's list of tasks as it stands at the end."""
        return newest_plan(self.actions, ((said.index, said.source, said.text) for said in self.utterances))


def read(messages: Sequence[Message]) -> Reading:
    """Walks the messages once; what a system prompt says is not retold."""
    reading = Reading()
    answers = pairs(messages)
    by_place: dict[Place, list[Action]] = {}
    for index, message in enumerate(messages):
        _listen(reading, index, message)
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                by_place[index, position] = list(actions_of(block, index, message.id))
                reading.actions += by_place[index, position]
            elif not isinstance(block, ToolResult):
                continue
            elif call := answers.get((index, position)):
                done = by_place[call]
                alone, size = not any(action.kind == "ran" for action in done), len(block.text)
                for action in done:
                    action.outcome = judge(action, block, alone=alone)
                    action.printed = size
            elif (text := _spoken(block.text)).strip():
                reading.printed.append(Utterance(index, message.id, Source.TOOL, text, closing=True))
    look_ahead(reading.actions)
    return reading


def _listen(reading: Reading, index: int, message: Message) -> None:
    """Notes what is said in a message."""
    source = written_by(message)
    if source not in (Source.USER, Source.ASSISTANT) or is_summary(message):
        return
    speaker, beside = quote(message.name, _LONGEST_NAME), _beside(message) if source is Source.USER else ""
    spoken = False
    for block in message.blocks:
        if isinstance(block, Text):
            text = _spoken(users_own(block.text) if source is Source.USER else block.text)
            if text.strip():
                shown = "" if spoken else beside
                said = Utterance(index, message.id, source, text, not message.calls, speaker, shown)
                reading.utterances.append(said)
                spoken = True
    if beside and not spoken:
        reading.sent.append(Utterance(index, message.id, source, "", closing=True, speaker=speaker, beside=beside))


def _beside(message: Message) -> str:
    """The images and files of a message, in words."""
    images = sum(isinstance(block, Image) for block in message.blocks)
    names = [quote(block.name, _LONGEST_NAME) or "a file" for block in message.blocks if isinstance(block, Attachment)]
    if len(names) > _MOST_FILES:
        names = [*names[:_MOST_FILES], f"{len(names) - _MOST_FILES} more"]
    told = ([] if not images else ["an image"] if images == 1 else [f"{images} images"]) + names
    return ", ".join(told)


def _spoken(text: str) -> str:
    """What a text says itself: of a very long one, which nobody wrote by hand, its beginning and its end."""
    text = unmarked(without_summaries(text))
    if len(text) <= _LONGEST_SPEECH:
        return text
    return f"{text[: _LONGEST_SPEECH * 3 // 4]}\n{text[-_LONGEST_SPEECH // 4 :]}"
