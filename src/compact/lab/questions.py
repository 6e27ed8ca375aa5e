"""Questions about a conversation whose answers stand somewhere in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compact.errors import InvalidInput
from compact.lab.retention import text_of
from compact.messages import Json, Message

_WORD = re.compile(r"[A-Za-z0-9][\w'-]{3,}")


@dataclass(frozen=True, slots=True)
class Question:
    """What an answer is made of: the words of it that stand where the evidence is."""

    text: str
    words: frozenset[str]


def read_questions(path: Path, messages: Sequence[Message]) -> list[Question]:
    """The questions in a file beside a transcript (`NAME.qa.json`); none where there is no such file.

    InvalidInput where it is no JSON, or asks about messages that the transcript does not have.
    """
    if not path.is_file():
        return []
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is no JSON ({error})", field=path.name, remedy="Correct or remove it.") from None
    content = data if isinstance(data, dict) else {}
    try:
        found = [*_with_evidence(content, messages), *_facts(content, messages)]
    except IndexError as error:
        remedy = f"Count from 0 to {len(messages) - 1:,}."
        raise InvalidInput(f"there is no message {error}", field=path.name, remedy=remedy) from None
    return [question for question in found if question.words]


def kept(question: Question, text: str) -> float:
    """The share of the answer's words that the text still has."""
    return len(question.words & words_of(text)) / len(question.words)


def words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _with_evidence(content: dict[str, Json], messages: Sequence[Message]) -> Iterator[Question]:
    for row in _rows(content.get("qa")):
        spans = row.get("evidence_messages")
        if isinstance(spans, list) and isinstance(answer := row.get("answer"), str):
            evidence = "\n".join(text_of(message) for span in spans for message in _between(span, messages))
            yield Question(str(row.get("question", "")), words_of(answer) & words_of(evidence))


def _facts(content: dict[str, Json], messages: Sequence[Message]) -> Iterator[Question]:
    for row in _rows(content.get("facts")):
        at = row.get("message")
        if isinstance(fact := row.get("fact") or row.get("text"), str) and isinstance(at, int):
            (message,) = _between([at, at], messages)
            yield Question(fact, words_of(fact) & words_of(text_of(message)))


def _between(span: Json, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages from one to another; IndexError names the one that is not there."""
    if not isinstance(span, list) or len(span) != 2 or not all(isinstance(end, int) for end in span):
        return ()
    for end in span:
        if not 0 <= end < len(messages):
            raise IndexError(end)
    return messages[span[0] : span[1] + 1]


def _rows(value: Json) -> list[dict[str, Json]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
