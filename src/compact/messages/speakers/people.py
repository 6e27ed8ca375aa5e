"""Which messages of a conversation a person wrote; what one message does not tell, its neighbours may."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from compact.messages.conversation import Message, once
from compact.messages.handles import is_recalled
from compact.messages.seals import is_pruned, is_summary
from compact.messages.speakers.known import Passage, Speaker
from compact.messages.speakers.reader import Carried, read_message
from compact.messages.speakers.shapes import DATA, OUTPUT

_PEOPLES = (Speaker.PERSON, Speaker.PASTED)
_FEWEST = 3
"""A loop has at least so many turns."""
_MOST_TURNS = 0.8
"""In a loop, so many turns of the assistant hold one command."""
_ALIKE = 0.6
"""And so many answers begin or end alike."""
_END_OF_EXAMPLES = "the end of a demonstration"
_EXAMPLE = "a demonstration"
_RECALLED = "what was recalled of earlier messages"
_FIGURES = re.compile(r"\d+")
_SIGN = re.compile(r"[<>\[\]{}()=$#@:/`]")
_TELLING = re.compile(r"[<>\[\]{}$#@=`]|\A(?:output|observation|result|stdout|response):", re.IGNORECASE)
"""A first word that is enough."""
_ACTION = re.compile(r"^(?:<function=|<bash>|<tool_call>|<execute|Action: ?\S)", re.MULTILINE)


def passages(message: Message) -> tuple[Passage, ...]:
    """A message in the user's role, split by who speaks in it; the texts joined are the message's text."""
    return _kept(message)[0]


def _kept(message: Message) -> tuple[tuple[Passage, ...], Carried | None]:
    if message.kept_passages is None:
        object.__setattr__(message, "kept_passages", read_message(message))
    kept: tuple[tuple[Passage, ...], Carried | None] = message.kept_passages
    return kept


def words_in(spoken: Sequence[Passage]) -> str:
    """What a person typed of the passages."""
    if len(spoken) == 1:
        return spoken[0].text.strip() if spoken[0].speaker is Speaker.PERSON else ""
    typed = (passage.text.strip() for passage in spoken if passage.speaker is Speaker.PERSON)
    return "\n".join(filter(None, typed))


def persons_words(message: Message) -> str:
    """What a person typed in a message, without what programs added and without what was pasted."""
    return words_in(passages(message))


def is_persons(message: Message) -> bool:
    """Whether a person wrote a message in the user's role, or sent it: a pasted log, a picture, a file."""
    return message.role == "user" and _is_sent(passages(message))


def _is_sent(spoken: Sequence[Passage]) -> bool:
    return any(passage.speaker in _PEOPLES for passage in spoken) or not any(passage.text.strip() for passage in spoken)


@once
def spoken(messages: Sequence[Message]) -> tuple[tuple[Passage, ...], ...]:
    """The passages of each message in the user's role, with what only their neighbours tell; nothing for the others.

    A command may be expanded in the next message, an environment's answer may bear no mark, and examples may be played
    as messages before the conversation begins.
    """
    loop = observations(messages)
    read: list[tuple[Passage, ...]] = []
    examples = 0
    carried: Carried | None = None
    for message in messages:
        if message.role != "user":
            carried = None
            read.append(())
            continue
        if message.id in loop:
            read.append((Passage(OUTPUT.speaker, message.text, OUTPUT.label),))
            continue
        if is_recalled(message.text):
            read.append((Passage(Speaker.CONTINUATION, message.text, _RECALLED),))
            continue
        found, carried = read_message(message, carried) if carried else _kept(message)
        read.append(found)
        if found and found[0].label == _END_OF_EXAMPLES:
            examples = len(read)
    for at in range(examples):
        read[at] = tuple(Passage(Speaker.DEMONSTRATION, passage.text, _EXAMPLE) for passage in read[at])
    return tuple(read)


@once
def persons(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of the messages that a person wrote.

    Where there is none, those of commands, which a person ran; else those of all messages in the user's role: some task
    there must be.
    """
    told = zip(messages, spoken(messages), strict=True)
    users = [(message, found) for message, found in told if message.from_user and not _is_ours(message)]
    ids = {message.id for message, found in users if _is_sent(found)}
    opening = _opening(messages)
    if ids.isdisjoint(message.id for message in opening):
        # Nothing was run yet: what looks like an answer of the environment is the task, in the frame of the answers.
        ids |= {message.id for message, found in users if message in opening and _is_framed(found)}
    ran = {message.id for message, found in users if any(passage.speaker is Speaker.COMMAND for passage in found)}
    return frozenset(ids or ran or {message.id for message, _ in users})


def _is_ours(message: Message) -> bool:
    return is_summary(message) or is_pruned(message)


def _opening(messages: Sequence[Message]) -> list[Message]:
    """What comes before the assistant's first word."""
    first = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    return list(messages[:first])


def _is_framed(found: Sequence[Passage]) -> bool:
    return any(passage.label in (OUTPUT.label, DATA.label) for passage in found)


@once
def observations(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of messages that answer a command each, in a loop of an agent and its environment.

    Nearly every turn of the assistant holds one command, and nearly every answer begins or ends alike. The first
    message answers nothing, so it is never among them.
    """
    answers: list[Message] = []
    turns = 0
    before: Message | None = None
    for message in messages:
        if message.from_user and before is not None and before.role == "assistant" and not _is_ours(message):
            turns += 1
            if _has_one_command(before):
                answers.append(message)
        before = message
    if len(answers) < max(_FEWEST, _MOST_TURNS * turns):
        return frozenset()
    alike: set[str] = set()
    for last in (False, True):
        shapes = [_line_shape(message.text, last=last) for message in answers]
        shape, count = Counter(shapes).most_common(1)[0]
        if count >= max(_FEWEST, _ALIKE * len(answers)) and _SIGN.search(shape):
            alike |= {message.id for message, one in zip(answers, shapes, strict=True) if one == shape}
    return frozenset(alike)


def _has_one_command(message: Message) -> bool:
    text = message.text
    return not message.calls and (text.count("```") == 2 or ("```" not in text and len(_ACTION.findall(text)) == 1))


def _line_shape(text: str, *, last: bool) -> str:
    """The first words of a text's first or last line, whatever figures and paths they hold."""
    text = text[-200:].rstrip().rpartition("\n")[2] if last else text[:200].lstrip().partition("\n")[0]
    words = text.split()[:2]
    if words and _TELLING.search(words[0]):
        del words[1:]
    return " ".join("/" if word.startswith("/") else _FIGURES.sub("0", word) for word in words)
