"""The sources of a summary: the sentences of the messages, each with its writer and its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from compact.facts import commands_of, strings_in
from compact.history.actions import actions_of
from compact.history.outcomes.answers import refused
from compact.history.plans import plans
from compact.history.speech import QUESTION_MARKS, answers
from compact.messages import (
    Message,
    Passage,
    Reasoning,
    Speaker,
    Text,
    ToolCall,
    ToolResult,
    asks_person,
    body_of,
    is_own,
    is_summary,
    pairs,
    spoken,
)
from compact.summaries.accounts import UNVERIFIED
from compact.summaries.model.exact import ExactWords
from compact.summaries.model.origin import LABEL, NOBODY, SentenceIndex, Voice, sentences_of
from compact.summaries.model.strategy import Claim, claim_of
from compact.summaries.model.transcript import transcribe
from compact.summaries.model.words import fold, plain

EARLIER = "an earlier summary"
_BINDING = (Speaker.PERSON, Speaker.RULES, Speaker.COMMAND)
"""Whose words in the user's role may demand something."""
_MAIL = "a mail that was passed on"
_TAG = "a tag of the program"
UNCONFIRMED = "(unconfirmed: "
"""Remarks of earlier versions behind a statement that they doubted."""
_VOICES: dict[Claim, Voice] = {
    "user": Voice.USER | Voice.ASSISTANT,
    "open": Voice.ASSISTANT,
    "told": Voice.PROGRAM,
}
"""Whose words an account has under a heading: what was found may be anybody's."""
_QUOTED = re.compile(
    r"(?:(?P<speaker>\buser|\bassistant)(?: \([^()\n]*\))?|(?<=\S)): (?:\"(?P<words>[^\"]*)\"|“(?P<code>[^”]*)”)"
)
"""A quotation in an account, behind a speaker's name or behind a call."""
_HOOK, _HEAD = re.compile(r"\bhook\b", re.IGNORECASE), 200
"""The beginning of a hook's reminder, which is no file of the project's rules."""
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+){0,3}")
_LONGEST_NAME = 30
_LONGEST_JSON = 400_000
_LONGEST_ANSWER = 4
"""Words that an answer has at most that only agrees."""
_NO = re.compile(
    r"\b(?:no|not|don'?t|never|stop|nein|nicht|kein|non|pas|nunca|não|nao|нет|не)\b|いいえ|لا|[不别没]", re.IGNORECASE
)


class Sources:
    """The messages that a summarizer has read; it finds the origin of the words that it wrote.

    A `text` that is summarized by itself goes on standing in its place: its words are whose they were.
    """

    def __init__(self, messages: Sequence[Message], text: str = "") -> None:
        self._messages = messages
        self._text = text

    @cached_property
    def index(self) -> SentenceIndex:
        """The sentences of all messages."""
        return SentenceIndex(
            chain.from_iterable(sentences_of(text, voice, place) for voice, place, text in self._texts)
        )

    @cached_property
    def text(self) -> str:
        """Everything that was read, as one line to look for words in: the texts, and what stands in JSON as it is."""
        shown = (entry.body for entry in transcribe(self._messages).entries)
        return fold(map(plain, chain((text for _, _, text in self._texts), shown)))

    @cached_property
    def exact(self) -> ExactWords:
        """The exact words of everything that was read."""
        return ExactWords(self.text)

    def contain(self, line: str) -> bool:
        """True if this was read, word by word."""
        return fold([plain(line)]).strip(" .,;:!?") in self.text

    @cached_property
    def _texts(self) -> list[tuple[Voice, str, str]]:
        return list(self._read())

    def _read(self) -> Iterator[tuple[Voice, str, str]]:
        if self._text:
            yield Voice.USER, "", self._text
        calls = {
            place: call
            for place, (index, position) in pairs(self._messages).items()
            if isinstance(call := self._messages[index].blocks[position], ToolCall)
        }
        agreed = _agreed(self._messages)
        for index, (message, passages) in enumerate(zip(self._messages, spoken(self._messages), strict=True)):
            if is_summary(message):
                yield from _read_account(body_of(message), own=is_own(message))
                continue
            yield from _read_passages(passages)
            for position, block in enumerate(message.blocks):
                match block:
                    case ToolResult():
                        yield from _read_result(block, calls.get((index, position)))
                    case ToolCall():
                        yield from _read_call(block, index, message.id)
                    case Reasoning(text=text) if text:
                        yield Voice.ASSISTANT, "", text
                    case Text(text=text) if message.role == "assistant":
                        yield Voice.ASSISTANT | (Voice.USER if index in agreed else NOBODY), "", text
                    case Text(text=text) if message.role != "user":
                        yield Voice.PROGRAM, "the system prompt", text
                    case _:
                        pass


def _read_passages(passages: Sequence[Passage]) -> Iterator[tuple[Voice, str, str]]:
    """The passages of a message in the user's role; in a mail that was passed on, no tag makes words the user's."""
    mailed, before = False, ""
    for passage in passages:
        mailed = mailed or passage.label == _MAIL
        forged = mailed and (passage.speaker is not Speaker.PERSON or before == _TAG)
        hooked = passage.speaker is Speaker.RULES and _HOOK.search(passage.text[:_HEAD]) is not None
        binds = passage.speaker in _BINDING and not forged and not hooked
        label = _MAIL if forged else "a reminder by the program" if hooked else passage.label
        yield (Voice.USER, "", passage.text) if binds else (Voice.PROGRAM, label, passage.text)
        before = passage.label


def _read_call(call: ToolCall, index: int, id: str) -> Iterator[tuple[Voice, str, str]]:
    """A call: the questions, plans and commands of the assistant, and texts that may be anybody's."""
    yield Voice.ASSISTANT, "", call.name.replace("_", " ")
    own = asks_person(call.name) or any(map(plans, actions_of(call, index, id)))
    commands = commands_of(call)
    for _, text in call.strings:
        if own or (text in commands and "\n" not in text):
            yield Voice.ASSISTANT, "", text
        else:
            yield Voice.TOOL, f"a call of {_plain_name(call.name)}", text


def _read_result(result: ToolResult, call: ToolCall | None) -> Iterator[tuple[Voice, str, str]]:
    name = call.name if call else ""
    text = result.text
    if call and not result.error and asks_person(name):
        for key, asked in strings_in(call.arguments):
            text = text.replace(asked, " ") if key == "question" and asked else text
        yield Voice.USER, "", text.replace('"="', '"\n"')
        return
    if result.error and (answer := refused(text)) and answer.text:
        yield Voice.USER, "", answer.text
    yield Voice.TOOL, f"a result of {_plain_name(name)}", "\n".join(_strings(text))


def _strings(text: str) -> Iterator[str]:
    """The text, or where it is JSON, the strings in it."""
    bare = text.strip()
    if bare[:1] in "{[" and bare[-1:] in "}]" and bare and len(bare) <= _LONGEST_JSON:
        try:
            yield from chain.from_iterable((f"{key}: {one}", one) for key, one in strings_in(json.loads(bare)))
        except (ValueError, RecursionError):
            yield text
    else:
        yield text


def _plain_name(name: str) -> str:
    short = name.rpartition("__")[2]
    return short if len(short) <= _LONGEST_NAME and _PLAIN_NAME.fullmatch(short) else "a tool"


def _agreed(messages: Sequence[Message]) -> frozenset[int]:
    """The messages of the assistant that a user's short answer follows that does not say no."""
    found = set()
    for at, passages in enumerate(spoken(messages)[1:]):
        said = " ".join(passage.text for passage in passages if passage.speaker is Speaker.PERSON).strip()
        asks = any(mark in said for mark in QUESTION_MARKS)
        if messages[at].role == "assistant" and not asks and answers(said[:_HEAD]) and not _NO.search(said):
            if sum(len(one.words) for one in sentences_of(said)) <= _LONGEST_ANSWER:
                found.add(at)
    return frozenset(found)


def _read_account(body: str, *, own: bool) -> Iterator[tuple[Voice, str, str]]:
    """The lines of an account: what it calls the user's, what it labels or doubts, what it quotes of a result.

    What is indented belongs to the line above.
    """
    voice, place, given = Voice.PROGRAM, EARLIER, Voice.ASSISTANT
    for line in body.splitlines():
        if line.startswith("#"):
            given = Voice.PROGRAM if "(unverified)" in line else _VOICES.get(claim_of(line.strip("# ")), given)
            continue
        if not line[:1].isspace():
            label = LABEL.search(line)
            doubted = not own or line.startswith(f"- {UNVERIFIED}") or UNCONFIRMED in line
            voice = Voice.PROGRAM if doubted else given
            if label and not doubted:
                voice = Voice.ASSISTANT if label["own"] else Voice.PROGRAM
            place = "" if voice is not Voice.PROGRAM else (label and label["place"]) or EARLIER
        yield voice, place, LABEL.sub("", _QUOTED.sub(" ", line))
        for quoted in _QUOTED.finditer(line):
            theirs = Voice.USER if quoted["speaker"] == "user" else Voice.ASSISTANT
            foreign = voice is Voice.PROGRAM or not quoted["speaker"]
            yield (
                Voice.PROGRAM if foreign else theirs,
                EARLIER if foreign else "",
                quoted["words"] or quoted["code"] or "",
            )
