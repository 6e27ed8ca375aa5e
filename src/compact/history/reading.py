"""One walk over the messages: who said what, what was done, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compact.facts import Source, Strength, directives_in, sentences_in, written_by
from compact.history.actions import Action, actions_of, note_usual
from compact.history.marks import unmarked, without_summaries
from compact.history.outcomes.later import look_ahead
from compact.history.outcomes.verdicts import note_answer
from compact.history.plans import Plan, newest_plan
from compact.history.quoting import enclose, quote
from compact.history.rules import RulesFile, given_files, project_folder, read_files
from compact.history.speech import QUESTION_MARKS, asks, corrects, generalizes, narrates, orders
from compact.messages import (
    Attachment,
    Image,
    Message,
    Passage,
    Place,
    Speaker,
    Text,
    ToolCall,
    ToolResult,
    is_summary,
    pairs,
    spoken,
    together,
    unwrap,
    words_in,
)

_LONGEST_SPEECH = 40_000
_LONGEST_NAME = 40
_LONGEST_RULES = 8_000
_LONGEST_RULE = 200
_MOST_FILES = 3
_SAYING = ("message", "response", "reply", "answer", "content", "text")
"""Under which name agents that speak in JSON say something."""
_TOLD = (Speaker.OBSERVATION, Speaker.PASTED)
"""Whose passages are told beside a person's words; those of others only where there are none."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of a user or of the assistant; `closing` when no call stands in its message.

    `speaker` is the name that the message gives, or what speaks where nobody does; `beside` tells of images and files
    that it had. A `binding` one holds a rule that a person gave; one that `asks`
    wants an answer or a deed.
    """

    index: int
    message_id: str
    source: Source
    text: str
    closing: bool
    speaker: str = ""
    beside: str = ""
    binding: bool = False
    asks: bool = False


@dataclass(slots=True)
class Reading:
    """What the messages say and do, in their order.

    `sent` are messages of users that are nothing but images and files, `printed` results whose calls are not there, and
    what programs wrote in the user's role. `rules` are the files of the project's rules that programs gave there, or
    that tools read.
    """

    utterances: list[Utterance] = field(default_factory=list)
    sent: list[Utterance] = field(default_factory=list)
    printed: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    rules: list[RulesFile] = field(default_factory=list)

    @property
    def plan(self) -> Plan | None:
        """The assistant's list of tasks as it stands at the end."""
        return newest_plan(self.actions, ((said.index, said.source, said.text) for said in self.utterances))


def read(messages: Sequence[Message]) -> Reading:
    """Walks the messages, first what was done, then what was said; what a system prompt says is not retold."""
    reading = Reading()
    answers, heard = pairs(messages), spoken(messages)
    by_place: dict[Place, list[Action]] = {}
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                by_place[index, position] = list(actions_of(block, index, message.id))
                reading.actions += by_place[index, position]
            elif isinstance(block, ToolResult) and (call := answers.get((index, position))):
                note_answer(by_place[call], block)
    look_ahead(reading.actions)
    note_usual(reading.actions)
    project = project_folder(reading.actions)
    for index, message in enumerate(messages):
        _listen(reading, index, message, heard[index], project)
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolResult) and (index, position) not in answers:
                text = _spoken(_within(block.text))
                if text.strip():
                    reading.printed.append(Utterance(index, message.id, Source.TOOL, text, closing=True))
    reading.rules += read_files(reading.actions, project)
    reading.rules.sort(key=lambda file: file.index)
    return reading


def _within(text: str) -> str:
    """What a text says without the wrapper of a program around it."""
    return together(unwrap(text)).text


def _listen(reading: Reading, index: int, message: Message, heard: Sequence[Passage], project: str) -> None:
    """Notes what is said in a message; in the user's role, what a person typed and what others wrote there."""
    source = written_by(message)
    if source not in (Source.USER, Source.ASSISTANT) or is_summary(message):
        return
    speaker, closing, beside = quote(message.name, _LONGEST_NAME), not message.calls, ""
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    if source is Source.USER:
        texts, beside = [words_in(heard)], _beside(message)
    said = [_without_label(text, message.name) for text in map(_spoken, texts) if text.strip()]
    for at, text in enumerate(said):
        shown = "" if at else beside
        binding, asks = _wants(text) if source is Source.USER else (False, False)
        reading.utterances.append(Utterance(index, message.id, source, text, closing, speaker, shown, binding, asks))
    if beside and not said:
        reading.sent.append(Utterance(index, message.id, source, "", closing=True, speaker=speaker, beside=beside))
    for passage in heard:
        given = list(given_files(passage, index, project))
        reading.rules += given
        told = passage.speaker in _TOLD or (not said and not given and passage.speaker is not Speaker.PERSON)
        text = _within(passage.text) if passage.speaker is Speaker.OBSERVATION else passage.text
        for file in given:
            text = text.replace(file.text, "")
        if told and (text := _spoken(text)).strip():
            reading.printed.append(Utterance(index, message.id, Source.TOOL, text, closing=True, speaker=passage.label))


def _without_label(text: str, name: str) -> str:
    """The text without the speaker's name before it, which the message has as well."""
    before, colon, words = text[:_LONGEST_NAME].partition(":") if name else ("", "", "")
    if not colon or not words.strip() or _plain_name(before) != _plain_name(name):
        return text
    return text[len(before) + 1 :].lstrip()


def _plain_name(name: str) -> str:
    return name.replace("_", " ").strip(" *").casefold()


def _wants(text: str) -> tuple[bool, bool]:
    """Whether a person gives a rule or changes one; and whether they want an answer or a deed.

    Who gives a rule, or only tells of themselves, waits for neither.
    """
    text = text[:_LONGEST_RULES]
    wants = any(mark in text for mark in QUESTION_MARKS) and any(map(asks, _sentences(text)))
    wants = wants or any(found.strength is Strength.REQUEST for found in directives_in(text))
    rules = binds(text)
    return rules, wants or not (rules or narrates(text))


def _sentences(text: str) -> Iterator[str]:
    return (span.text for span in sentences_in(text))


def binds(text: str) -> bool:
    """Whether a person gives a rule, something to do or to leave from now on, or changes one."""
    text = text[:_LONGEST_RULES]
    found = list(directives_in(text))
    if corrects(text) or any(each.strength is Strength.RULE for each in found):
        return True
    requests = (each.text for each in found if each.strength is Strength.REQUEST)
    return any(map(orders, _sentences(text))) or any(
        len(request) <= _LONGEST_RULE and generalizes(request) for request in requests
    )


def _beside(message: Message) -> str:
    """The images and files of a message, in words."""
    images = sum(isinstance(block, Image) for block in message.blocks)
    files = (block.name for block in message.blocks if isinstance(block, Attachment))
    names = [enclose(quote(name, _LONGEST_NAME)) or "a file" for name in files]
    if len(names) > _MOST_FILES:
        names = [*names[:_MOST_FILES], f"{len(names) - _MOST_FILES} more"]
    told = ([] if not images else ["an image"] if images == 1 else [f"{images} images"]) + names
    return ", ".join(told)


def _said_in_json(text: str) -> str:
    """What an agent says that speaks in JSON; any other text as it is."""
    if not (text[:200].lstrip().startswith("{") and text.rstrip().endswith("}")):
        return text
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return text
    found = (given[key] for key in _SAYING if isinstance(given.get(key), str))
    return next((said for said in found if said.strip()), text)


def _spoken(text: str) -> str:
    """What a text says itself: of a very long one, which nobody wrote by hand, its beginning and its end."""
    text = unmarked(without_summaries(text))
    if len(text) <= _LONGEST_SPEECH:
        return _said_in_json(text)
    return f"{text[: _LONGEST_SPEECH * 3 // 4]}\n{text[-_LONGEST_SPEECH // 4 :]}"
