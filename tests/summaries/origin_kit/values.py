"""The shapes of the kit: requests, sessions and the words of a language; and a case, a statement about a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One everyday request: its own words, other words, and a user's talk about the same matter."""

    topic: str
    kind: str  # "rule" or "step"
    domain: str  # "code" or "office"
    request: str
    paraphrase: str
    talk: str
    borrowed: str
    english: str = ""


@dataclass(frozen=True)
class Scene:
    """One session: the user's three turns and the assistant's three texts."""

    domain: str
    opening: str
    first: str
    turn: str
    second: str
    last: str
    third: str


@dataclass(frozen=True)
class Tongue:
    """All words of one language."""

    code: str
    quotes: tuple[str, str]
    stop: str
    entries: tuple[Entry, ...]
    scenes: tuple[Scene, ...]
    leads: tuple[str, ...]
    replies: tuple[str, ...]
    acks: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    heading: str
    mail: tuple[str, str, str]  # subject, greeting, closing
    issue: tuple[str, str]  # title, first comment
    page: str
    asks: tuple[str, ...]
    rules: tuple[str, ...]
    proposals: tuple[str, ...]
    approvals: tuple[str, ...]
    questions: tuple[str, ...]
    classes: tuple[tuple[str, str], ...]
    total: tuple[str, str]
    table: tuple[str, str]
    progress: tuple[str, ...]
    decisions: tuple[tuple[str, str], ...]
    attributed: tuple[str, ...]
    paste: tuple[str, ...]
    report: str


@dataclass(frozen=True)
class Case:
    """One statement of a summary, with the conversation it is about."""

    id: str
    language: str
    channel: str
    wording: str
    messages: tuple[dict[str, Any], ...]
    section: str
    statement: str
    origin: str
    label: bool
